/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CAPTURE_WRITER_OWNERS_H
#define CT_SIMULATE_CAPTURE_WRITER_OWNERS_H

#include "simulate/writer.h"

/* Which node has which address; where two have the same, either. */
struct sim_owners {
	struct sim_owner *item;
	size_t count;
};

void sim_owners_init(struct sim_owners *owners, const struct sim_node *node,
		     size_t nodes);

/* The Ethernet address behind one, as a captured frame shows it: a router's if no node's.
 */
const unsigned char *sim_owners_mac(const struct sim_owners *owners, uint8_t family,
				    const uint8_t address[16]);

void sim_owners_clear(struct sim_owners *owners);

#endif
