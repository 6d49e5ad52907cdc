/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_STAMPS_H
#define CT_INPUT_CAPTURE_STAMPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/nsec.h"

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

#endif
