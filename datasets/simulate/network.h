/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_NETWORK_H
#define CT_SIMULATE_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/nsec.h"
#include "simulate/clock.h"
#include "simulate/scenario.h"
#include "simulate/world.h"

/* Set up the link `number`; `lower`: in the direction towards the lower node. */
void link_init(struct link *link, const struct scenario *scenario, uint64_t seed,
	       uint64_t number, bool lower);

/* The fate of one packet. */
struct delivery {
	bool lost;
	nsec_t arrival_ns; /* true time, unless it is lost */
	nsec_t again_ns;   /* true time of its second arrival, or 0 */
};

struct delivery link_carry(struct link *link, const struct scenario *scenario,
			   nsec_t leaves_ns, uint32_t bytes);

/*
 * Send a packet through the network interface and the network. With segmentation offload
 * it is `segments` packets: `flight` has the index of the first and the data of all.
 */
void nic_transmit(struct context *ctx, const struct flight *flight, uint8_t segments);

/* Deliver a packet in flight to the NIC, which may interrupt its processor at once. */
void nic_arrive(struct world *world, const struct pending *pending);

/* Process the packets that the NIC queued for this processor. Return their number. */
size_t nic_poll(struct context *ctx);

#define NIC_NAME "eth0"

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

/* Send data from `end`, whose host's kernel `ctx` is in. */
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
