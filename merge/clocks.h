/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_CLOCKS_H
#define CT_MERGE_CLOCKS_H

#include "base/progress.h"
#include "merge/run.h"
#include "sync/arguments.h"
#include "sync/pair/message_log.h"

struct merge_clock_options {
	const char *file;     /* a clock map; NULL: by synchronization */
	const char *messages; /* a CSV file of more messages, or NULL */
	bool none;            /* leave every clock at its own epoch */
	struct sync_options sync;
};

/*
 * Set the clock of every source: by synchronization, by a clock map read from a file (by
 * the names of sources), or none. Sources that nothing ties keep their own epoch, further
 * islands that of their reference, which is reported; traces of one clock uuid share one
 * correction, even those without a network event. The packets are always matched and
 * added to `messages`, with their ends by the indexes of sources, unless it is NULL.
 * Return 0, or -1 with error.
 *
 * For each source, also set whether it could be opened, its facts (sources that
 * synchronization did not read were only opened), and its island. With a file, the island
 * is also -1 if the map does not have the reference. If no source could be read, run->map
 * has no reference; with `none` its clocks are at their own epoch. The sources' problems
 * are in run->problems; reading their events reports the same again.
 */
int merge_clocks_find(struct merge_run *run,
		      const struct merge_clock_options *clock_options,
		      struct message_log *messages, struct progress *progress,
		      struct error *error);

/* After that: whether every source that is used is tied to one reference from both sides.
 */
bool merge_clocks_are_tied(const struct merge_run *run);

#endif
