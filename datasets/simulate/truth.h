/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_TRUTH_H
#define CT_SIMULATE_TRUTH_H

#include "simulate/event.h"
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

/* Add the message that a packet in flight is, received at a true time. */
void messages_add(struct world *world, const struct flight *flight, nsec_t received_ns);

/* Finish the files. 0, or -1 with error. */
int message_sink_close(struct world *world, struct error *error);
void message_sink_discard(struct message_sink *sink); /* NULL is fine */

/*
 * What went on, as the model itself knows it, to hold against it what is made of the
 * traces. docs/simulator.md has the columns of both files; without world->truth nothing
 * is noted.
 *
 * requests.csv: each request whose reply its client has read, in true time, in the order
 * of their ends. Of pattern `request`.
 *
 * spans.csv: who ran where, who waited for a processor, interrupts, system calls, disk
 * requests, in the order of their ends on each node, stamped by the node's
 * CLOCK_MONOTONIC. Only what began and ended while the node was traced, except that a
 * processor's first thread runs from its first event on, and its last one up
 * to the node's last event, which is as much as a trace can say.
 */
struct truth;

/* Both files, in DIRECTORY, with activity full. NULL with error. */
struct truth *truth_open(const struct world *world, const char *directory,
			 struct error *error);

/* Data left its node. */
void requests_sent(const struct context *ctx, const struct endpoint *end);

/* A packet with data came out of the NIC; and what it held was new. */
void requests_came(const struct context *ctx, const struct endpoint *end);
void requests_is_new(const struct context *ctx, const struct thread *thread);

/* A client or server has read what it awaited, or gave up. */
void requests_read(const struct context *ctx, const struct thread *thread, bool whole);

/* An event of the model is about to be written with this stamp; NSEC_MIN: it is not. */
void spans_note(const struct context *ctx, enum event_kind kind,
		const union sim_value *value, nsec_t at_ns);

/* Finish the files. 0, or -1 with error. */
int truth_close(struct world *world, struct error *error);
void truth_discard(struct truth *truth); /* NULL is fine */

#endif
