/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/problem.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"

static struct problem *append(struct problem_list *list)
{
	return MEM_NEXT(list->item, list->count, list->capacity);
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

/* "node1, node2: text" of the problems of one text, whose group has this number. */
static void print_group(const struct problem_list *list, const size_t *group,
			size_t number, const char *program, FILE *file)
{
	const struct problem *last = NULL;
	size_t shown = 0, left = 0;

	for (size_t i = 0; i < list->count; i++)
		left += group[i] == number;
	fprintf(file, "%s: ", program);
	for (size_t i = 0; i < list->count; i++) {
		const struct problem *problem = &list->item[i];
		bool is_told = !*problem->place ||
			       (last && strcmp(problem->place, last->place) == 0);

		if (group[i] != number)
			continue;
		last = problem;
		if (!is_told && shown == PLACES_SHOWN) {
			fprintf(file, " and %zu more", left);
			break;
		}
		left--;
		if (is_told)
			continue;
		fputs(shown++ ? ", " : "", file);
		utf8_print(file, problem->place);
	}
	fputs(shown ? ": " : "", file);
	utf8_print(file, last->text);
	fputc('\n', file);
}

bool problem_print(const struct problem_list *list, const char *program, FILE *file)
{
	AUTOFREE size_t *group = mem_alloc(list->count * sizeof(*group));
	struct texts texts = {0};
	bool failed = false;

	for (size_t i = 0; i < list->count; i++) {
		group[i] = texts_put(&texts, list->item[i].text);
		failed |= problem_is_failure(list->item[i].kind);
	}
	for (size_t number = 0; number < texts.count; number++)
		print_group(list, group, number, program, file);
	texts_clear(&texts);
	return failed;
}
