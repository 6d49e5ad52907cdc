/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_SURVEY_H
#define CT_INPUT_CAPTURE_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"
#include "input/headers.h"
#include "input/packet_source.h"

/*
 * How exact the stamps of a capture file are.
 *
 * Stamps are cut off at the unit that they are written in: a packet stamped
 * 5 us came at any time before 6 us. A pcap has one unit; a pcapng has one an
 * interface, so its blocks are walked along with the packets.
 */
enum capture_format { CAPTURE_NONE, CAPTURE_MICRO, CAPTURE_NANO, CAPTURE_BLOCKS };

/* By what the file begins with. Leaves the file's position alone. */
enum capture_format capture_format_of(int fd);

struct stamp_walk;

/* Borrows the descriptor, and never moves its position. */
struct stamp_walk *stamp_walk_new(int fd);

struct stamp_unit {
	nsec_t slack_ns;    /* the packet came at most this after its stamp */
	uint32_t interface; /* of a pcapng section, from 0 */
	bool usable;        /* the stamp is there, and libpcap can convert it */
};

/* The unit of the next packet's stamp. */
struct stamp_unit stamp_walk_next(struct stamp_walk *walk);

void stamp_walk_free(struct stamp_walk *walk);

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

/*
 * Which node a capture was made on, where nobody says: the one that takes part
 * in nearly every packet between two hosts. Where two do, each in all that the
 * other does, what tells them apart is that arriving short frames are padded,
 * that leaving packets may have their checksums still open, and that a packet
 * from afar has lost some of its time to live.
 */
struct survey;

struct survey *survey_new(void);

/* Look at one frame, whose status is FRAME_PACKET or FRAME_OTHER. */
void survey_add(struct survey *survey, const struct frame *frame,
		enum frame_status status);

/*
 * Set the rule by what was seen so far. -1 with error when it is not enough;
 * the text names whom it may be.
 */
int survey_decide(const struct survey *survey, struct sides *sides, struct error *error);

void survey_free(struct survey *survey);

#endif
