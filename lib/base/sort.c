/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { NEAR = 8 }; /* places by which an element is moved back within a run */

typedef int compare_fn(const void *, const void *);

/* Ascending runs of elements: run k is from start[k] to start[k + 1]. */
struct runs {
	size_t *start;
	size_t count, capacity;
};

/* Insert each element into the run before it, or begin a run if that is too far. */
static void find_runs(char *item, size_t n, size_t size, compare_fn *compare,
		      struct runs *runs)
{
	AUTOFREE char *moved = mem_alloc(size);
	size_t start = 0;

	*MEM_NEXT(runs->start, runs->count, runs->capacity) = 0;
	for (size_t i = 1; i < n; i++) {
		size_t least = i - start > NEAR ? i - NEAR : start, to = i;

		while (to > least && compare(&item[(to - 1) * size], &item[i * size]) > 0)
			to--;
		if (to == least && to > start &&
		    compare(&item[(to - 1) * size], &item[i * size]) > 0) {
			start = i;
			*MEM_NEXT(runs->start, runs->count, runs->capacity) = i;
		} else if (to < i) {
			memcpy(moved, &item[i * size], size);
			memmove(&item[(to + 1) * size], &item[to * size],
				(i - to) * size);
			memcpy(&item[to * size], moved, size);
		}
	}
}

/* Merge two runs, of which the second begins where the first ends. */
static void merge_runs(const char *first, const char *second, const char *end, char *to,
		       size_t size, compare_fn *compare)
{
	const char *middle = second;

	while (first < middle && second < end) {
		const char **next = compare(first, second) <= 0 ? &first : &second;

		memcpy(to, *next, size);
		to += size;
		*next += size;
	}
	memcpy(to, first, (size_t)(middle - first));
	memcpy(to + (middle - first), second, (size_t)(end - second));
}

void sort_almost_sorted(void *base, size_t n, size_t size, compare_fn *compare)
{
	struct runs runs = {.start = NULL};
	AUTOFREE char *memory = NULL;
	char *from = base, *to;

	find_runs(from, n, size, compare, &runs);
	if (runs.count > 1)
		memory = mem_alloc(n * size);
	for (to = memory; runs.count > 1;) {
		char *merged = to;
		size_t left = 0;

		for (size_t k = 0; k < runs.count; k += 2) {
			size_t middle = k + 1 < runs.count ? runs.start[k + 1] : n;
			size_t end = k + 2 < runs.count ? runs.start[k + 2] : n;

			merge_runs(&from[runs.start[k] * size], &from[middle * size],
				   &from[end * size], &to[runs.start[k] * size], size,
				   compare);
			runs.start[left++] = runs.start[k];
		}
		runs.count = left;
		to = from;
		from = merged;
	}
	if (from != base)
		memcpy(base, from, n * size);
	free(runs.start);
}
