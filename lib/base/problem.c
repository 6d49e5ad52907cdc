/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/problem.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static struct problem *append(struct problem_list *list)
{
	list->item = mem_grow(list->item, list->count, &list->room, sizeof(*list->item));
	return &list->item[list->count++];
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
