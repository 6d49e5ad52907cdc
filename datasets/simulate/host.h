/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_HOST_H
#define CT_SIMULATE_HOST_H

#include "simulate/world.h"

/* A packet on its way out; with segmentation offload it is more than one. */
struct shipment {
	struct packet packet;
	uint32_t flow;
	uint32_t window, total; /* as in struct parcel */
	int side;
	uint8_t index, segments; /* the first one's place; how many */
};

void host_init(struct world *world, uint32_t number);
void host_clear(struct host *host);

/* Hand a packet to the network card and the network; returns when that is done. */
nsec_t host_transmit(struct world *world, const struct shipment *shipment, nsec_t now);

/* A parcel comes out of the network. */
void host_arrive(struct world *world, uint32_t parcel, nsec_t now);

/* The host takes what its card holds. */
void host_poll(struct world *world, uint32_t number, nsec_t now);

/* Whether the host's tracer runs. */
static inline bool host_is_traced(const struct host *host, nsec_t now)
{
	return now >= host->trace_from && now < host->trace_to;
}

#endif
