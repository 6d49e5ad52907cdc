/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TABLES_TABLE_WRITE_H
#define CT_TABLES_TABLE_WRITE_H

#include <pthread.h>

#include "base/progress.h"
#include "tables/dataset.h"

/*
 * The writing of many tables in a few threads, each with a reader of its own, the longest
 * tables first. If there is a single table, or at least four threads, a table is read by
 * one thread and written by another.
 */
struct table_work {
	const char *timeline; /* its path */
	const char *own;      /* what it is part of, if this program wrote it; or NULL */
	const struct scope *scope;
	const char *directory; /* where jobs make their files; NULL if they make none */
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

/* A consumer of rows. Return 0, or -1 with error, after which it is not called again. */
typedef int row_batch_fn(void *context, const struct cell *row, size_t rows,
			 struct error *error);

/*
 * A queue that copies rows and delivers them in batches to a consumer, which can run in a
 * thread of its own. The number of queued batches is limited. Signals are blocked in that
 * thread.
 */
struct row_pipe;

struct row_pipe *row_pipe_new(size_t columns, bool thread, row_batch_fn *on_rows,
			      void *context);

/* Add a row. Return 0, or -1 if the consumer failed; row_pipe_end() returns its error. */
int row_pipe_put(struct row_pipe *pipe, const struct cell *row);

/* Wait until all rows are consumed, and free the pipe. Return 0, or -1 with the
 * consumer's error. */
int row_pipe_end(struct row_pipe *pipe, struct error *error);

/*
 * The way of rows to the files of a table: texts are mended, and what `mixed` and
 * `is_node` ask for is converted.
 */
struct table_sink;

/* By the work's directory, style, scope and pipe. Borrows all. Return NULL with error. */
struct table_sink *table_sink_new(const struct table_work *work,
				  const struct table_job *job, struct error *error);

/* Add a row. Return 0, or -1 if writing failed; table_sink_end() returns the error. */
int table_sink_put(struct table_sink *sink, const struct cell *row);

/* Write the remaining rows, finish the files if they are `complete`, and free the sink.
 * Set `mended` to the number of texts that were not UTF-8. Return 0, or -1 with error. */
int table_sink_end(struct table_sink *sink, bool complete, uint64_t *mended,
		   struct error *error);

/* Return the sort of a cell's value as a bit, and the type that preserves all values of a
 * column with these sorts. */
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
