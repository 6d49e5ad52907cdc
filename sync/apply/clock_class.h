/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_APPLY_CLOCK_CLASS_H
#define CT_SYNC_APPLY_CLOCK_CLASS_H

#include "base/error.h"
#include "clock/clock.h"
#include "sync/apply/metadata.h"

/*
 * The clock class that shows a trace on the reference clock: for every clock
 * value of the trace, its time by `fitted` is the corrected time by `recorded`
 * as nearly as a whole number of cycles a second allows. It is nearest in the
 * middle of the trace.
 *
 * residual_ns is how far any stamp of the trace may stray from the line of the
 * clock's one segment, the viewer's own rounding included. Viewers cut offset
 * and value to whole nanoseconds each, where the frequency is not 10^9.
 *
 * 0, or -1 with error where the clock leaves what a class can say.
 */
int clock_class_fit(const struct clock *clock, const struct clock_class *recorded,
		    struct clock_class *fitted, double *residual_ns, struct error *error);

#endif
