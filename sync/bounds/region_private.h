/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BOUNDS_REGION_PRIVATE_H
#define CT_SYNC_BOUNDS_REGION_PRIVATE_H

#include "sync/bounds/region.h"
#include "sync/fit/island_lp.h"

/* For the two ways of finding a region: region.c and bounds/region_local.c. */

/*
 * Bound the island's members at the places [from, to) by one program, with
 * the times that stand in region[] by place. False, with nothing set, where
 * the messages contradict each other.
 */
bool region_solve(struct fit_island *island, size_t from, size_t to,
		  struct region *region, bool tree_only);

/* For islands too large for one program: see bounds/region_local.c. */
void region_find_local(struct fit_island *island, struct region *region);

#endif
