/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_SURVEY_H
#define CT_INPUT_CAPTURE_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "input/headers.h"
#include "input/packet_source.h"

/*
 * Whether the node of a capture sent or received a packet: by the node's IP
 * addresses, by its Ethernet address, or as a cooked capture says itself.
 */
enum sides_rule { SIDES_BY_ADDRESS, SIDES_BY_ETHERNET, SIDES_BY_COOKED };

struct sides {
	enum sides_rule rule;
	const struct node_address *local; /* ours, the caller's */
	size_t locals;
	uint8_t ethernet[6];
};

enum side {
	SIDE_SENT,
	SIDE_RECEIVED,
	SIDE_FOREIGN, /* neither from nor to the node */
	SIDE_INSIDE,  /* it never left the node */
};

enum side sides_tell(const struct sides *sides, const struct frame *frame);

/*
 * Which node a capture was made on, where nobody says: the Ethernet address that takes
 * part in nearly every frame between two hosts. Where two do, each in all that the other
 * does, what tells them apart is that leaving packets may have their checksums still
 * open.
 */
struct survey;

struct survey *survey_new(void);

/* Look at one frame, whose status is FRAME_PACKET or FRAME_OTHER. */
void survey_add(struct survey *survey, const struct frame *frame,
		enum frame_status status);

/*
 * Set the rule by what was seen so far. -1 with error when it is not enough.
 */
int survey_decide(const struct survey *survey, struct sides *sides, struct error *error);

void survey_free(struct survey *survey);

#endif
