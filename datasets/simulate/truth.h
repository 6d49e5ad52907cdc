/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_TRUTH_H
#define CT_SIMULATE_TRUTH_H

#include "simulate/event.h"
#include "simulate/world.h"

/*
 * The truth as the model knows it, to compare analyses of the traces with.
 * docs/simulator.md describes the columns of both files. If world->truth is NULL, the
 * functions do nothing.
 *
 * requests.csv: each request whose reply its client has read, in true time, by end; only
 * for pattern `request`.
 *
 * spans.csv: running and runnable threads, interrupts, system calls and disk requests, on
 * the node's CLOCK_MONOTONIC, by node and end. It has only spans that started and ended
 * while the node was traced, except that a processor's first thread runs from its first
 * event on, and its last one up to the node's last event: a trace cannot show more.
 */
struct truth;

/* Open both files in DIRECTORY; activity full only. Return NULL with error. */
struct truth *truth_open(const struct world *world, const char *directory,
			 struct error *error);

/* Note that data left its node. */
void requests_sent(const struct context *ctx, const struct endpoint *end);

/* Note that a packet with data arrived from the NIC; and that its data were new. */
void requests_came(const struct context *ctx, const struct endpoint *end);
void requests_is_new(const struct context *ctx, const struct thread *thread);

/* Note that a client or server has read all that it waited for, or (not `whole`) gave up.
 */
void requests_read(const struct context *ctx, const struct thread *thread, bool whole);

/* Note an event that will be written with timestamp `at_ns`; NSEC_MIN: not written. */
void spans_note(const struct context *ctx, enum event_kind kind,
		const union sim_value *value, nsec_t at_ns);

/* Finish the files. Return 0, or -1 with error. */
int truth_close(struct world *world, struct error *error);
void truth_discard(struct truth *truth); /* NULL is fine */

#endif
