/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_LIMITS_H
#define CT_SYNC_LIMITS_H

#include "clock/map.h"
#include "sync/sync.h"

/*
 * Find what limits the bounds of each clock that is not the reference of others, and set
 * the map's limits. Uses the quickest messages of each pair, at most some thousand.
 */
void limits_find(const struct synchronization *sync, struct clock_map *map);

#endif
