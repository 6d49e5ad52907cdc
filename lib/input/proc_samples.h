/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_PROC_SAMPLES_H
#define CT_INPUT_PROC_SAMPLES_H

#include <stdint.h>

#include "base/nsec.h"
#include "base/problem.h"

/* One process at one instant, by the node's real-time clock: proc.csv. */
#define PROC_UNKNOWN ((int64_t)-1)

struct proc_sample {
	nsec_t realtime_ns;
	int64_t pid;
	int64_t ppid;     /* this and the numbers below: PROC_UNKNOWN if not there */
	const char *comm; /* or NULL */
	char state;       /* R, S, D, ... as in /proc; or 0 */
	nsec_t utime_ns, stime_ns; /* since the process began */
	int64_t rss_kib;
	int64_t read_bytes, write_bytes;
	uint64_t line;
};

/*
 * Read a proc.csv, whose header line names its columns. Each row is handed on,
 * its texts valid until the callback returns; a cell that is broken is reported
 * and unknown. 0; -1 where nothing can be read, which is a problem; or what the
 * callback returned, when that was not 0: it ends the reading.
 */
int proc_samples_read(const char *path,
		      int (*row)(void *context, const struct proc_sample *sample),
		      void *context, struct problem_list *problems);

#endif
