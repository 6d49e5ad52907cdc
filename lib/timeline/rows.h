/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_ROWS_H
#define CT_TIMELINE_ROWS_H

#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"
#include "timeline/writer.h"

/*
 * Rows of a timeline's tables, but for events and their classes. The fields
 * are the columns of docs/schema.md. What is not known is NULL or
 * TIMELINE_NONE, a real NaN; each becomes an SQL NULL. Texts are copied;
 * bytes in them that are no UTF-8 become U+FFFD.
 *
 * The caller numbers what has an `id` here, each row with another number, and
 * may name rows that it adds later, as long as they come before the end.
 */
#define TIMELINE_NONE INT64_MIN

struct timeline_node {
	int64_t id;
	const char *name, *hostname, *kernel;
	int64_t cpus;
	double cpu_mhz;
	int64_t mem_kib;
	const char *boot_id;
};

int timeline_add_node(struct timeline_writer *writer, const struct timeline_node *row,
		      struct error *error);

struct timeline_source {
	int64_t id, node;
	const char *kind, *path, *clock_uuid;
	nsec_t begin_ns, end_ns;
	int64_t events, discarded, problems;
	const char *name;
	int64_t reference;
	const char *quality;
};

int timeline_add_source(struct timeline_writer *writer, const struct timeline_source *row,
			struct error *error);

struct timeline_clock { /* a segment of a source's correction */
	int64_t source;
	nsec_t local_ns, ref_ns;
	double rate_ppb;
};

int timeline_add_clock(struct timeline_writer *writer, const struct timeline_clock *row,
		       struct error *error);

struct timeline_clock_bound { /* NSEC_MIN and NSEC_MAX: nothing bounds that side */
	int64_t source;
	nsec_t local_ns, low_ns, high_ns;
};

int timeline_add_clock_bound(struct timeline_writer *writer,
			     const struct timeline_clock_bound *row, struct error *error);

struct timeline_clock_pair {
	int64_t a, b, messages_ab, messages_ba, rejected;
	const char *quality;
	int64_t violations_before, violations_after, hull_ab, hull_ba;
	nsec_t min_latency_ab_ns, min_latency_ba_ns;
};

int timeline_add_clock_pair(struct timeline_writer *writer,
			    const struct timeline_clock_pair *row, struct error *error);

struct timeline_message {
	const char *protocol;
	int64_t src_node, dst_node, send_event, recv_event;
	nsec_t send_ns, recv_ns, latency_ns;
	const char *src;
	int64_t sport;
	const char *dst;
	int64_t dport, seq, bytes;
	const char *send_by;
	int64_t send_tid, send_first_recv, send_last_recv, send_assumed, recv_batch;
	int64_t send_source, recv_source;
	nsec_t low_ns, high_ns; /* the true latency is latency_ns + low_ns to + high_ns */
};

/* By ascending send_ns, before timeline_end_events. */
int timeline_add_message(struct timeline_writer *writer,
			 const struct timeline_message *row, struct error *error);

struct timeline_metric {
	int64_t id;
	const char *name, *unit, *kind, *activity;
};

int timeline_add_metric(struct timeline_writer *writer, const struct timeline_metric *row,
			struct error *error);

struct timeline_item {
	int64_t id;
	const char *type, *name;
};

int timeline_add_item(struct timeline_writer *writer, const struct timeline_item *row,
		      struct error *error);

struct timeline_sample {
	int64_t node;
	nsec_t ts_ns;
	int64_t metric, item;
	double value;
	nsec_t interval_ns;
};

int timeline_add_sample(struct timeline_writer *writer, const struct timeline_sample *row,
			struct error *error);

struct timeline_process {
	int64_t id, node, pid, ppid;
	const char *comm, *exe;
	nsec_t begin_ns, end_ns;
	int64_t exit_status;
	const char *container;
};

int timeline_add_process(struct timeline_writer *writer,
			 const struct timeline_process *row, struct error *error);

struct timeline_thread {
	int64_t id, process, node, tid;
	const char *comm;
	nsec_t begin_ns, end_ns;
};

int timeline_add_thread(struct timeline_writer *writer, const struct timeline_thread *row,
			struct error *error);

struct timeline_invocation {
	int64_t node, pid;
	const char *name;
	nsec_t enqueue_ns, begin_ns, end_ns;
	int64_t status, process;
	const char *data; /* JSON of what else its record said */
};

int timeline_add_invocation(struct timeline_writer *writer,
			    const struct timeline_invocation *row, struct error *error);

struct timeline_recorded {
	int64_t node, cpu;
	const char *kind;
	nsec_t begin_ns, end_ns;
};

int timeline_add_recorded(struct timeline_writer *writer,
			  const struct timeline_recorded *row, struct error *error);

struct timeline_problem {
	int64_t source;
	const char *kind;
	int64_t count;
	const char *text, *place;
};

int timeline_add_problem(struct timeline_writer *writer,
			 const struct timeline_problem *row, struct error *error);

#endif
