/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CARD_H
#define CT_SIMULATE_CARD_H

#include "simulate/now.h"

/* A packet on its way out; with segmentation offload it is more than one. */
struct shipment {
	struct packet packet;
	uint32_t flow;
	uint32_t window, total; /* as in struct parcel */
	int side;
	uint8_t index, segments; /* the first one's place; how many */
};

/* Hand a packet to the network card and the network. */
void card_transmit(struct now *now, const struct shipment *shipment);

/* A parcel comes out of the network; its processor may be interrupted at once. */
void card_arrive(struct world *world, uint32_t parcel);

/* Take what the card holds for this processor. Returns how many parcels. */
size_t card_poll(struct now *now);

#define CARD_NAME "eth0"

#endif
