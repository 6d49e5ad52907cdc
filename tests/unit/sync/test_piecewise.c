/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/piecewise/piecewise.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

#include "../draw.h"

#define LIMIT 200e-6
#define BEGIN ((nsec_t)1795228732943977331)
#define AHEAD ((nsec_t)86400 * 365 * NSEC_PER_SEC) /* of the reference */

enum { SECONDS = 60, BOUNDS = 4000, BREAKPOINTS = 8 };

/* A correction that is known: how far it is ahead, at breakpoints. */
struct truth {
	double at[BREAKPOINTS], ahead[BREAKPOINTS]; /* ns since BEGIN; linear between */
	int breakpoints;
	double step_at, step; /* from there on it is that much further */
};

static double ahead_at(const struct truth *truth, double at)
{
	double ahead = at > truth->step_at ? truth->step : 0;
	int k = 0;

	while (k + 2 < truth->breakpoints && truth->at[k + 1] < at)
		k++;
	return ahead + truth->ahead[k] +
	       (truth->ahead[k + 1] - truth->ahead[k]) * (at - truth->at[k]) /
		   (truth->at[k + 1] - truth->at[k]);
}

/* Rates of up to 90 ppm, another one from each breakpoint on. */
static struct truth draw_truth(int breakpoints)
{
	struct truth truth = {.breakpoints = breakpoints, .step_at = INFINITY};

	for (int i = 1; i < breakpoints; i++) {
		truth.at[i] = 1e9 * SECONDS * i / (breakpoints - 1);
		truth.ahead[i] = truth.ahead[i - 1] + draw_real(-90e-6, 90e-6) *
							  (truth.at[i] - truth.at[i - 1]);
	}
	return truth;
}

static struct piecewise_bound *draw_bounds(const struct truth *truth, double delay)
{
	struct piecewise_bound *bound = mem_alloc(BOUNDS * sizeof(*bound));

	for (size_t i = 0; i < BOUNDS; i++) {
		nsec_t at = draw_between(0, SECONDS * NSEC_PER_SEC);
		nsec_t off = 1 + (nsec_t)(delay + draw_exponential(delay));

		bound[i].x = BEGIN + at;
		bound[i].above = draw() % 2;
		bound[i].y = BEGIN + AHEAD + at +
			     (nsec_t)round(ahead_at(truth, (double)at)) +
			     (bound[i].above ? off : -off);
	}
	return bound;
}

/* Every bound is kept, and no rate is beyond the limit. */
static void check_fit(const struct piecewise_fit *fit,
		      const struct piecewise_bound *bound)
{
	const struct clock clock = {.segment = fit->segment, .segments = fit->segments};

	for (size_t i = 0; i < BOUNDS; i++) {
		nsec_t have = clock_correct(&clock, bound[i].x);

		assert_true(bound[i].above ? have <= bound[i].y + 1
					   : have >= bound[i].y - 1);
	}
	for (size_t i = 0; i < fit->segments; i++) {
		assert_true(fabs(fit->segment[i].rate_ppb) <= LIMIT * 1e9 + 0.01);
		assert_true(!i ||
			    fit->segment[i - 1].local_ns < fit->segment[i].local_ns);
	}
}

/* By how much a segment begins ahead of where the one before ends. */
static nsec_t jump(const struct piecewise_fit *fit, size_t segment)
{
	const struct clock before = {.segment = &fit->segment[segment - 1],
				     .segments = 1};

	return fit->segment[segment].ref_ns -
	       clock_correct(&before, fit->segment[segment].local_ns);
}

static void find(struct piecewise_bound *bound, struct piecewise_fit *fit)
{
	const struct piecewise_options none = {0};
	struct error error = ERROR_INIT;

	if (piecewise_find(bound, BOUNDS, LIMIT, none, fit, &error))
		fail_msg("%s", error_text(&error));
}

TEST(a_line_is_one_segment)
{
	for (int i = 0; i < 10; i++) {
		struct truth truth = draw_truth(2);
		struct piecewise_bound *bound = draw_bounds(&truth, 20000);
		struct piecewise_fit fit;

		find(bound, &fit);
		check_fit(&fit, bound);
		assert_int_equal(fit.segments, 1);
		assert_int_equal(fit.events, 0);
		piecewise_fit_clear(&fit);
		free(bound);
	}
}

TEST(rate_changes_need_no_step)
{
	for (int i = 0; i < 10; i++) {
		struct truth truth = draw_truth((int)draw_between(3, BREAKPOINTS));
		struct piecewise_bound *bound = draw_bounds(&truth, 20000);
		struct piecewise_fit fit;

		find(bound, &fit);
		check_fit(&fit, bound);
		assert_int_equal(fit.events, 0);
		for (size_t k = 1; k < fit.segments; k++)
			assert_in_range(jump(&fit, k) + 2, 0, 4);
		piecewise_fit_clear(&fit);
		free(bound);
	}
}

TEST(a_step_is_found)
{
	for (int i = 0; i < 10; i++) {
		struct truth truth = draw_truth(2);
		struct piecewise_bound *bound;
		struct piecewise_fit fit;
		double at;

		truth.step_at = draw_real(1e9, 1e9 * (SECONDS - 1));
		truth.step = draw_real(1e6, 1e9) * (i % 2 ? 1 : -1);
		bound = draw_bounds(&truth, 20000);
		find(bound, &fit);
		check_fit(&fit, bound);
		assert_int_equal(fit.events, 1);
		/* A few bounds at an end may look curved by chance, seldom. */
		assert_false(fit.event[0].is_slew);
		assert_true(fit.event[0].is_proved);
		assert_true(fit.segments <= 4);
		at = (double)(fit.event[0].local_ns - BEGIN);
		assert_true(fabs(at - truth.step_at) < 1e9);
		assert_true((double)(fit.event[0].from_ns - BEGIN) <= truth.step_at);
		assert_true((double)(fit.event[0].to_ns - BEGIN) >= truth.step_at);
		assert_true(fabs((double)fit.event[0].size_ns + truth.step) < 200000);
		piecewise_fit_clear(&fit);
		free(bound);
	}
}

/* A clock that runs at rates beyond the limit for a time, and joins at both ends. */
TEST(a_slew_is_found)
{
	const double rates[] = {490e-6, -900e-6, 5e-3, -0.08};

	for (int i = 0; i < 12; i++) {
		double rate = rates[i % 4], begin = draw_real(10e9, 25e9);
		double end = begin + draw_real(5e9, 20e9);
		struct truth truth = {
		    .breakpoints = 4,
		    .at = {0, begin, end, SECONDS * 1e9},
		    .ahead = {0, 50e-6 * begin, 50e-6 * begin + rate * (end - begin),
			      50e-6 * begin + rate * (end - begin) +
				  50e-6 * (SECONDS * 1e9 - end)},
		    .step_at = INFINITY,
		};
		struct piecewise_bound *bound = draw_bounds(&truth, 20000);
		const struct piecewise_event *slew;
		struct piecewise_fit fit;

		find(bound, &fit);
		assert_int_equal(fit.events, 1);
		slew = fit.event;
		assert_true(slew->is_slew);
		assert_true(fabs((double)(slew->local_ns - BEGIN) - begin) < 0.4e9);
		assert_true(fabs((double)(slew->end_ns - BEGIN) - end) < 0.4e9);
		assert_true(fabs(slew->ppm + (rate - 50e-6) * 1e6) <
			    0.05 * fabs(rate) * 1e6);
		/* The part outside is less than the shortest latency. */
		assert_true(((double)(slew->from_ns - BEGIN) - begin) * fabs(rate) <
			    20000);
		assert_true((end - (double)(slew->to_ns - BEGIN)) * fabs(rate) < 20000);
		assert_true((double)(slew->full_from_ns - BEGIN) >= begin);
		assert_true((double)(slew->full_to_ns - BEGIN) <= end);
		assert_true(slew->rate[0] < rate && slew->rate[1] > rate);
		for (size_t k = 1; k < fit.segments; k++)
			assert_in_range(jump(&fit, k) + 2, 0, 4);
		piecewise_fit_clear(&fit);
		free(bound);
	}
}

/* If steps of one direction follow each other, the clock does not run between them. */
TEST(steps_are_no_slew)
{
	struct truth truth = draw_truth(2);
	struct piecewise_bound *bound = draw_bounds(&truth, 20000);
	struct piecewise_fit fit;

	for (size_t i = 0; i < BOUNDS; i++)
		bound[i].y += 300000 * ((bound[i].x - BEGIN) / (10 * NSEC_PER_SEC));
	find(bound, &fit);
	assert_int_equal(fit.events, 5);
	for (size_t i = 0; i < fit.events; i++)
		assert_false(fit.event[i].is_slew);
	piecewise_fit_clear(&fit);
	free(bound);
}

TEST(so_many_segments_as_wished)
{
	struct truth truth = draw_truth(2);
	struct piecewise_bound *bound = draw_bounds(&truth, 20000);
	struct error error = ERROR_INIT;
	struct piecewise_fit fit;

	assert_int_equal(piecewise_find(bound, BOUNDS, LIMIT,
					(struct piecewise_options){.segments = 7}, &fit,
					&error),
			 0);
	assert_int_equal(fit.segments, 7);
	check_fit(&fit, bound);
	piecewise_fit_clear(&fit);
	assert_int_equal(
	    piecewise_find(bound, BOUNDS, LIMIT,
			   (struct piecewise_options){.length_ns = 10 * NSEC_PER_SEC},
			   &fit, &error),
	    0);
	assert_int_equal(fit.segments, SECONDS / 10);
	piecewise_fit_clear(&fit);
	free(bound);
}

static double mean_error(const struct piecewise_fit *fit, const struct truth *truth)
{
	const struct clock clock = {.segment = fit->segment, .segments = fit->segments};
	double sum = 0, count = 0;

	for (double at = 0; at <= 1e9 * SECONDS; at += 1e7) {
		nsec_t have = clock_correct(&clock, BEGIN + (nsec_t)at);
		double off = (double)(have - BEGIN - AHEAD - (nsec_t)at);

		sum += fabs(off - ahead_at(truth, at));
		count++;
	}
	return sum / count;
}

/* Not just any way through the band, but one about its middle. */
TEST(a_curve_is_followed_closely)
{
	for (int i = 0; i < 10; i++) {
		struct truth truth = draw_truth(3);
		struct piecewise_bound *bound;
		struct piecewise_fit fit;

		truth.at[1] = draw_real(0.3e9, 0.7e9) * SECONDS;
		truth.ahead[1] = truth.ahead[2] * truth.at[1] / truth.at[2] +
				 draw_real(1.5e5, 1e6) * (i % 2 ? 1 : -1);
		bound = draw_bounds(&truth, 20000);
		find(bound, &fit);
		check_fit(&fit, bound);
		assert_true(fit.segments > 1);
		/* A corner next to a breakpoint hides in few pieces: some microseconds.
		 */
		if (mean_error(&fit, &truth) > 12000 || fit.segments > 64)
			fail_msg("%zu segments, off by %.0f ns (seed %llu)", fit.segments,
				 mean_error(&fit, &truth), (unsigned long long)draw_seed);
		piecewise_fit_clear(&fit);
		free(bound);
	}
}

/* From one side there is room without end, and a line is enough. */
TEST(bounds_of_one_side_are_kept)
{
	struct truth truth = draw_truth(4);
	struct piecewise_bound *bound = draw_bounds(&truth, 20000);
	struct piecewise_fit fit;

	for (size_t i = 0; i < BOUNDS; i++)
		bound[i].above = true;
	find(bound, &fit);
	check_fit(&fit, bound);
	assert_int_equal(fit.events, 0);
	piecewise_fit_clear(&fit);
	free(bound);
}

/* Rates that a clock cannot have do not explain what looks like a step. */
TEST(no_line_is_faster_than_the_limit)
{
	/* Within 5 ms the corrected time would have to gain 0.3 ms: 60,000 ppm. */
	struct piecewise_bound bound[] = {
	    {BEGIN, BEGIN - 50000, false},
	    {BEGIN + 1000, BEGIN + 51000, true},
	    {BEGIN + 5000000, BEGIN + 5350000, false},
	    {BEGIN + 5001000, BEGIN + 5451000, true},
	};
	const struct piecewise_options none = {0};
	struct error error = ERROR_INIT;
	struct piecewise_fit fit;

	if (piecewise_find(bound, 4, LIMIT, none, &fit, &error))
		fail_msg("%s", error_text(&error));
	assert_int_equal(fit.events, 1);
	for (size_t i = 0; i < fit.segments; i++)
		assert_true(fabs(fit.segment[i].rate_ppb) <= LIMIT * 1e9 + 0.01);
	piecewise_fit_clear(&fit);
}

TEST(segments_begin_one_after_the_other_though_bounds_at_one_time_contradict_each_other)
{
	struct piecewise_bound bound[] = {
	    {BEGIN, BEGIN + 299000, false},
	    {BEGIN, BEGIN + 301000, true},
	    {BEGIN + 5000000, BEGIN + 5000000, true},
	    {BEGIN + 5000000, BEGIN + 5299500, false},
	    {BEGIN + 5000000, BEGIN + 5301000, true},
	    {BEGIN + 9000000, BEGIN + 9299000, false},
	    {BEGIN + 9000000, BEGIN + 9301000, true},
	};
	const struct piecewise_options none = {0};
	struct error error = ERROR_INIT;
	struct piecewise_fit fit;

	if (piecewise_find(bound, 7, LIMIT, none, &fit, &error))
		fail_msg("%s", error_text(&error));
	assert_int_equal(fit.events, 2);
	for (size_t i = 1; i < fit.segments; i++)
		assert_true(fit.segment[i].local_ns > fit.segment[i - 1].local_ns);
	piecewise_fit_clear(&fit);
}

TEST(what_cannot_be_is_an_error)
{
	struct piecewise_bound bound[] = {
	    {BEGIN, BEGIN + 100, false},
	    {BEGIN + 1000, BEGIN + 1050, true},
	    {BEGIN + 2000, BEGIN + 2100, false},
	    {BEGIN + 3000, BEGIN + 3050, true},
	};
	const struct piecewise_options none = {0};
	struct error error = ERROR_INIT;
	struct piecewise_fit fit;

	assert_int_equal(piecewise_find(NULL, 0, LIMIT, none, &fit, &error), -1);
	assert_string_equal(error_text(&error), "no message bounds it");
	error_clear(&error);
	/* It may become steps, but never a line that breaks a bound. */
	if (piecewise_find(bound, 4, LIMIT, none, &fit, &error) == 0)
		assert_true(fit.events > 0);
	piecewise_fit_clear(&fit);
	error_clear(&error);
}
