/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bounds/region.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/fit/graph.h"

/*
 * What the solver's tolerance, the rounding of the row's numbers and that of
 * the printed integers can take away from a bound, in nanoseconds.
 */
#define ROUNDING_NS 2.0
#define TOLERANCE   1e-6 /* of the program's unit */

/* Beyond this, in the program's units, a column is taken as unbounded. */
#define ENDLESS 1e12

static bool is_tree_pair(const struct fit_island *island, uint32_t pair)
{
	for (size_t i = 1; i < island->members; i++)
		if (island->clock[island->member[i]].parent_pair == (int)pair)
			return true;
	return false;
}

static void add_pairs(struct island_lp *program, bool tree_only)
{
	const struct fit_island *island = program->island;

	for (size_t i = 0; i < island->insides; i++) {
		const struct pair *pair = &island->pairs->pair[island->inside[i]];

		if (pair->margin_ns >= 0 && !pair->too_fast &&
		    (!tree_only || is_tree_pair(island, island->inside[i])))
			island_lp_add_pair(program, pair);
	}
}

/* The most that the objective can be; infinite where nothing bounds it. */
static double maximize(struct island_lp *program)
{
	if (lp_maximize(program->lp) != LP_OPTIMAL || lp_maximum(program->lp) > ENDLESS)
		return INFINITY;
	return lp_maximum(program->lp);
}

static nsec_t outward(const struct island_lp *program, double extreme)
{
	if (isinf(extreme))
		return NSEC_MAX;
	return nsec_round(ceil((extreme + TOLERANCE) * program->unit_ns + ROUNDING_NS));
}

static void bound_at(struct island_lp *program, size_t place, struct clock_bound *bound)
{
	double factor = island_lp_rate_factor(program, place, bound->local_ns);

	lp_objective(program->lp, island_lp_offset(place), 1);
	lp_objective(program->lp, island_lp_rate(place), factor);
	bound->high_ns = outward(program, maximize(program));
	lp_objective(program->lp, island_lp_offset(place), -1);
	lp_objective(program->lp, island_lp_rate(place), -factor);
	bound->low_ns = outward(program, maximize(program));
	bound->low_ns = bound->low_ns == NSEC_MAX ? NSEC_MIN : -bound->low_ns;
}

static void bound_rate(struct island_lp *program, size_t place, struct region *region)
{
	double rate = program->island->clock[program->island->member[place]].rate;
	double scale = program->unit_ns / program->half_ns[place];

	lp_objective(program->lp, island_lp_offset(place), 0);
	lp_objective(program->lp, island_lp_rate(place), 1);
	region->rate_high = rate + (maximize(program) + TOLERANCE) * scale;
	lp_objective(program->lp, island_lp_rate(place), -1);
	region->rate_low = rate - (maximize(program) + TOLERANCE) * scale;
	lp_objective(program->lp, island_lp_rate(place), 0);
}

static void set_times(const struct fit_clock *clock, int times, struct region *region)
{
	nsec_t half = clock->origin_ns - clock->begin_ns;
	int middle = times / 2;

	region->times = times;
	for (int k = 0; k < middle; k++)
		region->bound[k].local_ns = clock->begin_ns + half / middle * k;
	region->bound[middle].local_ns = clock->origin_ns;
	for (int k = middle + 1; k < times; k++)
		region->bound[k].local_ns =
		    clock->end_ns -
		    (clock->end_ns - clock->origin_ns) / middle * (times - 1 - k);
}

/*
 * Bound the island's members at the places [from, to) by one program, with
 * the times that stand in region[] by place. False, with nothing set, where
 * the messages contradict each other.
 */
static bool region_solve(struct fit_island *island, size_t from, size_t to,
			 struct region *region, bool tree_only)
{
	struct island_lp program;
	bool feasible;

	island_lp_init(&program, island, 0);
	add_pairs(&program, tree_only);
	feasible = lp_maximize(program.lp) == LP_OPTIMAL;
	for (size_t i = from; feasible && i < to; i++) {
		region[i].known = true;
		for (int k = 0; k < region[i].times; k++)
			bound_at(&program, i, &region[i].bound[k]);
		bound_rate(&program, i, &region[i]);
	}
	island_lp_clear(&program);
	return feasible;
}

/*
 * The region of a large island, clock by clock: each from the pairs near its
 * way to the reference. Leaving messages out can only widen a bound, so these
 * are as true as those of one program over everything; they are wider by what
 * far detours would add.
 *
 * The neighbourhood of a clock is its way towards the reference, at most
 * WAY steps, and those clocks that talk to two of that way's, the surest
 * first. Where the way ends before the reference, at an anchor, the anchor's
 * own bound is added.
 */
enum { WAY = 12, NEAR = 24 };

struct edge {
	uint32_t to, pair;
	double length;
};

struct local {
	struct fit_island *island;
	struct region *region; /* by place */
	int *place;            /* by trace */
	size_t *first;         /* by place: its edges in edge[] */
	struct edge *edge;
	uint32_t member[NEAR]; /* the neighbourhood, as traces */
	size_t members;
	double *shortest, *second; /* by place: lengths to two of the way */
	uint32_t *touched;
	size_t touches;
};

static void connect(struct local *local)
{
	struct fit_island *island = local->island;
	size_t *fill = mem_zalloc((island->members + 1) * sizeof(*fill));

	for (size_t i = 0; i < island->insides; i++) {
		const struct pair *pair = &island->pairs->pair[island->inside[i]];

		local->first[local->place[pair->a] + 1]++;
		local->first[local->place[pair->b] + 1]++;
	}
	for (size_t i = 0; i < island->members; i++)
		local->first[i + 1] += local->first[i];
	for (size_t i = 0; i < island->insides; i++) {
		const struct pair *pair = &island->pairs->pair[island->inside[i]];
		int a = local->place[pair->a], b = local->place[pair->b];
		double length = graph_edge_length(pair);

		local->edge[local->first[a] + fill[a]++] =
		    (struct edge){(uint32_t)b, island->inside[i], length};
		local->edge[local->first[b] + fill[b]++] =
		    (struct edge){(uint32_t)a, island->inside[i], length};
	}
	free(fill);
}

/* The way from a clock to its anchor, the anchor first. */
static void take_way(struct local *local, uint32_t trace)
{
	uint32_t way[WAY + 1];
	size_t n = 0;
	int at = (int)trace;

	while (at >= 0 && n < WAY + 1) {
		way[n++] = (uint32_t)at;
		at = local->island->clock[at].parent;
	}
	local->members = 0;
	while (n)
		local->member[local->members++] = way[--n];
}

static void touch(struct local *local, const struct edge *edge)
{
	if (isinf(local->shortest[edge->to]))
		local->touched[local->touches++] = edge->to;
	if (edge->length < local->shortest[edge->to]) {
		local->second[edge->to] = local->shortest[edge->to];
		local->shortest[edge->to] = edge->length;
	} else if (edge->length < local->second[edge->to]) {
		local->second[edge->to] = edge->length;
	}
}

static bool is_member(const struct local *local, uint32_t trace)
{
	for (size_t i = 0; i < local->members; i++)
		if (local->member[i] == trace)
			return true;
	return false;
}

/* The place of the surest clock that talks to two of the way, or -1. */
static int surest(const struct local *local)
{
	double least = INFINITY;
	int best = -1;

	for (size_t i = 0; i < local->touches; i++) {
		uint32_t at = local->touched[i];
		double length = local->shortest[at] + local->second[at];

		if (length < least && !is_member(local, local->island->member[at])) {
			least = length;
			best = (int)at;
		}
	}
	return best;
}

static void add_neighbours(struct local *local)
{
	int best;

	for (size_t i = 0; i < local->members; i++) {
		size_t at = (size_t)local->place[local->member[i]];

		for (size_t k = local->first[at]; k < local->first[at + 1]; k++)
			touch(local, &local->edge[k]);
	}
	while (local->members < NEAR && (best = surest(local)) >= 0)
		local->member[local->members++] = local->island->member[best];
	while (local->touches) {
		uint32_t at = local->touched[--local->touches];

		local->shortest[at] = local->second[at] = INFINITY;
	}
}

/* Pairs between members of the neighbourhood; returns how many. */
static size_t pairs_inside(const struct local *local, uint32_t *inside)
{
	size_t count = 0;

	for (size_t i = 0; i < local->members; i++) {
		size_t at = (size_t)local->place[local->member[i]];

		for (size_t k = local->first[at]; k < local->first[at + 1]; k++) {
			uint32_t to = local->island->member[local->edge[k].to];

			if (to > local->member[i] && is_member(local, to))
				inside[count++] = local->edge[k].pair;
		}
	}
	return count;
}

static nsec_t sum(nsec_t a, nsec_t b)
{
	if (a == NSEC_MIN || a == NSEC_MAX)
		return a;
	return b == NSEC_MIN || b == NSEC_MAX ? b : nsec_add(a, b);
}

/*
 * Add the anchor's bound to one of a clock at a reference time. Beyond the
 * anchor's own begin and end it opens with what its rate may be off by.
 */
static void add_anchor_at(struct clock_bound *bound, nsec_t ref,
			  const struct region *anchor, const struct fit_clock *clock,
			  double limit)
{
	nsec_t begin = clock->ref_ns +
		       nsec_round(fit_correct(clock, clock->begin_ns, clock->ref_ns));
	nsec_t end =
	    clock->ref_ns + nsec_round(fit_correct(clock, clock->end_ns, clock->ref_ns));
	nsec_t away = ref < begin ? begin - ref : ref > end ? ref - end : 0;
	nsec_t open = nsec_round(ceil((limit + fabs(clock->rate)) * (double)away));
	nsec_t low = 0, high = 0;

	for (int k = 0; k < anchor->times; k++) {
		low = anchor->bound[k].low_ns < low ? anchor->bound[k].low_ns : low;
		high = anchor->bound[k].high_ns > high ? anchor->bound[k].high_ns : high;
	}
	bound->low_ns = sum(bound->low_ns, sum(low, -open));
	bound->high_ns = sum(bound->high_ns, sum(high, open));
}

static void add_anchor(struct local *local, size_t place, uint32_t anchor)
{
	const struct fit_island *island = local->island;
	const struct fit_clock *own = &island->clock[island->member[place]];
	const struct fit_clock *clock = &island->clock[anchor];
	const struct region *from = &local->region[local->place[anchor]];
	struct region *region = &local->region[place];

	for (int k = 0; k < region->times; k++) {
		nsec_t ref =
		    own->ref_ns +
		    nsec_round(fit_correct(own, region->bound[k].local_ns, own->ref_ns));

		add_anchor_at(&region->bound[k], ref, from, clock, island->limit);
	}
	region->rate_low += from->rate_low - clock->rate;
	region->rate_high += from->rate_high - clock->rate;
	region->known = region->known && from->known;
}

static void bound_one(struct local *local, size_t place)
{
	struct fit_island near = *local->island;
	struct region found[NEAR];
	uint32_t trace = local->island->member[place], inside[NEAR * NEAR];
	size_t own;

	take_way(local, trace);
	own = local->members - 1;
	add_neighbours(local);
	near.member = local->member;
	near.members = local->members;
	near.inside = inside;
	near.insides = pairs_inside(local, inside);
	/* Against an anchor's fit, its own true rate may be off by twice the limit. */
	if (local->member[0] != local->island->member[0])
		near.limit *= 3;
	for (size_t i = 0; i < near.members; i++)
		found[i] = local->region[local->place[local->member[i]]];
	if (!region_solve(&near, own, own + 1, found, false))
		region_solve(&near, own, own + 1, found, true);
	local->region[place] = found[own];
	if (local->member[0] != local->island->member[0])
		add_anchor(local, place, local->member[0]);
}

static void local_init(struct local *local, struct fit_island *island,
		       struct region *region)
{
	size_t traces = 0;

	for (size_t i = 0; i < island->members; i++)
		if (island->member[i] >= traces)
			traces = island->member[i] + 1;
	memset(local, 0, sizeof(*local));
	local->island = island;
	local->region = region;
	local->place = mem_zalloc(traces * sizeof(int));
	for (size_t i = 0; i < island->members; i++)
		local->place[island->member[i]] = (int)i;
	local->first = mem_zalloc((island->members + 1) * sizeof(*local->first));
	local->edge = mem_alloc(2 * island->insides * sizeof(*local->edge));
	local->shortest = mem_alloc(island->members * sizeof(double));
	local->second = mem_alloc(island->members * sizeof(double));
	local->touched = mem_alloc(island->members * sizeof(*local->touched));
	for (size_t i = 0; i < island->members; i++)
		local->shortest[i] = local->second[i] = INFINITY;
	connect(local);
}

/* For islands too large for one program. */
static void region_find_local(struct fit_island *island, struct region *region)
{
	struct local local;

	local_init(&local, island, region);
	for (size_t i = 1; i < island->members; i++)
		bound_one(&local, i);
	free(local.place);
	free(local.first);
	free(local.edge);
	free(local.shortest);
	free(local.second);
	free(local.touched);
}

void region_find(struct fit_island *island, struct region *region)
{
	int times = island->members > REGION_MANY ? REGION_TIMES_OF_MANY : REGION_TIMES;

	memset(region, 0, island->members * sizeof(*region));
	for (size_t i = 0; i < island->members; i++)
		set_times(&island->clock[island->member[i]], times, &region[i]);
	region[0].known = true;
	if (island->members > REGION_MANY)
		region_find_local(island, region);
	else if (island->members > 1 &&
		 !region_solve(island, 1, island->members, region, false))
		region_solve(island, 1, island->members, region, true);
}
