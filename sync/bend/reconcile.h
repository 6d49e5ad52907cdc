/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_RECONCILE_H
#define CT_SYNC_RECONCILE_H

#include "sync/sync.h"

/* The messages of one pair, as points of its plane. */
struct pair_messages {
	struct hull_point *forward, *back;
	size_t forwards, backs, forward_room, back_room;
	size_t forward_thinned, back_thinned; /* how many were, from the first on */
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
struct reconciling;

/*
 * `messages` go by the index of their pair. Clocks in `steps` (or NULL) were stepped
 * somewhere between its times: what lies within is left out, and no rate leads
 * across. NULL where the messages contradict each other, or leave a clock without a
 * bound on one side. Borrows all until it is freed.
 */
struct reconciling *reconciling_new(const struct sync *sync, const struct island *island,
				    const struct pair_messages *messages,
				    const struct step_list *steps);

/*
 * The bounds on a clock at its messages, but for those that follow from others by
 * the drift limit. Replaces what is in `bound`, which grows; returns how many.
 */
size_t reconciling_bounds(const struct reconciling *reconciling, uint32_t clock,
			  struct corridor_bound **bound, size_t *room);

/*
 * From now on a clock is the curve that was fitted to its bounds; or, where the
 * others cannot follow that, lies between it and the bounds, as near to it as
 * they can. Whether it is the curve.
 */
bool reconciling_narrow(struct reconciling *reconciling, uint32_t clock,
			const struct clock *curve);

/* Segments of a clock, with the places where they do not join. */
struct reconciled {
	struct clock_segment *segment;
	size_t segments;
	struct corridor_step *step;
	size_t steps, step_room;
};

/*
 * The middle of the bounds, a corner at each message. As what is possible is
 * convex, the middles of all clocks together satisfy all messages. Freed by the
 * caller.
 */
void reconciling_polygon(const struct reconciling *reconciling, uint32_t clock,
			 struct reconciled *found);

void reconciled_clear(struct reconciled *reconciled);

void reconciling_free(struct reconciling *reconciling);

#endif
