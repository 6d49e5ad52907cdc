/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/sorter.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
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
	FILE *spill;
	uint64_t spilled; /* items in the file; all runs but the last have `most` */
};

struct sorter *sorter_new(size_t size, size_t most, sorter_compare_fn *compare)
{
	struct sorter *sorter = mem_zalloc(sizeof(*sorter));

	sorter->size = size;
	sorter->most = most;
	sorter->compare = compare;
	sorter->item = mem_alloc(size * most);
	return sorter;
}

static int fail(struct error *error, const char *what)
{
	return error_set(error, "%s to sort in: %s", what, strerror(errno));
}

/* Merge sort keeps equal items in order: the C library's qsort need not. */
static void merge_halves(const struct sorter *sorter, char *to, const char *from,
			 size_t half, size_t count)
{
	size_t size = sorter->size, a = 0, b = half;

	while (a < half || b < count) {
		bool first =
		    b == count ||
		    (a < half && sorter->compare(from + a * size, from + b * size) <= 0);

		memcpy(to, from + (first ? a++ : b++) * size, size);
		to += size;
	}
}

static void sort(const struct sorter *sorter, char *item, size_t count, char *room)
{
	size_t half = count / 2;

	if (count < 2)
		return;
	sort(sorter, item, half, room);
	sort(sorter, item + half * sorter->size, count - half, room);
	memcpy(room, item, count * sorter->size);
	merge_halves(sorter, item, room, half, count);
}

static void sort_run(struct sorter *sorter)
{
	char *room = mem_alloc(sorter->count * sorter->size);

	sort(sorter, sorter->item, sorter->count, room);
	free(room);
}

static int spill(struct sorter *sorter, struct error *error)
{
	if (!sorter->spill && !(sorter->spill = spill_open()))
		return fail(error, "cannot make a temporary file");
	sort_run(sorter);
	if (fwrite(sorter->item, sorter->size, sorter->count, sorter->spill) !=
	    sorter->count)
		return fail(error, "cannot write the temporary file");
	sorter->spilled += sorter->count;
	sorter->count = 0;
	return 0;
}

int sorter_add(struct sorter *sorter, const void *item, struct error *error)
{
	if (sorter->count == sorter->most && spill(sorter, error))
		return -1;
	memcpy(sorter->item + sorter->count++ * sorter->size, item, sorter->size);
	return 0;
}

/* Have the run's next items in memory. 0, or -1 with error. */
static int fill(const struct sorter *sorter, struct run *run, struct error *error)
{
	size_t want =
	    run->end - run->next < AHEAD ? (size_t)(run->end - run->next) : AHEAD;
	size_t bytes = want * sorter->size;
	off_t from = (off_t)(run->next * sorter->size);

	errno = EIO; /* for a file that is shorter than it was */
	for (size_t have = 0; have < bytes;) {
		ssize_t got = pread(fileno(sorter->spill), run->item + have, bytes - have,
				    from + (off_t)have);

		if (got <= 0)
			return fail(error, "cannot read the temporary file");
		have += (size_t)got;
	}
	run->next += want;
	run->at = 0;
	run->count = want;
	return 0;
}

static const void *head(const struct sorter *sorter, const struct run *run)
{
	return run->item + run->at * sorter->size;
}

/* Of two runs the one whose item comes first; of equal ones the earlier run. */
static bool is_before(const struct sorter *sorter, const struct run *a,
		      const struct run *b)
{
	int order = sorter->compare(head(sorter, a), head(sorter, b));

	return order ? order < 0 : a < b;
}

/* Let the run at a place of the heap sink to where it belongs. */
static void sink(const struct sorter *sorter, struct run **heap, size_t count, size_t at)
{
	for (size_t least = at;; at = least) {
		struct run *run = heap[at];

		for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < count && is_before(sorter, heap[child], heap[least]))
				least = child;
		if (least == at)
			return;
		heap[at] = heap[least];
		heap[least] = run;
	}
}

static int merge(const struct sorter *sorter, struct run **heap, size_t count,
		 int (*give)(void *, const void *), void *context, struct error *error)
{
	int status = 0;

	for (size_t i = count; i-- > 0;)
		sink(sorter, heap, count, i);
	while (count && !status) {
		struct run *run = heap[0];

		status = give(context, head(sorter, run));
		if (!status && ++run->at == run->count) {
			if (run->next == run->end)
				heap[0] = heap[--count];
			else
				status = fill(sorter, run, error);
		}
		sink(sorter, heap, count, 0);
	}
	return status;
}

static int walk_runs(struct sorter *sorter, int (*give)(void *, const void *),
		     void *context, struct error *error)
{
	size_t runs = (size_t)((sorter->spilled + sorter->most - 1) / sorter->most);
	struct run *run = mem_zalloc(runs * sizeof(*run));
	struct run **heap = mem_zalloc(runs * sizeof(struct run *));
	int status = 0;

	if (fflush(sorter->spill))
		status = fail(error, "cannot write the temporary file");
	for (size_t i = 0; i < runs; i++) {
		heap[i] = &run[i];
		run[i].item = mem_alloc(AHEAD * sorter->size);
		run[i].next = i * sorter->most;
		run[i].end = run[i].next + sorter->most;
		if (run[i].end > sorter->spilled)
			run[i].end = sorter->spilled;
	}
	for (size_t i = 0; i < runs && !status; i++)
		status = fill(sorter, &run[i], error);
	if (!status)
		status = merge(sorter, heap, runs, give, context, error);
	for (size_t i = 0; i < runs; i++)
		free(run[i].item);
	free(run);
	free(heap);
	return status;
}

int sorter_walk(struct sorter *sorter, int (*give)(void *context, const void *item),
		void *context, struct error *error)
{
	int status = 0;

	if (sorter->spilled) {
		if (sorter->count && spill(sorter, error))
			return -1;
		return walk_runs(sorter, give, context, error);
	}
	sort_run(sorter);
	for (size_t i = 0; i < sorter->count && !status; i++)
		status = give(context, sorter->item + i * sorter->size);
	return status;
}

void sorter_free(struct sorter *sorter)
{
	if (!sorter)
		return;
	if (sorter->spill)
		fclose(sorter->spill);
	free(sorter->item);
	free(sorter);
}
