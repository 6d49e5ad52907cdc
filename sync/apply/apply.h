/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_APPLY_APPLY_H
#define CT_SYNC_APPLY_APPLY_H

#include "base/error.h"
#include "clock/clock.h"

/*
 * What came out of putting one CTF trace on the reference clock. A clock
 * class has an integer frequency, so the rate is rounded to it.
 */
struct apply_result {
	/* How far any stamp may stray from the fit, the viewer's rounding included. */
	double residual_ns;
};

/*
 * Make `target` (a new directory) a CTF trace that any viewer shows on the
 * reference clock: the streams of the trace at clock->path hard-linked (else
 * reflinked, else copied), and a metadata file whose clock class has the
 * fitted frequency and offset, and, in CTF 2, its precision and accuracy: how far a
 * stamp may stray from the fit, and the clock's widest bound (not known where a side
 * has none). Only for a clock of one segment. 0, or -1 with
 * error and no target left.
 *
 * The residual is for viewers that convert the offset and the value one by
 * one, as babeltrace2 does. One that puts their sum into a double (Trace
 * Compass) shows steps of 256 ns with any frequency but 10^9.
 */
int apply_clock(const struct clock *clock, const char *target,
		struct apply_result *result, struct error *error);

#endif
