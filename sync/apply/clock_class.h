/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_APPLY_CLOCK_CLASS_H
#define CT_SYNC_APPLY_CLOCK_CLASS_H

#include <stdint.h>

#include "base/error.h"
#include "clock/clock.h"

/*
 * The metadata of a trace, and in it the clock class. CTF 1.8: text in TSDL, plain or
 * wrapped in packets (CTF 1.8.3, section 7.1). CTF 2: a sequence of JSON texts, each
 * behind a record separator. The clock class says what the streams' clock values mean:
 *
 *	ns = offset_s * 10^9 + (value + offset) * 10^9 / frequency
 */
struct clock_class {
	uint64_t frequency; /* cycles a second, 1 to CLOCK_CLASS_FASTEST */
	int64_t offset_s;   /* seconds since the epoch, +-CLOCK_CLASS_FARTHEST */
	uint64_t offset;    /* cycles */
	/*
	 * In cycles; CTF 2 has both (CTF2-SPEC-2.0, 5.6): what a stamp may be off by
	 * itself, and all stamps alike. An accuracy of -1 is not known.
	 */
	int64_t precision, accuracy;
};

/* Limits within which 128-bit integers hold every sum with a clock class. */
#define CLOCK_CLASS_FASTEST  UINT64_C(1000000000000000000)
#define CLOCK_CLASS_FARTHEST INT64_C(9223372036)

/*
 * The text of a metadata file, unwrapped, for the caller to free. NULL with
 * error, which names the file, where there is none or it is no text.
 */
char *metadata_read(const char *path, struct error *error);

/*
 * The clock class that a metadata text describes. 0, or -1 with error where it holds
 * none, more than one, or cannot be understood.
 */
int metadata_clock(const char *text, struct clock_class *class, struct error *error);

/*
 * A text that metadata_clock understood with its clock class's numbers replaced, as
 * plain-text metadata, for the caller to free; nothing else changes.
 */
char *metadata_with_clock(const char *text, const struct clock_class *class);

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
