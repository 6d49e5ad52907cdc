/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/clock.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/dice.h"

/* How far a chord may leave the curve, in seconds. */
static const double chord_s = 1e-9;

/* What a clock of a plan gains on true time; the rate wanders from corner to corner. */
struct course {
	const struct sim_clock_plan *plan;
	struct dice dice;
	double wander_rate; /* now */
	double wander_ns;   /* gained by it so far */
	double wander_step; /* deviation of its change from one corner to the next */
	double since_s;     /* of the last corner */
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

static double gained_ns(struct course *course, double since_s)
{
	const struct sim_clock_plan *plan = course->plan;
	double gained = 1e3 * plan->drift_ppm * since_s +
			0.5 * plan->drift_change_ppb * since_s * since_s;

	if (plan->slew_ns != 0)
		gained += plan->slew_ns *
			  (sim_clock_sine(plan->phase_turns + since_s / plan->period_s) -
			   sim_clock_sine(plan->phase_turns));
	if (course->wander_step > 0) {
		course->wander_ns += course->wander_rate * (since_s - course->since_s);
		course->wander_rate +=
		    course->wander_step * (double)dice_normal(&course->dice) * 0x1p-32;
	}
	course->since_s = since_s;
	return gained + course->wander_ns;
}

/* Seconds between corners: a chord of h leaves a curve of curvature c by c h^2 / 8. */
static double spacing_s(const struct sim_clock_plan *plan)
{
	double span = (double)(plan->end_ns - plan->begin_ns) / 1e9;
	double least = span / (double)plan->corners_most, spacing = span / 60;
	double curvature = fabs(plan->drift_change_ppb) * 1e-9;

	if (plan->slew_ns != 0) {
		double turn = 6.283185307179586 / plan->period_s;

		curvature += fabs(plan->slew_ns) * 1e-9 * turn * turn;
	}
	if (curvature > 0)
		spacing = fmin(spacing, sqrt(8 * chord_s / curvature));
	if (plan->wander_ppm > 0)
		spacing = fmin(spacing, 1);
	return fmax(spacing, least);
}

static void add_corner(struct sim_clock *clock, nsec_t true_ns, nsec_t local_ns)
{
	struct sim_clock_corner *last;
	__int128 gained;

	clock->corner =
	    mem_grow(clock->corner, clock->corners, &clock->room, sizeof(*clock->corner));
	clock->corner[clock->corners] = (struct sim_clock_corner){true_ns, local_ns, 0};
	if (clock->corners++ == 0)
		return;
	last = &clock->corner[clock->corners - 2];
	gained = (local_ns - last->local_ns) - (true_ns - last->true_ns);
	last->rate = (int64_t)(gained * ((__int128)1 << 62) / (true_ns - last->true_ns));
	/* Beyond the end the clock goes straight on. */
	clock->corner[clock->corners - 1].rate = last->rate;
}

void sim_clock_init(struct sim_clock *clock, const struct sim_clock_plan *plan)
{
	double spacing = spacing_s(plan);
	struct course course = {.plan = plan};
	nsec_t span = plan->end_ns - plan->begin_ns;
	nsec_t length = nsec_round(spacing * 1e9);

	memset(clock, 0, sizeof(*clock));
	dice_init(&course.dice, plan->seed, DICE_CLOCK, plan->number);
	course.wander_step = 1e3 * plan->wander_ppm * sqrt(spacing / 60);
	if (length < 1)
		length = 1;
	for (nsec_t since = 0;; since += length) {
		if (since > span - length / 2)
			since = span;
		add_corner(clock, plan->begin_ns + since,
			   plan->begin_ns + plan->offset_ns + since +
			       nsec_round(gained_ns(&course, (double)since * 1e-9)));
		if (since >= span)
			break;
	}
	clock->boot_ns = clock->corner[0].local_ns - plan->uptime_ns;
}
