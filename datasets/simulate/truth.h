/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_TRUTH_H
#define CT_SIMULATE_TRUTH_H

#include "simulate/world.h"

/*
 * Write DIRECTORY/truth.csv: what each node's clocks say at true times, a row
 * a corner of the polygons and two a step. 0, or -1 with error.
 */
int truth_write(struct world *world, const char *directory, struct error *error);

#endif
