/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_FACTS_H
#define CT_SIMULATE_FACTS_H

#include "simulate/world.h"

/*
 * Write DIRECTORY/run.json: the nodes, what the scenario says of everything,
 * and how each clock runs. 0, or -1 with error.
 */
int facts_write(const struct world *world, const struct sim_clock_plan *plans,
		const char *directory, struct error *error);

#endif
