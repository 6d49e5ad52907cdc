/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_OUTLIERS_H
#define CT_INPUT_CAPTURE_OUTLIERS_H

#include "input/capture/capture.h"

/*
 * Packets whose timestamps are absurd: hours and more away from those before and after
 * them, like 0 among those of today. A single one would stretch the capture's clock over
 * decades. Where a clock was set, or where two clocks stamp the packets of one capture,
 * many packets follow that are near each other; these are not absurd.
 */
enum { OUTLIERS_HELD = 16 };

/* Zeroed is empty. */
struct outliers {
	struct captured held[OUTLIERS_HELD]; /* far from the packets before */
	size_t count;
	bool begun;        /* near_ns is known */
	bool returned;     /* others came after the first that is held, near near_ns */
	uint64_t since;    /* how many */
	nsec_t reach_ns;   /* what is no further away is near */
	nsec_t near_ns;    /* timestamp of the last packet that was near the one before */
	bool has_other;    /* another clock stamps packets, too: the last was at */
	nsec_t other_ns;   /* this */
	uint64_t left_out; /* packets, of which the first was */
	uint64_t first_index; /* this one of the file, from 0, at */
	nsec_t first_ns;      /* this time */
};

/* Whether a packet needs not be added, as it is near the one before: nearly all are. */
static inline bool outliers_pass(struct outliers *outliers, nsec_t ns)
{
	nsec_t later = nsec_sub(ns, outliers->near_ns);

	if (!outliers->begun || outliers->count || later > outliers->reach_ns ||
	    later < -outliers->reach_ns)
		return false;
	outliers->near_ns = ns;
	return true;
}

/* Deliver a packet, or hold it back, and deliver what proves right by it. */
void outliers_add(struct outliers *outliers, struct captured *captured,
		  captured_fn *deliver, void *context);

/* No packet follows. */
void outliers_end(struct outliers *outliers, captured_fn *deliver, void *context);

#endif
