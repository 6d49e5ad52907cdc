/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit_private.h"

#include <math.h>

#include "base/mem.h"
#include "sync/island_lp.h"

/*
 * All pairs of an island at once: one linear program whose rows say that
 * every message was received after it was sent, with a slack column a pair,
 * and whose objective is the sum of the slacks, each measured by the largest
 * that the pair alone would allow. So every pair is centred as far as the
 * others let it, and a pair that hardly talks is led by the better ones.
 *
 * A pair that talks one way only has no centre of its own. Where a ring of
 * such pairs bounds the clocks, one slack column that they share centres
 * them; it can not grow beyond the largest of the others.
 */
enum { ROUNDS = 2 }; /* the second one in units of the first one's result */

/* The smallest length that a pair's slack is measured by. */
#define LEAST_MARGIN_NS 1000.0

/* What the shared column counts for: enough to be decided, no more. */
#define SHARED_WEIGHT 1e-3

static bool is_two_way(const struct pair *pair)
{
	return pair->lower.count && pair->upper.count;
}

static double largest_margin(const struct fit_island *island)
{
	double most = LEAST_MARGIN_NS;

	for (size_t i = 0; i < island->insides; i++)
		most = fmax(most, island->pairs->pair[island->inside[i]].margin_ns);
	return most;
}

static void add_pairs(struct island_lp *program)
{
	struct fit_island *island = program->island;
	size_t shared = program->extra + island->insides;
	double scale = program->unit_ns;

	for (size_t i = 0; i < island->insides; i++) {
		const struct pair *pair = &island->pairs->pair[island->inside[i]];
		size_t own = program->extra + i;
		int slack = (int)(is_two_way(pair) ? own : shared);

		island_lp_add_pair(program, pair, slack, slack);
		if (is_two_way(pair))
			lp_objective(program->lp, own,
				     scale / fmax(LEAST_MARGIN_NS, pair->margin_ns));
		else
			lp_bound(program->lp, own, 0, 0);
	}
	lp_objective(program->lp, shared, SHARED_WEIGHT);
	lp_bound(program->lp, shared, -LP_INFINITY, largest_margin(island) / scale);
}

static int solve(struct fit_island *island, struct error *error)
{
	struct island_lp program;
	enum lp_status status;

	island_lp_init(&program, island, island->insides + 1);
	add_pairs(&program);
	status = lp_maximize(program.lp);
	if (status == LP_OPTIMAL)
		island_lp_apply(&program);
	island_lp_clear(&program);
	if (status == LP_OPTIMAL)
		return 0;
	return error_set(error, "the joint linear program has no solution (%s)",
			 status == LP_UNBOUNDED ? "unbounded" : "numerical trouble");
}

static int fit(struct fit_island *island, struct error *error)
{
	if (fit_margin.fit(island, error))
		return -1;
	for (int i = 0; i < ROUNDS && island->members > 1; i++)
		if (solve(island, error))
			return -1;
	return 0;
}

const struct fit_method fit_joint = {
    .name = "joint",
    .help = "one linear program over all pairs of an island",
    .fit = fit,
};
