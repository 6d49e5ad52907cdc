/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bend/bend.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/bend/corridor.h"
#include "sync/bend/curvature.h"

/* How far the corrected time jumps ahead at a step. */
static nsec_t jump_of(const struct clock *clock, const struct corridor_step *step)
{
	const struct clock_segment *before = &clock->segment[step->segment - 1];
	const struct clock_segment *after = &clock->segment[step->segment];
	nsec_t elapsed = after->local_ns - before->local_ns;

	return after->ref_ns - before->ref_ns - elapsed -
	       nsec_round((double)elapsed * before->rate_ppb * 1e-9);
}

/*
 * A clock set back shows the same times twice: which one, nobody can tell.
 * It may have been set anywhere between the two bounds.
 */
void step_note(struct step_list *list, const struct clock *clock, uint32_t index,
	       const struct corridor_step *step)
{
	nsec_t jump = jump_of(clock, step);
	nsec_t back = jump > 0 ? jump : 0;

	list->item = mem_grow(list->item, list->count, &list->room, sizeof(*list->item));
	list->item[list->count++] = (struct sync_step){
	    .clock = index,
	    .from_ns = step->from_ns - back,
	    .to_ns = step->to_ns + back,
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
 * Note the steps between a clock's segments in sync->step, and report each of
 * them as a problem. Where a clock was set back, the times that it shows twice
 * look like as many steps to and fro: within the size of the first, all are one,
 * by their sum.
 */
static void step_take(struct sync *sync, uint32_t index,
		      const struct corridor_step *found, size_t steps)
{
	const struct clock *clock = &sync->fitted[index];
	nsec_t at, size;

	for (size_t i = 0, k; i < steps; i = k) {
		nsec_t first = jump_of(clock, &found[i]);

		at = clock->segment[found[i].segment].local_ns;
		size = 0;
		for (k = i; k < steps; k++) {
			nsec_t here = clock->segment[found[k].segment].local_ns;

			if (here - at > (first < 0 ? -first : first))
				break;
			size -= jump_of(clock, &found[k]);
			step_note(&sync->step, clock, index, &found[k]);
		}
		/* To and fro and back again is still of the step before. */
		if (2 * (size < 0 ? -size : size) > (first < 0 ? -first : first))
			report_step(sync, index, at, size);
	}
}

/* Whether the user asked for other segments than those found. */
static bool is_wished(const struct sync *sync)
{
	return sync->options.segments.segments || sync->options.segments.length_ns;
}

/* `curved` says which pairs of clocks a bent relation explains better. */
static bool find_wanted(struct bending *bending, const bool *curved)
{
	const struct sync *sync = bending->sync;
	bool any = false;

	for (size_t i = 0; i < sync->pairs.count; i++) {
		const struct pair *pair = &sync->pairs.pair[i];

		if (pair->contradictory ||
		    (pair->margin_ns >= 0 && !is_wished(sync) && !curved[i]))
			continue;
		bending->wanted[sync->graph.node[pair->a].island] = true;
	}
	for (size_t i = 0; i < sync->graph.islands; i++) {
		bending->wanted[i] |= sync->unfit[i] != NULL;
		any |= bending->wanted[i];
		for (uint32_t k = 0; k < sync->graph.island[i].members; k++)
			bending->position[sync->graph.island[i].member[k]] = k;
	}
	return any;
}

enum {
	MOST_KEPT = 1 << 22, /* messages, 64 MiB, before they are thinned out */
	THINNED_AT_ONCE = 256,
};

/* Of some messages in a row only the corners of their hull: a line that satisfies these
 * satisfies all. */
static void thin_out(struct hull_point *point, size_t *count, size_t *thinned, bool upper)
{
	if (*count - *thinned < THINNED_AT_ONCE)
		return;
	*count = *thinned + hull_corners(point + *thinned, *count - *thinned, upper);
	*thinned = *count;
}

static bool are_too_many(const struct bending *bending)
{
	const struct sync *sync = bending->sync;
	uint64_t most = sync->options.kept ? sync->options.kept : MOST_KEPT;
	uint64_t messages = 0;

	for (size_t i = 0; i < sync->pairs.count; i++) {
		const struct pair *pair = &sync->pairs.pair[i];

		if (bending->wanted[sync->graph.node[pair->a].island])
			messages += pair->messages_ab + pair->messages_ba;
	}
	return messages > most;
}

static int keep(void *context, struct message *message)
{
	struct bending *bending = context;
	const struct sync *sync = bending->sync;
	const struct pair *pair = &sync->pairs.pair[message->pair];
	struct pair_messages *kept = &bending->messages[message->pair];

	if (message->rejected || pair->contradictory ||
	    !bending->wanted[sync->graph.node[pair->a].island])
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
	if (bending->is_thinned) {
		thin_out(kept->forward, &kept->forwards, &kept->forward_thinned, false);
		thin_out(kept->back, &kept->backs, &kept->back_thinned, true);
	}
	return 0;
}

static bool is_in_gap(const struct bending *bending, uint32_t clock, nsec_t at)
{
	for (size_t i = 0; i < bending->gaps.count; i++) {
		const struct sync_step *gap = &bending->gaps.item[i];

		if (gap->clock == clock && at > gap->from_ns && at < gap->to_ns)
			return true;
	}
	return false;
}

/* Its y is the other clock's own time yet. */
static void add_bound(struct bending *bending, uint32_t own, uint32_t other,
		      struct corridor_bound bound)
{
	const struct clock *fitted = bending->sync->fitted;
	struct bend_bounds *bounds = &bending->bounds;
	nsec_t now = clock_correct(&fitted[own], bound.x);

	if (is_in_gap(bending, own, bound.x) || is_in_gap(bending, other, bound.y))
		return;
	bound.y = clock_correct(&fitted[other], bound.y);
	bounds->broken |= bound.above ? now > bound.y : now < bound.y;
	bounds->item =
	    mem_grow(bounds->item, bounds->count, &bounds->room, sizeof(*bounds->item));
	bounds->item[bounds->count++] = bound;
}

/* What a clock sent was received later: a bound from above on its time. */
static void add_pair(struct bending *bending, uint32_t clock, size_t index)
{
	const struct pair *pair = &bending->sync->pairs.pair[index];
	const struct pair_messages *with = &bending->messages[index];
	bool is_a = pair->a == clock;
	uint32_t other = is_a ? pair->b : pair->a;

	for (size_t i = 0; i < with->forwards; i++) {
		struct hull_point p = with->forward[i];

		add_bound(
		    bending, clock, other,
		    (struct corridor_bound){is_a ? p.x : p.y, is_a ? p.y : p.x, is_a});
	}
	for (size_t i = 0; i < with->backs; i++) {
		struct hull_point p = with->back[i];

		add_bound(
		    bending, clock, other,
		    (struct corridor_bound){is_a ? p.x : p.y, is_a ? p.y : p.x, !is_a});
	}
}

static bool is_heard(const struct bending *bending, uint32_t clock, uint32_t pair,
		     enum heard heard)
{
	const struct pair *with = &bending->sync->pairs.pair[pair];
	uint32_t other = with->a == clock ? with->b : with->a;

	if (with->a != clock && with->b != clock)
		return false;
	if (heard == HEAR_PARENT)
		return bending->sync->graph.node[clock].parent_pair == (int)pair;
	return heard == HEAR_ALL || bending->position[other] < bending->position[clock];
}

void bend_collect(struct bending *bending, const struct island *island, uint32_t clock,
		  enum heard heard)
{
	struct bend_bounds *bounds = &bending->bounds;

	bounds->count = 0;
	bounds->broken = false;
	for (size_t i = 0; i < island->insides; i++)
		if (is_heard(bending, clock, island->inside[i], heard))
			add_pair(bending, clock, island->inside[i]);
}

void bend_take(struct bending *bending, uint32_t index, struct corridor_fit *fit)
{
	struct sync *sync = bending->sync;
	struct clock *clock = &sync->fitted[index];

	free(clock->segment);
	clock->segment = fit->segment;
	clock->segments = fit->segments;
	sync->bent[index] = fit->segments > 1;
	free(bending->found[index].step);
	bending->found[index].step = fit->step;
	bending->found[index].steps = fit->steps;
}

static int try_bounds(struct bending *bending, const struct island *island,
		      uint32_t index, enum heard heard, struct error *cause)
{
	const struct sync_options *options = &bending->sync->options;
	struct bend_bounds *bounds = &bending->bounds;
	struct corridor_fit fit;

	bend_collect(bending, island, index, heard);
	if (corridor_find(bounds->item, bounds->count, options->drift_limit_ppm * 1e-6,
			  options->segments, &fit, cause))
		return -1;
	/* One line that satisfies all was fitted better, with its whole island. */
	if (bounds->broken || is_wished(bending->sync) || fit.segments > 1)
		bend_take(bending, index, &fit);
	else
		corridor_fit_clear(&fit);
	return 0;
}

/* By the clocks that came before, in the order of the tree. */
static void bend(struct bending *bending, const struct island *island, uint32_t index)
{
	struct error cause = ERROR_INIT;

	if (try_bounds(bending, island, index, HEAR_EARLIER, &cause) &&
	    try_bounds(bending, island, index, HEAR_PARENT, &cause))
		bending->found[index].cause = mem_strdup(error_text(&cause));
	error_clear(&cause);
}

static void report(struct bending *bending, uint32_t index)
{
	const struct bend_found *found = &bending->found[index];
	struct sync *sync = bending->sync;

	if (found->cause)
		problem_add(&sync->problems, sync_clock_name(sync, index), "fit", 1,
			    "%s; it keeps one line", found->cause);
	step_take(sync, index, found->step, found->steps);
}

static void bend_island(struct bending *bending, const struct island *island)
{
	for (size_t k = 1; k < island->members; k++)
		bend(bending, island, island->member[k]);
	if (!is_wished(bending->sync))
		bend_jointly(bending, island);
	for (size_t k = 1; k < island->members; k++)
		report(bending, island->member[k]);
}

static void bend_islands(struct bending *bending)
{
	struct sync *sync = bending->sync;

	for (size_t i = 0; i < sync->graph.islands; i++)
		if (bending->wanted[i])
			bend_island(bending, &sync->graph.island[i]);
}

static int find_bends(struct bending *bending, struct error *error)
{
	struct sync *sync = bending->sync;
	bool *curved = mem_zalloc((sync->pairs.count + 1) * sizeof(*curved));
	int status = is_wished(sync) ? 0 : curvature_find(sync, curved, error);

	if (!status && find_wanted(bending, curved)) {
		bending->is_thinned = are_too_many(bending);
		status = message_log_walk(&sync->log, false, keep, bending, error);
		if (!status)
			bend_islands(bending);
	}
	free(curved);
	return status;
}

int bend_clocks(struct sync *sync, struct error *error)
{
	struct bending bending = {.sync = sync};
	int status = 0;

	sync->bent = mem_zalloc(sync->clocks * sizeof(*sync->bent));
	/* One line a clock, whatever its messages say. */
	if (sync->options.segments.segments == 1)
		return 0;
	bending.wanted = mem_zalloc(sync->graph.islands * sizeof(*bending.wanted));
	bending.position = mem_zalloc(sync->clocks * sizeof(*bending.position));
	bending.messages = mem_zalloc(sync->pairs.count * sizeof(*bending.messages));
	bending.found = mem_zalloc(sync->clocks * sizeof(*bending.found));
	status = find_bends(&bending, error);
	for (size_t i = 0; i < sync->pairs.count; i++) {
		free(bending.messages[i].forward);
		free(bending.messages[i].back);
	}
	for (size_t i = 0; i < sync->clocks; i++) {
		free(bending.found[i].step);
		free(bending.found[i].cause);
	}
	free(bending.bounds.item);
	free(bending.gaps.item);
	free(bending.wanted);
	free(bending.position);
	free(bending.messages);
	free(bending.found);
	return status;
}
