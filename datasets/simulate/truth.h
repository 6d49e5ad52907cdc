/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_TRUTH_H
#define CT_SIMULATE_TRUTH_H

#include "simulate/world.h"

/*
 * The messages as CSV, "send_node,send_ns,recv_node,recv_ns" by the nodes'
 * CLOCK_REALTIME; with false_matches some of them come with the receipt of
 * another message of their pair and direction. Those are listed in a file of
 * their own too.
 */
struct message_sink;

/* Open DIRECTORY/messages.csv, and false.csv where some are false. NULL with error. */
struct message_sink *message_sink_open(const struct world *world, const char *directory,
				       struct error *error);

/* Add the message that a parcel is, received at a true time. */
void messages_add(struct world *world, const struct parcel *parcel, nsec_t received_ns);

struct message_counts {
	uint64_t messages, false_ones;
};
struct message_counts message_sink_counts(const struct message_sink *sink);

/* Write those that are still held back; before the counts are final. */
void message_sink_flush(struct world *world);

/* Finish the files. 0, or -1 with error. Frees the sink either way. */
int message_sink_close(struct message_sink *sink, struct error *error);
void message_sink_discard(struct message_sink *sink); /* NULL is fine */

/*
 * Each request that a client had its reply to, as the model itself knows it: rows of
 * DIRECTORY/requests.csv in true time, in the order of their ends; docs/simulator.md has
 * the columns. Of pattern `request` with activity full.
 *
 * The model calls these when it happens; without world->requests they do nothing.
 */
struct requests;

/* NULL with error. */
struct requests *requests_open(const struct world *world, const char *directory,
			       struct error *error);

/* Data left its node. */
void requests_sent(const struct now *now, uint32_t flow, int side);

/* A packet with data came out of the card; and what it held was new. */
void requests_came(const struct now *now, uint32_t flow, int side);
void requests_is_new(const struct now *now, uint32_t thread);

/* A thread has what it awaited, or gave up. */
void requests_taken(const struct now *now, uint32_t thread, bool whole);

/* Finish the file. 0, or -1 with error. */
int requests_close(struct world *world, struct error *error);
void requests_discard(struct requests *requests); /* NULL is fine */

/*
 * What went on, as the model itself knows it, for those who want to hold against it what
 * they make of the traces: who ran where, who waited for a processor, interrupts, system
 * calls, disk requests. Rows of DIRECTORY/spans.csv, in the order of their ends on each
 * node, stamped by the node's CLOCK_MONOTONIC; docs/simulator.md has the columns.
 *
 * Only what began and ended while the node was traced, except that a processor's first
 * thread is taken to run from its first event on, and its last one up to the node's last
 * event, which is as much as a trace can say.
 *
 * The model calls these right before it tells of the event; without world->spans they do
 * nothing.
 */
struct spans;

/* NULL with error. */
struct spans *spans_open(const struct world *world, const char *directory,
			 struct error *error);

/* An event of the processor was handed to the writer, with this stamp. */
void spans_note_event(struct now *now, nsec_t mono_ns);

/* The processor's thread leaves it for another one; `preempted`: it would go on. */
void spans_switch(struct now *now, uint32_t next, bool preempted);

/* A thread is woken. */
void spans_wake(struct now *now, uint32_t thread);

enum span_interrupt { SPAN_IRQ, SPAN_SOFTIRQ };
enum { SPAN_VECTORS = 16 };
void spans_raise(struct now *now, uint32_t vector);
void spans_interrupt(struct now *now, enum span_interrupt kind, int64_t number,
		     const char *name);
void spans_interrupt_end(struct now *now);

/* The processor's thread enters a system call, or is back with a result. */
void spans_call(struct now *now, const char *name);
void spans_call_end(struct now *now, int64_t result);

/* A thread's disk request. */
void spans_disk(struct now *now, uint32_t thread);
void spans_disk_issue(struct now *now, uint32_t thread);
void spans_disk_end(struct now *now, uint32_t thread, bool writes);

/* Finish the file. 0, or -1 with error. */
int spans_close(struct world *world, struct error *error);
void spans_discard(struct spans *spans); /* NULL is fine */

#endif
