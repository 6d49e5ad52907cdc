/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/sql_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/print.h"
#include "base/mem.h"
#include "base/near.h"
#include "base/number.h"
#include "base/output.h"

enum { MOST_BYTES = 1 << 20 };

struct sql_file {
	struct analysis analysis;
	char *path, *text;
	char *name, *summary, *description, *sort;
	struct sql_column {
		char *key, *title;
		enum unit unit;
	} * column;
	size_t columns, room;
	int64_t limit;
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

/* "column KEY": "UNIT, TITLE" */
static int add_column(struct sql_file *file, const char *key, const char *value,
		      struct error *error)
{
	const char *comma = strchr(value, ',');
	char *word = trimmed(value, comma ? (size_t)(comma - value) : strlen(value));
	int unit = unit_find(word);
	struct sql_column *column;

	if (unit < 0) {
		error_set(
		    error,
		    "no unit '%s', want text, id, count, ns, +-ns, epoch_ns, bytes, "
		    "bytes/s, 1/s, %%, ratio, ppm, Hz or number",
		    word);
		free(word);
		return -1;
	}
	free(word);
	file->column =
	    mem_grow(file->column, file->columns, &file->room, sizeof(*file->column));
	column = &file->column[file->columns++];
	*column = (struct sql_column){
	    .key = mem_strdup(key),
	    .unit = (enum unit)unit,
	    .title = comma ? trimmed(comma + 1, strlen(comma + 1)) : mem_strdup(key),
	};
	return 0;
}

static void set_text(char **target, const char *value)
{
	free(*target);
	*target = mem_strdup(value);
}

static int set_name(struct sql_file *file, const char *value, struct error *error)
{
	if (!*value ||
	    strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-_") != strlen(value) ||
	    *value == '-')
		return error_set(error,
				 "name '%s', want one of small letters, digits, - and _",
				 value);
	set_text(&file->name, value);
	return 0;
}

static int set_key(struct sql_file *file, const char *key, const char *value,
		   struct error *error)
{
	static const char *const keys[] = {"name",   "summary", "description",
					   "column", "sort",    "limit"};
	const char *near;

	if (!strncmp(key, "column ", 7))
		return add_column(file, key + 7, value, error);
	if (!strcmp(key, "name"))
		return set_name(file, value, error);
	if (!strcmp(key, "limit"))
		return number_integer(value, &file->limit) || file->limit < 0
			   ? error_set(error, "limit '%s', want a number of rows", value)
			   : 0;
	if (!strcmp(key, "summary"))
		set_text(&file->summary, value);
	else if (!strcmp(key, "description"))
		set_text(&file->description, value);
	else if (!strcmp(key, "sort"))
		set_text(&file->sort, value);
	else {
		near = near_find(key, keys, sizeof(keys) / sizeof(*keys));
		return near ? error_set(error, "no key '%s', did you mean '%s'?", key,
					near)
			    : 0; /* a comment that has a colon */
	}
	return 0;
}

/* "summary: which programs": a key of letters, maybe with a column's name behind it. */
static size_t key_length(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz");

	if (length == 6 && !strncmp(text, "column ", 7))
		length += 1 + strcspn(text + 7, ": \n");
	return length && text[length] == ':' ? length : 0;
}

/* The value behind a key, with the lines that continue it; moves `at` behind them. */
static char *read_value(const char **at, size_t *line)
{
	size_t length = strcspn(*at, "\n");
	char *value = trimmed(*at, length);

	*at += length + ((*at)[length] == '\n');
	++*line;
	while (!strncmp(*at, "--  ", 4) || !strncmp(*at, "--\t", 3)) {
		char *more, *part;

		length = strcspn(*at, "\n");
		part = trimmed(*at + 2, length - 2);
		more = mem_printf("%s\n%s", value, part);
		free(part);
		free(value);
		value = more;
		*at += length + ((*at)[length] == '\n');
		++*line;
	}
	return value;
}

/* Comments at the begin; other lines than of KEY: VALUE are passed over. */
static int read_header(struct sql_file *file, struct error *error)
{
	const char *at = file->text;
	size_t line = 1;

	while (*at == '\n' || !strncmp(at, "--", 2)) {
		const char *text = at + (*at == '-' ? 2 : 0);
		size_t first = line, length;
		char *key, *value;
		int status;

		text += strspn(text, " ");
		length = key_length(text);
		if (!length) {
			length = strcspn(at, "\n");
			at += length + (at[length] == '\n');
			line++;
			continue;
		}
		key = mem_strndup(text, length);
		at = text + length + 1;
		value = read_value(&at, &line);
		status = set_key(file, key, value, error);
		free(key);
		free(value);
		if (status)
			return error_prefix(error, "%s:%zu", file->path, first);
	}
	return 0;
}

/* The value of a parameter; 0, or -1: there is no such. */
static int parameter_value(const struct question *question, const char *name,
			   const char *nodes, struct cell *value)
{
	const struct request *request = question->request;

	if (!name)
		return -1;
	if (!strcmp(name, ":begin_ns"))
		*value = cell_of_integer(question->scope.begin_ns);
	else if (!strcmp(name, ":end_ns"))
		*value = cell_of_integer(question->scope.end_ns);
	else if (!strcmp(name, ":nodes"))
		*value = cell_of_text(nodes);
	else if (!strcmp(name, ":min_ns"))
		*value = cell_of_integer(request->min_ns);
	else if (!strcmp(name, ":max_ns"))
		*value = cell_of_integer(request->max_ns);
	else if (!strcmp(name, ":interval_ns"))
		*value = cell_of_known(request->interval_ns, 0);
	else
		return -1;
	return 0;
}

/* The chosen nodes as a JSON array; for free(). */
static char *node_list(const struct scope *scope)
{
	char *text;
	size_t size;
	FILE *list = open_memstream(&text, &size);
	const char *between = "[";

	for (size_t i = 0; i < scope->nodes; i++) {
		if (!scope->node[i].chosen)
			continue;
		fputs(between, list);
		print_json_text(list, scope->node[i].name, strlen(scope->node[i].name));
		between = ",";
	}
	fputs(*between == '[' ? "[]" : "]", list);
	fclose(list);
	return text;
}

static int bind(struct timeline_query *query, const struct question *question,
		struct error *error)
{
	size_t count = timeline_query_parameters(query);
	struct cell *value = mem_zalloc((count + 1) * sizeof(*value));
	char *nodes = node_list(&question->scope);
	int status = 0;

	for (size_t i = 0; i < count && !status; i++) {
		const char *name = timeline_query_parameter(query, i);

		if (parameter_value(question, name, nodes, &value[i]))
			status = error_set(error,
					   "no parameter %s, want :begin_ns, :end_ns, "
					   ":nodes, :min_ns, :max_ns or :interval_ns",
					   name ? name : "?");
	}
	if (!status)
		status = timeline_query_ask(query, value, count, error);
	free(nodes);
	free(value);
	return status;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && !strcmp(text + length - tail, end);
}

/* Without a word on its column, a unit is taken from the name, or the first value. */
static enum unit guess_unit(const char *key, const struct cell *cell)
{
	if (cell && (cell->type == CELL_TEXT || cell->type == CELL_BLOB))
		return UNIT_TEXT;
	if (!strcmp(key, "ts_ns") || ends_with(key, "begin_ns") ||
	    ends_with(key, "end_ns") || ends_with(key, "at_ns"))
		return UNIT_INSTANT;
	if (ends_with(key, "_ns"))
		return UNIT_SPAN;
	if (ends_with(key, "bytes"))
		return UNIT_BYTES;
	if (ends_with(key, "percent"))
		return UNIT_PERCENT;
	return cell && cell->type == CELL_NULL ? UNIT_TEXT : UNIT_NUMBER;
}

/* `row` is the first one, NULL where there is none. */
static struct result_table *make_table(const struct sql_file *file,
				       struct timeline_query *query,
				       const struct cell *row, struct result *result)
{
	size_t count = timeline_query_columns(query);
	struct result_column *column = mem_zalloc((count + 1) * sizeof(*column));
	struct result_table *table;

	for (size_t i = 0; i < count; i++) {
		const char *key = timeline_query_name(query, i);

		column[i] = (struct result_column){key, key,
						   guess_unit(key, row ? &row[i] : NULL)};
		for (size_t k = 0; k < file->columns; k++)
			if (!strcmp(file->column[k].key, key)) {
				column[i].title = file->column[k].title;
				column[i].unit = file->column[k].unit;
			}
	}
	table = result_table_new(result, file->name, file->summary, column);
	if (file->sort)
		result_table_sort(table, file->sort);
	if (file->limit)
		result_table_limit(table, (size_t)file->limit);
	free(column);
	return table;
}

/* A column that the header names must come. */
static int check_columns(const struct sql_file *file, struct timeline_query *query,
			 struct error *error)
{
	for (size_t k = 0; k < file->columns; k++) {
		bool found = false;

		for (size_t i = 0; i < timeline_query_columns(query) && !found; i++)
			found =
			    !strcmp(timeline_query_name(query, i), file->column[k].key);
		if (!found)
			return error_set(error,
					 "the header has a column '%s' that the SELECT "
					 "has not",
					 file->column[k].key);
	}
	return 0;
}

static int fill(const struct sql_file *file, struct timeline_query *query,
		struct result *result, struct error *error)
{
	struct result_table *table = NULL;
	int more;

	while ((more = timeline_query_next(query, error)) > 0) {
		if (!table)
			table =
			    make_table(file, query, timeline_query_row(query), result);
		result_add(table, timeline_query_row(query));
	}
	if (!more && !table)
		make_table(file, query, NULL, result);
	return more;
}

/* "FILE:LINE: what": the line that byte `at` is in. */
static int error_at(const struct sql_file *file, long at, struct error *error)
{
	size_t line = 1;

	if (at < 0)
		return error_prefix(error, "%s", file->path);
	for (long i = 0; i < at && file->text[i]; i++)
		line += file->text[i] == '\n';
	return error_prefix(error, "%s:%zu", file->path, line);
}

static int run_sql(struct question *question, struct result *result, struct error *error)
{
	const struct sql_file *file = question->analysis->own;
	long at;
	struct timeline_query *query =
	    timeline_query_new_user(question->reader, file->text, &at, error);
	int status;

	if (!query)
		return error_at(file, at, error);
	status = check_columns(file, query, error) || bind(query, question, error) ||
		 fill(file, query, result, error);
	if (status)
		error_prefix(error, "%s", file->path);
	timeline_query_free(query);
	return status ? -1 : 0;
}

static unsigned heeds_of(const char *text)
{
	unsigned heeds = HEEDS_TABLES;

	if (strstr(text, ":begin_ns") || strstr(text, ":end_ns"))
		heeds |= HEEDS_SPAN_OF_TIME;
	if (strstr(text, ":nodes"))
		heeds |= HEEDS_NODES;
	if (strstr(text, ":min_ns") || strstr(text, ":max_ns"))
		heeds |= HEEDS_SPAN;
	if (strstr(text, ":interval_ns"))
		heeds |= HEEDS_INTERVAL;
	return heeds;
}

struct sql_file *sql_file_read(const char *path, struct error *error)
{
	char *text = read_text(path, error);
	struct sql_file *file;

	if (!text)
		return NULL;
	file = mem_zalloc(sizeof(*file));
	file->path = mem_strdup(path);
	file->text = text;
	if (read_header(file, error)) {
		sql_file_free(file);
		return NULL;
	}
	if (!file->name)
		file->name = base_name(path);
	if (!file->summary)
		file->summary = mem_printf("the SELECT of %s", path);
	if (!file->description)
		file->description = mem_strdup("");
	file->analysis = (struct analysis){
	    .name = file->name,
	    .summary = file->summary,
	    .description = file->description,
	    .heeds = heeds_of(text),
	    .run = run_sql,
	    .own = file,
	};
	return file;
}

const struct analysis *sql_file_analysis(const struct sql_file *file)
{
	return &file->analysis;
}

void sql_file_free(struct sql_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->columns; i++) {
		free(file->column[i].key);
		free(file->column[i].title);
	}
	free(file->column);
	free(file->path);
	free(file->text);
	free(file->name);
	free(file->summary);
	free(file->description);
	free(file->sort);
	free(file);
}
