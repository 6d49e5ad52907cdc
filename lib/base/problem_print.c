/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/problem.h"
#include "base/utf8.h"

enum { PLACES_SHOWN = 8 };

static int compare(const void *a, const void *b)
{
	const struct problem *const *left = a, *const *right = b;
	int by_text = strcmp((*left)->text, (*right)->text);

	if (by_text)
		return by_text;
	return *left < *right ? -1 : *left > *right; /* as they came */
}

/* "node1, node2: text" of problems [first, end) of one text. */
static void print_group(const struct problem *const *first, size_t count,
			const char *program, FILE *file)
{
	size_t shown = 0;

	fprintf(file, "%s: ", program);
	for (size_t i = 0; i < count; i++) {
		const char *place = first[i]->place;

		if (!*place || (i && strcmp(place, first[i - 1]->place) == 0))
			continue;
		if (shown == PLACES_SHOWN) {
			fprintf(file, " and %zu more", count - i);
			break;
		}
		fputs(shown ? ", " : "", file);
		utf8_print(file, place);
		shown++;
	}
	fputs(shown ? ": " : "", file);
	utf8_print(file, first[0]->text);
	fputc('\n', file);
}

struct group {
	const struct problem *const *first;
	size_t count;
};

static int compare_groups(const void *a, const void *b)
{
	const struct group *left = a, *right = b;

	return *left->first < *right->first ? -1 : *left->first > *right->first;
}

void problem_print(const struct problem_list *list, const char *program, FILE *file)
{
	const struct problem **sorted = mem_alloc((list->count + 1) * sizeof(*sorted));
	struct group *group = mem_alloc((list->count + 1) * sizeof(*group));
	size_t groups = 0;

	for (size_t i = 0; i < list->count; i++)
		sorted[i] = &list->item[i];
	qsort(sorted, list->count, sizeof(*sorted), compare);
	for (size_t i = 0; i < list->count; i++) {
		if (i == 0 || strcmp(sorted[i]->text, sorted[i - 1]->text) != 0)
			group[groups++] = (struct group){&sorted[i], 0};
		group[groups - 1].count++;
	}
	qsort(group, groups, sizeof(*group), compare_groups);
	for (size_t i = 0; i < groups; i++)
		print_group(group[i].first, group[i].count, program, file);
	free(group);
	free(sorted);
}
