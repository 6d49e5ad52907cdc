/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CLOCK_CLOCK_H
#define CT_CLOCK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/nsec.h"

/*
 * A segment of the correction of a source's clock: a line,
 *
 *	ref(t) = ref_ns + (t - local_ns) * (1 + rate_ppb * 1e-9)
 *
 * that applies from its local_ns to the next segment's. The first segment also applies
 * before its local_ns. Integers and a small double are exact; a slope and an intercept at
 * the epoch would not be.
 */
struct clock_segment {
	nsec_t local_ns, ref_ns;
	double rate_ppb;
};

/* The bounds of true reference time minus ref(t) at one local time t. */
struct clock_bound {
	nsec_t local_ns;
	nsec_t low_ns, high_ns; /* NSEC_MIN or NSEC_MAX if unbounded on that side */
};

/* A step of a clock: from `local_ns` on it shows `size_ns` more than before. */
struct clock_step {
	nsec_t local_ns, size_ns;
};

/* A slew of a clock: between two local times it ran faster by `fast_ppb` and gained
 * `size_ns`. */
struct clock_slew {
	nsec_t begin_ns, end_ns, size_ns;
	double fast_ppb;
};

enum clock_quality {
	CLOCK_EXACT,       /* the same clock */
	CLOCK_ACCURATE,    /* bounded by messages in both directions */
	CLOCK_APPROXIMATE, /* constraints contradict each other, or do not overlap */
	CLOCK_INCOMPLETE,  /* bounded by messages in one direction only */
	/* No physically possible clocks satisfy the messages, so some are mismatched. */
	CLOCK_CONTRADICTORY,
	CLOCK_ABSENT, /* not a single message */
};

struct clock {
	char *trace;     /* the source's name */
	char *path;      /* file or directory of the source; "" for messages */
	char *reference; /* name of the source whose clock is the axis of this island */
	enum clock_quality quality;
	nsec_t begin_ns, end_ns; /* local timestamps of the first and the last event */
	struct clock_segment *segment;
	size_t segments; /* at least 1, by ascending local_ns */
	struct clock_bound *bound;
	size_t bounds;           /* by ascending local_ns */
	struct clock_step *step; /* in chronological order, as are the slews */
	size_t steps;
	struct clock_slew *slew;
	size_t slews;
};

/* Return the name of a quality in clock maps, such as "accurate". */
const char *clock_quality_name(enum clock_quality quality);

/* Return the quality of that name, or -1. */
int clock_quality_parse(const char *name);

/* Convert local to reference time, rounded to the nearest nanosecond. */
nsec_t clock_correct(const struct clock *clock, nsec_t local_ns);

/*
 * Convert reference to local time: return the local time whose correction is nearest.
 *
 * For rates above -0.5 the inverse of a corrected timestamp has exactly that correction.
 * It is the original timestamp unless two local times have the same correction. With a
 * negative rate these can be neighbours, as the axis then has fewer nanoseconds: the
 * earlier is returned. Or one is in the interval that a forward step skipped, and the
 * other one after it: the latter is returned.
 */
nsec_t clock_invert(const struct clock *clock, nsec_t ref_ns);

/* Return the first local time whose correction is at or after `ref_ns`, or NSEC_MAX. */
nsec_t clock_first_not_before(const struct clock *clock, nsec_t ref_ns);

/* Return the mean rate (a ratio) of the segments from begin_ns to end_ns, without steps
 * and slews. */
double clock_mean_rate(const struct clock *clock);

/*
 * Return the bound at a local time. Between two stated bounds it is the wider of both on
 * each side; outside of all it is the nearest one, widened by `limit_ppb` times the
 * distance.
 */
struct clock_bound clock_bound_at(const struct clock *clock, nsec_t local_ns,
				  double limit_ppb);

/* Sort bounds by time and keep one for each time. Return the number left. */
size_t clock_bounds_sort(struct clock_bound *bound, size_t count);

/* Widen a bound to include another one. */
void clock_bound_widen(struct clock_bound *bound, const struct clock_bound *other);

/*
 * Set a clock's segments and bounds, which it must not own yet, to copies of another's
 * for local times that are `shift_ns` less.
 */
void clock_copy_correction(struct clock *clock, const struct clock *from,
			   nsec_t shift_ns);

void clock_clear(struct clock *clock);

#endif
