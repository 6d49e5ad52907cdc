/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_TRUST_H
#define CT_SYNC_TRUST_H

#include "clock/map.h"
#include "sync/sync.h"

/*
 * Synchronize, describe the clocks, and test the claims of clock daemons.
 *
 * With how->trust, do it once more: UTC is one more clock, and each trusted claim that
 * the first result does not contradict bounds its node's clock to UTC from both sides, as
 * two messages do. Between two claims of a daemon the clock is taken to be where one of
 * them says, or in between. UTC becomes the reference, unless how->reference is another.
 *
 * Return 0, or -1 with error. Clear the synchronization and the map in any case.
 */
int synchronize_sources(struct observations *seen, const struct fit_options *how,
			struct synchronization *sync, struct clock_map *map,
			struct problem_list *problems, struct error *error);

#endif
