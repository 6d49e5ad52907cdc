/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CSV_H
#define CT_INPUT_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "problem/problem.h"

/*
 * The problems of one file with the place FILE:LINE. A file may be
 * broken in each of a million lines, so only some of each sort (one format is
 * one sort) become problems of their own. Further ones are counted: with the
 * problem of the same text, else with the last of their sort. What is wrong with
 * the file as a whole is always told.
 */
struct problem_log {
	struct problem_list *problems; /* borrowed; nothing else may shorten it */
	const char *path;              /* borrowed */
	struct problem_log_seen {
		const char *format;
		size_t problem;
	} seen[64];
	size_t seens;
};

void problem_log_init(struct problem_log *log, const char *path,
		      struct problem_list *problems);

/* Add one; line 0 is the file as a whole. The format must be a literal. */
void problem_log_add(struct problem_log *log, enum problem_kind kind, uint64_t line,
		     const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * The lines of a text file. Memory is bounded: a line longer than LINE_LONGEST
 * is a problem and is passed over, as is one with a zero byte in it.
 */
#define LINE_LONGEST ((size_t)1 << 20)

struct line_reader;

struct text_line {
	char *text; /* without its end (\n or \r\n); the caller may write in it */
	size_t length;
	uint64_t number; /* from 1 */
	bool ended;      /* false: the file ends within it */
};

/* NULL where it is no plain file or cannot be opened, which is a problem. */
struct line_reader *line_reader_open(const char *path, struct problem_log *log);

/* The next line, valid until the next call; false at the end. */
bool line_reader_next(struct line_reader *lines, struct text_line *line);

/*
 * The JSON object of the next line that is one, for json_decref(); NULL at the end. Lines
 * of blanks are passed over, other lines are problems and are left out.
 */
json_t *line_reader_next_object(struct line_reader *lines, struct text_line *line);

void line_reader_close(struct line_reader *lines);

/*
 * Comma separated values, a row a line: a field in double quotes may hold
 * commas, and quotes, which are doubled. Empty lines are passed over. Lines
 * that break the rules are problems and are left out; so is a last line without
 * an end, which may be cut in a number.
 *
 * The columns are known by name and type. A first line with the name of the
 * first column in it is a header, and the columns come in its order.
 */
enum csv_type {
	CSV_TEXT,
	CSV_STAMP,  /* integer: an instant in nanoseconds */
	CSV_COUNT,  /* integer, not negative */
	CSV_REAL,   /* real */
	CSV_LETTER, /* integer: the byte */
};

struct csv_columns {
	const struct csv_column {
		const char *name;
		enum csv_type type;
	} * column;
	size_t count;
	size_t needed;        /* so many of the first must be there */
	bool header_may_lack; /* then they stand in this order, from the first up */
};

struct csv;

/* NULL where the file or its header cannot be used, which is a problem. */
struct csv *csv_open(const char *path, const struct csv_columns *columns,
		     struct problem_log *log);

/*
 * The next row: cell[k] is that of columns->column[k], valid until the next call.
 * Where it is missing, empty or not of its type (a problem), its text is NULL and its
 * integer -1. Rows without the needed ones, and rows longer or shorter than the header,
 * are problems and are left out. False at the end.
 */
struct csv_row {
	const struct csv_cell {
		const char *text;
		union {
			int64_t integer;
			double real;
		};
	} * cell;
	uint64_t line;
};
bool csv_next(struct csv *csv, struct csv_row *row);

void csv_close(struct csv *csv);

/* proc.csv: a process at an instant of the node's real-time clock; see formats.md. */
enum proc_column {
	PROC_REALTIME,
	PROC_PID,
	PROC_PPID,
	PROC_COMM,
	PROC_STATE, /* R, S, D, ... as in /proc */
	PROC_UTIME,
	PROC_STIME,
	PROC_RSS,
	PROC_READ,
	PROC_WRITTEN,
	PROC_COLUMNS
};
extern const struct csv_columns proc_columns;

/* sensors.csv: what a sensor of the node read, by the same clock. */
enum sensor_column {
	SENSOR_REALTIME,
	SENSOR_NAME,   /* "coretemp/temp1", "rapl/package-0" */
	SENSOR_METRIC, /* "celsius", "joules" */
	SENSOR_VALUE,
	SENSOR_COLUMNS
};
extern const struct csv_columns sensor_columns;

#endif
