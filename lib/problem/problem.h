/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_PROBLEM_PROBLEM_H
#define CT_PROBLEM_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Irregularities in the input that did not stop the work. Nothing is dropped silently: a
 * reader that skips something adds a problem, the program prints it, and a timeline
 * stores it.
 */
enum problem_kind {
	PROBLEM_APPLY,         /* a trace could not be corrected */
	PROBLEM_BACKWARD,      /* stamps go back */
	PROBLEM_BROKEN,        /* what is there is not of the format */
	PROBLEM_CLAIM,         /* packets contradict what a clock daemon claims */
	PROBLEM_CLOCK,         /* a clock is missing, not known, or another than said */
	PROBLEM_COMMENT,       /* a comment that a user wrote into a log */
	PROBLEM_CONTRADICTION, /* messages that no clocks satisfy */
	PROBLEM_CUT,           /* shorter than it was: packets, metadata */
	PROBLEM_DAMAGED,       /* another than what was written */
	PROBLEM_DANGLING,      /* a link to nothing */
	PROBLEM_DECLARED,      /* events of declared messages without their other end */
	PROBLEM_DISCARDED,     /* the tracer lost events */
	PROBLEM_DRIFT,         /* faster than the limit */
	PROBLEM_EMPTY,
	PROBLEM_FIT,
	PROBLEM_FOREIGN,    /* not of this node, not of this table */
	PROBLEM_GARBLED,    /* bytes that do not belong to a packet */
	PROBLEM_HEADERLESS, /* events without the headers of their packets */
	PROBLEM_HEADLESS,   /* a table without its header line */
	PROBLEM_LOCALE,
	PROBLEM_MALFORMED,
	PROBLEM_NODE, /* a node that is not there */
	PROBLEM_NOTE, /* what an export says of its output */
	PROBLEM_OTHER,
	PROBLEM_RESTART,
	PROBLEM_SILENT, /* no network event in it */
	PROBLEM_SLEW,   /* a clock ran faster or slower than the limit for a time */
	PROBLEM_STAMP,
	PROBLEM_STEP,
	PROBLEM_TEXT, /* texts for numbers, or texts that are not UTF-8 */
	PROBLEM_TIE,
	PROBLEM_TRUNCATED,
	PROBLEM_TWICE,
	PROBLEM_UNREADABLE,
	PROBLEM_UNSTAMPED,
};

struct problem {
	char *place; /* file or source, as the user knows it */
	enum problem_kind kind;
	char *text;     /* what was wrong, and what was done */
	uint64_t count; /* how often */
};

struct problem_list {
	struct problem *item;
	size_t count, capacity;
};

/* Add one problem; copies its texts. The format makes the text. */
void problem_add(struct problem_list *list, const char *place, enum problem_kind kind,
		 uint64_t count, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Move everything from one list to the end of another; leaves `from` empty. */
void problem_move(struct problem_list *to, struct problem_list *from);

/* Remove the problems of this place and kind. */
void problem_drop(struct problem_list *list, const char *place, enum problem_kind kind);

/*
 * Print a line for each: "ctsync: PLACE: text". A text that several places share is one
 * line, at its first place: "ctsync: node1, node2 and 98 more: text". Return true if one
 * of them means that an input was not used.
 */
bool problem_print(const struct problem_list *list, const char *program, FILE *file);

/* Return true if a problem of this kind means that an input was not used. */
bool problem_is_failure(enum problem_kind kind);

/* Its word in timelines and files: "truncated"; and the kind of a word, PROBLEM_OTHER of
 * any other. */
const char *problem_kind_word(enum problem_kind kind);
enum problem_kind problem_kind_of(const char *word);

void problem_clear(struct problem_list *list);

#endif
