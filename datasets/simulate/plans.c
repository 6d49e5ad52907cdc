/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/plans.h"

#include <math.h>

#include "base/mem.h"
#include "simulate/dice.h"
#include "simulate/scenario_keys.h"

/* Of all nodes together: what truth.csv and memory should bear. */
enum { CORNERS_MOST = 1 << 23, CORNERS_A_NODE = 1 << 19 };

/* From -1 to 1. */
static double draw_share(struct dice *dice)
{
	return (double)((int64_t)(dice_next(dice) >> 11) - (INT64_C(1) << 52)) * 0x1p-52;
}

static struct scenario_clock draw_clock(const struct scenario_clock *all,
					struct dice *dice)
{
	struct scenario_clock clock = *all;

	clock.offset_s *= draw_share(dice);
	clock.drift_ppm *= draw_share(dice);
	clock.drift_change_ppb *= draw_share(dice);
	clock.slew_phase *= draw_share(dice);
	clock.uptime_s *= 0.75 + 0.25 * draw_share(dice);
	return clock;
}

struct sim_clock_plan *plans_make(const struct scenario *scenario, uint64_t seed,
				  nsec_t begin_ns, nsec_t end_ns)
{
	size_t nodes = (size_t)scenario->nodes, most = CORNERS_MOST / nodes;
	struct sim_clock_plan *plans = mem_zalloc(nodes * sizeof(*plans));

	for (size_t i = 0; i < nodes; i++) {
		struct scenario_clock clock;
		struct dice dice;

		dice_init(&dice, seed, DICE_CLOCK, i << 1 | 1);
		clock = draw_clock(&scenario->clock, &dice);
		for (size_t k = 0; k < scenario->owns; k++)
			if (scenario->own[k].node == (int)i + 1)
				scenario_key_store(scenario->own[k].key, &clock,
						   scenario->own[k].value);
		plans[i] = (struct sim_clock_plan){
		    .begin_ns = begin_ns,
		    .end_ns = end_ns,
		    .offset_ns = nsec_round(clock.offset_s * 1e9),
		    .uptime_ns = nsec_round(clock.uptime_s * 1e9),
		    .drift_ppm = clock.drift_ppm,
		    .drift_change_ppb = clock.drift_change_ppb,
		    .slew_ns = clock.slew_ms * 1e6,
		    .period_s = clock.slew_period_s,
		    .phase_turns = clock.slew_phase,
		    .wander_ppm = clock.wander_ppm,
		    .corners_most = most < CORNERS_A_NODE ? most : CORNERS_A_NODE,
		    .seed = seed,
		    .number = i << 1,
		};
	}
	return plans;
}
