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

/* The state of parsing a file. */
struct file_parser {
	struct query_file *file;
	const char *text, *at;
	struct query_block *block; /* block of the next statement; or NULL */
	struct error *error;
};

/* A key in a comment: "KEY: VALUE", "KEY ARGUMENT: VALUE", "KEY NAME" or "KEY". */
struct key {
	const char *name;
	enum { VALUE, ARGUMENT, NAME, ALONE } shape;
	int (*set)(struct file_parser *file_parser, const struct key *key,
		   const char *argument, const char *value);
	enum { OF_FILE, OF_BLOCK, OF_TABLE } of;
	size_t target;     /* offset of the member for a string */
	const char *words; /* the valid words; or NULL */
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

/* A file with a single SELECT need not describe its table. */
static struct query_block *block_of(struct file_parser *file_parser)
{
	if (!file_parser->block) {
		file_parser->block = query_file_add(file_parser->file, QUERY_TABLE, NULL);
		add_table(file_parser->block, NULL, NULL);
	}
	return file_parser->block;
}

static struct query_table *table_of(struct file_parser *file_parser)
{
	struct query_block *block = block_of(file_parser);

	return &block->table[block->tables - 1];
}

/* Set a member of the file, the block or the table to a value. */
static int set_text(struct file_parser *file_parser, const struct key *key,
		    const char *argument, const char *value)
{
	void *object = key->of == OF_FILE    ? (void *)file_parser->file
		       : key->of == OF_BLOCK ? (void *)block_of(file_parser)
					     : (void *)table_of(file_parser);
	int status = 0;

	(void)argument;
	for (const char *at = value; key->words && *at && !status;
	     at += strspn(at, " ")) {
		AUTOFREE char *word = mem_strndup(at, strcspn(at, " "));

		if (!query_words_have(key->words, word))
			status =
			    error_set(file_parser->error, "invalid %s '%s' (expected %s)",
				      key->name, word, key->words);
		at += strlen(word);
	}
	*(const char **)(void *)((char *)object + key->target) = value;
	return status;
}

/* Before the first block, the description applies to the whole file. */
static int push_column(struct file_parser *file_parser, const char *key,
		       const char *title, const char *unit)
{
	struct query_columns *columns =
	    file_parser->block ? &file_parser->block->column : &file_parser->file->column;
	int found = unit_find(unit);

	if (found < 0)
		return error_set(
		    file_parser->error,
		    "unknown unit '%s' (expected text, id, count, ns, +-ns, epoch_ns, "
		    "bytes, bytes/s, 1/s, %%, ratio, ppm, Hz, number or of row)",
		    unit);
	*MEM_NEXT(columns->item, columns->count, columns->capacity) =
	    (struct result_column){key, title, (enum unit)found};
	return 0;
}

/* "column KEY: UNIT, TITLE" */
static int add_column(struct file_parser *file_parser, const struct key *key,
		      const char *column, const char *value)
{
	size_t length = strcspn(value, ",");
	const char *title = value[length] ? value + length + 1 : NULL;

	(void)key;
	return push_column(
	    file_parser, column,
	    title ? query_file_store_text(file_parser->file, title, strlen(title)) : NULL,
	    query_file_store_text(file_parser->file, value, length));
}

/* "unit NAME: KEY KEY ..." */
static int add_unit(struct file_parser *file_parser, const struct key *key,
		    const char *name, const char *value)
{
	int status = 0;

	(void)key;
	for (const char *at = value; !status && *at; at += strspn(at, " \n")) {
		size_t length = strcspn(at, " \n");

		status = push_column(file_parser,
				     query_file_store_text(file_parser->file, at, length),
				     NULL, name);
		at += length;
	}
	return status;
}

static int begin_block(struct file_parser *file_parser, const struct key *key,
		       const char *name, const char *title)
{
	bool is_table = key->kind == QUERY_TABLE;

	/* The name of a relation is written unquoted in SQL. */
	if (key->shape == NAME && isdigit((unsigned char)*name))
		return error_set(
		    file_parser->error,
		    "invalid name '%s' (expected small letters, digits and _)", name);
	if (!is_table || !file_parser->block || file_parser->block->kind != QUERY_TABLE)
		file_parser->block = query_file_add(file_parser->file, key->kind, name);
	add_table(file_parser->block, is_table ? name : NULL, is_table ? title : NULL);
	return 0;
}

static int set_limit(struct file_parser *file_parser, const struct key *key,
		     const char *argument, const char *value)
{
	int64_t *limit = &table_of(file_parser)->limit;

	(void)key;
	(void)argument;
	return number_integer(value, limit) || *limit < 0
		   ? error_set(file_parser->error,
			       "invalid limit '%s' (expected a number of rows)", value)
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

/* Find the key at the start of a comment, and set `length` to its length before the
 * value. Return NULL if there is none, with error if it looks like a misspelt one. */
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
		/* Without a value, other comments can begin with the same word: nothing
		 * else may follow. */
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

/* Read the value after a key, with its continuation lines, and advance `at`. */
static const char *read_value(struct file_parser *file_parser)
{
	struct query_file *file = file_parser->file;
	const char *value = "", *line;
	bool is_first = true;

	while (is_first || !strncmp(file_parser->at, "--  ", 4) ||
	       !strncmp(file_parser->at, "--\t", 3)) {
		size_t length;
		AUTOFREE char *whole = NULL;

		file_parser->at += is_first ? 0 : 2;
		length = strcspn(file_parser->at, "\n");
		line = query_file_store_text(file, file_parser->at, length);
		whole = mem_printf("%s%s%s", value, is_first ? "" : "\n", line);
		value = query_file_store_text(file, whole, strlen(whole));
		file_parser->at += length + (file_parser->at[length] == '\n');
		is_first = false;
	}
	return value;
}

/* Read one comment before a statement. */
static int read_comment(struct file_parser *file_parser)
{
	const char *text = file_parser->at + 2 + strspn(file_parser->at + 2, " "),
		   *argument;
	const struct key *key;
	size_t length = 0, name;

	error_clear(file_parser->error);
	key = find_key(text, &length, file_parser->error);
	if (!key) {
		length = strcspn(file_parser->at, "\n");
		file_parser->at += length + (file_parser->at[length] == '\n');
		return file_parser->error->text ? -1 : 0;
	}
	name = strlen(key->name);
	argument = query_file_store_text(file_parser->file, text + name, length - name);
	file_parser->at = text + length + (text[length] == ':');
	return key->set(file_parser, key, argument, read_value(file_parser));
}

static size_t line_of(const struct file_parser *file_parser, const char *at)
{
	size_t line = 1;

	for (const char *byte = file_parser->text; byte < at; byte++)
		line += *byte == '\n';
	return line;
}

/* Comments and empty lines up to the next statement. */
static int read_comments(struct file_parser *file_parser)
{
	file_parser->block = NULL;
	for (;;) {
		const char *line;

		file_parser->at += strspn(file_parser->at, " \t\r\n;");
		if (strncmp(file_parser->at, "--", 2) != 0)
			return 0;
		line = file_parser->at;
		if (read_comment(file_parser))
			return error_prefix(file_parser->error, "%s:%zu",
					    file_parser->file->path,
					    line_of(file_parser, line));
	}
}

/* Up to the semicolon, or the end. */
static int read_statement(struct file_parser *file_parser)
{
	const char *first = file_parser->at, *text, *fault, *what;
	struct sql_token token = {.kind = SQL_BLANK};
	struct query_file *file = file_parser->file;

	if (!file_parser->block && file->blocks)
		return error_set(file_parser->error,
				 "%s:%zu: a second statement; add a line '-- table NAME: "
				 "TITLE' before it",
				 file->path, line_of(file_parser, first));
	if (!file_parser->block) { /* what is said of columns is of this one */
		block_of(file_parser)->column = file->column;
		file->column = (struct query_columns){0};
	}
	while (sql_next(&file_parser->at, &token) && token.kind != SQL_END)
		;
	text = query_file_store_text(
	    file, first, (size_t)(file_parser->at - first) - (token.kind == SQL_END));
	fault = sql_find_fault(text, &what);
	if (fault)
		return error_set(file_parser->error,
				 "%s:%zu: %s; use the SQL that SQLite, DuckDB and Spark "
				 "share",
				 file->path, line_of(file_parser, first + (fault - text)),
				 what);
	file_parser->block->sql = sql_expand(text);
	file_parser->block->line = line_of(file_parser, first);
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

/* Set the name of the analysis from the header, or else from the file name: "busy" for
 * "dir/busy.sql". */
static int set_name(struct query_file *file, struct error *error)
{
	const char **name = &file->analysis.name;
	const char *slash = strrchr(file->path, '/');
	size_t length;

	if (*name)
		return !**name || **name == '-' ||
			       strspn(*name, SMALL "0123456789-_") != strlen(*name)
			   ? error_set(error,
				       "%s: invalid name '%s' (expected small letters, "
				       "digits, - and _)",
				       file->path, *name)
			   : 0;
	*name = slash ? slash + 1 : file->path;
	length = strlen(*name);
	length -= length > 4 && !strcmp(*name + length - 4, ".sql") ? 4 : 0;
	*name = query_file_store_text(file, *name, length);
	return 0;
}

/* Set names and titles that the file does not give. */
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

/* Return true if the text starts with a space or mark of Unicode that DuckDB removes or
 * treats as a blank, also within quotes. */
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

/* Refuse control characters, which can end a line, and so a comment, in some readers, and
 * blanks of Unicode. Return 0, or -1 with error. */
static int check_lines(const struct file_parser *file_parser)
{
	for (const char *byte = file_parser->text; *byte; byte++) {
		if ((unsigned char)*byte >= 0x80 && is_foreign_blank(byte))
			return error_set(
			    file_parser->error, "%s:%zu: a blank that is not ASCII",
			    file_parser->file->path, line_of(file_parser, byte));
		if (((unsigned char)*byte < ' ' && !strchr("\t\n\r", *byte)) ||
		    *byte == 0x7f || (*byte == '\r' && byte[1] != '\n'))
			return error_set(
			    file_parser->error, "%s:%zu: a control character (byte %d)",
			    file_parser->file->path, line_of(file_parser, byte), *byte);
	}
	return 0;
}

struct query_file *query_file_parse(const char *path, const char *text,
				    struct error *error)
{
	struct query_file *file = mem_zalloc(sizeof(*file));
	struct file_parser file_parser = {
	    .file = file, .text = text, .at = text, .error = error};
	int status;

	file->path = query_file_store_text(file, path, strlen(path));
	status = check_lines(&file_parser);
	do {
		status = status || read_comments(&file_parser) ||
			 (*file_parser.at && read_statement(&file_parser));
	} while (!status && *file_parser.at);
	/* Comments after the last statement may have started another block. */
	if (!status && (!file->blocks || !file->block[file->blocks - 1].sql))
		status =
		    error_set(error, "%s: %s", path,
			      file->blocks > 1 ? "no statement after its last comments"
					       : "no statement (expected a SELECT)");
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
		error_set(error, "contains a NUL byte (expected text)");
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
