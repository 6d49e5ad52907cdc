/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_THREADS_H
#define CT_ANALYZE_THREADS_H

#include "analyze/question.h"
#include "timeline/reader.h"

/* The threads of a timeline, to be found by node, number and time. About 100 bytes each
 * and its names. */
struct threads;

/* Empty where the table cannot be read. */
struct threads *threads_new(struct timeline_reader *reader);

/* Of those with this number the one that was there at the time, else the next before it,
 * else the first. NULL: none. */
const struct thread_facts *threads_find(const struct threads *threads, int64_t node,
					int64_t tid, nsec_t at);

void threads_free(struct threads *threads);

#endif
