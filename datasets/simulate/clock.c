/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"

void sim_clock_clear(struct sim_clock *clock)
{
	free(clock->corner);
	free(clock->step);
	memset(clock, 0, sizeof(*clock));
}

/* The corner from which the clock is straight up to true_ns. */
static const struct sim_clock_corner *find(struct sim_clock *clock, nsec_t true_ns)
{
	const struct sim_clock_corner *at = &clock->corner[clock->at];
	size_t next = clock->at + 1;

	if (at->true_ns > true_ns ||
	    (next < clock->corners && at[1].true_ns <= true_ns)) {
		next = FIRST_NOT(clock->corners, i, clock->corner[i].true_ns <= true_ns);
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

/* From a corner to the one behind it. */
static void set_rate(struct sim_clock_corner *corner)
{
	nsec_t span = corner[1].true_ns - corner->true_ns;
	__int128 gained = (corner[1].local_ns - corner->local_ns) - span;

	corner->rate = (int64_t)(gained * ((__int128)1 << 62) / span);
}

/* Between the first corner and the last one, where there is none yet. */
static void insert_corner(struct sim_clock *clock, nsec_t true_ns)
{
	size_t at = (size_t)(find(clock, true_ns) - clock->corner);
	struct sim_clock_corner *corner = &clock->corner[at];
	nsec_t local_ns = on_polygon(corner, true_ns);

	if (corner->true_ns >= true_ns || at + 1 == clock->corners)
		return;
	clock->corner =
	    mem_grow(clock->corner, clock->corners, &clock->room, sizeof(*corner));
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

	clock->step =
	    mem_grow(clock->step, clock->steps, &clock->step_room, sizeof(*clock->step));
	for (at = clock->steps; at && clock->step[at - 1].true_ns > true_ns; at--)
		clock->step[at] = clock->step[at - 1];
	clock->step[at] = (struct sim_clock_step){true_ns, amount_ns};
	clock->steps++;
	/*
	 * Where it is told what the clock said, on both sides of a step, it must be
	 * a corner: a chord in two pieces, each rounded, is not the chord.
	 */
	insert_corner(clock, true_ns - 1);
	insert_corner(clock, true_ns);
}

static nsec_t stepped(const struct sim_clock *clock, nsec_t true_ns)
{
	nsec_t sum = 0;

	for (size_t i = 0; i < clock->steps && clock->step[i].true_ns <= true_ns; i++)
		sum += clock->step[i].amount_ns;
	return sum;
}

nsec_t sim_clock_real(struct sim_clock *clock, nsec_t true_ns)
{
	return on_polygon(find(clock, true_ns), true_ns) + stepped(clock, true_ns);
}

nsec_t sim_clock_mono(struct sim_clock *clock, nsec_t true_ns)
{
	return on_polygon(find(clock, true_ns), true_ns) - clock->boot_ns +
	       (clock->trace_steps ? stepped(clock, true_ns) : 0);
}

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

	clock->corner =
	    mem_grow(clock->corner, clock->corners, &clock->room, sizeof(*clock->corner));
	clock->corner[clock->corners] = (struct sim_clock_corner){true_ns, local_ns, 0};
	if (clock->corners++ == 0)
		return;
	last = &clock->corner[clock->corners - 2];
	set_rate(last);
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

/* Of all nodes together: what truth.csv and memory should bear. */
enum { CORNERS_MOST = 1 << 23, CORNERS_A_NODE = 1 << 19 };

/* From -1 to 1. */
static double draw_share(struct dice *dice)
{
	return (double)((int64_t)(dice_next(dice) >> 11) - (INT64_C(1) << 52)) * 0x1p-52;
}

static struct scenario_clock draw_clock(const struct scenario_clock *all,
					struct dice *dice)
{
	struct scenario_clock clock = *all;

	clock.offset_s *= draw_share(dice);
	clock.drift_ppm *= draw_share(dice);
	clock.drift_change_ppb *= draw_share(dice);
	clock.slew_phase *= draw_share(dice);
	clock.uptime_s *= 0.75 + 0.25 * draw_share(dice);
	return clock;
}

struct sim_clock_plan *plans_make(const struct scenario *scenario, uint64_t seed,
				  nsec_t begin_ns, nsec_t end_ns)
{
	size_t nodes = (size_t)scenario->nodes, most = CORNERS_MOST / nodes;
	struct sim_clock_plan *plans = mem_zalloc(nodes * sizeof(*plans));

	for (size_t i = 0; i < nodes; i++) {
		struct scenario_clock clock;
		struct dice dice;

		dice_init(&dice, seed, DICE_CLOCK, i << 1 | 1);
		clock = draw_clock(&scenario->clock, &dice);
		scenario_own_clock(scenario, (int)i + 1, &clock);
		plans[i] = (struct sim_clock_plan){
		    .begin_ns = begin_ns,
		    .end_ns = end_ns,
		    .offset_ns = nsec_round(clock.offset_s * 1e9),
		    .uptime_ns = nsec_round(clock.uptime_s * 1e9),
		    .drift_ppm = clock.drift_ppm,
		    .drift_change_ppb = clock.drift_change_ppb,
		    .slew_ns = clock.slew_ms * 1e6,
		    .period_s = clock.slew_period_s,
		    .phase_turns = clock.slew_phase,
		    .wander_ppm = clock.wander_ppm,
		    .corners_most = most < CORNERS_A_NODE ? most : CORNERS_A_NODE,
		    .seed = seed,
		    .number = i << 1,
		};
	}
	return plans;
}
