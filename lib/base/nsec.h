/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_NSEC_H
#define CT_BASE_NSEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Time in integer nanoseconds; doubles that hold nanoseconds since the epoch are 256 ns
 * apart. An instant is counted from the epoch unless its name says otherwise. Doubles
 * hold only differences from a stated origin.
 */
typedef int64_t nsec_t;

#define NSEC_PER_USEC ((nsec_t)1000)
#define NSEC_PER_MSEC ((nsec_t)1000000)
#define NSEC_PER_SEC  ((nsec_t)1000000000)
#define NSEC_MAX      INT64_MAX
#define NSEC_MIN      INT64_MIN

/*
 * Timestamps must be between the years 1967 and 2111. The difference of two differences
 * then fits an nsec_t, and 128 bits hold the product of two.
 */
#define NSEC_STAMP_LEAST (-((nsec_t)1 << 56))
#define NSEC_STAMP_MOST  ((nsec_t)31 << 57)

bool nsec_is_stamp(nsec_t instant);

#define NSEC_TEXT 48 /* bytes that hold every formatted time, with its NUL */

/* Format a duration with a unit that suits its size: "-12.345 us", "1.234567 s". */
char *nsec_format_span(char text[NSEC_TEXT], double span_ns);

/* Format an instant as seconds since the epoch, exactly: "1795228732.943977331". */
char *nsec_format_seconds(char text[NSEC_TEXT], nsec_t instant);

/* Format an instant in UTC: "2026-11-21 02:38:57.738293189". */
char *nsec_format_utc(char text[NSEC_TEXT], nsec_t instant);

/*
 * The time zone of printed times: UTC or the user's. The offset is fixed, so that all
 * printed times are comparable.
 */
struct zone {
	nsec_t offset_ns; /* added to UTC */
	char name[20];    /* "UTC", "UTC+02:00" */
};

/* Return UTC, or if `is_local` the user's zone (TZ, otherwise the machine's) with its
 * offset at an instant. */
struct zone zone_at(bool is_local, nsec_t instant);

/* Format an instant like nsec_format_utc(), in a zone. */
char *zone_format(char text[NSEC_TEXT], const struct zone *zone, nsec_t instant);

/* Return true if two instants have the same date in the zone. */
bool zone_is_one_day(const struct zone *zone, nsec_t a, nsec_t b);

/* Return the time of the machine's monotonic clock, for measuring durations. */
nsec_t nsec_monotonic(void);

/* Return a + b and a - b, clamped to the range of nsec_t. */
nsec_t nsec_add(nsec_t a, nsec_t b);
nsec_t nsec_sub(nsec_t a, nsec_t b);

/* Compare two times, or two structs that begin with a time, for qsort and bsearch. */
int nsec_compare(const void *a, const void *b);

/* Return the nearest integer, clamped to the range of nsec_t. `value` must not be NaN. */
nsec_t nsec_round(double value);

#endif
