/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_PLANS_H
#define CT_SIMULATE_PLANS_H

#include "simulate/clock.h"
#include "simulate/scenario.h"

/*
 * How the clock of each node is to run from begin_ns to end_ns: drawn within
 * what the scenario says of all, exact where it says so of one. For free().
 */
struct sim_clock_plan *plans_make(const struct scenario *scenario, uint64_t seed,
				  nsec_t begin_ns, nsec_t end_ns);

#endif
