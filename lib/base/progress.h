/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_PROGRESS_H
#define CT_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * One line on stderr about long work, rewritten a few times a second, on a
 * terminal only. A line is left on the screen only while work goes on.
 */
struct progress {
	bool shown;         /* whether this run shows progress at all */
	bool drawn;         /* whether a line stands on the screen now */
	int64_t next_ns;    /* monotonic; not before this is it drawn again */
	int64_t started_ns; /* monotonic */
};

void progress_init(struct progress *progress, bool quiet);

/*
 * Show "what: 1.2 million events, 0.8 million/s, 12 of 110 MB, 40 s left"; total 0
 * leaves out the share, and what is left.
 */
void progress_update(struct progress *progress, const char *what, uint64_t events,
		     uint64_t bytes, uint64_t total_bytes);

/* Show "what: 42 %, 3 s left" of a share from 0 to 1. */
void progress_share(struct progress *progress, const char *what, double share);

/* Take the line away, before anything else is written to the terminal. */
void progress_end(struct progress *progress);

#endif
