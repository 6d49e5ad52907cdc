/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CLOCK_H
#define CT_SIMULATE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/nsec.h"
#include "simulate/dice.h"
#include "simulate/scenario.h"

/*
 * The clocks of one node, at any true time.
 *
 * A clock is a polygon by definition: between its corners it is straight, and a curve has
 * corners so close together that the chords deviate from it by at most 1 ns. So
 * truth.csv, which lists the corners, is exact: between two rows the clock is their
 * interpolation, rounded to a nanosecond. Steps are stored apart from the polygon, which
 * only ever goes forward.
 */
struct sim_clock_step {
	nsec_t true_ns;   /* the first instant that reads the new time */
	nsec_t amount_ns; /* positive: forward */
};

/* A time during which the clock runs fast by `ppm`; the corners include it already. */
struct sim_clock_slew {
	nsec_t from_ns, to_ns;
	double ppm;
};

struct sim_clock_corner {
	nsec_t true_ns, local_ns;
	int64_t
	    rate; /* rate of the local clock up to the next corner, less 1, in 2^-62 */
};

struct sim_clock {
	struct sim_clock_corner *corner;
	size_t corners, capacity;
	size_t at; /* the corner used last: times are nearly in order */
	struct sim_clock_step *step;
	size_t steps, step_capacity;
	struct sim_clock_slew *slew; /* as they were added */
	size_t slews, slew_capacity;
	bool trace_steps; /* steps show in CLOCK_MONOTONIC too */
	nsec_t boot_ns;   /* CLOCK_REALTIME less CLOCK_MONOTONIC, before any step */
	struct scenario_clock course; /* offset, drift, wander, … */
};

/*
 * Make a clock of this course with corners from true begin_ns to end_ns, at most
 * `corners_most` (64 or more). `wander` is the generator for the wander of its rate.
 */
void sim_clock_init(struct sim_clock *clock, const struct scenario_clock *course,
		    nsec_t begin_ns, nsec_t end_ns, size_t corners_most,
		    const struct dice *wander);

/*
 * Make the clock of node `node` (from 0): values that the scenario sets for that node are
 * exact, the others are drawn from its ranges.
 */
void sim_clock_draw(struct sim_clock *clock, const struct scenario *scenario,
		    uint64_t seed, uint32_t node, nsec_t begin_ns, nsec_t end_ns);

void sim_clock_add_step(struct sim_clock *clock, nsec_t true_ns, nsec_t amount_ns);
void sim_clock_add_slew(struct sim_clock *clock, const struct sim_clock_slew *slew);
void sim_clock_clear(struct sim_clock *clock);

/* Return CLOCK_REALTIME and CLOCK_MONOTONIC at a true time, also one outside of the run.
 */
nsec_t sim_clock_real(struct sim_clock *clock, nsec_t true_ns);
nsec_t sim_clock_mono(struct sim_clock *clock, nsec_t true_ns);

/* Return sin(2 pi x), computed with sums and products alone: the result is the same on
 * every machine. */
double sim_clock_sine(double turns);

#endif
