/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_CLOCKS_H
#define CT_MERGE_CLOCKS_H

#include "base/progress.h"
#include "merge/run.h"
#include "sync/sync.h"

struct merge_clock_options {
	const char *file; /* a clock map; NULL: by synchronization */
	bool none;        /* leave every clock at its own epoch */
	struct sync_options sync;
};

/*
 * Set the clock of every source: by synchronization, by a clock map read from a
 * file (by the names of sources), or none. Sources that nothing ties
 * keep their own epoch, further islands that of their reference, which is reported;
 * traces of one clock uuid share one correction, also those without a network
 * event. The packets are matched in any case: `messages` gets them, with
 * their ends by the indexes of sources, unless it is NULL. 0, or -1 with error.
 *
 * Also set of each source: whether it could be opened, its facts (sources that
 * synchronization did not read were only opened), its island, and is_second_view. With a
 * file the island is -1 as well where the map does not have the reference. run->map has
 * no reference where no source could be read; with `none` its clocks are at their own
 * epoch. What the sources found odd is in run->problems; reading their events reports
 * the same again.
 */
int merge_clocks_find(struct merge_run *run,
		      const struct merge_clock_options *clock_options,
		      struct message_log *messages, struct progress *progress,
		      struct error *error);

/* After that: whether every source that is used is tied to one reference from both sides.
 */
bool merge_clocks_are_tied(const struct merge_run *run);

#endif
