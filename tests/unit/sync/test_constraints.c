/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "simulate.h"

/* Clocks that are known but little must satisfy all messages together. */
enum { ROUNDS = 12, BENDS = 24 };

#define LENGTH (1200 * SIM_SECONDS)

/* Another rate every fifty seconds. */
static void roam(uint32_t clock)
{
	double middle = draw_real(-SIM_DRIFT + 15e-6, SIM_DRIFT - 15e-6);

	sim.clock[clock].piece[0].rate = middle;
	for (int i = 1; i <= BENDS; i++)
		sim_bend(clock, LENGTH / (BENDS + 1) * i,
			 middle + draw_real(-15e-6, 15e-6), 0);
}

/* All pairs, each with a message in every ten seconds or minutes. */
static void a_sparse_mesh(void)
{
	sim_init((size_t)draw_between(3, 5), LENGTH);
	for (uint32_t i = 0; i < sim.clocks; i++)
		roam(i);
	for (uint32_t b = 1; b < sim.clocks; b++)
		for (uint32_t a = 0; a < b; a++)
			sim_talk(a, b, (int)draw_between(6, 60),
				 (int)draw_between(6, 60));
}

/* No step is made up, either. */
SIM_TEST(sparse_messages_are_all_satisfied)
{
	for (int i = 0; i < ROUNDS; i++) {
		a_sparse_mesh();
		sim_fit(NULL);
		assert_int_equal(sim_violations(false), 0);
		for (size_t k = 0; k < sim.clocks; k++)
			assert_int_equal(sim.sync.verdict.clock[k].steps +
					     sim.sync.verdict.clock[k].slews,
					 0);
		assert_int_equal(sim.problems.count, 0);
		sim_check_bounds();
	}
}

/* Return the ns by which a segment exceeds the limit up to the next one; some are
 * rounding.
 */
static double excess(const struct clock_segment *segment, nsec_t until)
{
	double length = (double)(until - segment->local_ns);

	return (fabs(segment->rate_ppb) - SIM_LIMIT * 1e3) * 1e-9 * length;
}

/* Joined segments, rates within the limit. */
static void check_segments(const struct clock *clock)
{
	for (size_t k = 0; k < clock->segments; k++) {
		const struct clock_segment *at = &clock->segment[k];
		nsec_t next = k + 1 < clock->segments ? at[1].local_ns : clock->end_ns;
		nsec_t join;

		if (excess(at, next) > 20)
			fail_msg("a rate of %.1f ppb for %.6f s (seed %" PRIu64 ")",
				 at->rate_ppb, (double)(next - at->local_ns) / 1e9,
				 draw_seed);
		if (k + 1 == clock->segments)
			break;
		join = at[1].ref_ns - clock_correct(clock, next - 1) - 1;
		if (join < -3 || join > 3)
			fail_msg("a jump of %" PRId64 " ns (seed %" PRIu64 ")", join,
				 draw_seed);
	}
}

SIM_TEST(what_is_found_is_a_clock)
{
	for (int i = 0; i < ROUNDS; i++) {
		a_sparse_mesh();
		sim_fit(NULL);
		for (size_t k = 0; k < sim.clocks; k++)
			check_segments(&sim.sync.verdict.clock[k]);
	}
}
