/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/sides.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void sides_set_addresses(struct sides *sides, const struct node_address *local,
			 size_t locals)
{
	sides_clear(sides);
	sides->rule = SIDES_BY_ADDRESS;
	sides->local = mem_alloc(locals * sizeof(*local));
	memcpy(sides->local, local, locals * sizeof(*local));
	sides->locals = locals;
}

void sides_clear(struct sides *sides)
{
	free(sides->local);
	memset(sides, 0, sizeof(*sides));
}

static bool is_local(const struct sides *sides, uint8_t family, const uint8_t address[16])
{
	for (size_t i = 0; i < sides->locals; i++)
		if (sides->local[i].family == family &&
		    memcmp(sides->local[i].bytes, address, family == 4 ? 4 : 16) == 0)
			return true;
	return false;
}

/*
 * A subnet's broadcast address cannot be told from others without its mask,
 * but the link layer knows.
 */
static bool is_link_broadcast(const struct frame *frame)
{
	static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	if (frame->has_ethernet)
		return memcmp(frame->target, broadcast, sizeof(broadcast)) == 0;
	return frame->cooked == COOKED_BROADCAST || frame->cooked == COOKED_MULTICAST;
}

static enum side by_address(const struct sides *sides, const struct frame *frame)
{
	const struct packet *packet = &frame->packet;
	bool from = is_local(sides, packet->family, packet->src);
	bool to = is_local(sides, packet->family, packet->dst);

	if (from)
		return to ? SIDE_INSIDE : SIDE_SENT;
	if (to)
		return SIDE_RECEIVED;
	/* Anyone may ask for an address of his own. */
	if (packet_is_anonymous(packet))
		return SIDE_FOREIGN;
	if (packet_is_to_many(packet) || is_link_broadcast(frame))
		return SIDE_RECEIVED;
	return SIDE_FOREIGN;
}

static enum side by_ethernet(const struct sides *sides, const struct frame *frame)
{
	bool from = memcmp(frame->source, sides->ethernet, 6) == 0;
	bool to = memcmp(frame->target, sides->ethernet, 6) == 0;

	if (!frame->has_ethernet)
		return SIDE_FOREIGN;
	if (from)
		return to ? SIDE_INSIDE : SIDE_SENT;
	/* The lowest bit of the first byte marks a group. */
	return to || (frame->target[0] & 1) ? SIDE_RECEIVED : SIDE_FOREIGN;
}

static enum side by_cooked(const struct frame *frame)
{
	switch (frame->cooked) {
	case COOKED_OUTGOING:
		return SIDE_SENT;
	case COOKED_HOST:
	case COOKED_BROADCAST:
	case COOKED_MULTICAST:
		return SIDE_RECEIVED;
	default:
		return SIDE_FOREIGN;
	}
}

enum side sides_tell(const struct sides *sides, const struct frame *frame)
{
	if (frame->loopback || packet_is_local(&frame->packet))
		return SIDE_INSIDE;
	switch (sides->rule) {
	case SIDES_BY_ADDRESS:
		return by_address(sides, frame);
	case SIDES_BY_ETHERNET:
		return by_ethernet(sides, frame);
	case SIDES_BY_COOKED:
		return by_cooked(frame);
	}
	return SIDE_FOREIGN;
}
