/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bend.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/corridor.h"

/* The messages of one pair, as points of its plane. */
struct kept {
	struct hull_point *forward, *back;
	size_t forwards, backs, forward_room, back_room;
};

struct bending {
	struct sync *sync;
	bool *wanted;       /* by island: some pair contradicts every line */
	struct kept *kept;  /* by pair, of those islands */
	uint32_t *position; /* by clock: its place in the order of its island */
};

/* The bounds on a clock, and whether its correction breaks one of them. */
struct bounds {
	struct corridor_bound *item;
	size_t count, room;
	bool broken;
};

/* Whether the user asked for other segments than the fewest. */
static bool is_wished(const struct sync *sync)
{
	return sync->options.segments.segments || sync->options.segments.length_ns;
}

static bool find_wanted(struct bending *bending)
{
	const struct sync *sync = bending->sync;
	bool any = false;

	for (size_t i = 0; i < sync->pairs.count; i++) {
		const struct pair *pair = &sync->pairs.pair[i];

		if (pair->margin_ns >= 0 && !is_wished(sync))
			continue;
		bending->wanted[sync->graph.node[pair->a].island] = true;
		any = true;
	}
	for (size_t i = 0; i < sync->graph.islands; i++)
		for (uint32_t k = 0; k < sync->graph.island[i].members; k++)
			bending->position[sync->graph.island[i].member[k]] = k;
	return any;
}

static int keep(void *context, struct message *message)
{
	struct bending *bending = context;
	const struct sync *sync = bending->sync;
	const struct pair *pair = &sync->pairs.pair[message->pair];
	struct kept *kept = &bending->kept[message->pair];

	if (message->rejected || !bending->wanted[sync->graph.node[pair->a].island])
		return 0;
	if (message->forward) {
		kept->forward = mem_grow(kept->forward, kept->forwards,
					 &kept->forward_room, sizeof(*kept->forward));
		kept->forward[kept->forwards++] = pair_point(message);
	} else {
		kept->back = mem_grow(kept->back, kept->backs, &kept->back_room,
				      sizeof(*kept->back));
		kept->back[kept->backs++] = pair_point(message);
	}
	return 0;
}

static void add_bound(struct bounds *bounds, const struct clock *own,
		      const struct clock *other, struct corridor_bound bound)
{
	nsec_t now = clock_correct(own, bound.x);

	bound.y = clock_correct(other, bound.y);
	bounds->broken |= bound.above ? now > bound.y : now < bound.y;
	bounds->item =
	    mem_grow(bounds->item, bounds->count, &bounds->room, sizeof(*bounds->item));
	bounds->item[bounds->count++] = bound;
}

/* What a clock sent was received later: a bound from above on its time. */
static void add_pair(const struct bending *bending, uint32_t clock, size_t index,
		     struct bounds *bounds)
{
	const struct sync *sync = bending->sync;
	const struct pair *pair = &sync->pairs.pair[index];
	const struct kept *kept = &bending->kept[index];
	bool is_a = pair->a == clock;
	const struct clock *own = &sync->fitted[clock];
	const struct clock *other = &sync->fitted[is_a ? pair->b : pair->a];

	for (size_t i = 0; i < kept->forwards; i++) {
		struct hull_point p = kept->forward[i];

		add_bound(
		    bounds, own, other,
		    (struct corridor_bound){is_a ? p.x : p.y, is_a ? p.y : p.x, is_a});
	}
	for (size_t i = 0; i < kept->backs; i++) {
		struct hull_point p = kept->back[i];

		add_bound(
		    bounds, own, other,
		    (struct corridor_bound){is_a ? p.x : p.y, is_a ? p.y : p.x, !is_a});
	}
}

/* Bounds by the pair with the parent, or by every clock that came before. */
static void collect(const struct bending *bending, const struct island *island,
		    uint32_t clock, bool parent_only, struct bounds *bounds)
{
	const struct sync *sync = bending->sync;

	bounds->count = 0;
	bounds->broken = false;
	for (size_t i = 0; i < island->insides; i++) {
		const struct pair *pair = &sync->pairs.pair[island->inside[i]];
		uint32_t other = pair->a == clock ? pair->b : pair->a;

		if (pair->a != clock && pair->b != clock)
			continue;
		if (parent_only
			? sync->graph.node[clock].parent_pair == (int)island->inside[i]
			: bending->position[other] < bending->position[clock])
			add_pair(bending, clock, island->inside[i], bounds);
	}
}

static nsec_t earlier(nsec_t a, nsec_t b)
{
	return a < b ? a : b;
}

static nsec_t later(nsec_t a, nsec_t b)
{
	return a > b ? a : b;
}

/* How far the corrected time jumps ahead at a step. */
static nsec_t jump_of(const struct clock *clock, const struct corridor_step *step)
{
	const struct clock_segment *before = &clock->segment[step->segment - 1];
	const struct clock_segment *after = &clock->segment[step->segment];
	nsec_t elapsed = after->local_ns - before->local_ns;

	return after->ref_ns - before->ref_ns - elapsed -
	       nsec_round((double)elapsed * before->rate_ppb * 1e-9);
}

static void note_step(struct sync *sync, uint32_t index, const struct corridor_step *step)
{
	nsec_t at = sync->fitted[index].segment[step->segment].local_ns;
	nsec_t jump = jump_of(&sync->fitted[index], step);

	sync->step =
	    mem_grow(sync->step, sync->steps, &sync->step_room, sizeof(*sync->step));
	/* A clock set back shows the same times twice: which one, nobody can tell. */
	sync->step[sync->steps++] = (struct sync_step){
	    .clock = index,
	    .from_ns = earlier(step->from_ns, at - later(jump, 0)),
	    .at_ns = at,
	    .to_ns = later(step->to_ns, at + later(jump, 0)),
	    .size_ns = jump < 0 ? -jump : jump,
	};
}

static void report_step(struct sync *sync, uint32_t index, nsec_t at, nsec_t size)
{
	char when[NSEC_TEXT], how_far[NSEC_TEXT];

	problem_add(&sync->problems, sync_clock_name(sync, index), "step", 1,
		    "its clock was stepped by %s at %s",
		    nsec_format_span(how_far, (double)size), nsec_format_utc(when, at));
}

/*
 * Where a clock was set back, the times that it shows twice look like as many
 * steps to and fro: within the size of the first, all are one, by their sum.
 */
static void take_steps(struct sync *sync, uint32_t index, const struct corridor_fit *fit)
{
	const struct clock *clock = &sync->fitted[index];
	nsec_t at, size;

	for (size_t i = 0, k; i < fit->steps; i = k) {
		nsec_t first = jump_of(clock, &fit->step[i]);

		at = clock->segment[fit->step[i].segment].local_ns;
		size = 0;
		for (k = i; k < fit->steps; k++) {
			nsec_t here = clock->segment[fit->step[k].segment].local_ns;

			if (here - at > (first < 0 ? -first : first))
				break;
			size -= jump_of(clock, &fit->step[k]);
			note_step(sync, index, &fit->step[k]);
		}
		/* To and fro and back again is still of the step before. */
		if (2 * (size < 0 ? -size : size) > (first < 0 ? -first : first))
			report_step(sync, index, at, size);
	}
}

static void bend(struct bending *bending, const struct island *island, uint32_t index,
		 struct bounds *bounds)
{
	struct sync *sync = bending->sync;
	struct clock *clock = &sync->fitted[index];
	double limit = sync->options.drift_limit_ppm * 1e-6;
	struct error cause = ERROR_INIT;
	struct corridor_fit fit;
	int status;

	collect(bending, island, index, false, bounds);
	if (!bounds->broken && !is_wished(sync))
		return;
	status = corridor_find(bounds->item, bounds->count, limit, sync->options.segments,
			       &fit, &cause);
	if (status) {
		collect(bending, island, index, true, bounds);
		status = corridor_find(bounds->item, bounds->count, limit,
				       sync->options.segments, &fit, &cause);
	}
	if (status) {
		problem_add(&sync->problems, sync_clock_name(sync, index), "fit", 1,
			    "%s; it keeps one line", error_text(&cause));
	} else {
		free(clock->segment);
		clock->segment = fit.segment;
		clock->segments = fit.segments;
		sync->bent[index] = fit.segments > 1;
		take_steps(sync, index, &fit);
		free(fit.step);
	}
	error_clear(&cause);
}

static void bend_islands(struct bending *bending)
{
	const struct graph *graph = &bending->sync->graph;
	struct bounds bounds = {NULL, 0, 0, false};

	for (size_t i = 0; i < graph->islands; i++)
		for (size_t k = 1; bending->wanted[i] && k < graph->island[i].members;
		     k++)
			bend(bending, &graph->island[i], graph->island[i].member[k],
			     &bounds);
	free(bounds.item);
}

int bend_clocks(struct sync *sync, struct error *error)
{
	struct bending bending = {.sync = sync};
	int status = 0;

	sync->bent = mem_zalloc(sync->clocks * sizeof(*sync->bent));
	bending.wanted = mem_zalloc(sync->graph.islands * sizeof(*bending.wanted));
	bending.position = mem_zalloc(sync->clocks * sizeof(*bending.position));
	bending.kept = mem_zalloc(sync->pairs.count * sizeof(*bending.kept));
	/* One line a clock, whatever its messages say. */
	if (sync->options.segments.segments != 1 && find_wanted(&bending)) {
		status = message_log_walk(&sync->log, false, keep, &bending, error);
		if (!status)
			bend_islands(&bending);
	}
	for (size_t i = 0; i < sync->pairs.count; i++) {
		free(bending.kept[i].forward);
		free(bending.kept[i].back);
	}
	free(bending.wanted);
	free(bending.position);
	free(bending.kept);
	return status;
}
