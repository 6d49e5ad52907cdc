/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_APPLY_APPLY_H
#define CT_SYNC_APPLY_APPLY_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "clock/clock.h"
#include "clock/map.h"
#include "input/run.h"
#include "sync/observe/observe.h"

struct apply_request {
	const struct observations *seen;
	const struct source_list *sources; /* those that were observed */
	const struct clock_map *map;       /* its clocks are the traces of `seen` */
	const char *directory;
};

/*
 * Write each CTF trace and each capture of the map again, on its reference's clock, to
 * directory/NAME, and print to `talk` how exact each one is. NAME is the trace's name as
 * a file name (base/names.h). All appear together; if one of the names exists already,
 * none does. A source that cannot be written becomes a problem. Return 0, or -1 with
 * error if the directory cannot be written.
 */
int apply_run(const struct apply_request *request, FILE *talk,
	      struct problem_list *problems, struct error *error);

/* Return the clock's widest bound in nanoseconds, or INFINITY if a side has none. */
double apply_widest_bound(const struct clock *clock);

/*
 * Make `target`, a new directory, a CTF trace that any viewer shows on the reference
 * clock. It has the streams of the trace at clock->path, hard-linked or else copied, and
 * metadata whose clock class has the fitted frequency and offset. In CTF 2 the class also
 * has a precision, the largest deviation of a timestamp from the fit, and an accuracy,
 * the clock's widest bound (-1 if a side is unbounded). Return 0; 1 with error if no
 * clock class can express the clock (as with several segments); or -1 with error. After
 * an error `target` is removed.
 *
 * `residual_ns` is the largest deviation of any timestamp from the fit, since the
 * frequency of a clock class is an integer. It is valid for viewers that convert offset
 * and value separately, as babeltrace2 does. Viewers that put their sum into a double
 * (Trace Compass) show steps of 256 ns unless the frequency is 10^9.
 */
int apply_clock(const struct clock *clock, const char *target, double *residual_ns,
		struct error *error);

#endif
