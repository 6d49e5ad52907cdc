/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BEND_BEND_H
#define CT_SYNC_BEND_BEND_H

#include "sync/bend/reconcile.h"
#include "sync/sync.h"

/* The bounds on a clock, and whether its correction breaks one of them. */
struct bend_bounds {
	struct corridor_bound *item;
	size_t count, room;
	bool broken;
};

/* Whose messages a clock is fitted by. */
enum heard { HEAR_PARENT, HEAR_EARLIER, HEAR_ALL };

/* Steps that were found in a clock, and why it has but one line, if so. */
struct bend_found {
	struct corridor_step *step;
	size_t steps;
	char *cause;
};

struct bending {
	struct sync *sync;
	bool *wanted;                   /* by island: some clock seems to be no line */
	bool is_thinned;                /* not every message is kept, as they are many */
	struct pair_messages *messages; /* by pair, of those islands */
	uint32_t *position;             /* by clock: its place in its island's order */
	struct bend_found *found;       /* by clock */
	struct bend_bounds bounds;      /* of the clock at hand */
	struct step_list gaps;          /* messages within are not heard */
};

/* Bounds on a clock by its messages with others. */
void bend_collect(struct bending *bending, const struct island *island, uint32_t clock,
		  enum heard heard);

/* Take what was found for a clock, in the place of what it had. */
void bend_take(struct bending *bending, uint32_t clock, struct corridor_fit *fit);

/*
 * Where clocks that were fitted one after the other leave messages broken, or have
 * steps that no message proves: fit them anew, from corrections that satisfy all
 * (reconcile.h). Leaves them as they are where there are none.
 */
void bend_jointly(struct bending *bending, const struct island *island);

/*
 * Add the local times of a clock between which it was stepped: what it reads
 * there, it may read on both sides of the step.
 */
void step_note(struct step_list *list, const struct clock *clock, uint32_t index,
	       const struct corridor_step *step);

/*
 * Give segments to the clocks that no line describes.
 *
 * Where pairs contradict every line, or leave more room than a line explains
 * (curvature.h), the clocks of their island are gone through in the order of
 * the tree. Each gets segments that satisfy its messages with all clocks before
 * it (corridor.h), or, where none do, with the one that it is tied to; unless
 * one line does. So in the end every message lies between two clocks of which
 * the later one satisfies
 * it. Steps become problems of kind "step", with their times. Fills
 * sync->bent. 0, or -1 with error.
 *
 * Keeps the messages of such islands in memory.
 */
int bend_clocks(struct sync *sync, struct error *error);

#endif
