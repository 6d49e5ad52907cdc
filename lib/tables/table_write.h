/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TABLES_TABLE_WRITE_H
#define CT_TABLES_TABLE_WRITE_H

#include <pthread.h>

#include "base/progress.h"
#include "tables/dataset.h"

/*
 * Many tables by a few threads, each with a reader of its own: the longest tables first.
 * A single table is read by one thread and written by another; many ones too, where there
 * are four threads or more.
 */
struct table_work {
	const char *timeline; /* its path */
	const struct scope *scope;
	const char *directory; /* where jobs make their files; NULL: none does */
	struct progress *progress;
	const struct table_style *style;
	struct table_job *job;
	size_t jobs, capacity;
	int threads;
	bool pipe; /* read and write in two threads */

	size_t *order;        /* indexes of jobs, the longest first */
	pthread_mutex_t lock; /* guards the rest */
	uint64_t rows;        /* done up to now */
	uint64_t mended;      /* texts that were no UTF-8 */
	size_t failed;        /* the job, of several the first; SIZE_MAX: none */
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
