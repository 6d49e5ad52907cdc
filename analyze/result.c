/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/result.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

#include "analyze/result_private.h"
#include "base/mem.h"
#include "base/near.h"

void result_init(struct result *result, const struct request *request)
{
	*result = (struct result){.request = request, .zone = zone_at(false, 0)};
}

static const char *const unit_names[UNIT_COUNT_OF] = {
    [UNIT_TEXT] = "",         [UNIT_ID] = "id",
    [UNIT_COUNT] = "count",   [UNIT_SPAN] = "ns",
    [UNIT_BOUND] = "+-ns",    [UNIT_INSTANT] = "epoch_ns",
    [UNIT_BYTES] = "bytes",   [UNIT_BYTE_RATE] = "bytes/s",
    [UNIT_RATE] = "1/s",      [UNIT_PERCENT] = "%",
    [UNIT_RATIO] = "ratio",   [UNIT_PPM] = "ppm",
    [UNIT_HERTZ] = "Hz",      [UNIT_NUMBER] = "number",
    [UNIT_OF_ROW] = "of row",
};

const char *unit_name(enum unit unit)
{
	return unit_names[unit];
}

int unit_find(const char *name)
{
	for (int i = 0; i < UNIT_COUNT_OF; i++)
		if (!strcmp(name, unit_names[i]) ||
		    (!*unit_names[i] && !strcmp(name, "text")))
			return i;
	return -1;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && !strcmp(text + length - tail, end);
}

enum unit unit_guess(const char *key, const struct cell *cell)
{
	if (cell && (cell->type == CELL_TEXT || cell->type == CELL_BLOB))
		return UNIT_TEXT;
	if (!strcmp(key, "ts_ns") || ends_with(key, "begin_ns") ||
	    ends_with(key, "end_ns") || ends_with(key, "at_ns"))
		return UNIT_INSTANT;
	if (ends_with(key, "bound_ns"))
		return UNIT_BOUND;
	if (ends_with(key, "_ns"))
		return UNIT_SPAN;
	if (ends_with(key, "bytes"))
		return UNIT_BYTES;
	if (ends_with(key, "percent"))
		return UNIT_PERCENT;
	return cell && cell->type == CELL_NULL ? UNIT_TEXT : UNIT_NUMBER;
}

char *result_title(const char *key)
{
	static const char *const units[] = {"_ns", "_bytes", "_percent", "_ppm",
					    "_hertz"};
	size_t length = strlen(key);
	char *title;

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (ends_with(key, units[i])) {
			length -= strlen(units[i]);
			break;
		}
	title = mem_strndup(key, length);
	for (char *at = title; *at; at++)
		*at = (char)(*at == '_' ? ' ' : toupper((unsigned char)*at));
	return title;
}

struct result_table *result_table_new(struct result *result, const char *key,
				      const char *title,
				      const struct result_column *columns)
{
	struct result_table *table = mem_zalloc(sizeof(*table));

	while (columns[table->columns].key)
		table->columns++;
	table->key = mem_strdup(key);
	table->title = mem_strdup(title);
	table->column = mem_zalloc((table->columns + 1) * sizeof(*table->column));
	for (size_t i = 0; i < table->columns; i++)
		table->column[i] = (struct result_column){
		    .key = mem_strdup(columns[i].key),
		    .title = columns[i].title ? mem_strdup(columns[i].title)
					      : result_title(columns[i].key),
		    .unit = columns[i].unit};
	if (result->request && result->request->limit_given > 0)
		table->limit = (size_t)result->request->limit_given;
	table->limit_is_asked = result->request && result->request->limit_given >= 0;
	if (result->request && result->request->sort) {
		result_add_keys(table, result->request->sort);
		table->own_orders = table->orders;
	}
	result->table = mem_grow(result->table, result->tables, &result->table_room,
				 sizeof(*result->table));
	result->table[result->tables++] = table;
	return table;
}

void result_table_sort(struct result_table *table, const char *keys)
{
	result_add_keys(table, keys);
}

void result_table_limit(struct result_table *table, size_t rows)
{
	if (!table->limit_is_asked)
		table->limit = rows;
}

static void free_row(const struct result_table *table, struct cell *row)
{
	for (size_t i = 0; i < table->columns; i++)
		if (row[i].type == CELL_TEXT || row[i].type == CELL_BLOB)
			free((char *)row[i].bytes);
}

/* Rows behind the limit go away. */
static void cut(struct result_table *table)
{
	for (size_t i = table->limit; i < table->rows; i++)
		free_row(table, &table->cell[i * table->columns]);
	table->rows = table->limit;
}

void result_add(struct result_table *table, const struct cell *cells)
{
	struct cell *row;

	table->added++;
	if (table->limit && !table->orders && table->rows == table->limit)
		return;
	/* Twice the limit, so that sorting is paid once a limit of rows. */
	if (table->limit && table->rows >= 2 * table->limit && table->rows >= 64) {
		result_sort_rows(table);
		cut(table);
		table->is_cut = true;
	}
	if (table->is_cut && result_is_behind(table, cells))
		return;
	if (table->rows == table->room) {
		table->room = table->room ? 2 * table->room : 16;
		table->cell = mem_realloc(table->cell, table->room,
					  table->columns * sizeof(*table->cell));
	}
	row = &table->cell[table->rows++ * table->columns];
	memcpy(row, cells, table->columns * sizeof(*row));
	for (size_t i = 0; i < table->columns; i++)
		if (row[i].type == CELL_TEXT || row[i].type == CELL_BLOB) {
			char *copy = mem_alloc((size_t)row[i].size + 1);

			memcpy(copy, row[i].bytes, row[i].size);
			copy[row[i].size] = '\0';
			row[i].bytes = copy;
		}
}

void result_note(struct result *result, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = mem_vprintf(format, arguments);
	va_end(arguments);
	for (size_t i = 0; i < result->notes.count; i++)
		if (!strcmp(result->notes.item[i], text)) {
			free(text);
			return;
		}
	text_list_add(&result->notes, text);
	free(text);
}

void result_missing(struct result *result, const char *what, const char *events)
{
	result_note(result, "%s: not recorded (enable %s)", what, events);
}

struct result_table *result_find(const struct result *result, const char *key)
{
	for (size_t i = 0; i < result->tables; i++)
		if (!strcmp(result->table[i]->key, key))
			return result->table[i];
	return NULL;
}

/* "no table 'cpuz', did you mean 'cpus'?" and what else has names. */
static int no_such(const char *option, const char *word, const char *const *names,
		   size_t count, struct error *error)
{
	const char *near = near_find(word, names, count);
	char *all = mem_strdup("");

	if (near)
		error_misuse(error, "--%s: no %s '%s', did you mean '%s'?", option,
			     strcmp(option, "sort") ? option : "column", word, near);
	else {
		for (size_t i = 0; i < count; i++) {
			char *more = mem_printf("%s%s%s", all, i ? ", " : "", names[i]);

			free(all);
			all = more;
		}
		error_misuse(error, "--%s: no %s '%s', want one of %s", option,
			     strcmp(option, "sort") ? option : "column", word, all);
	}
	free(all);
	return -1;
}

static int check_table(const struct result *result, const char *word, struct error *error)
{
	const char **names;
	int status;

	if (result_find(result, word))
		return 0;
	names = mem_zalloc((result->tables + 1) * sizeof(*names));
	for (size_t i = 0; i < result->tables; i++)
		names[i] = result->table[i]->key;
	status = no_such("table", word, names, result->tables, error);
	free(names);
	return status;
}

static bool is_among(const char *word, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], word))
			return true;
	return false;
}

static int no_column(const struct result *result, const char *word, struct error *error)
{
	const char **names = NULL;
	size_t count = 0, room = 0;

	for (size_t i = 0; i < result->tables; i++)
		for (size_t k = 0; k < result->table[i]->columns; k++) {
			const char *key = result->table[i]->column[k].key;

			if (is_among(key, names, count))
				continue;
			names = mem_grow(names, count, &room, sizeof(*names));
			names[count++] = key;
		}
	no_such("sort", word, names, count, error);
	free(names);
	return -1;
}

/* Each column of --sort is in some table. */
static int check_sort(const struct result *result, const char *keys, struct error *error)
{
	int status = 0;

	for (const char *at = keys; *at && !status;) {
		size_t length = strcspn(at, ",");
		char *word = mem_strndup(at, length);
		bool found = false;

		for (size_t i = 0; i < result->tables && !found; i++)
			found = result_key_column(result->table[i], word) >= 0;
		if (!found)
			status = no_column(result, word + (*word == '-'), error);
		free(word);
		at += length + (at[length] == ',');
	}
	return status;
}

int result_finish(struct result *result, struct error *error)
{
	const struct request *request = result->request;

	/* Where nothing was recorded there may be no table to name. */
	if (result->tables && request &&
	    ((request->table && check_table(result, request->table, error)) ||
	     (request->sort && check_sort(result, request->sort, error))))
		return -1;
	for (size_t i = 0; i < result->tables; i++) {
		struct result_table *table = result->table[i];

		result_sort_rows(table);
		if (table->limit && table->rows > table->limit)
			cut(table);
	}
	return 0;
}

static void table_free(struct result_table *table)
{
	for (size_t i = 0; i < table->rows; i++)
		free_row(table, &table->cell[i * table->columns]);
	for (size_t i = 0; i < table->columns; i++) {
		free((char *)table->column[i].key);
		free((char *)table->column[i].title);
	}
	free(table->cell);
	free(table->column);
	free(table->key);
	free(table->title);
	free(table);
}

void result_clear(struct result *result)
{
	for (size_t i = 0; i < result->tables; i++)
		table_free(result->table[i]);
	free(result->table);
	text_list_clear(&result->notes);
	free(result->document);
	*result = (struct result){.request = result->request};
}
