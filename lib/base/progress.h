/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_PROGRESS_H
#define CT_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A progress line on standard error, if that is a terminal, redrawn up to five times a
 * second and removed at the end.
 */
struct progress {
	bool shown;         /* progress is to be shown at all */
	bool drawn;         /* there is a line on the screen */
	int64_t next_ns;    /* earliest monotonic time of the next redraw */
	int64_t started_ns; /* monotonic time of the start */
};

void progress_init(struct progress *progress, bool quiet);

/*
 * Show "what: 1.2 million events, 0.8 million/s, 12 of 110 MB, 40 s left". If
 * `total_bytes` is 0, omit the bytes and the time left.
 */
void progress_update(struct progress *progress, const char *what, uint64_t events,
		     uint64_t bytes, uint64_t total_bytes);

/* Show "what: 42 %, 3 s left" for a share from 0 to 1. */
void progress_share(struct progress *progress, const char *what, double share);

/* Remove the line. Call before anything else is written to the terminal. */
void progress_end(struct progress *progress);

#endif
