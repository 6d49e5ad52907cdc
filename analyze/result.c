/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/result.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/names.h"
#include "base/order.h"

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

/* Return true if `word` is the key, with or without its unit: "max" for "max_ns". */
static bool is_key(const char *key, const char *word)
{
	static const char *const units[] = {"",         "_ns",         "_bytes",
					    "_percent", "_per_second", "_ppm"};
	size_t length = strlen(word);

	if (strncmp(key, word, length))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(key + length, units[i]))
			return true;
	return false;
}

/* Return the column that a word of --sort names: "-max_ns", "max_ns", or "max" without
 * the unit. Return -1 if there is none. */
static int key_column(const struct result_table *table, const char *word)
{
	if (*word == '-')
		word++;
	for (size_t i = 0; i < table->columns; i++)
		if (!strcmp(table->column[i].key, word))
			return (int)i;
	for (size_t i = 0; i < table->columns; i++)
		if (is_key(table->column[i].key, word))
			return (int)i;
	return -1;
}

/* Add keys such as "-sum_ns,node" to the order. Skip unknown columns. */
static void add_keys(struct result_table *table, const char *keys)
{
	for (const char *at = keys; *at;) {
		size_t length = strcspn(at, ",");
		AUTOFREE char *word = mem_strndup(at, length);
		int column = key_column(table, word);

		if (column >= 0 &&
		    table->orders < sizeof(table->order) / sizeof(*table->order))
			table->order[table->orders++] = (struct result_key){
			    .column = (size_t)column, .falling = *word == '-'};
		at += length + (at[length] == ',');
	}
}

/* Rank of a type: numbers before texts, as in SQLite; NULL is 0. */
static int type_rank(const struct cell *cell)
{
	return cell->type == CELL_NULL                              ? 0
	       : cell->type == CELL_TEXT || cell->type == CELL_BLOB ? 2
								    : 1;
}

/* Numbers within names go by their value: node2 before node10. */
static int compare_texts(const struct cell *a, const struct cell *b)
{
	return strverscmp(a->bytes, b->bytes) ?: COMPARE(a->size, b->size);
}

static int compare_cells(const struct cell *a, const struct cell *b)
{
	int order = type_rank(a) - type_rank(b);

	if (order || type_rank(a) == 0)
		return order;
	if (type_rank(a) == 2)
		return compare_texts(a, b);
	if (a->type == CELL_INTEGER && b->type == CELL_INTEGER)
		return COMPARE(a->integer, b->integer);
	return COMPARE(cell_number(a), cell_number(b));
}

static int compare_keys(const struct result_table *table, const struct cell *cells_a,
			const struct cell *cells_b)
{
	for (size_t i = 0; i < table->orders; i++) {
		const struct result_key *key = &table->order[i];
		const struct cell *x = &cells_a[key->column], *y = &cells_b[key->column];
		int order = compare_cells(x, y);

		/* NULL sorts last in either direction. */
		if ((x->type == CELL_NULL) != (y->type == CELL_NULL))
			return -order;
		if (order)
			return key->falling ? -order : order;
	}
	return 0;
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct result_table *table = context;
	size_t row_a = *(const size_t *)a, row_b = *(const size_t *)b;

	return compare_keys(table, &table->cell[row_a * table->columns],
			    &table->cell[row_b * table->columns])
		   ?: COMPARE(row_a, row_b);
}

/* Return true if a new row sorts after the last row within the limit. The first rows must
 * be sorted and apply_limit. */
static bool is_beyond_limit(const struct result_table *table, const struct cell *cells)
{
	return compare_keys(table, &table->cell[(table->limit - 1) * table->columns],
			    cells) <= 0;
}

/* Sort the rows. Equal rows keep their order. */
static void sort_rows(struct result_table *table)
{
	size_t *index, width = table->columns * sizeof(*table->cell);
	struct cell *sorted;

	if (!table->orders || table->rows < 2)
		return;
	index = mem_alloc(table->rows * sizeof(*index));
	for (size_t i = 0; i < table->rows; i++)
		index[i] = i;
	qsort_r(index, table->rows, sizeof(*index), compare_rows, table);
	sorted = mem_alloc(table->rows * width);
	for (size_t i = 0; i < table->rows; i++)
		memcpy(&sorted[i * table->columns],
		       &table->cell[index[i] * table->columns], width);
	free(table->cell);
	table->cell = sorted;
	table->capacity = table->rows;
	free(index);
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
	if (result->request && result->request->sort)
		add_keys(table, result->request->sort);
	*MEM_NEXT(result->table, result->tables, result->table_capacity) = table;
	return table;
}

void result_table_sort(struct result_table *table, const char *keys)
{
	add_keys(table, keys);
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

/* Remove the rows beyond the limit. */
static void apply_limit(struct result_table *table)
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
		sort_rows(table);
		apply_limit(table);
		table->is_cut = true;
	}
	if (table->is_cut && is_beyond_limit(table, cells))
		return;
	if (table->rows == table->capacity) {
		table->capacity = table->capacity ? 2 * table->capacity : 16;
		table->cell = mem_realloc(table->cell, table->capacity,
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
	AUTOFREE char *text = MEM_VPRINTF(format);

	if (!text_list_has(&result->notes, text))
		text_list_add(&result->notes, text);
}

enum unit result_unit(const struct result_table *table, size_t row, size_t column)
{
	const struct cell *cells = &table->cell[row * table->columns];
	enum unit unit = table->column[column].unit;
	int found = -1;

	for (size_t i = 0; unit == UNIT_OF_ROW && i < table->columns; i++)
		if (!strcmp(table->column[i].key, "unit") && cells[i].type == CELL_TEXT)
			found = unit_find(cells[i].bytes);
	return unit != UNIT_OF_ROW ? unit : found < 0 ? UNIT_NUMBER : (enum unit)found;
}

struct result_table *result_find(const struct result *result, const char *key)
{
	for (size_t i = 0; i < result->tables; i++)
		if (!strcmp(result->table[i]->key, key))
			return result->table[i];
	return NULL;
}

/* Set a misuse error for a word that is not one of the names, and clear the names. */
static int no_such(const char *option, const char *what, const char *word,
		   struct text_list *names, struct error *error)
{
	AUTOFREE char *where = mem_printf("--%s: unknown %s", option, what);

	error_unknown_word(error, where, word, (const char *const *)names->item,
			   names->count, NULL);
	text_list_clear(names);
	return -1;
}

static int check_table(const struct result *result, const char *word, struct error *error)
{
	struct text_list names = {0};

	if (result_find(result, word))
		return 0;
	for (size_t i = 0; i < result->tables; i++)
		text_list_add(&names, result->table[i]->key);
	return no_such("table", "table", word, &names, error);
}

static int check_column(const struct result *result, const char *word,
			struct error *error)
{
	struct text_list names = {0};

	for (size_t i = 0; i < result->tables; i++)
		if (key_column(result->table[i], word) >= 0)
			return 0;
	for (size_t i = 0; i < result->tables; i++)
		for (size_t k = 0; k < result->table[i]->columns; k++)
			if (!text_list_has(&names, result->table[i]->column[k].key))
				text_list_add(&names, result->table[i]->column[k].key);
	return no_such("sort", "column", word + (*word == '-'), &names, error);
}

/* Each column of --sort is in some table. */
static int check_sort(const struct result *result, const char *keys, struct error *error)
{
	int status = 0;

	for (const char *at = keys; *at && !status;) {
		size_t length = strcspn(at, ",");
		AUTOFREE char *word = mem_strndup(at, length);

		status = check_column(result, word, error);
		at += length + (at[length] == ',');
	}
	return status;
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

int result_finish(struct result *result, struct error *error)
{
	const struct request *request = result->request;
	size_t tables = 0;

	/* If nothing was recorded, the table that an option names may be missing. */
	if (result->tables && request &&
	    ((request->table && check_table(result, request->table, error)) ||
	     (request->sort && check_sort(result, request->sort, error))))
		return -1;
	for (size_t i = 0; i < result->tables; i++) {
		struct result_table *table = result->table[i];

		if (request && request->table &&
		    strcmp(request->table, table->key) != 0) {
			table_free(table);
			continue;
		}
		sort_rows(table);
		if (table->limit && table->rows > table->limit)
			apply_limit(table);
		result->table[tables++] = table;
	}
	result->tables = tables;
	return 0;
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
