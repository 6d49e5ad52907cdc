/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_TOPOLOGY_H
#define CT_SIMULATE_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

#include "simulate/scenario.h"

/* Two nodes that talk, numbered from 0. The first one asks. */
struct topology_pair {
	uint32_t a, b;
	double interval_ms;
};

/* All pairs that talk, each once, in order, for free(). */
struct topology_pair *topology_pairs(const struct scenario *scenario, uint64_t seed,
				     size_t *count);

#endif
