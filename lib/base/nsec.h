/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_NSEC_H
#define CT_BASE_NSEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Time is integer nanoseconds: a double at epoch nanoseconds steps by 256.
 * An instant is counted since the epoch unless its name says otherwise;
 * doubles are for differences from a stated origin only.
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

#define NSEC_TEXT 48 /* bytes, enough for every text made here */

/* A duration with a unit that suits its size: "-12.345 us", "1.234567 s". */
char *nsec_format_span(char text[NSEC_TEXT], double span_ns);

/* An instant as seconds since the epoch, exact: "1795228732.943977331". */
char *nsec_format_seconds(char text[NSEC_TEXT], nsec_t instant);

/* An instant in UTC: "2026-11-21 02:38:57.738293189". */
char *nsec_format_utc(char text[NSEC_TEXT], nsec_t instant);

/*
 * By which zone times of day are shown to people: UTC, or the user's own, at one offset
 * all through, for what is shown beside each other must compare.
 */
struct zone {
	nsec_t offset_ns; /* what is added to UTC */
	char name[20];    /* "UTC", "UTC+02:00" */
};

/* The user's zone (TZ, else the machine's) as it is at an instant; or UTC. */
struct zone zone_at(bool is_local, nsec_t instant);

/* As nsec_format_utc, by a zone. */
char *zone_format(char text[NSEC_TEXT], const struct zone *zone, nsec_t instant);

/* Whether two instants have one date there. */
bool zone_is_one_day(const struct zone *zone, nsec_t a, nsec_t b);

/* The machine's monotonic clock, for how long something takes. */
nsec_t nsec_monotonic(void);

/* a + b and a - b, held at the ends of the range instead of overflowing. */
nsec_t nsec_add(nsec_t a, nsec_t b);
nsec_t nsec_sub(nsec_t a, nsec_t b);

/* For qsort and bsearch: of times, or of what begins with one. */
int nsec_compare(const void *a, const void *b);

/* The nearest integer, held at the ends of the range; value must not be NaN. */
nsec_t nsec_round(double value);

#endif
