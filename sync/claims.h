/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_CLAIMS_H
#define CT_SYNC_CLAIMS_H

#include <stdio.h>

#include "clock/map.h"
#include "sync/observe/observe.h"

/*
 * Test what the nodes' clock daemons claim against the clock map.
 *
 * With the map, a claim on a node's real-time clock becomes an interval of UTC minus the
 * map's axis. The intervals of two nodes at one time must overlap, or one of the claims
 * is wrong. If more than half of the nodes agree on a value, those that exclude all such
 * values are contradicted; otherwise it is open who is wrong. Only bounds are used: the
 * map's, those of clock.csv, and the drift limit between the times of two claims.
 *
 * Fills map->claim. Claims that are contradicted or disputed become problems. The clocks
 * of the map are those of seen->trace, in this order.
 */
void claims_test(const struct source_list *sources, const struct observations *seen,
		 double limit_ppm, struct clock_map *map, struct problem_list *problems);

/* Print a line for each claimant of a map. */
void claims_print(const struct clock_map *map, FILE *file);

#endif
