/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_MESSAGES_H
#define CT_SIMULATE_MESSAGES_H

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

#endif
