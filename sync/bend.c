/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bend.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/corridor.h"

/* The messages between one clock and the one that it is tied to. */
struct gathered {
	struct corridor_bound *bound;
	size_t count, room;
	bool wanted;
	bool violated; /* some message contradicts the clocks at hand */
};

struct bending {
	struct sync *sync;
	struct gathered *by_clock;
	int *child_of_pair; /* the clock whose tree pair it is, -1: none */
	uint32_t *depth;    /* by clock: steps to the reference */
	uint32_t deepest;
};

static void measure_depths(struct bending *bending)
{
	const struct graph *graph = &bending->sync->graph;

	for (size_t i = 0; i < graph->islands; i++)
		for (size_t k = 1; k < graph->island[i].members; k++) {
			uint32_t at = graph->island[i].member[k];
			uint32_t depth = bending->depth[graph->node[at].parent] + 1;

			bending->depth[at] = depth;
			bending->child_of_pair[graph->node[at].parent_pair] = (int)at;
			if (depth > bending->deepest)
				bending->deepest = depth;
		}
}

/* Clocks of this depth whose pair may contradict the clocks at hand. */
static bool choose(struct bending *bending, uint32_t depth)
{
	struct sync *sync = bending->sync;
	bool any = false;

	for (uint32_t i = 0; i < sync->clocks; i++) {
		const struct graph_node *node = &sync->graph.node[i];
		struct gathered *gathered = &bending->by_clock[i];

		gathered->wanted = depth && bending->depth[i] == depth &&
				   (sync->pairs.pair[node->parent_pair].margin_ns < 0 ||
				    sync->bent[node->parent]);
		any |= gathered->wanted;
	}
	return any;
}

static int gather(void *context, struct message *message)
{
	struct bending *bending = context;
	const struct sync *sync = bending->sync;
	const struct pair *pair = &sync->pairs.pair[message->pair];
	int child = bending->child_of_pair[message->pair];
	struct hull_point point = pair_point(message);
	struct gathered *gathered;
	struct corridor_bound bound;
	nsec_t now;

	if (child < 0 || message->rejected || !bending->by_clock[child].wanted)
		return 0;
	gathered = &bending->by_clock[child];
	if (pair->b == (uint32_t)child) {
		bound.x = point.y;
		bound.y = clock_correct(&sync->fitted[pair->a], point.x);
	} else {
		bound.x = point.x;
		bound.y = clock_correct(&sync->fitted[pair->b], point.y);
	}
	/* What the clock sent was received later: that is a bound from above. */
	bound.above = message->forward == (pair->a == (uint32_t)child);
	now = clock_correct(&sync->fitted[child], bound.x);
	gathered->violated |= bound.above ? now > bound.y : now < bound.y;
	gathered->bound = mem_grow(gathered->bound, gathered->count, &gathered->room,
				   sizeof(*gathered->bound));
	gathered->bound[gathered->count++] = bound;
	return 0;
}

static void report_steps(struct sync *sync, uint32_t index, const struct clock *clock)
{
	for (size_t i = 1; i < clock->segments; i++) {
		const struct clock_segment *before = &clock->segment[i - 1];
		const struct clock_segment *after = &clock->segment[i];
		nsec_t elapsed = after->local_ns - before->local_ns;
		nsec_t step = after->ref_ns - before->ref_ns - elapsed -
			      nsec_round((double)elapsed * before->rate_ppb * 1e-9);
		char at[NSEC_TEXT], size[NSEC_TEXT];

		/* Segments that join do so to a nanosecond. */
		if (step >= -2 && step <= 2)
			continue;
		nsec_format_utc(at, after->local_ns);
		nsec_format_span(size, (double)-step);
		problem_add(&sync->problems, sync_clock_name(sync, index), "step", 1,
			    "its clock was stepped by %s at %s", size, at);
	}
}

static void bend(struct sync *sync, uint32_t index, struct gathered *gathered)
{
	struct clock *clock = &sync->fitted[index];
	struct error cause = ERROR_INIT;
	struct corridor_fit fit;

	if (!gathered->violated)
		return;
	if (corridor_find(gathered->bound, gathered->count,
			  sync->options.drift_limit_ppm * 1e-6, &fit, &cause)) {
		problem_add(&sync->problems, sync_clock_name(sync, index), "fit", 1,
			    "%s; it keeps one line", error_text(&cause));
		error_clear(&cause);
		return;
	}
	free(clock->segment);
	clock->segment = fit.segment;
	clock->segments = fit.segments;
	sync->bent[index] = true;
	if (fit.steps)
		report_steps(sync, index, clock);
}

static int bend_depth(struct bending *bending, uint32_t depth, struct error *error)
{
	struct sync *sync = bending->sync;
	int status = 0;

	if (!choose(bending, depth))
		return 0;
	if (message_log_walk(&sync->log, false, gather, bending, error))
		status = -1;
	for (uint32_t i = 0; i < sync->clocks; i++) {
		struct gathered *gathered = &bending->by_clock[i];

		if (!status && gathered->wanted)
			bend(sync, i, gathered);
		free(gathered->bound);
		memset(gathered, 0, sizeof(*gathered));
	}
	return status;
}

int bend_clocks(struct sync *sync, struct error *error)
{
	struct bending bending = {.sync = sync};
	int status = 0;

	sync->bent = mem_zalloc(sync->clocks * sizeof(*sync->bent));
	bending.by_clock = mem_zalloc(sync->clocks * sizeof(*bending.by_clock));
	bending.depth = mem_zalloc(sync->clocks * sizeof(*bending.depth));
	bending.child_of_pair = mem_alloc((sync->pairs.count + 1) * sizeof(int));
	for (size_t i = 0; i < sync->pairs.count; i++)
		bending.child_of_pair[i] = -1;
	measure_depths(&bending);
	for (uint32_t depth = 1; !status && depth <= bending.deepest; depth++)
		status = bend_depth(&bending, depth, error);
	free(bending.by_clock);
	free(bending.depth);
	free(bending.child_of_pair);
	return status;
}
