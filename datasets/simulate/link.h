/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_LINK_H
#define CT_SIMULATE_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/nsec.h"
#include "simulate/dice.h"
#include "simulate/scenario.h"

/* Load that comes and goes: what it adds to the least delay, and until when. */
struct link_load {
	struct dice dice;
	nsec_t level_ns, until_ns; /* true */
};

/* The way from one node to another, one direction. */
struct link {
	struct dice dice;
	struct link_load load;
	nsec_t least_ns, jitter_ns;
	nsec_t free_ns; /* true: when the last bit of the last packet was sent */
	nsec_t last_ns; /* true: when the last packet came that was not held up */
};

/* What all links have in common. */
struct network {
	int jitter;                        /* enum scenario_spread */
	uint64_t loss, duplicate, reorder; /* odds */
	nsec_t held_up_ns;
	uint64_t ps_per_byte;
	nsec_t load_ns, load_on_ns, load_off_ns; /* means */
};

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

#endif
