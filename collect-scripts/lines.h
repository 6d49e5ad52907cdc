/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_COLLECT_LINES_H
#define CT_COLLECT_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Records for a POSIX shell, a line each, made of words that
 * `eval "set -- $line"` gives back whatever they hold. Words that could mean
 * anything to the shell stand in single quotes, and a line feed is written as
 * "$NL" between them, so that it ends no line; the script sets NL.
 */
struct lines {
	FILE *file; /* borrowed */
	bool open;  /* a line has begun */
};

/* Begin a line with what kind of record it is: a plain word. */
void lines_begin(struct lines *lines, const char *kind);

void lines_word(struct lines *lines, const char *text); /* NULL is as "" */
void lines_number(struct lines *lines, int64_t value);
void lines_end(struct lines *lines);

#endif
