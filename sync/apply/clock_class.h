/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_APPLY_CLOCK_CLASS_H
#define CT_SYNC_APPLY_CLOCK_CLASS_H

#include <stdint.h>

#include "base/error.h"
#include "clock/clock.h"

/*
 * The clock class in the metadata of a trace. CTF 1.8: TSDL, plain or in packets
 * (CTF 1.8.3, section 7.1). CTF 2: JSON texts, each after a record separator. The class
 * converts the streams' clock values:
 *
 * ns = offset_s * 10^9 + (value + offset) * 10^9 / frequency
 */
struct clock_class {
	uint64_t frequency; /* cycles a second, 1 to CLOCK_CLASS_FASTEST */
	int64_t offset_s;   /* seconds since the epoch, +-CLOCK_CLASS_FARTHEST */
	uint64_t offset;    /* cycles */
	/* In cycles (CTF2-SPEC-2.0, 5.6): the error of a single timestamp, and the common
	 * error of all; an accuracy of -1 is unknown. */
	int64_t precision, accuracy;
};

/* Limits within which 128-bit integers hold every sum with a clock class. */
#define CLOCK_CLASS_FASTEST  UINT64_C(1000000000000000000)
#define CLOCK_CLASS_FARTHEST INT64_C(9223372036)

/* Read a metadata file and unwrap its text. Return NULL with error, which names the file.
 * The caller frees the result. */
char *metadata_read(const char *path, struct error *error);

/* Parse the clock class of a metadata text. Return 0, or -1 with error if there is not
 * exactly one valid class. */
int metadata_clock(const char *text, struct clock_class *class, struct error *error);

/* Replace the numbers of the clock class in a text that metadata_clock() has parsed.
 * Return plain-text metadata; the caller frees it. */
char *metadata_with_clock(const char *text, const struct clock_class *class);

/* Fit a clock class that shows a trace on the reference clock. For every clock value of
 * the trace, its time by `fitted` is the corrected time by `recorded`, as nearly as an
 * integer frequency allows; nearest in the middle of the trace. `residual_ns` is the
 * largest deviation of a timestamp from the line of the clock's one segment, including
 * the rounding of viewers, which round offset and value down separately unless the
 * frequency is 10^9. Return 0, or -1 with error if a class cannot express the clock. */
int clock_class_fit(const struct clock *clock, const struct clock_class *recorded,
		    struct clock_class *fitted, double *residual_ns, struct error *error);

#endif
