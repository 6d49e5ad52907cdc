/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_TCP_H
#define CT_SIMULATE_TCP_H

#include "simulate/world.h"

/* The TCP of transport.h; nobody else calls these. */

enum { TCP_HEADER = 32 }; /* with the timestamps that Linux always adds */

void tcp_init(const struct world *world, struct flow *flow, int side);
nsec_t tcp_send(struct world *world, uint32_t flow, int side, uint64_t bytes, nsec_t now);
nsec_t tcp_receive(struct world *world, const struct parcel *parcel, bool more,
		   nsec_t now);
nsec_t tcp_resend(struct world *world, uint32_t flow, int side, nsec_t now);

/* The headers of a packet that this end sends next, but for TCP's numbers. */
void transport_fill(struct world *world, uint32_t flow, int side, uint32_t payload,
		    struct packet *packet);

#endif
