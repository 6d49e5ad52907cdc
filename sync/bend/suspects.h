/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BEND_SUSPECTS_H
#define CT_SYNC_BEND_SUSPECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sync/pair/hull.h"

/* A message of a pair under suspicion. */
struct suspect {
	double x;       /* since the pair's origin, ns */
	double v;       /* how much further the other clock is, less that at the origin */
	uint64_t place; /* in the log */
	size_t before[2]; /* how many of each direction's list stand before it */
	uint16_t port;    /* these as in struct message */
	uint8_t protocol;
	bool forward, rejected;
	unsigned char votes; /* of a round */
};

struct suspects {
	struct suspect *item;
	size_t count, room;
	struct suspect **side[2]; /* by direction, in the order of the items */
	size_t sides[2];
	bool wanted; /* the pair contradicts itself */
	double limit;
};

/* In the order of the one clock, and of the other; for qsort. */
int suspects_by_x(const void *a, const void *b);
int suspects_by_y(const void *a, const void *b);

/*
 * Reject the messages of a pair that are false, by the drift limit of its two clocks
 * together (docs/method.md). Changes their order. Returns how many.
 */
size_t suspects_reject(struct suspects *suspects);

#endif
