/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PIECEWISE_CONSTRAINTS_H
#define CT_SYNC_PIECEWISE_CONSTRAINTS_H

#include "sync/fit/fit.h"
#include "sync/piecewise/piecewise.h"

/* The bounds on a clock. Zero-initialize for none. */
struct piecewise_bounds {
	struct piecewise_bound *item;
	size_t count, capacity;
};

/* Return true if a correction violates a bound. */
bool bounds_are_broken(const struct clock *clock, const struct piecewise_bounds *bounds);

/* The messages of one pair, as points of its plane. */
struct pair_messages {
	struct point_list {
		struct hull_point *point;
		size_t count, capacity;
		size_t thinned; /* how many were, from the first on */
	} side[2];              /* by whether they go forward */
};

/*
 * The limits of an island's clocks, by all of its messages at once.
 *
 * A receive comes after its send, and the drift limit restricts a clock between two of
 * its messages: both are bounds on differences. The shortest paths to and from the
 * reference are the greatest and the least solution, and whatever one clock is within
 * them, the others can follow (Bellman 1958). So clocks can be fitted one after the
 * other, each within its remaining limits, and in the end satisfy every message.
 */
struct constraints;

/* The steps and slews of a clock that no limit applies to. */
struct clock_events_found {
	const struct piecewise_event *event;
	size_t events;
};

/* `messages` is indexed by pair, and `events` by clock, or NULL for none: a clock may do
 * anything during them, and its messages of that time are not used. Return NULL if the
 * messages contradict each other, or leave a clock without a bound on one side. Borrows
 * the arguments. */
struct constraints *constraints_new(const struct network *net, const struct lines *lines,
				    const struct island *island,
				    const struct pair_messages *messages,
				    const struct clock_events_found *events);

/* Replace `bounds` by those on a clock at its messages, without those that follow from
 * others by the drift limit. */
void constraints_bounds(const struct constraints *constraints, uint32_t clock,
			struct piecewise_bounds *bounds);

/*
 * From now on a clock is the curve that was fitted to its bounds, if the others can
 * follow that. Whether they can.
 */
bool constraints_fix(struct constraints *constraints, uint32_t clock,
		     const struct clock *curve);

/*
 * The middle of the bounds, a corner at each message. As what is possible is
 * convex, the middles of all clocks together satisfy all messages. Freed by the
 * caller.
 */
void constraints_middle(const struct constraints *constraints, uint32_t clock,
			struct piecewise_fit *found);

void constraints_free(struct constraints *constraints);

#endif
