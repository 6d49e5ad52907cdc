/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CLOCK_H
#define CT_SIMULATE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/nsec.h"
#include "simulate/scenario.h"

/*
 * The clocks of one node, at any true time.
 *
 * A clock is a polygon by definition: between its corners it is straight, and
 * where it should be curved the corners are so close that the chord leaves
 * the curve by 1 ns. So truth.csv, which holds the corners, is exact: what
 * lies between two rows is their interpolation, rounded to a nanosecond.
 * Steps are kept apart from the polygon, which only ever goes forward.
 */
struct sim_clock_step {
	nsec_t true_ns;   /* the first instant that reads the new time */
	nsec_t amount_ns; /* forward where positive */
};

struct sim_clock_corner {
	nsec_t true_ns, local_ns;
	int64_t rate; /* from here on, over true time less 1, in 2^-62 */
};

struct sim_clock {
	struct sim_clock_corner *corner;
	size_t corners, room;
	size_t at; /* the last one used: times come nearly in order */
	struct sim_clock_step *step;
	size_t steps, step_room;
	bool trace_steps; /* steps show in CLOCK_MONOTONIC too */
	nsec_t boot_ns;   /* CLOCK_REALTIME less CLOCK_MONOTONIC, before any step */
};

/* How a clock is to run; all that is zero does nothing. */
struct sim_clock_plan {
	nsec_t begin_ns, end_ns;  /* true: where the polygon has corners */
	nsec_t offset_ns;         /* local less true at the begin */
	nsec_t uptime_ns;         /* CLOCK_MONOTONIC at the begin */
	double drift_ppm;         /* at the begin */
	double drift_change_ppb;  /* a second */
	double slew_ns, period_s; /* amplitude of a sine, and how long one takes */
	double phase_turns;       /* of that sine at the begin */
	double wander_ppm;        /* deviation of the rate after a minute */
	size_t corners_most;      /* at least 64 */
	uint64_t seed, number;    /* of the wander */
};

/* Corners are added in order by the maker below; steps in order of time. */
void sim_clock_init(struct sim_clock *clock, const struct sim_clock_plan *plan);
void sim_clock_add_step(struct sim_clock *clock, nsec_t true_ns, nsec_t amount_ns);
void sim_clock_clear(struct sim_clock *clock);

/* CLOCK_REALTIME and CLOCK_MONOTONIC at a true time, also before and after the ends. */
nsec_t sim_clock_real(struct sim_clock *clock, nsec_t true_ns);
nsec_t sim_clock_mono(struct sim_clock *clock, nsec_t true_ns);

/* sin(2 pi x) by sums and products alone, which every machine does alike. */
double sim_clock_sine(double turns);

/*
 * How the clock of each node is to run from begin_ns to end_ns: drawn within
 * what the scenario says of all, exact where it says so of one. For free().
 */
struct sim_clock_plan *plans_make(const struct scenario *scenario, uint64_t seed,
				  nsec_t begin_ns, nsec_t end_ns);

#endif
