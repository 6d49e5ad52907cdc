/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_BENCH_BASELINE_H
#define CT_TESTS_BENCH_BASELINE_H

#include "base/error.h"
#include "clock/map.h"

/*
 * Fit as other tools do: for each two nodes the mean of the two lines of the extreme
 * slopes that both half hulls allow, on doubles; least squares over the messages if there
 * is none. One line per clock, along a tree from the first node of each island, without
 * bounds. Return 0, or -1 with error.
 */
int baseline_fit(struct clock_map *map, const char *messages, struct error *error);

#endif
