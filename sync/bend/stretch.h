/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BEND_STRETCH_H
#define CT_SYNC_BEND_STRETCH_H

#include <stdbool.h>

#include "sync/bend/corridor.h"
#include "sync/pair/pair.h"

/* For the two files of a stretch: where its joints are, and its values there. */
enum { STRETCH_SEGMENTS_MOST = 4096 };

struct stretch {
	const struct corridor_bound *bound;
	size_t n;
	double limit;
	struct line base; /* values are differences from it */
	double unit_ns, length_ns;
	struct pair cell; /* the hulls of one segment */
};

/* Joined segments: differences from the base at the joints, both in ns. */
struct shape {
	size_t segments;
	double *joint, *value; /* segments + 1 */
	double room_ns;        /* what they leave to the bounds, mean over time */
};

/*
 * The bounds of some time as two half hulls of a pair, x the clock's own time
 * and y the reference's; the pair's upper hull must say that it is one.
 */
void stretch_hulls(struct pair *pair, const struct corridor_bound *bound, size_t n);

/*
 * Segments for bounds between two steps, appended to the fit: joined, their
 * rates within `limit`, with the most room to the bounds. One, or where no line
 * satisfies all, as many as explain more of that room than chance does, their
 * joints where the clock bends; or as many as wished, evenly. 0, or -1 with
 * error where they cannot satisfy the bounds.
 */
int stretch_fit(const struct corridor_bound *bound, size_t n, double limit,
		struct corridor_wish wish, struct corridor_fit *fit, struct error *error);

#endif
