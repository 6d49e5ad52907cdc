/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sorter.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "base/spill.h"

enum { AHEAD = 64 }; /* items of a run that are read at once */

/* A sorted run while it is merged. */
struct run {
	char *item; /* AHEAD of them */
	size_t at, count;
	uint64_t next, end; /* in the file, in items */
};

struct sorter {
	size_t size, most;
	sorter_compare_fn *compare;
	char *item;
	size_t count;
	struct spill spill;
	uint64_t spilled; /* items in the file; all runs but the last have `most` */
	bool is_sorted;
};

struct sorter *sorter_new(size_t size, size_t most, sorter_compare_fn *compare)
{
	struct sorter *sorter = mem_zalloc(sizeof(*sorter));

	sorter->size = size;
	sorter->most = most;
	sorter->compare = compare;
	sorter->spill.what = "to sort in";
	sorter->item = mem_alloc(size * most);
	return sorter;
}

static int spill_items(struct sorter *sorter, struct error *error)
{
	qsort(sorter->item, sorter->count, sorter->size, sorter->compare);
	if (spill_add(&sorter->spill, sorter->item, sorter->size * sorter->count, error))
		return -1;
	sorter->spilled += sorter->count;
	sorter->count = 0;
	return 0;
}

int sorter_add(struct sorter *sorter, const void *item, struct error *error)
{
	if (sorter->count == sorter->most && spill_items(sorter, error))
		return -1;
	memcpy(sorter->item + sorter->count++ * sorter->size, item, sorter->size);
	return 0;
}

/* Load the run's next items. Return 0, or -1 with error. */
static int load_items(const struct sorter *sorter, struct run *run, struct error *error)
{
	size_t want =
	    run->end - run->next < AHEAD ? (size_t)(run->end - run->next) : AHEAD;

	if (spill_read(&sorter->spill, run->next * sorter->size, run->item,
		       want * sorter->size, error))
		return -1;
	run->next += want;
	run->at = 0;
	run->count = want;
	return 0;
}

static const void *run_head(const struct sorter *sorter, const struct run *run)
{
	return run->item + run->at * sorter->size;
}

/* Move the first run to its place; the others are in the order of their next items. */
static void place_first(const struct sorter *sorter, struct run **run, size_t count)
{
	struct run *first = run[0];
	size_t before = PARTITION_POINT(
	    count - 1, i,
	    sorter->compare(run_head(sorter, run[i + 1]), run_head(sorter, first)) < 0);

	memmove(run, run + 1, before * sizeof(struct run *));
	run[before] = first;
}

static int merge_runs(const struct sorter *sorter, struct run **run, size_t count,
		      int (*on_item)(void *, const void *), void *context,
		      struct error *error)
{
	int status = 0;

	for (size_t i = count; i-- > 0;)
		place_first(sorter, run + i, count - i);
	while (count && !status) {
		struct run *first = run[0];

		status = on_item(context, run_head(sorter, first));
		if (++first->at == first->count && first->next < first->end && !status)
			status = load_items(sorter, first, error);
		if (first->at < first->count) {
			place_first(sorter, run, count);
		} else {
			run++;
			count--;
		}
	}
	return status;
}

static int each_of_runs(const struct sorter *sorter, int (*on_item)(void *, const void *),
			void *context, struct error *error)
{
	size_t runs = (size_t)((sorter->spilled + sorter->most - 1) / sorter->most);
	AUTOFREE struct run *run = mem_zalloc(runs * sizeof(*run));
	AUTOFREE struct run **order = mem_zalloc(runs * sizeof(struct run *));
	int status = 0;

	for (size_t i = 0; i < runs; i++) {
		order[i] = &run[i];
		run[i].item = mem_alloc(AHEAD * sorter->size);
		run[i].next = i * sorter->most;
		run[i].end = run[i].next + sorter->most;
		if (run[i].end > sorter->spilled)
			run[i].end = sorter->spilled;
	}
	for (size_t i = 0; i < runs && !status; i++)
		status = load_items(sorter, &run[i], error);
	if (!status)
		status = merge_runs(sorter, order, runs, on_item, context, error);
	for (size_t i = 0; i < runs; i++)
		free(run[i].item);
	return status;
}

int sorter_sort(struct sorter *sorter, struct error *error)
{
	if (sorter->is_sorted)
		return 0;
	if (sorter->spilled && sorter->count && spill_items(sorter, error))
		return -1;
	if (sorter->count)
		qsort(sorter->item, sorter->count, sorter->size, sorter->compare);
	sorter->is_sorted = true;
	return 0;
}

int sorter_each(struct sorter *sorter, int (*on_item)(void *context, const void *item),
		void *context, struct error *error)
{
	int status = 0;

	if (sorter_sort(sorter, error))
		return -1;
	if (sorter->spilled)
		return each_of_runs(sorter, on_item, context, error);
	for (size_t i = 0; i < sorter->count && !status; i++)
		status = on_item(context, sorter->item + i * sorter->size);
	return status;
}

void sorter_free(struct sorter *sorter)
{
	if (!sorter)
		return;
	spill_clear(&sorter->spill);
	free(sorter->item);
	free(sorter);
}
