/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_SIDES_H
#define CT_INPUT_CAPTURE_SIDES_H

#include <stddef.h>

#include "input/headers.h"
#include "input/packet_source.h"

/*
 * Whether the node of a capture sent or received a packet: by the node's IP
 * addresses, by its Ethernet address, or as a cooked capture says itself.
 */
enum sides_rule { SIDES_BY_ADDRESS, SIDES_BY_ETHERNET, SIDES_BY_COOKED };

struct sides {
	enum sides_rule rule;
	struct node_address *local; /* ours */
	size_t locals;
	uint8_t ethernet[6];
};

enum side {
	SIDE_SENT,
	SIDE_RECEIVED,
	SIDE_FOREIGN, /* neither from nor to the node */
	SIDE_INSIDE,  /* it never left the node */
};

/* By these addresses; copies them. */
void sides_set_addresses(struct sides *sides, const struct node_address *local,
			 size_t locals);

enum side sides_tell(const struct sides *sides, const struct frame *frame);

void sides_clear(struct sides *sides);

#endif
