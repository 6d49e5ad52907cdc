/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_PROBLEM_H
#define CT_BASE_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * What was odd in the input and did not stop the work. Nothing is dropped
 * silently: a reader that leaves something out adds a problem, the program
 * shows it, and a timeline keeps it.
 */
struct problem {
	char *place;    /* file or source, as the user knows it */
	char *kind;     /* one word: "truncated", "discarded", ... */
	char *text;     /* what was wrong, and what was done */
	uint64_t count; /* how often */
};

struct problem_list {
	struct problem *item;
	size_t count, capacity;
};

/* Add one problem; copies its texts. The format makes the text. */
void problem_add(struct problem_list *list, const char *place, const char *kind,
		 uint64_t count, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Move everything from one list to the end of another; leaves `from` empty. */
void problem_move(struct problem_list *to, struct problem_list *from);

/*
 * A line each: "ctsync: PLACE: text". What several places have in common is one line,
 * where it came first: "ctsync: node1, node2 and 98 more: text". Returns whether one of
 * them means that something given was not used.
 */
bool problem_print(const struct problem_list *list, const char *program, FILE *file);

/* Whether a problem of this kind means that something given was not used. */
bool problem_is_failure(const char *kind);

void problem_clear(struct problem_list *list);

#endif
