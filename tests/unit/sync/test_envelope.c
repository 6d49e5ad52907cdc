/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bounds/envelope.h"

#include <math.h>
#include <stdlib.h>

#include "../draw.h"

/* An envelope against each bound by itself. */
enum { BOUNDS = 200, ROUNDS = 50, LOOKS = 300, CELLS = 1024 };

#define LENGTH ((nsec_t)60000000000)
#define NOW    ((nsec_t)1795228732943977331)

struct known {
	nsec_t at;
	double error;
	bool high;
};

static struct clock_segment segment = {NOW, NOW, 20e3};

static const struct clock fitted = {
    .begin_ns = NOW, .end_ns = NOW + LENGTH, .segment = &segment, .segments = 1};

static const double rates[2] = {-200e-6, 200e-6};

static bool is_apart(const struct envelope *envelope, nsec_t a, nsec_t b)
{
	for (size_t i = 0; i < envelope->gaps; i++)
		if (envelope->gap[i].from_ns < (a > b ? a : b) &&
		    envelope->gap[i].to_ns > (a < b ? a : b))
			return true;
	return false;
}

/* Return the bound at a time, straight from the definition. */
static double want(const struct envelope *envelope, const struct known *known, nsec_t at,
		   bool high)
{
	double bound = INFINITY;

	for (int i = 0; i < BOUNDS; i++) {
		double away = (double)(at - known[i].at);
		/* It grows by 180 ppm and shrinks by 220 ppm at most. */
		double rate = (away > 0) == high ? 180e-6 : 220e-6;
		double value = (high ? 1 : -1) * known[i].error + rate * fabs(away);

		if (known[i].high == high && !is_apart(envelope, at, known[i].at))
			bound = fmin(bound, value);
	}
	return high ? bound : -bound;
}

static void draw_bounds(struct envelope *envelope, struct known *known, bool gaps)
{
	envelope_init(envelope, &fitted, rates, CELLS);
	if (gaps) {
		envelope_add_gap(envelope, NOW + LENGTH / 3, NOW + LENGTH / 3 + 1000);
		envelope_add_gap(envelope, NOW + LENGTH / 2,
				 NOW + LENGTH / 2 + LENGTH / 9);
		envelope_add_gap(envelope, NOW + LENGTH / 2 + 5, NOW + LENGTH / 2 + 6);
		assert_int_equal(envelope->gaps, 2);
	}
	for (int i = 0; i < BOUNDS; i++) {
		known[i].at = NOW + draw_between(0, LENGTH);
		known[i].high = i % 2;
		known[i].error = (known[i].high ? 1 : -1) * draw_real(1e4, 1e6);
		envelope_add_bound(envelope, known[i].at, known[i].error, known[i].high);
	}
	assert_true(envelope_sweep(envelope));
	assert_false(envelope_sweep(envelope));
}

/* Never tighter than what is known, and looser by a cell's drift at most. */
static void check_at(const struct envelope *envelope, const struct known *known,
		     nsec_t at)
{
	double loose = 2 * 220e-6 * envelope->step_ns + 1e-3;
	double high = want(envelope, known, at, true);
	double low = want(envelope, known, at, false);
	double got_high = envelope_at(envelope, at, true);
	double got_low = envelope_at(envelope, at, false);

	if (got_high < high - 1e-3 || (isfinite(high) && got_high > high + loose))
		fail_msg("high %f, want %f (seed %llu)", got_high, high,
			 (unsigned long long)draw_seed);
	if (got_low > low + 1e-3 || (isfinite(low) && got_low < low - loose))
		fail_msg("low %f, want %f (seed %llu)", got_low, low,
			 (unsigned long long)draw_seed);
}

TEST(it_is_what_each_bound_says)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct known known[BOUNDS];
		struct envelope envelope;

		draw_bounds(&envelope, known, round % 2);
		for (int i = 0; i < LOOKS; i++) {
			nsec_t at = NOW + draw_between(0, LENGTH);

			if (!is_apart(&envelope, at - 1, at + 1))
				check_at(&envelope, known, at);
		}
		check_at(&envelope, known, NOW);
		check_at(&envelope, known, NOW + LENGTH);
		envelope_clear(&envelope);
	}
}

TEST(extremes_hold_every_time_between)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct known known[BOUNDS];
		struct envelope envelope;
		nsec_t from = NOW + draw_between(0, LENGTH);
		nsec_t to = from + draw_between(0, (LENGTH - (from - NOW)) >>
						       draw_between(0, 20));
		struct envelope_span span = {.from = from, .to = to};
		double high, low, most = -INFINITY, least = INFINITY, slope;

		draw_bounds(&envelope, known, false);
		slope = round % 2 ? draw_real(-400e-6, 400e-6) : 0;
		span.added[0] = draw_real(-1e6, 1e6);
		span.added[1] = span.added[0] + slope * (double)(to - from);
		high = envelope_extreme(&envelope, &span, true);
		low = envelope_extreme(&envelope, &span, false);
		for (int i = 0; i < 10 * LOOKS; i++) {
			nsec_t at = draw_between(from, to);

			double added = span.added[0] + slope * (double)(at - from);

			most = fmax(most, envelope_at(&envelope, at, true) + added);
			least = fmin(least, envelope_at(&envelope, at, false) + added);
		}
		assert_true(most <= high + 1e-3 && least >= low - 1e-3);
		/* And some time comes near. */
		assert_true(most >= high - (double)(to - from) * 620e-6 / 100 - 1);
		assert_true(least <= low + (double)(to - from) * 620e-6 / 100 + 1);
		envelope_clear(&envelope);
	}
}

/* A line by its values at the begin and the end. */
struct straight {
	double begin, end;
};

static double line_at(struct straight line, nsec_t at)
{
	return line.begin + (line.end - line.begin) * (double)(at - NOW) / (double)LENGTH;
}

static bool keeps(struct straight line, const struct known *known, int n)
{
	double rate = (line.end - line.begin) / (double)LENGTH;

	if (rate > 180e-6 + 1e-12 || rate < -220e-6 - 1e-12)
		return false;
	for (int i = 0; i < n; i++) {
		double slack = known[i].error - line_at(line, known[i].at);

		if ((known[i].high ? slack : -slack) < -1e-3)
			return false;
	}
	return true;
}

static struct straight line_through(nsec_t at, double error, double rate)
{
	double begin = error - rate * (double)(at - NOW);

	return (struct straight){begin, begin + rate * (double)LENGTH};
}

/* The most and the least at a time, of the lines through two bounds or at the limit. */
static void plain_extremes(const struct known *known, int n, nsec_t at, double found[2])
{
	found[0] = INFINITY;
	found[1] = -INFINITY;
	for (int i = 0; i < n; i++)
		for (int k = -2; k < n; k++) {
			double apart = k < 0 ? 1 : (double)(known[k].at - known[i].at);
			double rate = k == -1 ? 180e-6
				      : k == -2
					  ? -220e-6
					  : (known[k].error - known[i].error) / apart;
			struct straight line =
			    line_through(known[i].at, known[i].error, rate);

			if (fabs(apart) < 1 || !keeps(line, known, n))
				continue;
			found[0] = fmin(found[0], line_at(line, at));
			found[1] = fmax(found[1], line_at(line, at));
		}
}

/* Bounds on both sides of a line, at times of the grid. */
TEST(a_line_is_between_as_lines_can_be)
{
	enum { FEW = 12 };

	for (int round = 0; round < 4 * ROUNDS; round++) {
		struct straight true_line =
		    line_through(NOW, draw_real(-1e6, 1e6), draw_real(-200e-6, 160e-6));
		struct known known[FEW];
		struct envelope envelope;

		envelope_init(&envelope, &fitted, rates, CELLS);
		for (int i = 0; i < FEW; i++) {
			known[i].at = NOW + LENGTH / CELLS * draw_between(0, CELLS);
			known[i].high = i % 2;
			/* As bounds are rounded to, and two of them may be a long lever.
			 */
			known[i].error =
			    nearbyint(line_at(true_line, known[i].at) +
				      (known[i].high ? 1 : -1) * draw_real(0, 2e6));
			envelope_add_bound(&envelope, known[i].at, known[i].error,
					   known[i].high);
		}
		assert_true(envelope_straighten(&envelope));
		assert_false(envelope.is_broken);
		for (int i = 0; i < LOOKS / 10; i++) {
			nsec_t at = NOW + LENGTH / CELLS * draw_between(0, CELLS);
			double want[2];

			plain_extremes(known, FEW, at, want);
			assert_true(fabs(envelope_at(&envelope, at, false) - want[0]) <
				    20);
			assert_true(fabs(envelope_at(&envelope, at, true) - want[1]) <
				    20);
		}
		/* A message that came too early leaves no line. */
		envelope_add_bound(&envelope, NOW + LENGTH / 2,
				   envelope_at(&envelope, NOW + LENGTH / 2, false) - 1000,
				   true);
		assert_false(envelope_straighten(&envelope));
		assert_true(envelope.is_broken);
		envelope_clear(&envelope);
	}
}

TEST(nothing_is_known_of_nothing)
{
	const struct envelope_span all = {.from = NOW, .to = NOW + LENGTH};
	struct envelope envelope;

	envelope_init(&envelope, &fitted, rates, CELLS);
	assert_false(envelope_sweep(&envelope));
	assert_true(isinf(envelope_at(&envelope, NOW + 5, true)));
	assert_true(isinf(envelope_extreme(&envelope, &all, false)));
	envelope_add_bound(&envelope, NOW + LENGTH, 1000, true);
	assert_true(envelope_sweep(&envelope));
	assert_true(isfinite(envelope_extreme(&envelope, &all, true)));
	assert_true(isinf(envelope_at(&envelope, NOW, false)));
	envelope_clear(&envelope);
}
