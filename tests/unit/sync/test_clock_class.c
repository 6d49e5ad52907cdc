/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/apply/clock_class.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../draw.h"

#define NOW ((nsec_t)1795228732943977331)
#define DAY (86400 * NSEC_PER_SEC)

enum { ROUNDS = 20000, STAMPS = 20 };

/* Cycles to nanoseconds as babeltrace2 has it: through doubles, and cut. */
static nsec_t to_ns(uint64_t cycles, uint64_t frequency)
{
	if (frequency == 1000000000)
		return (nsec_t)cycles;
	return (nsec_t)(1e9 * (double)cycles / (double)frequency);
}

/* Return the time that babeltrace2 shows: it takes whole seconds out of the offset first.
 */
static nsec_t shown_cut(const struct clock_class *class, uint64_t value)
{
	nsec_t seconds = class->offset_s + (nsec_t)(class->offset / class->frequency);

	return seconds * NSEC_PER_SEC +
	       to_ns(class->offset % class->frequency, class->frequency) +
	       to_ns(value, class->frequency);
}

/* Return the time that a viewer shows that computes exactly and rounds to the nearest. */
static nsec_t shown_exact(const struct clock_class *class, uint64_t value)
{
	__int128 twice = ((__int128)class->offset + value) * 2000000000;

	return class->offset_s * NSEC_PER_SEC +
	       (nsec_t)((twice / class->frequency + 1) / 2);
}

struct sample {
	struct clock_segment segment;
	struct clock clock;
	struct clock_class recorded;
	uint64_t first, last; /* clock values */
};

/* An LTTng clock: nanoseconds since boot, up to weeks, of a trace up to a day. */
static void draw_sample(struct sample *sample)
{
	nsec_t rate = draw_between(-500000000, 500000000) >> draw_between(0, 20);
	uint64_t up = (uint64_t)draw_between(0, 30 * DAY) >> draw_between(0, 30);
	nsec_t boot = NOW - draw_between(0, 300 * DAY);

	sample->first = up;
	sample->last = up + ((uint64_t)DAY >> draw_between(0, 47));
	sample->recorded = (struct clock_class){.frequency = 1000000000};
	if (draw() % 2)
		sample->recorded.offset = (uint64_t)boot;
	else
		sample->recorded.offset_s = boot / NSEC_PER_SEC;
	sample->segment.local_ns = NOW + draw_between(-DAY, DAY);
	sample->segment.ref_ns = NOW + draw_between(-400 * DAY, 400 * DAY);
	sample->segment.rate_ppb = (double)rate / 1000;
	sample->clock =
	    (struct clock){.begin_ns = shown_exact(&sample->recorded, sample->first),
			   .end_ns = shown_exact(&sample->recorded, sample->last),
			   .segment = &sample->segment,
			   .segments = 1};
}

static void assert_near(nsec_t shown, nsec_t meant, double residual_ns)
{
	if (fabs((double)(shown - meant)) > residual_ns + 1)
		fail_msg("%" PRId64 " ns off, residual %f", shown - meant, residual_ns);
}

TEST(test_every_stamp_within_residual)
{
	struct error error = ERROR_INIT;

	for (int round = 0; round < ROUNDS; round++) {
		struct clock_class fitted;
		struct sample sample;
		double residual_ns, span;

		draw_sample(&sample);
		span = (double)(sample.last - sample.first);
		if (clock_class_fit(&sample.clock, &sample.recorded, &fitted,
				    &residual_ns, &error))
			fail_msg("%s", error_text(&error));
		/* Half a unit of the frequency over half the span, and the cuts. */
		assert_true(residual_ns < 0.5e-9 * 1.002 * span / 2 + 3.5);
		assert_int_equal(fitted.offset_s, 0);
		for (int k = 0; k < STAMPS; k++) {
			uint64_t value =
			    k == 0   ? sample.first
			    : k == 1 ? sample.last
				     : sample.first +
					   draw() % (sample.last - sample.first + 1);
			nsec_t meant = clock_correct(
			    &sample.clock, shown_exact(&sample.recorded, value));

			assert_near(shown_cut(&fitted, value), meant, residual_ns);
			assert_near(shown_exact(&fitted, value), meant, residual_ns);
		}
	}
}

/* A residual that is far above what happens would say nothing. */
TEST(test_residual_is_reached)
{
	struct clock_segment segment = {NOW, NOW + 5, 40000};
	struct clock clock = {.begin_ns = NOW,
			      .end_ns = NOW + 1000 * NSEC_PER_SEC,
			      .segment = &segment,
			      .segments = 1};
	struct clock_class recorded = {1000000000, 0, (uint64_t)NOW, 0, 0}, fitted;
	struct error error = ERROR_INIT;
	double residual_ns, worst;

	assert_int_equal(
	    clock_class_fit(&clock, &recorded, &fitted, &residual_ns, &error), 0);
	assert_int_equal(fitted.frequency, 999960002);
	worst = fabs((double)(shown_cut(&fitted, 0) - segment.ref_ns));
	assert_true(residual_ns > worst - 1 && residual_ns < worst + 3);
}

TEST(test_identity_changes_nothing)
{
	struct clock_segment segment = {NOW, NOW, 0};
	struct clock clock = {
	    .begin_ns = NOW + 1, .end_ns = NOW + DAY, .segment = &segment, .segments = 1};
	struct clock_class recorded = {1000000000, 0, 1795228717911675304, 0, 0}, fitted;
	struct error error = ERROR_INIT;
	double residual_ns;

	assert_int_equal(
	    clock_class_fit(&clock, &recorded, &fitted, &residual_ns, &error), 0);
	assert_memory_equal(&fitted, &recorded, sizeof(fitted));
	assert_true(residual_ns == 0);
	segment.ref_ns -= 12345;
	assert_int_equal(
	    clock_class_fit(&clock, &recorded, &fitted, &residual_ns, &error), 0);
	assert_int_equal(fitted.offset, recorded.offset - 12345);
	assert_true(residual_ns == 0);
}

/* Times before the epoch: the offset's cycles cannot be negative. */
TEST(test_before_the_epoch)
{
	struct clock_segment segment = {NOW, -5 * NSEC_PER_SEC / 2, 0};
	struct clock clock = {
	    .begin_ns = NOW, .end_ns = NOW + DAY, .segment = &segment, .segments = 1};
	struct clock_class recorded = {1000000000, 0, (uint64_t)NOW, 0, 0}, fitted;
	struct error error = ERROR_INIT;
	double residual_ns;

	assert_int_equal(
	    clock_class_fit(&clock, &recorded, &fitted, &residual_ns, &error), 0);
	assert_int_equal(fitted.offset_s, -3);
	assert_int_equal(fitted.offset, 500000000);
}

/* Another frequency than LTTng's, as a cycle counter has it. */
TEST(test_cycle_counter)
{
	struct clock_segment segment = {NOW, NOW + 77, 12345.678};
	struct clock clock = {
	    .begin_ns = NOW, .end_ns = NOW + DAY, .segment = &segment, .segments = 1};
	struct clock_class recorded = {2893299000, 1795228000, 1234, 0, 0}, fitted;
	struct error error = ERROR_INIT;
	double residual_ns;
	uint64_t value;

	assert_int_equal(
	    clock_class_fit(&clock, &recorded, &fitted, &residual_ns, &error), 0);
	assert_int_equal(fitted.frequency, 2893263281);
	assert_true(residual_ns < 0.5 / 2893299000 * DAY / 2 + 3.5);
	value = (uint64_t)(3600 * 2893299000.0);
	assert_near(shown_cut(&fitted, value),
		    clock_correct(&clock, shown_exact(&recorded, value)),
		    residual_ns + 1);
}

static void assert_no_fit(double rate_ppb, nsec_t ref_ns, uint64_t frequency,
			  const char *message)
{
	struct clock_segment segment = {NOW, ref_ns, rate_ppb};
	struct clock clock = {
	    .begin_ns = NOW, .end_ns = NOW, .segment = &segment, .segments = 1};
	struct clock_class recorded = {frequency, 1795228000, 0, 0, 0}, fitted;
	struct error error = ERROR_INIT;
	double residual_ns;

	assert_int_equal(
	    clock_class_fit(&clock, &recorded, &fitted, &residual_ns, &error), -1);
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
}

TEST(test_no_fit)
{
	assert_no_fit(-5e8, NOW, 1000000000, "a rate of -5e+08 ppb fits no clock class");
	assert_no_fit((double)NAN, NOW, 1000000000,
		      "a rate of nan ppb fits no clock class");
	assert_no_fit(-4e8, NOW, CLOCK_CLASS_FASTEST,
		      "a frequency of 1666666666666666667 Hz fits no clock class");
}
