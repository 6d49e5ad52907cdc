/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PIECEWISE_SEGMENTS_H
#define CT_SYNC_PIECEWISE_SEGMENTS_H

#include "sync/sync.h"

/*
 * Give segments to the clocks that no line describes.
 *
 * Where pairs contradict every line, or leave more slack than a line explains
 * (curvature_find), the clocks of their island are gone through in the order of
 * the tree. Each gets segments that satisfy its messages with all clocks before
 * it (piecewise.h), unless one line does. Where that leaves messages broken, or finds
 * steps that no message proves, all are fitted anew, from corrections that satisfy
 * every message at once (struct constraints). Steps become problems of kind "step", with
 * their times. 0, or -1 with error.
 *
 * Keeps the messages of such islands in memory.
 */
int segments_fit(struct sync *sync, struct error *error);

/*
 * Return true if an event is a slew and is reported as one. A slew that may have been a
 * step is reported as a step.
 */
bool slew_is_certain(const struct piecewise_event *slew);

/*
 * Find false matches in pairs whose messages contradict each other, mark them
 * rejected in the log, and make the pairs' hulls anew without them.
 *
 * A message is judged by the drift limit alone, not by a line: it is false
 * when several messages of the other direction, both before and after it in
 * time, cannot be true together with it for any clocks within the limit. So
 * a clock whose rate changes, or that steps, never costs a true message. A pair that
 * would lose more than options.max_rejected of its messages loses none, and that becomes
 * a problem. 0, or -1 with error.
 */
int reject_false_matches(struct sync *sync, struct error *error);

/*
 * Which of the tree's pairs, though some line satisfies all of their messages,
 * are of clocks whose rates change. One walk over the messages. Sets curved[pair]. 0, or
 * -1 with error.
 */
int curvature_find(struct sync *sync, bool *curved, struct error *error);

/* The bounds on a clock. Zeroed is none. */
struct piecewise_bounds {
	struct piecewise_bound *item;
	size_t count, capacity;
};

/* Whether a correction breaks one of them. */
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
 * What the clocks of an island can be, by all of its messages at once.
 *
 * That a receive comes after its send, and how far the drift limit lets a clock go
 * from one of its messages to the next, are bounds on differences. Of such a
 * system, the shortest ways to and from the reference are the greatest and the
 * least solution, and whatever one clock may be by them, the others can follow
 * (Bellman 1958). So clocks can be fitted one after the other, each within what is
 * left, and in the end satisfy every message.
 */
struct constraints;

/*
 * `messages` go by the index of their pair. NULL where the messages contradict each
 * other, or leave a clock without a bound on one side. Borrows all until it is freed.
 */
struct constraints *constraints_new(const struct sync *sync, const struct island *island,
				    const struct pair_messages *messages);

/*
 * The bounds on a clock at its messages, but for those that follow from others by
 * the drift limit, in the place of what is in `bounds`.
 */
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
