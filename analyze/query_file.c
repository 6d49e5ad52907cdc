/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/query_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/query.h"
#include "analyze/query_text.h"
#include "base/mem.h"
#include "base/near.h"
#include "base/number.h"
#include "base/output.h"

enum { MOST_BYTES = 1 << 20 };

/* What a key says, and what its line looks like. */
enum key {
	KEY_NAME,
	KEY_SUMMARY,
	KEY_DESCRIPTION,
	KEY_EXAMPLE,
	KEY_GROUPS,
	KEY_FORMS,
	KEY_OPTIONS,
	KEY_RECORDS,
	KEY_NEEDS,
	KEY_TABLE,
	KEY_WITH,
	KEY_TEMPORARY,
	KEY_NOTES,
	KEY_INDEX,
	KEY_FORM,
	KEY_GROUP,
	KEY_WHEN,
	KEY_SORT,
	KEY_LIMIT,
	KEY_COLUMN,
	KEYS
};

static const char *const key_names[KEYS] = {
    "name",    "summary", "description", "example", "groups",    "forms", "options",
    "records", "needs",   "table",       "with",    "temporary", "notes", "index",
    "form",    "group",   "when",        "sort",    "limit",     "column"};

/* Where the file is read. */
struct reading {
	struct query_file *file;
	const char *text, *at;
	struct query_block
	    *block; /* that the next statement belongs to; NULL: none yet */
	struct error *error;
};

/* "KEY [ARGUMENT]: VALUE" of a comment. */
struct header_line {
	enum key key;
	char *argument, *value;
};

/* A text, bounded; what is no file is refused. NULL with error. */
static char *read_text(const char *path, struct error *error)
{
	struct stat about;
	FILE *file = NULL;
	char *text = NULL;
	size_t size;

	if (stat(path, &about) ||
	    (S_ISREG(about.st_mode) && !(file = fopen(path, "r")))) {
		error_errno(error, path);
		return NULL;
	}
	if (!file || about.st_size > MOST_BYTES) {
		error_set(error, "%s: %s, want a file with one SELECT", path,
			  file ? "more than 1 MiB" : "no file");
		if (file)
			fclose(file);
		return NULL;
	}
	output_protect(path);
	text = mem_zalloc((size_t)about.st_size + 1);
	size = fread(text, 1, (size_t)about.st_size, file);
	fclose(file);
	if (memchr(text, '\0', size)) {
		error_set(error, "%s: a byte 0, want a text", path);
		free(text);
		return NULL;
	}
	return text;
}

/* "busy" of "dir/busy.sql" */
static char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t length = strlen(name);

	if (length > 4 && !strcmp(name + length - 4, ".sql"))
		length -= 4;
	return mem_strndup(name, length);
}

static char *trimmed(const char *text, size_t length)
{
	while (length && isspace((unsigned char)*text)) {
		text++;
		length--;
	}
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	return mem_strndup(text, length);
}

static size_t line_of(const struct reading *reading, const char *at)
{
	size_t line = 1;

	for (const char *byte = reading->text; byte < at; byte++)
		line += *byte == '\n';
	return line;
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

static void set_text(char **target, const char *value)
{
	free(*target);
	*target = mem_strdup(value);
}

static struct query_block *add_block(struct reading *reading, enum query_kind kind,
				     const char *name)
{
	struct query_file *file = reading->file;

	file->block =
	    mem_grow(file->block, file->blocks, &file->block_room, sizeof(*file->block));
	reading->block = &file->block[file->blocks++];
	*reading->block =
	    (struct query_block){.kind = kind, .name = name ? mem_strdup(name) : NULL};
	return reading->block;
}

static struct query_table *add_table(struct query_block *block, const char *key,
				     const char *title)
{
	struct query_table *table;

	block->table = mem_grow(block->table, block->tables, &block->table_room,
				sizeof(*block->table));
	table = &block->table[block->tables++];
	*table = (struct query_table){.key = key ? mem_strdup(key) : NULL,
				      .title = title ? mem_strdup(title) : NULL};
	return table;
}

/* Of a file with one SELECT there is nothing said of its table. */
static struct query_block *block_of(struct reading *reading)
{
	if (!reading->block)
		add_table(add_block(reading, QUERY_TABLE, NULL), NULL, NULL);
	return reading->block;
}

/* "KEY" or "KEY [GROUP ...]": "UNIT, TITLE" */
static int add_column(struct reading *reading, const struct header_line *line)
{
	struct query_block *block = block_of(reading);
	const char *comma = strchr(line->value, ',');
	const char *groups = strchr(line->argument, '[');
	char *word = trimmed(line->value,
			     comma ? (size_t)(comma - line->value) : strlen(line->value));
	int unit = unit_find(word);
	struct query_column *column;

	if (unit < 0) {
		error_set(
		    reading->error,
		    "no unit '%s', want text, id, count, ns, +-ns, epoch_ns, bytes, "
		    "bytes/s, 1/s, %%, ratio, ppm, Hz, number or of row",
		    word);
		free(word);
		return -1;
	}
	free(word);
	block->column = mem_grow(block->column, block->columns, &block->column_room,
				 sizeof(*block->column));
	column = &block->column[block->columns++];
	*column = (struct query_column){
	    .key = trimmed(line->argument, groups ? (size_t)(groups - line->argument)
						  : strlen(line->argument)),
	    .groups = groups ? mem_strndup(groups + 1, strcspn(groups + 1, "]")) : NULL,
	    .unit = (enum unit)unit,
	};
	column->title =
	    comma ? trimmed(comma + 1, strlen(comma + 1)) : mem_strdup(column->key);
	return 0;
}

static int set_name(struct reading *reading, const char *value)
{
	if (!*value ||
	    strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-_") != strlen(value) ||
	    *value == '-')
		return error_set(reading->error,
				 "name '%s', want one of small letters, digits, - and _",
				 value);
	set_text(&reading->file->name, value);
	return 0;
}

static int set_forms(struct reading *reading, unsigned *forms, const char *value)
{
	static const char *const names[] = {"stats", "top", "freq", "log"};

	for (const char *at = value; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " "), i = 0;

		while (i < 4 &&
		       (strlen(names[i]) != length || strncmp(names[i], at, length) != 0))
			i++;
		if (i == 4)
			return error_set(reading->error,
					 "no form '%.*s', want stats, top, freq or log",
					 (int)length, at);
		*forms |= 1u << i;
		at += length;
	}
	return 0;
}

static void add_need(struct query_file *file, const char *what, const char *events)
{
	file->need =
	    mem_grow(file->need, file->needs, &file->need_room, sizeof(*file->need));
	file->need[file->needs++] =
	    (struct query_need){mem_strdup(what), mem_strdup(events)};
}

/* A name that stands unquoted in SQL. */
static bool is_plain(const char *name)
{
	return *name && !isdigit((unsigned char)*name) &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

static int begin_block(struct reading *reading, const struct header_line *line)
{
	static const enum query_kind kinds[KEYS] = {[KEY_WITH] = QUERY_WITH,
						    [KEY_TEMPORARY] = QUERY_TEMPORARY,
						    [KEY_NOTES] = QUERY_NOTES};

	if (line->key == KEY_TABLE) {
		if (!reading->block || reading->block->kind != QUERY_TABLE)
			add_block(reading, QUERY_TABLE, NULL);
		add_table(reading->block, line->argument, line->value);
		return 0;
	}
	if (line->key != KEY_NOTES && !is_plain(line->argument))
		return error_set(reading->error,
				 "name '%s', want one of small letters, digits and _",
				 line->argument);
	add_table(add_block(reading, kinds[line->key], line->argument), NULL, NULL);
	return 0;
}

/* What is said of the table that was named last. */
static int set_of_table(struct reading *reading, const struct header_line *line)
{
	struct query_block *block = block_of(reading);
	struct query_table *table = &block->table[block->tables - 1];

	switch (line->key) {
	case KEY_INDEX:
		set_text(&block->index, line->value);
		return 0;
	case KEY_FORM:
		return set_forms(reading, &table->forms, line->value);
	case KEY_GROUP:
		set_text(&table->groups, line->value);
		return 0;
	case KEY_WHEN:
		table->of_interval = true;
		return strcmp(line->value, "interval")
			   ? error_set(reading->error, "when '%s', want interval",
				       line->value)
			   : 0;
	case KEY_SORT:
		set_text(&table->sort, line->value);
		return 0;
	case KEY_LIMIT:
		return number_integer(line->value, &table->limit) || table->limit < 0
			   ? error_set(reading->error,
				       "limit '%s', want a number of rows", line->value)
			   : 0;
	default:
		return add_column(reading, line);
	}
}

static int set_key(struct reading *reading, const struct header_line *line)
{
	struct query_file *file = reading->file;

	switch (line->key) {
	case KEY_NAME:
		return set_name(reading, line->value);
	case KEY_SUMMARY:
		set_text(&file->summary, line->value);
		return 0;
	case KEY_DESCRIPTION:
		set_text(&file->description, line->value);
		return 0;
	case KEY_EXAMPLE:
		set_text(&file->example, line->value);
		return 0;
	case KEY_GROUPS:
		set_text(&file->groups, line->value);
		return 0;
	case KEY_FORMS:
		return set_forms(reading, &file->analysis.default_forms, line->value);
	case KEY_OPTIONS:
		set_text(&file->options, line->value);
		return 0;
	case KEY_RECORDS:
		file->of_kernels = true;
		return strcmp(line->value, "kernel")
			   ? error_set(reading->error, "records '%s', want kernel",
				       line->value)
			   : 0;
	case KEY_NEEDS:
		add_need(file, line->argument, line->value);
		return 0;
	case KEY_TABLE:
	case KEY_WITH:
	case KEY_TEMPORARY:
	case KEY_NOTES:
		return begin_block(reading, line);
	default:
		return set_of_table(reading, line);
	}
}

/* The key that a comment begins with, and how long it is; -1: none. A key with a value
 * has a colon, and `with NAME`, `temporary NAME` and `notes` stand alone. */
static int find_key(const struct reading *reading, const char *text, size_t *length,
		    struct error *error)
{
	size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz");
	size_t line = strcspn(text, "\n"), colon = strcspn(text, ":\n");
	char *key = mem_strndup(text, word);
	const char *near;
	int found = -1;

	for (int i = 0; i < KEYS; i++)
		if (!strcmp(key, key_names[i]))
			found = i;
	*length = colon;
	if (found == KEY_WITH || found == KEY_TEMPORARY || found == KEY_NOTES) {
		size_t name = word + strspn(text + word, " ");

		name += strspn(text + name, "abcdefghijklmnopqrstuvwxyz0123456789_");
		*length = name;
		if (name != line || (name == word) != (found == KEY_NOTES))
			found = -1;
	} else if (text[colon] != ':' ||
		   ((found == KEY_TABLE || found == KEY_COLUMN || found == KEY_NEEDS)
			? text[word] != ' '
			: colon != word)) {
		found = -1;
	}
	if (found < 0 && word && colon == word && text[colon] == ':') {
		near = near_find(key, key_names, KEYS);
		if (near)
			error_set(error, "no key '%s', did you mean '%s'?", key, near);
	}
	(void)reading;
	free(key);
	return found;
}

/* The value behind a key, with the lines that continue it; moves `at` behind them. */
static char *read_value(const char **at)
{
	size_t length = strcspn(*at, "\n");
	char *value = trimmed(*at, length);

	*at += length + ((*at)[length] == '\n');
	while (!strncmp(*at, "--  ", 4) || !strncmp(*at, "--\t", 3)) {
		char *more, *part;

		length = strcspn(*at, "\n");
		part = trimmed(*at + 2, length - 2);
		more = mem_printf("%s\n%s", value, part);
		free(part);
		free(value);
		value = more;
		*at += length + ((*at)[length] == '\n');
	}
	return value;
}

/* One comment that stands before a statement. */
static int read_comment(struct reading *reading)
{
	const char *text = reading->at + 2;
	struct header_line line = {.argument = NULL};
	struct error near = ERROR_INIT;
	size_t length;
	int key, status = -1;

	text += strspn(text, " ");
	key = find_key(reading, text, &length, &near);
	if (near.text) {
		error_set(reading->error, "%s", near.text);
		error_clear(&near);
		return -1;
	}
	if (key < 0) {
		length = strcspn(reading->at, "\n");
		reading->at += length + (reading->at[length] == '\n');
		return 0;
	}
	line.key = (enum key)key;
	line.argument =
	    trimmed(text + strlen(key_names[key]), length - strlen(key_names[key]));
	reading->at = text + length + (text[length] == ':');
	line.value = read_value(&reading->at);
	status = set_key(reading, &line);
	free(line.argument);
	free(line.value);
	return status;
}

/* Comments and empty lines up to the next statement. */
static int read_comments(struct reading *reading)
{
	reading->block = NULL;
	for (;;) {
		const char *line = reading->at;

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
	const char *first = reading->at;
	struct sql_token token = {.kind = SQL_BLANK};
	struct query_file *file = reading->file;

	if (!reading->block && file->blocks)
		return error_set(reading->error,
				 "%s:%zu: a second statement, want a line '-- table "
				 "NAME: TITLE' before it",
				 file->path, line_of(reading, first));
	block_of(reading);
	while (sql_next(&reading->at, &token) && token.kind != SQL_END)
		;
	reading->block->sql = trimmed(first, (size_t)(reading->at - first) -
						 (token.kind == SQL_END ? 1 : 0));
	reading->block->line = line_of(reading, first);
	return 0;
}

/* What a file that says little is called. */
static void add_defaults(struct query_file *file)
{
	if (!file->name)
		file->name = base_name(file->path);
	if (!file->summary)
		file->summary = mem_printf("the SELECT of %s", file->path);
	if (!file->description)
		file->description = mem_strdup("");
	for (size_t i = 0; i < file->blocks; i++)
		for (size_t k = 0; k < file->block[i].tables; k++) {
			struct query_table *table = &file->block[i].table[k];

			if (!table->key)
				table->key = mem_strdup(file->name);
			if (!table->title)
				table->title = mem_strdup(file->summary);
			if (file->block[i].kind == QUERY_TABLE)
				file->analysis.forms |= table->forms;
		}
}

struct query_file *query_file_parse(const char *path, const char *text,
				    struct error *error)
{
	struct query_file *file = mem_zalloc(sizeof(*file));
	struct reading reading = {.file = file, .text = text, .at = text, .error = error};

	file->path = mem_strdup(path);
	do {
		if (read_comments(&reading) ||
		    (*reading.at && read_statement(&reading))) {
			query_file_free(file);
			return NULL;
		}
	} while (*reading.at);
	/* Comments behind the last statement may have begun another. */
	while (file->blocks && !file->block[file->blocks - 1].sql && file->blocks > 1) {
		error_set(error, "%s: no statement behind its last comments", path);
		query_file_free(file);
		return NULL;
	}
	add_defaults(file);
	query_define(file);
	return file;
}

struct query_file *query_file_read(const char *path, struct error *error)
{
	char *text = read_text(path, error);
	struct query_file *file = text ? query_file_parse(path, text, error) : NULL;

	free(text);
	return file;
}

static void clear_block(struct query_block *block)
{
	for (size_t i = 0; i < block->tables; i++) {
		free(block->table[i].key);
		free(block->table[i].title);
		free(block->table[i].sort);
		free(block->table[i].groups);
	}
	for (size_t i = 0; i < block->columns; i++) {
		free(block->column[i].key);
		free(block->column[i].title);
		free(block->column[i].groups);
	}
	free(block->table);
	free(block->column);
	free(block->name);
	free(block->index);
	free(block->sql);
}

void query_file_free(struct query_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->blocks; i++)
		clear_block(&file->block[i]);
	for (size_t i = 0; i < file->needs; i++) {
		free(file->need[i].what);
		free(file->need[i].events);
	}
	free(file->block);
	free(file->need);
	free(file->path);
	free(file->name);
	free(file->summary);
	free(file->description);
	free(file->example);
	free(file->groups);
	free(file->options);
	free(file);
}

bool query_file_names(const struct query_file *file, const char *word)
{
	for (size_t i = 0; i < file->blocks; i++)
		if (file->block[i].sql && sql_has_word(file->block[i].sql, word))
			return true;
	return false;
}
