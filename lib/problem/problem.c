/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "problem/problem.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"

static struct problem *append_problem(struct problem_list *list)
{
	return MEM_NEXT(list->item, list->count, list->capacity);
}

void problem_add(struct problem_list *list, const char *place, enum problem_kind kind,
		 uint64_t count, const char *format, ...)
{
	struct problem *problem = append_problem(list);

	problem->text = MEM_VPRINTF(format);
	problem->place = mem_strdup(place);
	problem->kind = kind;
	problem->count = count;
}

void problem_move(struct problem_list *to, struct problem_list *from)
{
	for (size_t i = 0; i < from->count; i++)
		*append_problem(to) = from->item[i];
	free(from->item);
	memset(from, 0, sizeof(*from));
}

static const struct {
	const char *word;
	bool is_failure;
} kinds[] = {
    [PROBLEM_APPLY] = {"apply", true},
    [PROBLEM_BACKWARD] = {"backward", false},
    [PROBLEM_BROKEN] = {"broken", true},
    [PROBLEM_CLAIM] = {"claim", false},
    [PROBLEM_CLOCK] = {"clock", false},
    [PROBLEM_COMMENT] = {"comment", false},
    [PROBLEM_CONTRADICTION] = {"contradiction", false},
    [PROBLEM_CUT] = {"cut", false},
    [PROBLEM_DAMAGED] = {"damaged", true},
    [PROBLEM_DANGLING] = {"dangling", false},
    [PROBLEM_DECLARED] = {"declared", false},
    [PROBLEM_DISCARDED] = {"discarded", false},
    [PROBLEM_DRIFT] = {"drift", false},
    [PROBLEM_EMPTY] = {"empty", false},
    [PROBLEM_FIT] = {"fit", false},
    [PROBLEM_FOREIGN] = {"foreign", false},
    [PROBLEM_GARBLED] = {"garbled", true},
    [PROBLEM_HEADERLESS] = {"headerless", false},
    [PROBLEM_HEADLESS] = {"headless", true},
    [PROBLEM_LOCALE] = {"locale", true},
    [PROBLEM_MALFORMED] = {"malformed", false},
    [PROBLEM_NODE] = {"node", true},
    [PROBLEM_NOTE] = {"note", false},
    [PROBLEM_OTHER] = {"other", true},
    [PROBLEM_RESTART] = {"restart", false},
    [PROBLEM_SILENT] = {"silent", false},
    [PROBLEM_SLEW] = {"slew", false},
    [PROBLEM_STAMP] = {"stamp", true},
    [PROBLEM_STEP] = {"step", false},
    [PROBLEM_TEXT] = {"text", false},
    [PROBLEM_TIE] = {"tie", false},
    [PROBLEM_TRUNCATED] = {"truncated", true},
    [PROBLEM_TWICE] = {"twice", false},
    [PROBLEM_UNREADABLE] = {"unreadable", true},
    [PROBLEM_UNSTAMPED] = {"unstamped", false},
};

bool problem_is_failure(enum problem_kind kind)
{
	return kinds[kind].is_failure;
}

const char *problem_kind_word(enum problem_kind kind)
{
	return kinds[kind].word;
}

enum problem_kind problem_kind_of(const char *word)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].word, word) == 0)
			return (enum problem_kind)i;
	return PROBLEM_OTHER;
}

static void clear_problem(struct problem *problem)
{
	free(problem->place);
	free(problem->text);
}

void problem_drop(struct problem_list *list, const char *place, enum problem_kind kind)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct problem *problem = &list->item[i];

		if (problem->kind == kind && strcmp(problem->place, place) == 0) {
			clear_problem(problem);
		} else {
			list->item[kept++] = *problem;
		}
	}
	list->count = kept;
}

void problem_clear(struct problem_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		clear_problem(&list->item[i]);
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
