/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/query_file.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/query_text.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/number.h"
#include "base/output.h"

#define SMALL "abcdefghijklmnopqrstuvwxyz"

enum { MOST_MIB = 1 };

/* Where the file is read. */
struct reading {
	struct query_file *file;
	const char *text, *at;
	struct query_block *block; /* of the next statement; NULL: none yet */
	struct error *error;
};

/* What a comment may say: "KEY: VALUE", "KEY ARGUMENT: VALUE", "KEY NAME" or "KEY". */
struct key {
	const char *name;
	enum { VALUE, ARGUMENT, NAME, ALONE } shape;
	int (*set)(struct reading *reading, const struct key *key, const char *argument,
		   const char *value);
	enum { OF_FILE, OF_BLOCK, OF_TABLE } of;
	size_t target;     /* of what is a text: its member */
	const char *words; /* each of the text's is one of these; NULL: any */
	enum query_kind kind;
};

const char *query_file_store_text(struct query_file *file, const char *text,
				  size_t length)
{
	struct text_list *texts = &file->texts;

	while (length && isspace((unsigned char)*text)) {
		text++;
		length--;
	}
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	texts->item =
	    mem_grow(texts->item, texts->count, &texts->capacity, sizeof(*texts->item));
	return texts->item[texts->count++] = mem_strndup(text, length);
}

bool query_words_have(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = words; at && *at; at += strspn(at, " ")) {
		size_t part = strcspn(at, " ");

		if (part == length && !strncmp(at, word, length))
			return true;
		at += part;
	}
	return !words;
}

static struct query_table *add_table(struct query_block *block, const char *key,
				     const char *title)
{
	block->table = mem_grow(block->table, block->tables, &block->table_capacity,
				sizeof(*block->table));
	block->table[block->tables] = (struct query_table){.key = key, .title = title};
	return &block->table[block->tables++];
}

struct query_block *query_file_add(struct query_file *file, enum query_kind kind,
				   const char *name)
{
	struct query_block *block;

	block = MEM_NEXT(file->block, file->blocks, file->block_capacity);
	*block = (struct query_block){.kind = kind, .name = name, .path = file->path};
	return block;
}

/* Of a file with one SELECT there is nothing said of its table. */
static struct query_block *block_of(struct reading *reading)
{
	if (!reading->block) {
		reading->block = query_file_add(reading->file, QUERY_TABLE, NULL);
		add_table(reading->block, NULL, NULL);
	}
	return reading->block;
}

static struct query_table *table_of(struct reading *reading)
{
	struct query_block *block = block_of(reading);

	return &block->table[block->tables - 1];
}

/* A key of which there is one text: a member of the file, the block or the table. */
static int set_text(struct reading *reading, const struct key *key, const char *argument,
		    const char *value)
{
	void *object = key->of == OF_FILE    ? (void *)reading->file
		       : key->of == OF_BLOCK ? (void *)block_of(reading)
					     : (void *)table_of(reading);
	int status = 0;

	(void)argument;
	for (const char *at = value; key->words && *at && !status;
	     at += strspn(at, " ")) {
		AUTOFREE char *word = mem_strndup(at, strcspn(at, " "));

		if (!query_words_have(key->words, word))
			status = error_set(reading->error, "%s '%s', want %s", key->name,
					   word, key->words);
		at += strlen(word);
	}
	*(const char **)(void *)((char *)object + key->target) = value;
	return status;
}

/* Before the first block it holds for the whole file. */
static int push_column(struct reading *reading, const char *key, const char *title,
		       const char *unit)
{
	struct query_columns *columns =
	    reading->block ? &reading->block->column : &reading->file->column;
	int found = unit_find(unit);

	if (found < 0)
		return error_set(
		    reading->error,
		    "no unit '%s', want text, id, count, ns, +-ns, epoch_ns, bytes, "
		    "bytes/s, 1/s, %%, ratio, ppm, Hz, number or of row",
		    unit);
	*MEM_NEXT(columns->item, columns->count, columns->capacity) =
	    (struct result_column){key, title, (enum unit)found};
	return 0;
}

/* "column KEY: UNIT, TITLE" */
static int add_column(struct reading *reading, const struct key *key, const char *column,
		      const char *value)
{
	size_t length = strcspn(value, ",");
	const char *title = value[length] ? value + length + 1 : NULL;

	(void)key;
	return push_column(
	    reading, column,
	    title ? query_file_store_text(reading->file, title, strlen(title)) : NULL,
	    query_file_store_text(reading->file, value, length));
}

/* "unit NAME: KEY KEY ..." */
static int add_unit(struct reading *reading, const struct key *key, const char *name,
		    const char *value)
{
	int status = 0;

	(void)key;
	for (const char *at = value; !status && *at; at += strspn(at, " \n")) {
		size_t length = strcspn(at, " \n");

		status =
		    push_column(reading, query_file_store_text(reading->file, at, length),
				NULL, name);
		at += length;
	}
	return status;
}

static int begin_block(struct reading *reading, const struct key *key, const char *name,
		       const char *title)
{
	bool is_table = key->kind == QUERY_TABLE;

	/* A relation's name stands unquoted in SQL. */
	if (key->shape == NAME && isdigit((unsigned char)*name))
		return error_set(reading->error,
				 "name '%s', want one of small letters, digits and _",
				 name);
	if (!is_table || !reading->block || reading->block->kind != QUERY_TABLE)
		reading->block = query_file_add(reading->file, key->kind, name);
	add_table(reading->block, is_table ? name : NULL, is_table ? title : NULL);
	return 0;
}

static int set_limit(struct reading *reading, const struct key *key, const char *argument,
		     const char *value)
{
	int64_t *limit = &table_of(reading)->limit;

	(void)key;
	(void)argument;
	return number_integer(value, limit) || *limit < 0
		   ? error_set(reading->error, "limit '%s', want a number of rows", value)
		   : 0;
}

#define TEXT_OF(name, of, type, member, words)                                           \
	{                                                                                \
		name, VALUE, set_text, of, offsetof(struct type, member), words, 0       \
	}
#define KEY_OF(name, shape, set, kind)                                                   \
	{                                                                                \
		name, shape, set, 0, 0, NULL, kind                                       \
	}

static const struct key keys[] = {
    TEXT_OF("name", OF_FILE, query_file, analysis.name, NULL),
    TEXT_OF("summary", OF_FILE, query_file, analysis.summary, NULL),
    TEXT_OF("description", OF_FILE, query_file, analysis.description, NULL),
    TEXT_OF("example", OF_FILE, query_file, example, NULL),
    TEXT_OF("groups", OF_FILE, query_file, analysis.groups, NULL),
    TEXT_OF("forms", OF_FILE, query_file, forms, QUERY_FORMS),
    TEXT_OF("records", OF_FILE, query_file, records, "kernel"),
    KEY_OF("unit", ARGUMENT, add_unit, 0),
    KEY_OF("column", ARGUMENT, add_column, 0),
    KEY_OF("table", ARGUMENT, begin_block, QUERY_TABLE),
    KEY_OF("with", NAME, begin_block, QUERY_WITH),
    KEY_OF("temporary", NAME, begin_block, QUERY_TEMPORARY),
    KEY_OF("notes", ALONE, begin_block, QUERY_NOTES),
    TEXT_OF("index", OF_BLOCK, query_block, index, NULL),
    TEXT_OF("shown", OF_BLOCK, query_block, shown, NULL),
    TEXT_OF("form", OF_TABLE, query_table, form, QUERY_FORMS),
    TEXT_OF("group", OF_TABLE, query_table, groups, NULL),
    TEXT_OF("when", OF_TABLE, query_table, when, "interval plot rows"),
    TEXT_OF("sort", OF_TABLE, query_table, sort, NULL),
    KEY_OF("limit", VALUE, set_limit, 0),
};

enum { KEYS = sizeof(keys) / sizeof(*keys) };

/*
 * The key that a comment begins with, and how long it is up to its value; NULL: none, and
 * with error where one may be meant.
 */
static const struct key *find_key(const char *text, size_t *length, struct error *error)
{
	size_t word = strspn(text, SMALL), line = strcspn(text, "\n");
	size_t colon = strcspn(text, ":\n"), blanks = strspn(text + word, " ");
	size_t name = strspn(text + word + blanks, SMALL "0123456789_");
	bool has_value = text[colon] == ':', has_argument = word + blanks < colon;
	AUTOFREE char *typed = mem_strndup(text, word);
	const char *names[KEYS], *near = NULL;

	*length = colon;
	for (size_t i = 0; i < KEYS; i++) {
		const struct key *key = &keys[i];

		names[i] = key->name;
		/* Without a value it is a comment like any other, but for one word more.
		 */
		if (!strcmp(typed, key->name) && has_value == (key->shape < NAME) &&
		    has_argument == (key->shape == ARGUMENT || key->shape == NAME) &&
		    (has_value || word + blanks + name == line))
			return key;
	}
	if (word && colon == word && has_value)
		near = find_similar_word(typed, names, KEYS);
	if (near)
		error_set(error, "unknown key '%s'; did you mean '%s'?", typed, near);
	return NULL;
}

/* The value behind a key, with the lines that continue it; moves `at` behind them. */
static const char *read_value(struct reading *reading)
{
	struct query_file *file = reading->file;
	const char *value = "", *line;
	bool is_first = true;

	while (is_first || !strncmp(reading->at, "--  ", 4) ||
	       !strncmp(reading->at, "--\t", 3)) {
		size_t length;
		AUTOFREE char *whole = NULL;

		reading->at += is_first ? 0 : 2;
		length = strcspn(reading->at, "\n");
		line = query_file_store_text(file, reading->at, length);
		whole = mem_printf("%s%s%s", value, is_first ? "" : "\n", line);
		value = query_file_store_text(file, whole, strlen(whole));
		reading->at += length + (reading->at[length] == '\n');
		is_first = false;
	}
	return value;
}

/* One comment that stands before a statement. */
static int read_comment(struct reading *reading)
{
	const char *text = reading->at + 2 + strspn(reading->at + 2, " "), *argument;
	const struct key *key;
	size_t length = 0, name;

	error_clear(reading->error);
	key = find_key(text, &length, reading->error);
	if (!key) {
		length = strcspn(reading->at, "\n");
		reading->at += length + (reading->at[length] == '\n');
		return reading->error->text ? -1 : 0;
	}
	name = strlen(key->name);
	argument = query_file_store_text(reading->file, text + name, length - name);
	reading->at = text + length + (text[length] == ':');
	return key->set(reading, key, argument, read_value(reading));
}

static size_t line_of(const struct reading *reading, const char *at)
{
	size_t line = 1;

	for (const char *byte = reading->text; byte < at; byte++)
		line += *byte == '\n';
	return line;
}

/* Comments and empty lines up to the next statement. */
static int read_comments(struct reading *reading)
{
	reading->block = NULL;
	for (;;) {
		const char *line;

		reading->at += strspn(reading->at, " \t\r\n;");
		if (strncmp(reading->at, "--", 2) != 0)
			return 0;
		line = reading->at;
		if (read_comment(reading))
			return error_prefix(reading->error, "%s:%zu", reading->file->path,
					    line_of(reading, line));
	}
}

/* Up to the semicolon, or the end. */
static int read_statement(struct reading *reading)
{
	const char *first = reading->at, *text, *fault, *what;
	struct sql_token token = {.kind = SQL_BLANK};
	struct query_file *file = reading->file;

	if (!reading->block && file->blocks)
		return error_set(reading->error,
				 "%s:%zu: a second statement, want a line '-- table "
				 "NAME: TITLE' before it",
				 file->path, line_of(reading, first));
	if (!reading->block) { /* what is said of columns is of this one */
		block_of(reading)->column = file->column;
		file->column = (struct query_columns){0};
	}
	while (sql_next(&reading->at, &token) && token.kind != SQL_END)
		;
	text = query_file_store_text(
	    file, first, (size_t)(reading->at - first) - (token.kind == SQL_END));
	fault = sql_find_fault(text, &what);
	if (fault)
		return error_set(reading->error,
				 "%s:%zu: %s; use the SQL that SQLite, DuckDB and Spark "
				 "share",
				 file->path, line_of(reading, first + (fault - text)),
				 what);
	reading->block->sql = sql_expand(text);
	reading->block->line = line_of(reading, first);
	return 0;
}

/* "stats top" as bits. */
static unsigned forms_of(const char *words)
{
	static const char *const names[] = {"stats", "top", "freq", "log"};
	unsigned forms = 0;

	for (size_t i = 0; words && i < 4; i++)
		forms |= query_words_have(words, names[i]) ? 1u << i : 0;
	return forms;
}

/* The file's name, "busy" of "dir/busy.sql", or what stands in its header. */
static int set_name(struct query_file *file, struct error *error)
{
	const char **name = &file->analysis.name;
	const char *slash = strrchr(file->path, '/');
	size_t length;

	if (*name)
		return !**name || **name == '-' ||
			       strspn(*name, SMALL "0123456789-_") != strlen(*name)
			   ? error_set(error,
				       "%s: name '%s', want one of small letters, "
				       "digits, - and _",
				       file->path, *name)
			   : 0;
	*name = slash ? slash + 1 : file->path;
	length = strlen(*name);
	length -= length > 4 && !strcmp(*name + length - 4, ".sql") ? 4 : 0;
	*name = query_file_store_text(file, *name, length);
	return 0;
}

/* What a file that says little is called. */
static void add_defaults(struct query_file *file)
{
	struct analysis *analysis = &file->analysis;
	AUTOFREE char *summary = mem_printf("the SELECT of %s", file->path);

	if (!analysis->summary)
		analysis->summary = query_file_store_text(file, summary, strlen(summary));
	if (!analysis->description)
		analysis->description = "";
	analysis->default_forms = forms_of(file->forms);
	if (analysis->groups)
		analysis->default_group = query_file_store_text(
		    file, analysis->groups, strcspn(analysis->groups, " "));
	for (size_t i = 0; i < file->blocks; i++)
		for (size_t k = 0; k < file->block[i].tables; k++) {
			struct query_table *table = &file->block[i].table[k];

			if (!table->key)
				table->key = analysis->name;
			if (!table->title)
				table->title = analysis->summary;
			table->forms = forms_of(table->form);
			if (file->block[i].kind == QUERY_TABLE)
				analysis->forms |= table->forms;
		}
}

/* Return true if the text starts with a character that DuckDB removes or takes for a
 * blank, also within quotes: the spaces and marks of Unicode. */
static bool is_foreign_blank(const char *text)
{
	static const char *const blanks[] = {"\xc2\xa0",     "\xe2\x80\xaf",
					     "\xe2\x81\x9f", "\xe2\x81\xa0",
					     "\xe3\x80\x80", "\xef\xbb\xbf"};

	for (size_t i = 0; i < sizeof(blanks) / sizeof(*blanks); i++)
		if (strncmp(text, blanks[i], strlen(blanks[i])) == 0)
			return true;
	return strncmp(text, "\xe2\x80", 2) == 0 && (unsigned char)text[2] >= 0x80 &&
	       (unsigned char)text[2] <= 0x8f;
}

/* Refuse control characters, which some readers of the text take for the end of a line,
 * and so of a comment, and blanks of Unicode. Return 0, or -1 with error. */
static int check_lines(const struct reading *reading)
{
	for (const char *byte = reading->text; *byte; byte++) {
		if ((unsigned char)*byte >= 0x80 && is_foreign_blank(byte))
			return error_set(reading->error,
					 "%s:%zu: a blank that is not ASCII",
					 reading->file->path, line_of(reading, byte));
		if (((unsigned char)*byte < ' ' && !strchr("\t\n\r", *byte)) ||
		    *byte == 0x7f || (*byte == '\r' && byte[1] != '\n'))
			return error_set(
			    reading->error, "%s:%zu: a control character (byte %d)",
			    reading->file->path, line_of(reading, byte), *byte);
	}
	return 0;
}

struct query_file *query_file_parse(const char *path, const char *text,
				    struct error *error)
{
	struct query_file *file = mem_zalloc(sizeof(*file));
	struct reading reading = {.file = file, .text = text, .at = text, .error = error};
	int status;

	file->path = query_file_store_text(file, path, strlen(path));
	status = check_lines(&reading);
	do {
		status = status || read_comments(&reading) ||
			 (*reading.at && read_statement(&reading));
	} while (!status && *reading.at);
	/* Comments behind the last statement may have begun another. */
	if (!status && (!file->blocks || !file->block[file->blocks - 1].sql))
		status =
		    error_set(error, "%s: %s", path,
			      file->blocks > 1 ? "no statement behind its last comments"
					       : "no statement, want one SELECT");
	if (status || set_name(file, error)) {
		query_file_free(file);
		return NULL;
	}
	add_defaults(file);
	return file;
}

struct query_file *query_file_read(const char *path, struct error *error)
{
	size_t size;
	AUTOFREE char *text =
	    file_read(path, MOST_MIB, "a file with one SELECT", &size, error);

	if (text && !memchr(text, '\0', size)) {
		output_protect(path);
		return query_file_parse(path, text, error);
	}
	if (text)
		error_set(error, "a byte 0, want a text");
	error_prefix(error, "%s", path);
	return NULL;
}

void query_file_clear(struct query_file *file)
{
	for (size_t i = 0; i < file->blocks; i++) {
		free(file->block[i].table);
		free(file->block[i].column.item);
		free(file->block[i].sql);
	}
	free(file->block);
	free(file->column.item);
	text_list_clear(&file->texts);
}

void query_file_free(struct query_file *file)
{
	if (file)
		query_file_clear(file);
	free(file);
}

const char *query_file_sql(const struct query_file *file, const char *relation)
{
	size_t i = 0;

	while (!file->block[i].name || strcmp(file->block[i].name, relation) != 0)
		i++;
	return file->block[i].sql;
}

bool query_file_names(const struct query_file *file, const char *word)
{
	for (size_t i = 0; i < file->blocks; i++)
		if (file->block[i].sql && sql_has(file->block[i].sql, word))
			return true;
	return false;
}

const struct result_column *query_file_column(const struct query_file *file,
					      const struct query_block *block,
					      const char *key)
{
	const struct query_columns *columns[] = {&block->column, &file->column,
						 &file->shared->column};

	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < columns[i]->count; k++)
			if (!strcmp(columns[i]->item[k].key, key))
				return &columns[i]->item[k];
	return NULL;
}
