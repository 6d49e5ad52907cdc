/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_NETWORK_H
#define CT_SIMULATE_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/nsec.h"
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

#endif
