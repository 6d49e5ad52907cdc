/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/message_groups.h"

#include <stdlib.h>

#include "base/mem.h"

static struct cell copy_of(const struct cell *cell)
{
	struct cell copy = *cell;

	if (cell->type == CELL_TEXT || cell->type == CELL_BLOB)
		copy.bytes = mem_strndup(cell->bytes, cell->size);
	return copy;
}

static void add_part(struct keys *keys, const struct cell *cell)
{
	if (cell->type == CELL_TEXT || cell->type == CELL_BLOB)
		keys_text(keys, cell->bytes, cell->size);
	else
		keys_integer(keys, cell->type == CELL_INTEGER ? cell->integer : -1);
}

static void build_key(struct grouping *grouping, const struct cell *head)
{
	keys_begin(&grouping->keys);
	for (size_t i = 0; i < grouping->heads; i++)
		add_part(&grouping->keys, &head[i]);
}

/* The group of these cells; the last one where there are too many. */
static struct group *get_group(struct grouping *grouping, const struct cell *head)
{
	size_t before = grouping->keys.count, at;

	build_key(grouping, head);
	if (before >= MOST_GROUPS) {
		at = keys_lookup(&grouping->keys);
		if (at == SIZE_MAX) {
			grouping->merged++;
			at = MOST_GROUPS - 1;
		}
		return &grouping->group[at];
	}
	at = keys_find(&grouping->keys);
	if (at < before)
		return &grouping->group[at];
	grouping->group =
	    mem_grow(grouping->group, at, &grouping->room, sizeof(*grouping->group));
	grouping->group[at] = (struct group){0};
	grouping->head = mem_grow(grouping->head, at, &grouping->head_room,
				  GROUP_HEAD * sizeof(*grouping->head));
	for (size_t i = 0; i < GROUP_HEAD; i++)
		grouping->head[at * GROUP_HEAD + i] =
		    i < grouping->heads ? copy_of(&head[i]) : cell_of_null();
	return &grouping->group[at];
}

void grouping_add(struct grouping *grouping, const struct cell *head,
		  const struct message_row *row)
{
	struct group *group = get_group(grouping, head);

	distribution_add(&group->latency, row->latency_ns);
	group->bytes += (uint64_t)row->size;
	group->negative += row->latency_ns < 0;
	if (row->bound.low_ns < group->bound.low_ns)
		group->bound.low_ns = row->bound.low_ns;
	if (row->bound.high_ns > group->bound.high_ns)
		group->bound.high_ns = row->bound.high_ns;
}

size_t grouping_find(struct grouping *grouping, const struct cell *head)
{
	build_key(grouping, head);
	return keys_lookup(&grouping->keys);
}

struct cell cell_of_side(nsec_t side)
{
	return side == NSEC_MIN || side == NSEC_MAX ? cell_of_null()
						    : cell_of_integer(side);
}

void group_cells(struct group *group, struct cell cells[GROUP_CELLS])
{
	struct distribution *latency = &group->latency;

	cells[0] = cell_of_integer((int64_t)latency->count);
	cells[1] = cell_of_integer((int64_t)group->bytes);
	cells[2] = cell_of_integer(latency->least);
	cells[3] = cell_of_real(latency->mean);
	cells[4] = cell_of_integer(distribution_percentile(latency, 0.5));
	cells[5] = cell_of_integer(distribution_percentile(latency, 0.95));
	cells[6] = cell_of_integer(distribution_percentile(latency, 0.99));
	cells[7] = cell_of_integer(latency->most);
	cells[8] = cell_of_side(bound_width(group->bound));
	cells[9] = cell_of_integer((int64_t)group->negative);
}

void grouping_print(struct grouping *grouping, const struct cell *before)
{
	struct cell cells[1 + GROUP_HEAD + GROUP_CELLS];
	size_t at = 0;

	if (before)
		cells[at++] = *before;
	for (size_t i = 0; i < grouping->keys.count; i++) {
		for (size_t k = 0; k < grouping->heads; k++)
			cells[at + k] = grouping->head[i * GROUP_HEAD + k];
		group_cells(&grouping->group[i], &cells[at + grouping->heads]);
		result_add(grouping->table, cells);
	}
}

void grouping_clear(struct grouping *grouping)
{
	struct grouping empty = {.table = grouping->table, .heads = grouping->heads};

	for (size_t i = 0; i < grouping->keys.count; i++) {
		distribution_clear(&grouping->group[i].latency);
		for (size_t k = 0; k < GROUP_HEAD; k++)
			if (grouping->head[i * GROUP_HEAD + k].type >= CELL_TEXT)
				free((char *)grouping->head[i * GROUP_HEAD + k].bytes);
	}
	keys_clear(&grouping->keys);
	free(grouping->group);
	free(grouping->head);
	*grouping = empty;
}
