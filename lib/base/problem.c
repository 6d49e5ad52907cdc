/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/problem.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

static struct problem *append(struct problem_list *list)
{
	return MEM_NEXT(list->item, list->count, list->room);
}

void problem_add(struct problem_list *list, const char *place, const char *kind,
		 uint64_t count, const char *format, ...)
{
	struct problem *problem = append(list);
	va_list arguments;

	va_start(arguments, format);
	problem->text = mem_vprintf(format, arguments);
	va_end(arguments);
	problem->place = mem_strdup(place);
	problem->kind = mem_strdup(kind);
	problem->count = count;
}

void problem_move(struct problem_list *to, struct problem_list *from)
{
	for (size_t i = 0; i < from->count; i++)
		*append(to) = from->item[i];
	free(from->item);
	memset(from, 0, sizeof(*from));
}

bool problem_is_failure(const char *kind)
{
	static const char *const harmless[] = {
	    "discarded",  "backward", "foreign", "cut",           "silent",
	    "headerless", "twice",    "fit",     "contradiction", "malformed",
	    "unstamped",  "step",     "drift",   "clock",         "comment",
	    "restart",    "text",     "tie",     "dangling",      "empty",
	    NULL};

	for (size_t i = 0; harmless[i]; i++)
		if (strcmp(kind, harmless[i]) == 0)
			return false;
	return true;
}

void problem_clear(struct problem_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->item[i].place);
		free(list->item[i].kind);
		free(list->item[i].text);
	}
	free(list->item);
	memset(list, 0, sizeof(*list));
}

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

bool problem_print(const struct problem_list *list, const char *program, FILE *file)
{
	AUTOFREE const struct problem **sorted =
	    mem_alloc((list->count + 1) * sizeof(*sorted));
	AUTOFREE struct group *group = mem_alloc((list->count + 1) * sizeof(*group));
	size_t groups = 0;
	bool failed = false;

	for (size_t i = 0; i < list->count; i++) {
		sorted[i] = &list->item[i];
		failed |= problem_is_failure(sorted[i]->kind);
	}
	qsort(sorted, list->count, sizeof(*sorted), compare);
	for (size_t i = 0; i < list->count; i++) {
		if (i == 0 || strcmp(sorted[i]->text, sorted[i - 1]->text) != 0)
			group[groups++] = (struct group){&sorted[i], 0};
		group[groups - 1].count++;
	}
	qsort(group, groups, sizeof(*group), compare_groups);
	for (size_t i = 0; i < groups; i++)
		print_group(group[i].first, group[i].count, program, file);
	return failed;
}
