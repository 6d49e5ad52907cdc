/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CSV_H
#define CT_INPUT_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json.h"
#include "problem/problem.h"

/*
 * The problems of one file, located by FILE:LINE.
 *
 * A file can be damaged in a million lines, so only a few problems of each format are
 * kept separately. The others are counted with the problem of the same text, or else with
 * the last one of their format. Problems of the file as a whole are always kept.
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

/* Add a problem; line 0 is the whole file. The format must be a literal. */
void problem_log_add(struct problem_log *log, enum problem_kind kind, uint64_t line,
		     const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * A reader of the lines of a text file, with bounded memory: it skips lines that are
 * longer than LINE_LONGEST or contain a NUL, and adds a problem for each.
 */
#define LINE_LONGEST ((size_t)1 << 20)

struct line_reader;

struct text_line {
	char *text; /* without its end (\n or \r\n); the caller may write in it */
	size_t length;
	uint64_t number; /* from 1 */
	bool ended;      /* false if the file ends within this line */
};

/*
 * Open a file. Return NULL with a problem if it is not a regular file or cannot be
 * opened.
 */
struct line_reader *line_reader_open(const char *path, struct problem_log *log);

/* Read the next line. It is valid until the next call. Return false at the end. */
bool line_reader_next(struct line_reader *lines, struct text_line *line);

/*
 * Read the JSON object of the next line that holds one; the caller calls json_decref().
 * Blank lines are skipped, other lines are skipped with a problem. Return NULL at the
 * end.
 */
json_t *line_reader_next_object(struct line_reader *lines, struct text_line *line);

void line_reader_close(struct line_reader *lines);

/*
 * A reader of comma-separated values, one row per line.
 *
 * A field in double quotes can contain commas, and quotes if they are doubled. Empty
 * lines are skipped. Lines that break the rules are skipped with a problem, and so is a
 * last line without a line end, which may be truncated within a number, unless
 * `end_may_lack`.
 *
 * Columns have names and types. If the first line contains the name of a column, it is a
 * header that gives the order of the columns.
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
	size_t needed;        /* number of leading columns that are required */
	bool header_may_lack; /* without a header, columns are in this order */
	bool end_may_lack;    /* a last line without a line end counts */
};

struct csv;

/* Open a file. Return NULL with a problem if the file or its header is unusable. */
struct csv *csv_open(const char *path, const struct csv_columns *columns,
		     struct problem_log *log);

/* Read an open file of any kind, which csv_close() closes. */
struct csv *csv_read(FILE *file, const struct csv_columns *columns,
		     struct problem_log *log);

/*
 * A row: cell[k] belongs to columns->column[k] and is valid until the next call. If it is
 * missing, empty or, with a problem, of another type, its text is NULL and its integer
 * -1. csv_next() skips rows without the required cells, and rows that are longer or
 * shorter than the header, with a problem. It returns false at the end.
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

/* sensors.csv: a reading of a sensor, at an instant of the same clock. */
enum sensor_column {
	SENSOR_REALTIME,
	SENSOR_NAME,   /* "coretemp/temp1", "rapl/package-0" */
	SENSOR_METRIC, /* "celsius", "joules" */
	SENSOR_VALUE,
	SENSOR_COLUMNS
};
extern const struct csv_columns sensor_columns;

#endif
