/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TABLES_TABLES_H
#define CT_TABLES_TABLES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/options.h"
#include "base/progress.h"
#include "parquet/parquet.h"
#include "timeline/reader.h"
#include "timeline/scope.h"

/*
 * One table of rows that is asked of a timeline: a table or view of it, the events of a
 * class with their fields, or the user's own SELECT.
 */
struct table_query_column {
	char *name;              /* no two of a query are the same, whatever their case */
	enum cell_type type;     /* CELL_NULL: any, known when all rows have come */
	enum cell_type declared; /* where that is not known */
	bool required;           /* never NULL */
	bool instant;            /* an integer is nanoseconds since the epoch */
	bool mixed;              /* values may be of another type, and are converted */
	bool is_key;  /* it stands in the path of a file, and not in the file */
	bool is_node; /* it comes as node.id, and stands for the node's name */
	bool is_row;  /* of a part: the id of a row */
};

struct table_query {
	char *name; /* of the table, for files and messages; "" for the user's SELECT */
	char *sql;
	size_t walked; /* bytes of its columns, which TIMELINE_ROW may have; 0: no */
	struct table_query_column *column;
	size_t columns;
	int64_t rows;  /* about how many, 0: not known */
	bool is_by_id; /* ?1 and ?2 in it are first and last event.id of the scope's time
			*/
	char *class;   /* of events of one class: its name, else NULL */
};

/*
 * What is of the scope in a table or view: rows with a time and a node by these, what
 * lasts if any of it does, what has neither as a whole. NULL with error, also where there
 * is no such table; then the nearest name is suggested.
 */
struct table_query *table_query_of_table(struct timeline_reader *timeline,
					 const struct scope *scope, const char *name,
					 struct error *error);

/*
 * All of a table of one node's timeline, as a part of many: ids of rows, and what refers
 * to such, come by `first` more, but those of nodes, sources, classes, metrics and their
 * items, which are the same in all parts. A column of any type is text.
 */
struct table_query *table_query_of_part(struct timeline_reader *timeline,
					const char *name, int64_t first,
					struct error *error);

/* The user's SELECT. Columns that share a name, or have none, get another. */
struct table_query *table_query_of_query(struct timeline_reader *timeline,
					 const char *sql, struct error *error);

/*
 * The scope's events of one class (event_class.id), in order: id, ts_ns, node, cpu, tid
 * and the fields as NAME_v has them. A name that is among `taken` gets another. Where
 * the timeline has no fields, all classes are one query, with `class`: give id 0.
 */
struct table_query *table_query_of_events(struct timeline_reader *timeline,
					  const struct scope *scope, int64_t class_id,
					  const struct text_list *taken,
					  struct error *error);

/* Names of all tables, sorted; without SQLite's own. 0, or -1 with error. */
int table_query_list_tables(struct timeline_reader *timeline, struct text_list *names,
			    struct error *error);

/* Hand on all rows, in their order; where they come so by TIMELINE_ROW. 0, or -1 with
 * error, or where `take` returned other than 0. */
int table_query_each(const struct table_query *query, struct timeline_reader *timeline,
		     const struct scope *scope, timeline_row_fn *take, void *context,
		     struct error *error);

void table_query_free(struct table_query *query);

/* How files of rows look. */
struct table_style {
	bool parquet;    /* else CSV */
	bool timestamps; /* instants: as ISO 8601 has them, or as Parquet's timestamps */
	struct parquet_settings settings;
};

/* "csv" or "parquet" */
const char *table_extension(const struct table_style *style);

/*
 * A file of rows. Before it is begun set its columns, which are borrowed, its name, which
 * messages have, too, and where it is open already, the file, which then stays open.
 * What is an instant to Parquet (PARQUET_TIMESTAMP_NANOS) is one to CSV as well.
 */
struct table_file {
	char *name; /* taken */
	FILE *file;
	const struct parquet_column *column;
	size_t columns;
	bool is_given;
	struct parquet_writer *writer; /* NULL: CSV */
};

/* Create it below a directory, as export_create does, unless it is open. 0, or -1 with
 * error. */
int table_file_begin(struct table_file *file, const char *directory,
		     const struct table_style *style, struct error *error);

/* Rows, one after the other; or one row with lists, of which CSV takes the cells. 0, or
 * -1 with error. */
int table_file_rows(struct table_file *file, const struct cell *row,
		    const struct parquet_list *list, size_t rows, struct error *error);

/* Write the end, and clear it. 0, or -1 with error. */
int table_file_end(struct table_file *file, struct error *error);

/* Whatever is there of it; a zeroed one is fine. */
void table_file_clear(struct table_file *file);

struct dataset_key {
	const char *name;
	size_t column;    /* of the query: is_key */
	const char *text; /* or this for all rows, NULL: by the column */
};

/* One query and where its rows go. */
struct table_job {
	struct table_query *wanted;
	char *name; /* of its file in the directory; NULL: by keys */
	FILE *file; /* instead: open, and `name` is what messages call it */
	struct dataset_key *key;
	size_t keys, most_files;
};

/*
 * Rows in a file, or in many by the values of some columns, as Hive has it: below a
 * directory, KEY=VALUE/KEY=VALUE/part-N. Readers (DuckDB, Spark, pandas) take the keys
 * from the paths, and leave out files whose keys are not asked for. The job's most_files
 * are open at a time; a key that comes again when its file is closed begins another one.
 */
struct dataset;

/* Borrows everything. Without keys the file is made, else none before the first row
 * comes. NULL with error. */
struct dataset *dataset_new(const char *directory, const struct table_job *job,
			    const struct table_style *style, struct error *error);

/* Rows, one after the other, of all of the query's columns. */
int dataset_rows(struct dataset *dataset, const struct cell *row, size_t rows,
		 struct error *error);

/* Finish all files; a given one is still open. 0, or -1 with error. */
int dataset_end(struct dataset *dataset, struct error *error);

void dataset_free(struct dataset *dataset);

/*
 * Create the file NAME, which may be "a/b", below `directory`, with the
 * directories on the way. NULL with an error that names the file.
 */
FILE *export_create(const char *directory, const char *name, struct error *error);

/* Close it; an error that came up at any write is told: "NAME: No space left ...". */
int export_close(FILE *file, const char *name, struct error *error);

/*
 * Many tables by a few threads, each with a reader of its own: the longest tables first.
 * A single table is read by one thread and written by another; many ones too, where there
 * are four threads or more.
 */
struct table_work {
	const char *timeline; /* its path */
	const char *own;      /* what it is part of, if this program wrote it; or NULL */
	const struct scope *scope;
	const char *directory; /* where jobs make their files; NULL: none does */
	struct progress *progress;
	const struct table_style *style;
	struct table_job *job;
	size_t jobs, capacity;
	int threads;
	bool pipe; /* read and write in two threads */

	size_t *order;                 /* indexes of jobs, the longest first */
	pthread_mutex_t lock;          /* guards the rest */
	struct timeline_reader **idle; /* opened by threads that have done their job */
	size_t idle_count;
	uint64_t rows;   /* done up to now */
	uint64_t mended; /* texts that were no UTF-8 */
	size_t failed;   /* the job, of several the first; SIZE_MAX: none */
	struct error error;
};

/* What takes rows, one after the other: 0, or -1 with error, after which no more come. */
typedef int row_taker(void *context, const struct cell *row, size_t rows,
		      struct error *error);

/*
 * Rows in batches, in which they are copied. With a thread of its own, the taker works
 * while more rows come; some batches wait at most. That thread takes no signals.
 */
struct row_pipe;

struct row_pipe *row_pipe_new(size_t columns, bool thread, row_taker *take,
			      void *context);

/* 0, or -1 when the taker failed; row_pipe_end has the error. */
int row_pipe_put(struct row_pipe *pipe, const struct cell *row);

/* Wait until all rows are taken, and free the pipe. 0, or -1 with the taker's error. */
int row_pipe_end(struct row_pipe *pipe, struct error *error);

/* What sorts of values a cell is of, in bits; and a type for a column that has had some
 * of these, so that no value is lost. */
unsigned table_sorts(const struct cell *cell);
enum cell_type table_type(const struct table_query_column *column, unsigned sorts);

/* A job more, which has the query. */
struct table_job *table_work_add(struct table_work *work, struct table_query *wanted);

/* Jobs with their queries, names and keys. */
void table_work_clear(struct table_work *work);

/* How many threads: `wanted`, or 0: one a processor; not more than there are jobs. */
void table_work_plan(struct table_work *work, int wanted);

/* Do all jobs. 0, or -1 with the error of the first job that failed, in their order. */
int table_work_run(struct table_work *work, struct error *error);

#endif
