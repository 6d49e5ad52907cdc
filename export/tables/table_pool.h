/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_TABLES_TABLE_POOL_H
#define CT_EXPORT_TABLES_TABLE_POOL_H

#include "base/progress.h"
#include "export/tables/table_write.h"

/*
 * Many tables by a few threads, each with a reader of its own: the longest tables first.
 * A single table is read by one thread and written by another; many ones too, where there
 * are four threads or more.
 */
struct table_pool {
	struct table_work work;
	struct table_job *job;
	size_t jobs, room;
	int threads;
};

/* How many threads: `wanted`, or 0: one a processor; not more than there are jobs. */
void table_pool_plan(struct table_pool *pool, int wanted);

/* Do all jobs. 0, or -1 with the error of the first job that failed, in their order. */
int table_pool_run(struct table_pool *pool, struct progress *progress,
		   struct error *error);

#endif
