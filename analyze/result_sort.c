/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "analyze/result_private.h"
#include "base/mem.h"
#include "base/natural.h"

/* Whether `word` is the key, or all of it but a unit behind it: "max" of "max_ns". */
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

int result_key_column(const struct result_table *table, const char *word)
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

void result_add_keys(struct result_table *table, const char *keys)
{
	for (const char *at = keys; *at;) {
		size_t length = strcspn(at, ",");
		char *word = mem_strndup(at, length);
		int column = result_key_column(table, word);

		if (column >= 0 &&
		    table->orders < sizeof(table->order) / sizeof(*table->order))
			table->order[table->orders++] = (struct result_key){
			    .column = (size_t)column, .falling = *word == '-'};
		free(word);
		at += length + (at[length] == ',');
	}
}

static double number(const struct cell *cell)
{
	return cell->type == CELL_REAL ? cell->real : (double)cell->integer;
}

/* Rank of a type: numbers before texts, as SQLite orders; nothing stands apart. */
static int rank(const struct cell *cell)
{
	return cell->type == CELL_NULL                              ? 0
	       : cell->type == CELL_TEXT || cell->type == CELL_BLOB ? 2
								    : 1;
}

/* Numbers within names go by their value: node2 before node10. */
static int compare_texts(const struct cell *a, const struct cell *b)
{
	int order = natural_compare(a->bytes, b->bytes);

	return order ? order : (a->size > b->size) - (a->size < b->size);
}

static int compare_cells(const struct cell *a, const struct cell *b)
{
	int order = rank(a) - rank(b);

	if (order || rank(a) == 0)
		return order;
	if (rank(a) == 2)
		return compare_texts(a, b);
	if (a->type == CELL_INTEGER && b->type == CELL_INTEGER)
		return (a->integer > b->integer) - (a->integer < b->integer);
	return (number(a) > number(b)) - (number(a) < number(b));
}

/* By the keys alone. */
static int compare_keys(const struct result_table *table, const struct cell *cells_a,
			const struct cell *cells_b)
{
	for (size_t i = 0; i < table->orders; i++) {
		const struct result_key *key = &table->order[i];
		const struct cell *x = &cells_a[key->column], *y = &cells_b[key->column];
		int order = compare_cells(x, y);

		/* What is not known stands last either way. */
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
	int order = compare_keys(table, &table->cell[row_a * table->columns],
				 &table->cell[row_b * table->columns]);

	return order ? order : (row_a > row_b) - (row_a < row_b);
}

bool result_is_behind(const struct result_table *table, const struct cell *cells)
{
	return compare_keys(table, &table->cell[(table->limit - 1) * table->columns],
			    cells) <= 0;
}

void result_sort_rows(struct result_table *table)
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
	table->room = table->rows;
	free(index);
}
