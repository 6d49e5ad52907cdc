/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_APPLY_H
#define CT_SYNC_APPLY_H

#include "base/error.h"
#include "clock/clock.h"

/*
 * What came out of putting one CTF trace on the reference clock. A clock
 * class has an integer frequency, so the rate is rounded to it.
 */
struct apply_result {
	double residual_ns; /* how far the new clock strays from the fit at most */
};

/*
 * Make `target` (a new directory) a CTF trace that any viewer shows on the
 * reference clock: the streams of the trace at clock->path hard-linked (else
 * reflinked, else copied), and a metadata file whose clock class has the
 * fitted frequency and offset. Only for a clock of one segment. 0, or -1 with
 * error and no target left.
 */
int apply_clock(const struct clock *clock, const char *target,
		struct apply_result *result, struct error *error);

#endif
