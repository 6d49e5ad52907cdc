/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_OUTLIERS_H
#define CT_INPUT_CAPTURE_OUTLIERS_H

#include "input/capture/frames.h"

/*
 * A filter for packets with absurd timestamps: an hour or more away from those before and
 * after them, such as 0 among those of today. A single one would stretch the capture's
 * clock over decades. If a clock was set, or if two clocks stamp the packets of one
 * capture, many packets follow that are near each other; these are valid.
 */
enum { OUTLIERS_HELD = 16 };

/* Zero-initialize before use. */
struct outliers {
	struct captured held[OUTLIERS_HELD]; /* packets far from near_ns */
	size_t count;
	bool begun;           /* near_ns and reach_ns are known */
	bool returned;        /* packets near near_ns followed the first held one */
	uint64_t since;       /* number of these packets */
	nsec_t reach_ns;      /* most distance of a near packet */
	nsec_t near_ns;       /* timestamp of the last accepted packet */
	bool has_other;       /* another clock stamps packets, too */
	nsec_t other_ns;      /* timestamp of its last packet */
	uint64_t left_out;    /* number of packets left out */
	uint64_t first_index; /* ordinal of the first one left out */
	nsec_t first_ns;      /* timestamp of the first one left out */
};

/*
 * Return true if a packet need not be added because it is near the last one, as nearly
 * all packets are.
 */
static inline bool outliers_pass(struct outliers *outliers, nsec_t ns)
{
	nsec_t later = nsec_sub(ns, outliers->near_ns);

	if (!outliers->begun || outliers->count || later > outliers->reach_ns ||
	    later < -outliers->reach_ns)
		return false;
	outliers->near_ns = ns;
	return true;
}

/*
 * Add a packet: deliver it, or hold it back. Deliver held packets that it proves valid.
 */
void outliers_add(struct outliers *outliers, struct captured *captured,
		  captured_fn *deliver, void *context);

/* End the capture: deliver the held packets that are valid and drop the others. */
void outliers_end(struct outliers *outliers, captured_fn *deliver, void *context);

#endif
