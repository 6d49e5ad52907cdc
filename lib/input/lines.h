/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_LINES_H
#define CT_INPUT_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "input/faults.h"

/*
 * The lines of a text file. Memory is bounded: a line longer than LINES_LONGEST
 * is a fault and is passed over, as is one with a zero byte in it.
 */
#define LINES_LONGEST ((size_t)1 << 20)

struct lines;

struct line {
	char *text; /* without its end (\n or \r\n); the caller may write in it */
	size_t length;
	uint64_t number; /* from 1 */
	bool ended;      /* false: the file ends within it */
};

/* NULL where it is no plain file or cannot be opened, which is a fault. */
struct lines *lines_open(const char *path, struct faults *faults);

/* Lines of an open stream, a pipe for instance, which stays the caller's. */
struct lines *lines_from(FILE *file, struct faults *faults);

/* The next line, valid until the next call; false at the end. */
bool lines_next(struct lines *lines, struct line *line);

/*
 * Go back: the line after this one, which must have come from lines_next, is
 * the next again. Only for files that were opened by lines_open.
 */
struct lines_mark {
	int64_t offset;
	uint64_t number;
};
struct lines_mark lines_tell(const struct lines *lines);
void lines_return(struct lines *lines, struct lines_mark mark);

void lines_close(struct lines *lines);

#endif
