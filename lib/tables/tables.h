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

/* A column of a table_query. */
struct table_query_column {
	char *name;              /* unique in the query, ignoring case */
	enum cell_type type;     /* CELL_NULL if unknown before all rows are read */
	enum cell_type declared; /* for a column whose type is unknown */
	bool required;           /* never NULL */
	bool instant;            /* integers are nanoseconds since the epoch */
	bool mixed;              /* values of other types are converted */
	bool is_key;             /* in the path of the file, not in the file */
	bool is_node;            /* the value is a node.id, to be replaced by its name */
	bool is_row;             /* the id of a row, in a part */
};

/* A query on a timeline: a table or view, the events of a class with their fields, or the
 * user's own SELECT. */
struct table_query {
	char *name; /* of the table, for files and messages; "" for a user's SELECT */
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
 * Select the part of a table or view that is in the scope. Rows are selected by their
 * time and node; those with a duration if they overlap the selected time. Tables without
 * times and nodes are selected completely. Return NULL with error, which suggests a
 * similar name if there is no such table.
 */
struct table_query *table_query_of_table(struct timeline_reader *timeline,
					 const struct scope *scope, const char *name,
					 struct error *error);

/*
 * Select a whole table of a part, one node's timeline. Ids of rows and references to them
 * are increased by `first`, except those of nodes, sources, classes, metrics and metric
 * items, which are equal in all parts. Columns without type become text. Return NULL with
 * error.
 */
struct table_query *table_query_of_part(struct timeline_reader *timeline,
					const char *name, int64_t first,
					struct error *error);

/* Make a query of the user's SELECT. Columns with equal names or no name are renamed.
 * Return NULL with error. */
struct table_query *table_query_of_query(struct timeline_reader *timeline,
					 const char *sql, struct error *error);

/*
 * Select the scope's events of a class (event_class.id), in order: id, ts_ns, node, cpu,
 * tid and the fields, named as in NAME_v. Fields named like an entry of `taken` are
 * renamed. If `class_id` is 0, for a timeline without fields, select the events of all
 * classes, with a column `class`. Return NULL with error.
 */
struct table_query *table_query_of_events(struct timeline_reader *timeline,
					  const struct scope *scope, int64_t class_id,
					  const struct text_list *taken,
					  struct error *error);

/* Add the names of all tables except SQLite's own, sorted. Return 0, or -1 with error. */
int table_query_list_tables(struct timeline_reader *timeline, struct text_list *names,
			    struct error *error);

/* Hand on all rows, in their order; where they come so by TIMELINE_ROW. 0, or -1 with
 * error, or where `take` returned other than 0. */
int table_query_each(const struct table_query *query, struct timeline_reader *timeline,
		     const struct scope *scope, timeline_row_fn *take, void *context,
		     struct error *error);

void table_query_free(struct table_query *query);

/* The format of files. */
struct table_style {
	bool parquet;    /* CSV if false */
	bool timestamps; /* write instants in ISO 8601, or as Parquet's timestamps */
	struct parquet_settings settings;
};

/* Return "csv" or "parquet". */
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

/* Create the file with export_create(), unless it is open already. Return 0, or -1 with
 * error. */
int table_file_begin(struct table_file *file, const char *directory,
		     const struct table_style *style, struct error *error);

/* Write consecutive rows, or one row with lists, whose cells CSV gets. Return 0, or -1
 * with error. */
int table_file_rows(struct table_file *file, const struct cell *row,
		    const struct parquet_list *list, size_t rows, struct error *error);

/* Finish the file and clear the struct. Return 0, or -1 with error. */
int table_file_end(struct table_file *file, struct error *error);

/* Free everything, without finishing the file. The struct may be zeroed. */
void table_file_clear(struct table_file *file);

struct dataset_key {
	const char *name;
	size_t column;    /* of the query: is_key */
	const char *text; /* or this for all rows, NULL: by the column */
};

/* A query and the destination of its rows. */
struct table_job {
	struct table_query *wanted;
	char *name; /* of the file in the directory; NULL: determined by the keys */
	FILE *file; /* an open file to use instead, which messages call `name` */
	struct dataset_key *key;
	size_t keys, most_files;
};

/*
 * A writer of rows to one file, or to many files in Hive's layout, partitioned by the
 * values of some columns: KEY=VALUE/KEY=VALUE/part-N below a directory. Readers (DuckDB,
 * Spark, pandas) get the keys from the paths, and skip files with other keys. At most
 * most_files are open at a time; if a key appears again after its file was closed,
 * another file is begun.
 */
struct dataset;

/* Without keys, create the file; with keys, files are created when rows arrive. Borrows
 * all arguments. Return NULL with error. */
struct dataset *dataset_new(const char *directory, const struct table_job *job,
			    const struct table_style *style, struct error *error);

/* Write consecutive rows with all of the query's columns. Return 0, or -1 with error. */
int dataset_rows(struct dataset *dataset, const struct cell *row, size_t rows,
		 struct error *error);

/* Finish all files; the job's open file stays open. Return 0, or -1 with error. */
int dataset_end(struct dataset *dataset, struct error *error);

void dataset_free(struct dataset *dataset);

/* Create a file below `directory`, with the directories in `name`, such as "a/b". Return
 * NULL with error, which names the file. */
FILE *export_create(const char *directory, const char *name, struct error *error);

/* Close a file. Return 0, or -1 with error if this or an earlier write failed: "NAME: No
 * space left on device". */
int export_close(FILE *file, const char *name, struct error *error);

/*
 * The writing of many tables in a few threads, each with a reader of its own, the longest
 * tables first. If there is a single table, or at least four threads, a table is read by
 * one thread and written by another.
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
	uint64_t rows;   /* rows written so far */
	uint64_t mended; /* number of texts that were not UTF-8 */
	size_t failed;   /* index of the first failed job, or SIZE_MAX */
	struct error error;
};

/* What takes rows, one after the other: 0, or -1 with error, after which no more come. */
typedef int row_taker(void *context, const struct cell *row, size_t rows,
		      struct error *error);

/*
 * A queue that copies rows and delivers them in batches to a consumer, which can run in a
 * thread of its own. The number of queued batches is limited. Signals are blocked in that
 * thread.
 */
struct row_pipe;

struct row_pipe *row_pipe_new(size_t columns, bool thread, row_taker *take,
			      void *context);

/* Add a row. Return 0, or -1 if the consumer failed; row_pipe_end() returns its error. */
int row_pipe_put(struct row_pipe *pipe, const struct cell *row);

/* Wait until all rows are consumed, and free the pipe. Return 0, or -1 with the
 * consumer's error. */
int row_pipe_end(struct row_pipe *pipe, struct error *error);

/* What sorts of values a cell is of, in bits; and a type for a column that has had some
 * of these, so that no value is lost. */
unsigned table_sorts(const struct cell *cell);
enum cell_type table_type(const struct table_query_column *column, unsigned sorts);

/* Add a job. Takes ownership of the query. */
struct table_job *table_work_add(struct table_work *work, struct table_query *wanted);

/* Free the jobs with their queries, names and keys. */
void table_work_clear(struct table_work *work);

/* Set the number of threads: `wanted`, or if it is 0 one per processor, but not more than
 * there are jobs. */
void table_work_plan(struct table_work *work, int wanted);

/* Run all jobs. Return 0, or -1 with the error of the first failed job, in their order.
 */
int table_work_run(struct table_work *work, struct error *error);

#endif
