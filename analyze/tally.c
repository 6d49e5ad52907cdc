/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/tally.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/request.h"
#include "base/mem.h"

static void add_part(struct keys *keys, const struct cell *cell)
{
	if (cell->type == CELL_TEXT) {
		keys_text(keys, cell->bytes, cell->size);
	} else {
		keys_integer(keys, cell->type);
		keys_integer(keys, cell->type == CELL_INTEGER ? cell->integer : 0);
	}
}

static struct cell copy_of(const struct cell *cell)
{
	struct cell copy = *cell;

	if (cell->type == CELL_TEXT)
		copy.bytes = mem_strndup(cell->size ? cell->bytes : "", cell->size);
	return copy;
}

struct tally_group *tally_group(struct tally *tally, const struct cell *head)
{
	static const struct cell nobody[TALLY_HEAD];
	struct tally_group *group;
	size_t at;

	keys_begin(&tally->keys);
	for (size_t i = 0; i < tally->heads; i++)
		add_part(&tally->keys, &head[i]);
	at = tally->count < TALLY_MOST ? keys_find(&tally->keys)
				       : keys_lookup(&tally->keys);
	if (at == SIZE_MAX) { /* the last group is everybody else's */
		at = TALLY_MOST;
		head = nobody;
	}
	if (at < tally->count)
		return &tally->group[at];
	tally->group =
	    mem_grow(tally->group, tally->count, &tally->room, sizeof(*tally->group));
	group = &tally->group[tally->count++];
	memset(group, 0, sizeof(*group));
	for (size_t i = 0; i < tally->heads; i++)
		group->head[i] = copy_of(&head[i]);
	return group;
}

void tally_cells(struct distribution *spans, struct cell cells[TALLY_CELLS])
{
	bool any = spans->count > 0;
	__int128 most = INT64_MAX;

	cells[0] = cell_of_integer((int64_t)spans->count);
	for (size_t i = 1; i < TALLY_CELLS; i++)
		cells[i] = cell_of_null();
	if (!any)
		return;
	cells[1] = cell_of_integer(spans->least);
	cells[2] = cell_of_integer((int64_t)(spans->sum / (__int128)spans->count));
	cells[3] = cell_of_integer(distribution_percentile(spans, 0.5));
	cells[4] = cell_of_integer(distribution_percentile(spans, 0.95));
	cells[5] = cell_of_integer(distribution_percentile(spans, 0.99));
	cells[6] = cell_of_integer(spans->most);
	cells[7] = cell_of_integer((int64_t)(spans->sum < most ? spans->sum : most));
}

void tally_print(struct tally *tally, struct result_table *table)
{
	for (size_t i = 0; i < tally->count; i++) {
		struct cell cells[TALLY_HEAD + TALLY_CELLS];

		memcpy(cells, tally->group[i].head, tally->heads * sizeof(*cells));
		tally_cells(&tally->group[i].spans, cells + tally->heads);
		result_add(table, cells);
	}
}

void tally_print_bins(struct tally *tally, struct result *result, const char *what)
{
	static const struct result_column columns[] = {
	    {"from_ns", "FROM", UNIT_SPAN},
	    {"to_ns", "BEFORE", UNIT_SPAN},
	    {"count", "COUNT", UNIT_COUNT},
	    {"percent", "SHARE", UNIT_PERCENT},
	    {NULL, NULL, 0},
	};
	struct distribution all = {0};
	struct result_table *table;
	char *title = mem_printf("How often how long: %s", what);
	int64_t from, to;
	uint64_t count;

	for (size_t i = 0; i < tally->count; i++)
		distribution_merge(&all, &tally->group[i].spans);
	table = result_table_new(result, "freq", title, columns);
	for (size_t n = 0; distribution_bin(&all, n, &from, &to, &count); n++)
		if (count)
			result_add(table, (struct cell[]){
					      cell_of_integer(from),
					      cell_of_integer(to),
					      cell_of_integer((int64_t)count),
					      cell_of_real(100.0 * (double)count /
							   (double)all.count),
					  });
	free(title);
	distribution_clear(&all);
}

void tally_lists_begin(struct tally_lists *lists, unsigned forms, struct result *result,
		       const struct tally_lists_form *form)
{
	if (forms & FORM_TOP) {
		lists->top = result_table_new(result, "top", form->top, form->columns);
		result_table_sort(lists->top, form->top_order);
		result_table_limit(lists->top, 10);
	}
	if (forms & FORM_LOG) {
		lists->log = result_table_new(result, "log", form->log, form->columns);
		result_table_limit(lists->log, 0);
	}
}

void tally_lists_last(const struct tally_lists *lists, struct result *result)
{
	size_t count = (size_t)(lists->top != NULL) + (size_t)(lists->log != NULL);

	while (count-- > 0) {
		struct result_table *first = result->table[0];

		memmove(result->table, result->table + 1,
			(result->tables - 1) * sizeof(*result->table));
		result->table[result->tables - 1] = first;
	}
}

void tally_clear(struct tally *tally)
{
	for (size_t i = 0; i < tally->count; i++) {
		for (size_t k = 0; k < TALLY_HEAD; k++)
			if (tally->group[i].head[k].type == CELL_TEXT)
				free((char *)tally->group[i].head[k].bytes);
		distribution_clear(&tally->group[i].spans);
	}
	free(tally->group);
	keys_clear(&tally->keys);
	*tally = (struct tally){.heads = tally->heads};
}
