/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CLOCK_CLOCK_H
#define CT_CLOCK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/nsec.h"

/*
 * The correction of one source's clock: a list of segments, each a line,
 *
 *	ref(t) = ref_ns + (t - local_ns) * (1 + rate_ppb * 1e-9)
 *
 * from its local_ns up to the next segment's; the first one also serves
 * before its begin. Held as integers and a small double, never as a slope
 * and an intercept at the epoch.
 */
struct clock_segment {
	nsec_t local_ns, ref_ns;
	double rate_ppb;
};

/* How far true reference time may lie from ref(t), at one local time. */
struct clock_bound {
	nsec_t local_ns;
	nsec_t low_ns, high_ns; /* NSEC_MIN or NSEC_MAX: nothing bounds that side */
};

/* A jump of a clock: from `local_ns` on it shows `size_ns` more than before. */
struct clock_step {
	nsec_t local_ns, size_ns;
};

/* A time in which a clock ran faster by `fast_ppb` and gained `size_ns`; local times. */
struct clock_slew {
	nsec_t begin_ns, end_ns, size_ns;
	double fast_ppb;
};

enum clock_quality {
	CLOCK_EXACT,       /* the same clock */
	CLOCK_ACCURATE,    /* both directions bound it */
	CLOCK_APPROXIMATE, /* constraints contradict each other, or do not overlap */
	CLOCK_INCOMPLETE,  /* one direction only */
	/* No clocks that are physically possible satisfy the messages: wrong matches. */
	CLOCK_CONTRADICTORY,
	CLOCK_ABSENT, /* no message at all */
};

struct clock {
	char *trace;     /* the source's name */
	char *path;      /* where it was read from; "" if from messages */
	char *reference; /* the name of the source whose clock is its island's axis */
	enum clock_quality quality;
	nsec_t begin_ns, end_ns; /* local stamps of the first and last event */
	struct clock_segment *segment;
	size_t segments; /* at least 1, by ascending local_ns */
	struct clock_bound *bound;
	size_t bounds;           /* by ascending local_ns */
	struct clock_step *step; /* in order of time, as are the slews */
	size_t steps;
	struct clock_slew *slew;
	size_t slews;
};

/* "accurate", ... as the clock map has it. */
const char *clock_quality_name(enum clock_quality quality);

/* The quality of that name; -1 if there is none. */
int clock_quality_parse(const char *name);

/* Local to reference time, rounded to the nearest nanosecond. */
nsec_t clock_correct(const struct clock *clock, nsec_t local_ns);

/*
 * Reference to local time: the local time whose correction comes nearest. For
 * rates above -0.5 a corrected stamp comes back as a local time with that very
 * correction. It is the same local time unless two share a correction. Those
 * are neighbours where the rate is negative, for there the axis has fewer
 * nanoseconds: then the earlier one. Or one lies in what a clock that was
 * stepped forward skipped, and the other behind it: then the latter.
 */
nsec_t clock_invert(const struct clock *clock, nsec_t ref_ns);

/* The first local time whose correction is not before a time; NSEC_MAX: there is none. */
nsec_t clock_first_not_before(const struct clock *clock, nsec_t ref_ns);

/* Return the mean rate of its segments from begin to end, without steps and slews; it has
 * no unit. */
double clock_mean_rate(const struct clock *clock);

/*
 * The bound at a local time: between two stated times the wider of the two,
 * outside of them the nearest widened by `limit_ppb` a nanosecond of distance.
 */
struct clock_bound clock_bound_at(const struct clock *clock, nsec_t local_ns,
				  double limit_ppb);

/* Bounds by their times, of each but one; returns how many are left. */
size_t clock_bounds_sort(struct clock_bound *bound, size_t count);

/* Take in another bound: the wider of the two on each side. */
void clock_bound_widen(struct clock_bound *bound, const struct clock_bound *other);

void clock_clear(struct clock *clock);

#endif
