/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate.h"
#include "sync/fit/fit.h"

/* Clusters, every method. */
static const char *const method[] = {"hull", "margin", "joint", "regression"};

enum { METHODS = sizeof(method) / sizeof(*method), ROUNDS = 12 };

/* A tree of clocks, and some more pairs; some talk a lot, some little. */
static void draw_cluster(size_t most)
{
	sim_init((size_t)draw_between(3, (int64_t)most),
		 NSEC_PER_SEC << draw_between(0, 14));
	for (uint32_t b = 1; b < sim.clocks; b++)
		sim_talk((uint32_t)draw_between(0, b - 1), b, 1 << draw_between(0, 9),
			 1 << draw_between(0, 9));
	for (size_t i = 0; i < sim.clocks; i++) {
		uint32_t a = (uint32_t)draw_between(0, (int64_t)sim.clocks - 1);
		uint32_t b = (uint32_t)draw_between(0, (int64_t)sim.clocks - 1);

		if (a != b)
			sim_talk(a, b, 1 << draw_between(0, 9), 1 << draw_between(0, 9));
	}
}

SIM_TEST(truth_lies_inside_the_bounds)
{
	for (int i = 0; i < ROUNDS; i++) {
		draw_cluster(8);
		sim_fit(method[i % METHODS]);
		assert_int_equal(sim.sync.network.graph.islands, 1);
		assert_int_equal(sim.problems.count, 0);
		sim_check_bounds();
	}
}

SIM_TEST(no_message_is_violated)
{
	for (int i = 0; i < ROUNDS; i++) {
		draw_cluster(10);
		sim_fit("joint");
		assert_int_equal(sim_violations(false), 0);
		/* A tree's fit knows nothing of the other pairs. */
		sim_fit("hull");
		assert_int_equal(sim_violations(true), 0);
		sim_fit("margin");
		assert_int_equal(sim_violations(true), 0);
	}
}

/* The height at which the fitted clocks put b above a pair's line, at a's time x. */
static double above_line(const struct pair *pair, const struct line *line, nsec_t x)
{
	const struct clock *a = &sim.sync.verdict.clock[pair->a];
	const struct clock *b = &sim.sync.verdict.clock[pair->b];

	return line_distance(line, x, clock_invert(b, clock_correct(a, x)));
}

/*
 * Outside of all messages the two tangents are the furthest that lines can be; where one
 * is steeper than the limit, the line at the limit may be off by its slack, too.
 */
static void check_pair(const struct pair *pair)
{
	const struct hull *lower = &pair->hulls.lower, *upper = &pair->hulls.upper;
	struct line line;
	nsec_t first, last;
	double half;

	if (pair->fit.margin_ns < 0 || !hulls_face(lower, upper))
		return;
	first =
	    lower->point[0].x < upper->point[0].x ? lower->point[0].x : upper->point[0].x;
	last = lower->point[lower->count - 1].x > upper->point[upper->count - 1].x
		   ? lower->point[lower->count - 1].x
		   : upper->point[upper->count - 1].x;
	half = pair_line_bisector(&pair->hulls, &pair->fit, 2 * SIM_LIMIT * 1e-6, first,
				  &line);
	assert_true(fabs(above_line(pair, &line, first)) <
		    2 * half + pair->fit.margin_ns + 3);
	half = pair_line_bisector(&pair->hulls, &pair->fit, 2 * SIM_LIMIT * 1e-6, last,
				  &line);
	assert_true(fabs(above_line(pair, &line, last)) <
		    2 * half + pair->fit.margin_ns + 3);
}

SIM_TEST(joint_lies_between_every_pairs_tangents)
{
	for (int i = 0; i < ROUNDS; i++) {
		draw_cluster(10);
		sim_fit("joint");
		for (size_t k = 0; k < sim.sync.network.pairs.count; k++)
			check_pair(&sim.sync.network.pairs.pair[k]);
	}
}

/*
 * Return by how much a clock's first bound may be wider than what messages prove of its
 * time: it holds up to the second one, while the fit is off by the rates that are left.
 */
static double grain_of(size_t index)
{
	const struct clock *clock = &sim.sync.verdict.clock[index];
	const struct rate_bound *rate = &sim.sync.verdict.rate[index];
	double fit = clock->segment->rate_ppb * 1e-9;
	double off = fmax(fabs(rate->low - fit), fabs(rate->high - fit));

	return off * (double)(clock->bound[1].local_ns - clock->bound[0].local_ns);
}

/* Loops say more than a tree: the bounds are those of all, whoever fits. */
SIM_TEST(every_method_has_the_same_bounds)
{
	struct clock_bound first[SIM_CLOCKS];
	double first_grain[SIM_CLOCKS];

	draw_cluster(6);
	sim.bounds = BOUNDS_STRAIGHT;
	sim.reference = "n0";
	for (size_t k = 0; k < METHODS; k++) {
		sim_fit(method[k]);
		for (size_t i = 0; i < sim.clocks; i++) {
			struct clock_bound bound = sim.sync.verdict.clock[i].bound[0];
			nsec_t ref =
			    clock_correct(&sim.sync.verdict.clock[i], bound.local_ns);
			double grain = grain_of(i);

			assert_true(sim.sync.verdict.rate[i].known);
			bound.low_ns += ref;
			bound.high_ns += ref;
			if (k == 0) {
				first[i] = bound;
				first_grain[i] = grain;
			}
			grain += first_grain[i] + 2000;
			assert_true(fabs((double)(bound.low_ns - first[i].low_ns)) <
				    grain);
			assert_true(fabs((double)(bound.high_ns - first[i].high_ns)) <
				    grain);
		}
	}
}

/* Also of many clocks. */
SIM_TEST(large_islands_are_bounded_by_lines)
{
	bool bent = false;

	sim_init(48, 100 * SIM_SECONDS);
	sim.bounds = BOUNDS_STRAIGHT;
	for (uint32_t b = 1; b < sim.clocks; b++) {
		sim_talk(b / 2, b, 50, 50);
		if (b > 6)
			sim_talk(b - 5, b, 20, 20);
	}
	sim_fit(NULL);
	assert_int_equal(sim_violations(false), 0);
	sim_check_bounds();
	/* One in a hundred times messages look as if one of the 48 bent: then no bound is
	 * by straight clocks. */
	for (uint32_t i = 0; i < sim.clocks; i++)
		bent |= sim.sync.verdict.clock[i].segments > 1;
	for (size_t i = 0; i < sim.clocks && !bent; i++)
		assert_true(sim.sync.verdict.clock[i].bound[1].high_ns < NSEC_PER_MSEC);
}
