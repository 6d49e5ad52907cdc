/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_NETWORK_H
#define CT_SIMULATE_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/nsec.h"
#include "simulate/dice.h"
#include "simulate/scenario.h"
#include "simulate/world.h"

void network_init(struct network *network, const struct scenario *scenario);

/* `number` tells links apart; `lower` is the direction towards the lower node. */
void link_init(struct link *link, const struct scenario *scenario, uint64_t seed,
	       uint64_t number, bool lower);

/* What becomes of one packet. */
struct journey {
	bool lost;
	nsec_t arrival_ns; /* true; when not lost */
	nsec_t again_ns;   /* when it arrives a second time; 0: it does not */
};

struct journey link_carry(struct link *link, const struct network *network,
			  nsec_t leaves_ns, uint32_t bytes);

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
