/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_TCP_H
#define CT_SIMULATE_TCP_H

#include "simulate/now.h"

/* The TCP of transport.h; nobody else calls these. */

enum { TCP_HEADER = 32 }; /* with the timestamps that Linux always adds */

void tcp_init(const struct world *world, struct flow *flow, int side);
void tcp_send(struct now *now, uint32_t flow, int side, uint64_t bytes);
void tcp_receive(struct now *now, const struct parcel *parcel, bool more);
void tcp_resend(struct now *now, uint32_t flow, int side);

/* The headers of a packet that this end sends next, but for TCP's numbers. */
void transport_fill(struct world *world, uint32_t flow, int side, uint32_t payload,
		    struct packet *packet);

#endif
