/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_WORLD_INIT_H
#define CT_SIMULATE_WORLD_INIT_H

#include "simulate/world.h"

/* Make all that the scenario asks for; returns how the clocks run, for free(). */
struct sim_clock_plan *world_init(struct world *world, const struct scenario *scenario,
				  uint64_t seed);
void world_clear(struct world *world);

#endif
