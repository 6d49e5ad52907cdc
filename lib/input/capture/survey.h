/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_SURVEY_H
#define CT_INPUT_CAPTURE_SURVEY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "input/headers.h"
#include "input/packet_source.h"

/*
 * The rule that decides whether the node of a capture sent or received a packet: by the
 * node's IP addresses, or by the link layer, which means by its Ethernet address or, for
 * a cooked frame, by the direction recorded in it.
 */
enum sides_rule { SIDES_BY_LINK, SIDES_BY_ADDRESS };

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
 * A search for the node that a capture was made on, if its addresses are unknown. It is
 * the Ethernet address whose packets are captured with unfinished checksums while those
 * of others are not, or the only one that is an end of nearly every frame between two
 * hosts.
 */
struct survey;

struct survey *survey_new(void);

/* Add a frame whose status is FRAME_PACKET or FRAME_OTHER. */
void survey_add(struct survey *survey, const struct frame *frame,
		enum frame_status status);

/*
 * Set the rule from the frames added so far. Return 0, or -1 with error if they do not
 * suffice; the error lists the addresses seen, and the option --local for the capture
 * `name`.
 */
int survey_decide(struct survey *survey, const char *name, struct sides *sides,
		  struct error *error);

void survey_free(struct survey *survey);

/*
 * Set the rule for a capture: by the addresses that were given or, without any, by what a
 * survey of its frames finds. Return 0, or -1 with error.
 */
int sides_find(struct sides *sides, const struct capture_input *input,
	       struct error *error);

#endif
