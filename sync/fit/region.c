/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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
 * The way from a clock to the reference, the reference first, by one program over the
 * pairs between those on it; the clock comes last. Leaving messages out can only widen
 * a bound, so it is as true as that of one program over everything.
 */
static void bound_by_way(struct fit_island *island, size_t place, struct region *region)
{
	struct fit_island way = *island;
	uint32_t *member = mem_alloc(island->members * sizeof(*member));
	uint32_t *inside = mem_alloc(island->insides * sizeof(*inside));
	struct region *found = mem_zalloc(island->members * sizeof(*found));
	size_t at = island->members;

	for (int trace = (int)island->member[place]; trace >= 0;
	     trace = island->clock[trace].parent)
		member[--at] = (uint32_t)trace;
	way.member = member + at;
	way.members = island->members - at;
	way.inside = inside;
	way.insides = 0;
	for (size_t i = 0; i < island->insides; i++) {
		const struct pair *pair = &island->pairs->pair[island->inside[i]];
		size_t ends = 0;

		for (size_t k = 0; k < way.members; k++)
			ends += way.member[k] == pair->a || way.member[k] == pair->b;
		if (ends == 2)
			inside[way.insides++] = island->inside[i];
	}
	found[way.members - 1] = *region;
	if (!region_solve(&way, way.members - 1, way.members, found, false))
		region_solve(&way, way.members - 1, way.members, found, true);
	*region = found[way.members - 1];
	free(member);
	free(inside);
	free(found);
}

void region_find(struct fit_island *island, struct region *region)
{
	int times = island->members > REGION_MANY ? REGION_TIMES_OF_MANY : REGION_TIMES;

	memset(region, 0, island->members * sizeof(*region));
	for (size_t i = 0; i < island->members; i++)
		set_times(&island->clock[island->member[i]], times, &region[i]);
	region[0].known = true;
	for (size_t i = 1; island->members > REGION_MANY && i < island->members; i++)
		bound_by_way(island, i, &region[i]);
	if (island->members > REGION_MANY)
		return;
	if (island->members > 1 &&
	    !region_solve(island, 1, island->members, region, false))
		region_solve(island, 1, island->members, region, true);
}
