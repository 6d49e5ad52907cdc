/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_ADDRESS_H
#define CT_SIMULATE_ADDRESS_H

#include "simulate/world.h"

/* Give a host the addresses that belong to its number. */
void address_init(struct host *host, uint32_t number);

/* Addresses and ports of a packet from one end of a flow, as that end sees them. */
void address_fill(const struct world *world, const struct flow *flow, int side,
		  struct packet *packet);

/* Make them what the other end sees, where addresses are translated on the way. */
void address_translate(const struct world *world, const struct flow *flow, int side,
		       struct packet *packet);

#endif
