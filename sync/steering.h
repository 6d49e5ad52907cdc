/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_STEERING_H
#define CT_SYNC_STEERING_H

#include <stdio.h>

#include "clock/map.h"
#include "input/claims.h"

/*
 * Explain the steps, slews and changes of rate of a clock of the map by what a daemon
 * says of its steering, and add those that it explains to map->steering. `row` is sorted
 * by time, and its times are those of the clock. `by` is the name of the daemon.
 */
void steering_explain(struct clock_map *map, size_t index, const char *by,
		      const struct clock_steering *row, size_t rows);

/* Print the explained steps and slews, and the number of explained changes of rate. */
void steering_print(const struct clock_map *map, FILE *file);

#endif
