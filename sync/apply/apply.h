/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_APPLY_APPLY_H
#define CT_SYNC_APPLY_APPLY_H

#include <stdio.h>

#include "base/error.h"
#include "base/problem.h"
#include "clock/clock.h"
#include "clock/map.h"

/*
 * Make every CTF trace of the map, and say to `talk` how exact each one is:
 * directory/NAME is the trace of that name on its reference's clock; where the name is no
 * file name, base/file_name.h makes one of it. They come into place when all are made,
 * and none does where one of the names is there already. A trace that cannot be made
 * becomes a problem. 0, or -1 with error when the directory cannot.
 */
int apply_run(const struct clock_map *map, const char *directory, FILE *talk,
	      struct problem_list *problems, struct error *error);

/*
 * Make `target` (a new directory) a CTF trace that any viewer shows on the
 * reference clock: the streams of the trace at clock->path hard-linked (else
 * reflinked, else copied), and a metadata file whose clock class has the
 * fitted frequency and offset, and, in CTF 2, its precision and accuracy: how far a
 * stamp may stray from the fit, and the clock's widest bound (not known where a side
 * has none). Only for a clock of one segment. 0, or -1 with
 * error and no target left.
 *
 * residual_ns is how far any stamp may stray from the fit, as a clock class has an
 * integer frequency. It is for viewers that convert the offset and the value one by
 * one, as babeltrace2 does. One that puts their sum into a double (Trace
 * Compass) shows steps of 256 ns with any frequency but 10^9.
 */
int apply_clock(const struct clock *clock, const char *target, double *residual_ns,
		struct error *error);

#endif
