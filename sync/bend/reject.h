/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BEND_REJECT_H
#define CT_SYNC_BEND_REJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sync/sync.h"

/* For the files of the search for false matches. */
enum {
	REJECT_WINDOW = 64, /* messages of the other direction looked at, each side */
	REJECT_KIND = 64,   /* bytes of one kind's name */
};

/* A message of a pair under suspicion. */
struct suspect {
	double x;       /* since the pair's origin, ns */
	double v;       /* how much further the other clock is, less that at the origin */
	uint64_t place; /* in the log */
	size_t before;  /* how many of the other direction's list stand before it */
	uint16_t port;  /* these as in struct message */
	uint8_t protocol;
	bool forward, rejected;
	unsigned char votes; /* of a round */
};

struct suspects {
	struct suspect *item;
	size_t count, room;
	size_t *side[2]; /* by direction: the items that are not rejected */
	size_t sides[2];
	bool wanted; /* the pair contradicts itself */
	double limit;
};

/* In the order of the one clock, and of the other; for qsort. */
int reject_by_x(const void *a, const void *b);
int reject_by_y(const void *a, const void *b);

/*
 * The least number of steps with which any clocks within a limit (of both together)
 * satisfy all messages, or all that are not rejected. Changes their order.
 */
size_t reject_least_steps(struct suspects *suspects, bool all, double limit);

/*
 * Where a pair has false ones, mark those too that contradict nobody, but stand
 * between the two directions, if these are `most` or less. Returns how many.
 */
size_t reject_stray(struct suspects *suspects, size_t most);

/*
 * Of which kinds most of the rejected ones are: ": 120 of udp port 7001, 3 of icmp",
 * or "" where that is not known. Freed by the caller.
 */
char *reject_kinds(const struct suspects *suspects);

/*
 * Find false matches in pairs whose messages contradict each other, mark them
 * rejected in the log, and make the pairs' hulls anew without them.
 *
 * A message is judged by the drift limit alone, not by a line: it is false
 * when several messages of the other direction, both before and after it in
 * time, cannot be true together with it for any clocks within the limit. So
 * a clock that bends or steps never costs a true message. A pair that would
 * lose more than options.max_rejected of its messages loses none, and that
 * becomes a problem. 0, or -1 with error.
 */
int reject_false_matches(struct sync *sync, struct error *error);

#endif
