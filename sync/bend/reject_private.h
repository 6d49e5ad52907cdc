/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_REJECT_PRIVATE_H
#define CT_SYNC_REJECT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Whether two cannot both be true, for any clocks within a limit (of both together). */
bool reject_contradict(const struct suspect *a, const struct suspect *b, double limit);

/*
 * Clear again those that were marked as rejected because a clock was stepped and
 * stepped back, or two clocks were: of these, several follow each other in their
 * direction, and agree with what went the other way meanwhile. Returns how many.
 */
size_t reject_spare_pulses(struct suspects *suspects);

/*
 * Where a pair has false ones, mark those too that contradict nobody, but stand
 * between the two directions, if these are `most` or less. Returns how many.
 */
size_t reject_stray(struct suspects *suspects, size_t most);

/*
 * The least number of steps with which any clocks within a limit (of both together)
 * satisfy all messages, or all that are not rejected. Changes their order.
 */
size_t reject_least_steps(struct suspects *suspects, bool all, double limit);

/*
 * Of which kinds most of the rejected ones are: ": 120 of udp port 7001, 3 of icmp",
 * or "" where that is not known. Freed by the caller.
 */
char *reject_kinds(const struct suspects *suspects);

#endif
