/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CSV_H
#define CT_INPUT_CSV_H

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

/*
 * Comma separated values as RFC 4180 has them: a field in double quotes may
 * hold commas, line breaks (each becomes \n) and quotes, which are doubled.
 * Empty lines are passed over. Lines that break the rules are faults and are
 * left out; so is a last line without an end, which may be cut in a number.
 */
struct csv;

struct csv_record {
	char **field; /* until the next call */
	size_t fields;
	uint64_t line; /* where it begins */
};

/* NULL where the file cannot be read, which is a fault. */
struct csv *csv_open(const char *path, struct faults *faults);

/* The next record; false at the end. */
bool csv_next(struct csv *csv, struct csv_record *record);

void csv_close(struct csv *csv);

/*
 * A file whose columns are known by name. A first line with the name of the
 * first column in it is a header, and the columns come in its order.
 */
struct csv_columns {
	const char *const *name;
	size_t count;
	size_t needed;        /* so many of the first must be there */
	bool header_may_lack; /* then they stand in this order, from the first up */
};

struct csv_table;

/* NULL where the file or its header cannot be used, which is a fault. */
struct csv_table *csv_table_open(const char *path, const struct csv_columns *columns,
				 struct faults *faults);

/*
 * The next row: cell[k] is that of columns->name[k], NULL where it is missing
 * or empty, valid until the next call. Rows without the needed ones, and rows
 * longer or shorter than the header, are faults and are left out.
 */
struct csv_row {
	char **cell;
	uint64_t line;
};
bool csv_table_next(struct csv_table *table, struct csv_row *row);

void csv_table_close(struct csv_table *table);

#endif
