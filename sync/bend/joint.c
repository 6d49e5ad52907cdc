/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "sync/bend/bend.h"

/* Steps without a broken message are asked for their proof up to so many messages. */
enum { PROVED_MOST = 1 << 22 };

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
		bend_collect(bending, island, island->member[k], HEAR_EARLIER);
		if (bending->bounds.broken)
			return true;
	}
	return false;
}

static uint64_t count_messages(const struct bending *bending, const struct island *island)
{
	uint64_t count = 0;

	for (size_t i = 0; i < island->insides; i++) {
		const struct pair_messages *with = &bending->messages[island->inside[i]];

		count += with->forwards + with->backs;
	}
	return count;
}

static bool breaks(const struct clock *clock, const struct bend_bounds *bounds)
{
	for (size_t i = 0; i < bounds->count; i++) {
		const struct corridor_bound *bound = &bounds->item[i];
		nsec_t now = clock_correct(clock, bound->x);

		if (bound->above ? now > bound->y : now < bound->y)
			return true;
	}
	return false;
}

/* One line from a corner of a polygon to another one. */
static struct clock_segment chord(const struct clock_segment *from,
				  const struct clock_segment *to)
{
	struct clock_segment segment = *from;
	double passed = (double)(to->local_ns - from->local_ns);

	if (passed > 0)
		segment.rate_ppb =
		    ((double)(to->ref_ns - from->ref_ns) - passed) / passed * 1e9;
	return segment;
}

/* The first bound at or after a time; they are in order. */
static size_t bound_from(const struct bend_bounds *bounds, nsec_t at)
{
	return FIRST_NOT(bounds->count, i, bounds->item[i].x < at);
}

static bool chord_holds(const struct reconciled *polygon, size_t from, size_t to,
			const struct bend_bounds *bounds)
{
	struct clock_segment segment =
	    chord(&polygon->segment[from], &polygon->segment[to]);
	const struct clock line = {.segment = &segment, .segments = 1};
	struct bend_bounds within = *bounds;
	size_t first = bound_from(bounds, polygon->segment[from].local_ns);

	within.item += first;
	within.count = bound_from(bounds, polygon->segment[to].local_ns) - first;
	return !breaks(&line, &within);
}

/* How far a chord from a corner reaches, up to a last one. */
static size_t chord_reach(const struct reconciled *polygon, size_t from, size_t last,
			  const struct bend_bounds *bounds)
{
	size_t holds = from + 1, fails = from + 2;

	while (fails <= last && chord_holds(polygon, from, fails, bounds)) {
		holds = fails;
		fails = from + 2 * (fails - from);
	}
	fails = fails <= last ? fails : last + 1;
	while (fails - holds > 1) {
		size_t middle = holds + (fails - holds) / 2;

		if (chord_holds(polygon, from, middle, bounds))
			holds = middle;
		else
			fails = middle;
	}
	return holds;
}

/* Long chords in the place of the polygon, from step to step. */
static void make_chords(const struct reconciled *polygon,
			const struct bend_bounds *bounds, struct corridor_fit *fit)
{
	size_t from = 0;

	*fit = (struct corridor_fit){0};
	fit->segment = mem_alloc(polygon->segments * sizeof(*fit->segment));
	for (size_t k = 0; k <= polygon->steps; k++) {
		size_t last = k < polygon->steps ? polygon->step[k].segment - 1
						 : polygon->segments - 1;

		if (k) {
			fit->step = mem_grow(fit->step, fit->steps, &fit->step_room,
					     sizeof(*fit->step));
			fit->step[fit->steps] = polygon->step[k - 1];
			fit->step[fit->steps++].segment = fit->segments;
		}
		if (from == last)
			fit->segment[fit->segments++] = polygon->segment[from];
		while (from < last) {
			size_t to = chord_reach(polygon, from, last, bounds);

			fit->segment[fit->segments++] =
			    chord(&polygon->segment[from], &polygon->segment[to]);
			from = to;
		}
		from = last + 1;
	}
}

static bool find_curve(struct bending *bending, size_t steps, struct corridor_fit *fit)
{
	const struct sync_options *options = &bending->sync->options;
	const struct bend_bounds *bounds = &bending->bounds;
	struct error cause = ERROR_INIT;
	struct clock clock;

	if (corridor_find(bounds->item, bounds->count, options->drift_limit_ppm * 1e-6,
			  options->segments, fit, &cause)) {
		error_clear(&cause);
		return false;
	}
	clock = (struct clock){.segment = fit->segment, .segments = fit->segments};
	if (fit->steps <= steps && !breaks(&clock, bounds))
		return true;
	corridor_fit_clear(fit);
	return false;
}

/* With one pair alone, and no segments for it, there is nothing to try again. */
static bool is_hopeless(const struct bending *bending, const struct island *island,
			uint32_t index)
{
	size_t pairs = 0;

	for (size_t i = 0; i < island->insides; i++) {
		const struct pair *pair = &bending->sync->pairs.pair[island->inside[i]];

		pairs += pair->a == index || pair->b == index;
	}
	return pairs == 1 && bending->found[index].cause;
}

static size_t steps_of(const struct bending *bending, uint32_t index)
{
	size_t steps = 0;

	for (size_t i = 0; i < bending->gaps.count; i++)
		steps += bending->gaps.item[i].clock == index;
	return steps;
}

/*
 * A curve within what the messages and the clocks before leave a clock, as smooth
 * as that of a clock alone. Whether all others can follow it.
 */
static bool refit(struct bending *bending, struct reconciling *reconciling,
		  uint32_t index)
{
	struct bend_bounds *bounds = &bending->bounds;
	struct corridor_fit fit;
	struct clock clock;

	bounds->count =
	    reconciling_bounds(reconciling, index, &bounds->item, &bounds->room);
	if (!find_curve(bending, steps_of(bending, index), &fit))
		return false;
	clock = (struct clock){.segment = fit.segment, .segments = fit.segments};
	if (reconciling_narrow(reconciling, index, &clock)) {
		bend_take(bending, index, &fit);
		return true;
	}
	corridor_fit_clear(&fit);
	return false;
}

static int by_x(const void *a, const void *b)
{
	const struct corridor_bound *p = a, *q = b;

	return (p->x > q->x) - (p->x < q->x);
}

/* The middle of what is left; then with fewer segments, if these can do it. */
static void take_polygons(struct bending *bending, const struct island *island,
			  struct reconciled *polygon)
{
	struct sync *sync = bending->sync;

	for (size_t k = 1; k < island->members; k++) {
		uint32_t index = island->member[k];
		struct clock *clock = &sync->fitted[index];

		if (!polygon[index].segments)
			continue;
		clock->segments = polygon[index].segments;
		clock->segment =
		    mem_realloc(clock->segment, clock->segments, sizeof(*clock->segment));
		memcpy(clock->segment, polygon[index].segment,
		       clock->segments * sizeof(*clock->segment));
	}
	for (size_t k = 1; k < island->members; k++) {
		uint32_t index = island->member[k];
		struct corridor_fit fit;

		if (!polygon[index].segments)
			continue;
		bend_collect(bending, island, index, HEAR_ALL);
		qsort(bending->bounds.item, bending->bounds.count,
		      sizeof(*bending->bounds.item), by_x);
		if (is_hopeless(bending, island, index) ||
		    !find_curve(bending, polygon[index].steps, &fit))
			make_chords(&polygon[index], &bending->bounds, &fit);
		bend_take(bending, index, &fit);
	}
}

/* In the order of the tree; then the others of those that were not found. */
static void refit_all(struct bending *bending, const struct island *island,
		      struct reconciling *reconciling)
{
	struct reconciled *polygon = mem_zalloc(bending->sync->clocks * sizeof(*polygon));
	bool *done = mem_zalloc(island->members * sizeof(*done));

	for (size_t k = 1; k < island->members; k++)
		done[k] = !is_hopeless(bending, island, island->member[k]) &&
			  refit(bending, reconciling, island->member[k]);
	for (size_t k = 1; k < island->members; k++)
		if (!done[k])
			reconciling_polygon(reconciling, island->member[k],
					    &polygon[island->member[k]]);
	take_polygons(bending, island, polygon);
	for (size_t k = 1; k < island->members; k++) {
		reconciled_clear(&polygon[island->member[k]]);
		free(bending->found[island->member[k]].cause);
		bending->found[island->member[k]].cause = NULL;
	}
	free(polygon);
	free(done);
}

/* Without steps if that can be, else with those that were found. */
static struct reconciling *reconcile(struct bending *bending, const struct island *island)
{
	const struct sync *sync = bending->sync;
	struct reconciling *reconciling =
	    reconciling_new(sync, island, bending->messages, NULL);

	if (reconciling)
		return reconciling;
	for (size_t k = 1; k < island->members; k++) {
		uint32_t index = island->member[k];
		const struct bend_found *of = &bending->found[index];

		for (size_t i = 0; i < of->steps; i++)
			step_note(&bending->gaps, &sync->fitted[index], index,
				  &of->step[i]);
	}
	if (!bending->gaps.count || !is_broken(bending, island))
		return NULL;
	return reconciling_new(sync, island, bending->messages, &bending->gaps);
}

static bool is_wanted(const struct bending *bending, const struct island *island,
		      bool broken)
{
	return broken || (island->members > 2 && has_steps(bending, island) &&
			  count_messages(bending, island) <= PROVED_MOST);
}

void bend_jointly(struct bending *bending, const struct island *island)
{
	char **unfit = &bending->sync->unfit[island - bending->sync->graph.island];
	struct reconciling *reconciling = NULL;
	bool broken;

	bending->gaps.count = 0;
	broken = is_broken(bending, island);
	if (is_wanted(bending, island, broken))
		reconciling = reconcile(bending, island);
	if (reconciling)
		refit_all(bending, island, reconciling);
	if (reconciling || !broken) {
		free(*unfit);
		*unfit = NULL;
	}
	reconciling_free(reconciling);
	bending->gaps.count = 0;
}
