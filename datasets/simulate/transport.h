/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_TRANSPORT_H
#define CT_SIMULATE_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "simulate/world.h"

enum { TCP_HEADER = 32 }; /* with the timestamps that Linux always adds */

/*
 * TCP, UDP and ICMP between the two ends of a flow, as far as packets show it. TCP sends
 * one window of up to 64 segments, waits until all of it is acknowledged, and retransmits
 * after a timeout (RFC 6298) or three duplicate acknowledgements (RFC 5681). Connections
 * are established before the run starts.
 */

/* Return the most bytes that one transport_send() can send. */
uint64_t transport_most(const struct flow *flow);

/* Return true if everything that this end sent is acknowledged; always true without TCP.
 */
bool transport_is_answered(const struct endpoint *end);

/* Send data from `end`; `ctx` is in the kernel of its host. */
void transport_send(struct context *ctx, struct endpoint *end, uint64_t bytes);

/*
 * Receive a packet at its destination, in whose kernel `ctx` is. `more`: packets of the
 * same flow follow at once.
 */
void transport_receive(struct context *ctx, const struct flight *flight, bool more);

/* Handle a PENDING_RESEND: return true if something must be retransmitted now; do so. */
bool transport_is_overdue(struct world *world, struct endpoint *end);
void transport_resend(struct context *ctx, struct endpoint *end);

void transport_init(const struct world *world, struct flow *flow);

#endif
