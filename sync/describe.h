/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_DESCRIBE_H
#define CT_SYNC_DESCRIBE_H

#include "clock/map.h"
#include "sync/sync.h"

/* Make the clock map of a synchronization; the caller clears it. */
void describe_clocks(const struct synchronization *sync,
		     const struct clock_matching *matching, struct clock_map *map);

#endif
