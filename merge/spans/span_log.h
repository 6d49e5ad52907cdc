/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SPANS_SPAN_LOG_H
#define CT_MERGE_SPANS_SPAN_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"

/*
 * Spans as they end, packed, to be read back sorted: by kind, node, thread (or source of
 * interrupts, or disk) and begin. Those of one thread come in that order already, so each
 * thread has a chain of chunks of its own, of which full ones go to an unnamed file;
 * where the order was another (idle runs on several processors, a disk has several
 * requests at a time), the chain is sorted when it is read.
 */
enum span_kind { SPAN_THREAD, SPAN_SYSCALL, SPAN_INTERRUPT, SPAN_DISK, SPAN_KINDS };

enum { SPAN_VALUES = 18 };

#define SPAN_NONE INT64_MIN

struct span {
	nsec_t begin_ns, end_ns;
	int64_t id; /* counts the spans of a kind; the log's */
	int64_t value[SPAN_VALUES];
	const char *path; /* NULL: none */
	size_t path_size;
};

struct span_log;

struct span_log *span_log_new(void);

/* `whose`: -1 to 2^32 - 1. Copies the span. 0, or -1 with error. */
int span_log_add(struct span_log *log, enum span_kind kind, uint32_t node, int64_t whose,
		 struct span *span, struct error *error);

typedef int span_give(void *context, uint32_t node, int64_t whose,
		      const struct span *span);

/*
 * Hand out the spans of a kind, after the last one was added, until `give` returns other
 * than 0: by node, whose, and begin; with `rank` by the rank of whose. What it returned,
 * or -1 with error.
 */
int span_log_walk(struct span_log *log, enum span_kind kind, const size_t *rank,
		  span_give *give, void *context, struct error *error);

/* Spans of a kind, of one thread. */
struct span_thread {
	enum span_kind kind;
	uint32_t node;
	int64_t tid;
};

/* The same of these alone. */
int span_log_read(struct span_log *log, const struct span_thread *thread, span_give *give,
		  void *context, struct error *error);

void span_log_free(struct span_log *log);

#endif
