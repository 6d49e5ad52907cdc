/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_MESSAGES_H
#define CT_SIMULATE_MESSAGES_H

#include "base/error.h"
#include "simulate/world.h"

/*
 * The messages as CSV, "send_node,send_ns,recv_node,recv_ns" on the nodes'
 * CLOCK_REALTIME. With false_matches some have the receive time of another message of
 * their pair and direction; false.csv lists these.
 */
struct message_sink;

/* Open DIRECTORY/messages.csv, and false.csv if needed. Return NULL with error. */
struct message_sink *message_sink_open(const struct world *world, const char *directory,
				       struct error *error);

/* Add a packet in flight, received at true time received_ns, as a message. */
void messages_add(struct world *world, const struct flight *flight, nsec_t received_ns);

/* Finish the files. Return 0, or -1 with error. */
int message_sink_close(struct world *world, struct error *error);
void message_sink_discard(struct message_sink *sink); /* NULL is fine */

#endif
