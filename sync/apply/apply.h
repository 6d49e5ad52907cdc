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
 * Make `target` (a new directory) a CTF trace that any viewer shows on the
 * reference clock: the streams of the trace at clock->path hard-linked (else copied; not
 * what directories in it hold, as `index`), and a metadata file whose clock class has the
 * fitted frequency and offset, and, in CTF 2, its precision and accuracy: how far a stamp
 * may stray from the fit, and the clock's widest bound (not known where a side has none).
 * Return 0, or with error and without the target 1 if the trace cannot have such a clock
 * (one of several segments, say), or -1 if something failed.
 *
 * residual_ns is how far any stamp may stray from the fit, as a clock class has an
 * integer frequency. It is for viewers that convert the offset and the value one by
 * one, as babeltrace2 does. One that puts their sum into a double (Trace
 * Compass) shows steps of 256 ns with any frequency but 10^9.
 */
int apply_clock(const struct clock *clock, const char *target, double *residual_ns,
		struct error *error);

#endif
