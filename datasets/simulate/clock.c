/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "simulate/dice.h"

void sim_clock_clear(struct sim_clock *clock)
{
	free(clock->corner);
	free(clock->step);
	free(clock->slew);
	memset(clock, 0, sizeof(*clock));
}

/* Return the last corner at or before true_ns, or the first one. */
static const struct sim_clock_corner *corner_before(struct sim_clock *clock,
						    nsec_t true_ns)
{
	const struct sim_clock_corner *at = &clock->corner[clock->at];
	size_t next = clock->at + 1;

	if (at->true_ns > true_ns ||
	    (next < clock->corners && at[1].true_ns <= true_ns)) {
		next = PARTITION_POINT(clock->corners, i,
				       clock->corner[i].true_ns <= true_ns);
		clock->at = next ? next - 1 : 0;
	}
	return &clock->corner[clock->at];
}

static nsec_t on_polygon(const struct sim_clock_corner *corner, nsec_t true_ns)
{
	nsec_t since = true_ns - corner->true_ns;
	__int128 gained = (__int128)since * corner->rate + ((__int128)1 << 61);

	return corner->local_ns + since + (nsec_t)(gained >> 62);
}

/* Set a corner's rate from the corner after it. */
static void set_rate(struct sim_clock_corner *corner)
{
	nsec_t span = corner[1].true_ns - corner->true_ns;
	__int128 gained = (corner[1].local_ns - corner->local_ns) - span;

	corner->rate = (int64_t)(gained * ((__int128)1 << 62) / span);
}

/* Insert a corner on the polygon, unless true_ns has one or is outside of it. */
static void insert_corner(struct sim_clock *clock, nsec_t true_ns)
{
	size_t at = (size_t)(corner_before(clock, true_ns) - clock->corner);
	struct sim_clock_corner *corner = &clock->corner[at];
	nsec_t local_ns = on_polygon(corner, true_ns);

	if (corner->true_ns >= true_ns || at + 1 == clock->corners)
		return;
	clock->corner =
	    mem_grow(clock->corner, clock->corners, &clock->capacity, sizeof(*corner));
	corner = &clock->corner[at];
	memmove(corner + 2, corner + 1, (clock->corners - at - 1) * sizeof(*corner));
	corner[1] = (struct sim_clock_corner){true_ns, local_ns, 0};
	clock->corners++;
	set_rate(corner);
	set_rate(corner + 1);
}

void sim_clock_add_step(struct sim_clock *clock, nsec_t true_ns, nsec_t amount_ns)
{
	size_t at;

	clock->step = mem_grow(clock->step, clock->steps, &clock->step_capacity,
			       sizeof(*clock->step));
	for (at = clock->steps; at && clock->step[at - 1].true_ns > true_ns; at--)
		clock->step[at] = clock->step[at - 1];
	clock->step[at] = (struct sim_clock_step){true_ns, amount_ns};
	clock->steps++;
	/*
	 * truth.csv lists what the clock read on both sides of a step, so both must be
	 * corners: a chord in two pieces, each rounded, differs from the whole chord.
	 */
	insert_corner(clock, true_ns - 1);
	insert_corner(clock, true_ns);
}

/* Move each corner after the slew's start by what the clock has gained until then. */
void sim_clock_add_slew(struct sim_clock *clock, const struct sim_clock_slew *slew)
{
	*MEM_NEXT(clock->slew, clock->slews, clock->slew_capacity) = *slew;
	insert_corner(clock, slew->from_ns);
	insert_corner(clock, slew->to_ns);
	for (size_t i = 0; i < clock->corners; i++) {
		struct sim_clock_corner *corner = &clock->corner[i];
		nsec_t until =
		    corner->true_ns < slew->to_ns ? corner->true_ns : slew->to_ns;

		if (until > slew->from_ns)
			corner->local_ns += nsec_round((double)(until - slew->from_ns) *
						       slew->ppm * 1e-6);
		if (i)
			set_rate(corner - 1);
	}
	clock->corner[clock->corners - 1].rate = clock->corner[clock->corners - 2].rate;
}

static nsec_t sum_steps(const struct sim_clock *clock, nsec_t true_ns)
{
	nsec_t sum = 0;

	for (size_t i = 0; i < clock->steps && clock->step[i].true_ns <= true_ns; i++)
		sum += clock->step[i].amount_ns;
	return sum;
}

nsec_t sim_clock_real(struct sim_clock *clock, nsec_t true_ns)
{
	return on_polygon(corner_before(clock, true_ns), true_ns) +
	       sum_steps(clock, true_ns);
}

nsec_t sim_clock_mono(struct sim_clock *clock, nsec_t true_ns)
{
	return on_polygon(corner_before(clock, true_ns), true_ns) - clock->boot_ns +
	       (clock->trace_steps ? sum_steps(clock, true_ns) : 0);
}

/* The largest deviation of a chord from its curve, in seconds. */
static const double chord_s = 1e-9;

/* The clock's gain on true time; the rate wanders from corner to corner. */
struct gain {
	const struct scenario_clock *course;
	struct dice dice;
	double wander_rate; /* current */
	double wander_ns;   /* gained by the wander so far */
	double wander_step; /* deviation of the rate's change between two corners */
	double since_s;     /* time of the last corner since the start */
};

double sim_clock_sine(double turns)
{
	/* Coefficients of x^1, x^3 ... in turns: (2 pi)^k / k!, alternating. */
	static const double term[] = {6.283185307179586,  -41.341702240399755,
				      81.60524927607504,  -76.70585975306136,
				      42.058693944897634, -15.094642576822984,
				      3.8199525848482803, -0.7181223017785};
	double x = turns - (double)(int64_t)turns, square, sum = 0;

	if (x < 0)
		x += 1;
	if (x > 0.75)
		x -= 1;
	else if (x > 0.25)
		x = 0.5 - x;
	square = x * x;
	for (size_t i = sizeof(term) / sizeof(*term); i-- > 0;)
		sum = sum * square + term[i];
	return x * sum;
}

static double gained_ns(struct gain *gain, double since_s)
{
	const struct scenario_clock *course = gain->course;
	double phase = course->slew_phase;
	double gained = 1e3 * course->drift_ppm * since_s +
			0.5 * course->drift_change_ppb * since_s * since_s;

	if (course->slew_ms != 0)
		gained += course->slew_ms * 1e6 *
			  (sim_clock_sine(phase + since_s / course->slew_period_s) -
			   sim_clock_sine(phase));
	if (gain->wander_step > 0) {
		gain->wander_ns += gain->wander_rate * (since_s - gain->since_s);
		gain->wander_rate +=
		    gain->wander_step * (double)dice_normal(&gain->dice) * 0x1p-32;
	}
	gain->since_s = since_s;
	return gained + gain->wander_ns;
}

/* Seconds between corners: a chord of h leaves a curve of curvature c by c h^2 / 8. */
static double spacing_s(const struct scenario_clock *course, double span_s,
			size_t corners_most)
{
	double spacing = span_s / 60;
	double curvature = fabs(course->drift_change_ppb) * 1e-9;

	if (course->slew_ms != 0) {
		double turn = 6.283185307179586 / course->slew_period_s;

		curvature += fabs(course->slew_ms * 1e6) * 1e-9 * turn * turn;
	}
	if (curvature > 0)
		spacing = fmin(spacing, sqrt(8 * chord_s / curvature));
	if (course->wander_ppm > 0)
		spacing = fmin(spacing, 1);
	return fmax(spacing, span_s / (double)corners_most);
}

static void add_corner(struct sim_clock *clock, nsec_t true_ns, nsec_t local_ns)
{
	struct sim_clock_corner *last;

	clock->corner = mem_grow(clock->corner, clock->corners, &clock->capacity,
				 sizeof(*clock->corner));
	clock->corner[clock->corners] = (struct sim_clock_corner){true_ns, local_ns, 0};
	if (clock->corners++ == 0)
		return;
	last = &clock->corner[clock->corners - 2];
	set_rate(last);
	/* After the end the clock keeps its last rate. */
	clock->corner[clock->corners - 1].rate = last->rate;
}

void sim_clock_init(struct sim_clock *clock, const struct scenario_clock *course,
		    nsec_t begin_ns, nsec_t end_ns, size_t corners_most,
		    const struct dice *wander)
{
	nsec_t span = end_ns - begin_ns, offset_ns = nsec_round(course->offset_s * 1e9);
	double spacing = spacing_s(course, (double)span / 1e9, corners_most);
	nsec_t length = nsec_round(spacing * 1e9);
	struct gain gain = {.course = course, .dice = *wander};

	memset(clock, 0, sizeof(*clock));
	clock->course = *course;
	gain.wander_step = 1e3 * course->wander_ppm * sqrt(spacing / 60);
	if (length < 1)
		length = 1;
	for (nsec_t since = 0;; since += length) {
		if (since > span - length / 2)
			since = span;
		add_corner(clock, begin_ns + since,
			   begin_ns + offset_ns + since +
			       nsec_round(gained_ns(&gain, (double)since * 1e-9)));
		if (since >= span)
			break;
	}
	clock->boot_ns = clock->corner[0].local_ns - nsec_round(course->uptime_s * 1e9);
}

/* Limits for the corners of all nodes and of one: the size of truth.csv and of memory. */
enum { CORNERS_MOST = 1 << 23, CORNERS_A_NODE = 1 << 19 };

/* Draw a number from -1 to 1. */
static double draw_share(struct dice *dice)
{
	return (double)((int64_t)(dice_next(dice) >> 11) - (INT64_C(1) << 52)) * 0x1p-52;
}

void sim_clock_draw(struct sim_clock *clock, const struct scenario *scenario,
		    uint64_t seed, uint32_t node, nsec_t begin_ns, nsec_t end_ns)
{
	size_t most = CORNERS_MOST / (size_t)scenario->nodes;
	struct scenario_clock course = scenario->clock;
	struct dice dice;

	dice_init(&dice, seed, DICE_CLOCK, (uint64_t)node << 1 | 1);
	course.offset_s *= draw_share(&dice);
	course.drift_ppm *= draw_share(&dice);
	course.drift_change_ppb *= draw_share(&dice);
	course.slew_phase *= draw_share(&dice);
	course.uptime_s *= 0.75 + 0.25 * draw_share(&dice);
	scenario_own_clock(scenario, (int)node + 1, &course);
	dice_init(&dice, seed, DICE_CLOCK, (uint64_t)node << 1);
	sim_clock_init(clock, &course, begin_ns, end_ns,
		       most < CORNERS_A_NODE ? most : CORNERS_A_NODE, &dice);
}
