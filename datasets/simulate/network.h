/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_NETWORK_H
#define CT_SIMULATE_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/nsec.h"
#include "simulate/clock.h"
#include "simulate/scenario.h"
#include "simulate/world.h"

/* `number` tells links apart; `lower` is the direction towards the lower node. */
void link_init(struct link *link, const struct scenario *scenario, uint64_t seed,
	       uint64_t number, bool lower);

/* What becomes of one packet. */
struct delivery {
	bool lost;
	nsec_t arrival_ns; /* true; when not lost */
	nsec_t again_ns;   /* when it arrives a second time; 0: it does not */
};

struct delivery link_carry(struct link *link, const struct scenario *scenario,
			   nsec_t leaves_ns, uint32_t bytes);

/*
 * Hand a packet to the network interface and the network; with segmentation offload it is
 * more than one, of which this has the first one's place and the data of all.
 */
void nic_transmit(struct context *ctx, const struct flight *flight, uint8_t segments);

/* A packet in flight comes out of the network; its processor may be interrupted at once.
 */
void nic_arrive(struct world *world, const struct pending *pending);

/* Take what the NIC holds for this processor. Returns how many packets in flight. */
size_t nic_poll(struct context *ctx);

#define NIC_NAME "eth0"

/* The transport protocols, transport.c. */

enum { TCP_HEADER = 32 }; /* with the timestamps that Linux always adds */

/*
 * TCP, UDP and ICMP between the two ends of a flow, as far as packets show it.
 * TCP sends one window of up to 64 segments, waits until all of it was
 * acknowledged, and sends again what was not in time (RFC 6298) or what three
 * repeated acknowledgements ask for (RFC 5681). Connections stand before the
 * run begins.
 */

/* The most that transport_send takes at once. */
uint64_t transport_most(const struct flow *flow);

/* Whether all that this end sent was acknowledged; true but for TCP. */
bool transport_is_answered(const struct endpoint *end);

/* Send data, on behalf of the kernel of that end, which `ctx` is at. */
void transport_send(struct context *ctx, struct endpoint *end, uint64_t bytes);

/*
 * Take a packet in flight at its destination, on behalf of the kernel there; with `more`
 * the next ones of the same flow come at once.
 */
void transport_receive(struct context *ctx, const struct flight *flight, bool more);

/* A PENDING_RESEND: whether something must be sent again now, and that. */
bool transport_is_overdue(struct world *world, struct endpoint *end);
void transport_resend(struct context *ctx, struct endpoint *end);

void transport_init(const struct world *world, struct flow *flow);

#endif
