/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bend/bend.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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
	struct bend_found *found;       /* by clock */
	struct bend_bounds bounds;      /* on the clock at hand */
};

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
static void step_note(struct sync *sync, uint32_t index, const struct corridor_step *step)
{
	const struct clock *clock = &sync->fitted[index];
	struct step_list *list = &sync->step;
	nsec_t jump = jump_of(clock, step);
	nsec_t back = jump > 0 ? jump : 0;

	*MEM_NEXT(list->item, list->count, list->capacity) = (struct sync_step){
	    .clock = index,
	    .from_ns = step->from_ns - back,
	    .to_ns = step->to_ns + back,
	};
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
			step_note(sync, index, &found[k]);
		}
		/* To and fro and back again is still of the step before. */
		if (2 * (size < 0 ? -size : size) > (first < 0 ? -first : first))
			sync_report_step(sync, sync_clock_name(sync, index), at, size);
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
	}
	return any;
}

enum {
	MOST_KEPT = 1 << 22, /* messages, 64 MiB, before they are thinned out */
	THINNED_AT_ONCE = 256,
};

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

/*
 * Of many messages, some in a row leave only the corners of their hull: a line that
 * satisfies these satisfies all.
 */
static int keep(void *context, struct message *message)
{
	struct bending *bending = context;
	const struct sync *sync = bending->sync;
	const struct pair *pair = &sync->pairs.pair[message->pair];
	struct point_list *side =
	    &bending->messages[message->pair].side[message->forward];
	size_t fresh;

	if (message->rejected || pair->contradictory ||
	    !bending->wanted[sync->graph.node[pair->a].island])
		return 0;
	*MEM_NEXT(side->point, side->count, side->capacity) = pair_point(message);
	fresh = side->count - side->thinned;
	if (bending->is_thinned && fresh >= THINNED_AT_ONCE) {
		side->thinned +=
		    hull_corners(side->point + side->thinned, fresh, !message->forward);
		side->count = side->thinned;
	}
	return 0;
}

/* What a clock sent was received later: a bound from above on its time. */
static void add_pair(struct bending *bending, uint32_t clock, size_t index)
{
	const struct pair *pair = &bending->sync->pairs.pair[index];
	const struct pair_messages *with = &bending->messages[index];
	struct bend_bounds *bounds = &bending->bounds;
	bool is_a = pair->a == clock;
	uint32_t other = is_a ? pair->b : pair->a;

	for (int forward = 0; forward < 2; forward++)
		for (size_t i = 0; i < with->side[forward].count; i++) {
			struct hull_point p = with->side[forward].point[i];
			nsec_t there = clock_correct(&bending->sync->fitted[other],
						     is_a ? p.y : p.x);

			*MEM_NEXT(bounds->item, bounds->count, bounds->capacity) =
			    (struct corridor_bound){
				.x = is_a ? p.x : p.y,
				.y = there,
				.above = is_a == forward,
			    };
		}
}

/* Bounds on a clock by its messages with those before it. */
static void collect(struct bending *bending, const struct island *island, uint32_t clock)
{
	bending->bounds.count = 0;
	for (size_t i = 0; i < island->insides; i++) {
		const struct pair *pair = &bending->sync->pairs.pair[island->inside[i]];
		uint32_t other = pair->a == clock ? pair->b : pair->a;

		if ((pair->a == clock || pair->b == clock) &&
		    bending->sync->clock[other].place < bending->sync->clock[clock].place)
			add_pair(bending, clock, island->inside[i]);
	}
}

/* Take what was found for a clock, in the place of what it had. */
static void use_fit(struct bending *bending, uint32_t index, struct corridor_fit *fit)
{
	struct sync *sync = bending->sync;
	struct clock *clock = &sync->fitted[index];

	free(clock->segment);
	clock->segment = fit->segment;
	clock->segments = fit->segments;
	free(bending->found[index].step);
	bending->found[index].step = fit->step;
	bending->found[index].steps = fit->steps;
}

/* A curve within the bounds at hand; false where there is none, with the cause if wanted.
 */
static bool find_curve(struct bending *bending, struct corridor_fit *fit, char **cause)
{
	const struct sync_options *options = &bending->sync->options;
	struct error error = ERROR_INIT;
	int failed = corridor_find(bending->bounds.item, bending->bounds.count,
				   options->drift_limit_ppm * 1e-6, options->segments,
				   fit, &error);

	if (failed && cause)
		*cause = mem_strdup(error_text(&error));
	error_clear(&error);
	return !failed;
}

/* By the clocks that came before, in the order of the tree. */
static void bend(struct bending *bending, const struct island *island, uint32_t index)
{
	struct corridor_fit fit;

	collect(bending, island, index);
	if (!find_curve(bending, &fit, &bending->found[index].cause))
		return;
	/* One line that satisfies all was fitted better, with its whole island. */
	if (bend_breaks(&bending->sync->fitted[index], &bending->bounds) ||
	    is_wished(bending->sync) || fit.segments > 1)
		use_fit(bending, index, &fit);
	else
		corridor_fit_clear(&fit);
}

static bool has_steps(const struct bending *bending, const struct island *island)
{
	for (size_t k = 1; k < island->members; k++)
		if (bending->found[island->member[k]].steps)
			return true;
	return false;
}

static bool is_broken(struct bending *bending, const struct island *island)
{
	for (size_t k = 1; k < island->members; k++) {
		collect(bending, island, island->member[k]);
		if (bend_breaks(&bending->sync->fitted[island->member[k]],
				&bending->bounds))
			return true;
	}
	return false;
}

/*
 * From now on a clock is that curve, if it satisfies its bounds without a step and all
 * others can follow it.
 */
static bool follow(struct bending *bending, struct reconciling *reconciling,
		   uint32_t index, struct corridor_fit *fit)
{
	const struct clock clock = {.segment = fit->segment, .segments = fit->segments};

	if (!fit->steps && !bend_breaks(&clock, &bending->bounds) &&
	    reconciling_follow(reconciling, index, &clock)) {
		use_fit(bending, index, fit);
		return true;
	}
	corridor_fit_clear(fit);
	return false;
}

/*
 * In the order of the tree, each within what the messages and the clocks before leave
 * it: a curve as smooth as that of a clock alone, or the middle of what is left.
 */
static void refit_all(struct bending *bending, const struct island *island,
		      struct reconciling *reconciling)
{
	for (size_t k = 1; k < island->members; k++) {
		uint32_t index = island->member[k];
		struct corridor_fit fit;

		free(bending->found[index].cause);
		bending->found[index].cause = NULL;
		reconciling_bounds(reconciling, index, &bending->bounds);
		if (find_curve(bending, &fit, NULL) &&
		    follow(bending, reconciling, index, &fit))
			continue;
		reconciling_middle(reconciling, index, &fit);
		bending->bounds.count = 0;
		follow(bending, reconciling, index, &fit);
	}
}

/*
 * Where clocks that were fitted one after the other leave messages broken, or have
 * steps that no message proves: fit them anew, from corrections that satisfy all.
 * Leaves them as they are where there are none.
 */
static void bend_jointly(struct bending *bending, const struct island *island)
{
	char **unfit = &bending->sync->unfit[island - bending->sync->graph.island];
	struct reconciling *reconciling = NULL;
	bool broken = is_broken(bending, island);

	if (broken || (island->members > 2 && has_steps(bending, island)))
		reconciling = reconciling_new(bending->sync, island, bending->messages);
	if (reconciling)
		refit_all(bending, island, reconciling);
	if (reconciling || !broken) {
		free(*unfit);
		*unfit = NULL;
	}
	reconciling_free(reconciling);
}

static void report(struct bending *bending, uint32_t index)
{
	const struct bend_found *found = &bending->found[index];
	struct sync *sync = bending->sync;

	if (found->cause)
		problem_add(&sync->problems, sync_clock_name(sync, index), PROBLEM_FIT, 1,
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
	AUTOFREE bool *curved = mem_zalloc((sync->pairs.count + 1) * sizeof(*curved));
	int status = is_wished(sync) ? 0 : curvature_find(sync, curved, error);

	if (!status && find_wanted(bending, curved)) {
		bending->is_thinned = are_too_many(bending);
		status = message_log_walk(&sync->log, false, keep, bending, error);
		if (!status)
			bend_islands(bending);
	}
	return status;
}

int bend_clocks(struct sync *sync, struct error *error)
{
	struct bending bending = {.sync = sync};
	int status = 0;

	/* One line a clock, whatever its messages say. */
	if (sync->options.segments.segments == 1)
		return 0;
	bending.wanted = mem_zalloc(sync->graph.islands * sizeof(*bending.wanted));
	bending.messages = mem_zalloc(sync->pairs.count * sizeof(*bending.messages));
	bending.found = mem_zalloc(sync->clocks * sizeof(*bending.found));
	status = find_bends(&bending, error);
	for (size_t i = 0; i < sync->pairs.count; i++) {
		free(bending.messages[i].side[false].point);
		free(bending.messages[i].side[true].point);
	}
	for (size_t i = 0; i < sync->clocks; i++) {
		free(bending.found[i].step);
		free(bending.found[i].cause);
	}
	free(bending.bounds.item);
	free(bending.wanted);
	free(bending.messages);
	free(bending.found);
	return status;
}
