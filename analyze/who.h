/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_WHO_H
#define CT_ANALYZE_WHO_H

#include "analyze/question.h"
#include "analyze/result.h"

/* By what --group adds up: one way to name it for all analyses of what threads did. */

/* Whether --group, or where it is not given the analysis's first word, is this one. */
bool who_is(const struct question *question, const char *word);

/* A thread as something was known of it at a time; `comm` as the event had it, or "". */
struct who {
	int64_t node, tid;
	const char *comm;
	nsec_t at_ns;
};

/* Its process's number, -1: not known; the thread's name in the end, and its process's;
 * "" where they are not known. Good as long as the question and `who`. */
int64_t who_pid(struct question *question, const struct who *who);
const char *who_comm(struct question *question, const struct who *who);
const char *who_process(struct question *question, const struct who *who);

/*
 * The cells of `thread` (node, tid, pid, comm), `process` (node, pid, process), `name`
 * (process) or `node`; returns how many, 0 for any other word.
 */
enum { WHO_CELLS = 4 };
size_t who_head(struct question *question, const struct who *who,
		struct cell head[WHO_CELLS]);

/*
 * The head of a thread's spans, where --group has words for their priority (each has its
 * own row, also by thread, for it may change) and processor, too.
 */
enum { WHO_SPAN_CELLS = WHO_CELLS + 2 };
struct thread_span;
size_t who_span_head(struct question *question, const struct thread_span *span,
		     struct cell head[WHO_SPAN_CELLS]);

/* The columns of those cells, WHO_CELLS at most; returns how many. */
size_t who_columns(const struct question *question,
		   struct result_column columns[WHO_CELLS]);

#define WHO_THREAD_COLUMNS                                                               \
	{"node", "NODE", UNIT_TEXT}, {"tid", "TID", UNIT_ID}, {"pid", "PID", UNIT_ID},   \
	{                                                                                \
		"comm", "COMM", UNIT_TEXT                                                \
	}

/* A table whose columns are the group's and then these, which end with a key of NULL;
 * `key` and `title` as of result_table_new. */
struct result_table *who_table(const struct question *question, struct result *result,
			       const char *key, const char *title,
			       const struct result_column *more);

#endif
