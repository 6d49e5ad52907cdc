/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/clock_samples.h"

#include "rows.h"

#define S NSEC_PER_SEC

static int read_text(struct clock_samples *samples, const char *text,
		     const char *problems)
{
	struct problem_list list = {NULL, 0, 0};
	int status;

	scratch_text("clock.csv", text);
	status = clock_samples_read(samples, "clock.csv", &list);
	assert_problems(&list, problems);
	return status;
}

static void assert_monotonic(const struct clock_samples *samples, nsec_t realtime_ns,
			     nsec_t monotonic_ns, nsec_t doubt_ns)
{
	struct clock_place place = clock_samples_monotonic(samples, realtime_ns);

	assert_int_equal(place.ns, monotonic_ns);
	assert_int_equal(place.doubt_ns, doubt_ns);
}

SCRATCH_TEST(stamps_lie_between_samples)
{
	struct clock_samples samples;

	assert_int_equal(read_text(&samples,
				   "realtime_ns,monotonic_ns\n"
				   "1795228740000000000,100000000000\n"
				   "1795228742000200000,102000000000\n"
				   "1795228741000000000,101000000000\n",
				   ""),
			 0);
	assert_int_equal(samples.samples, 3);
	assert_int_equal(samples.sections, 1);
	assert_monotonic(&samples, 1795228740 * S, 100 * S, 0);
	assert_monotonic(&samples, 1795228740 * S + 1, 100 * S + 1, 0);
	assert_monotonic(&samples, 1795228742000200000, 102 * S, 0);
	assert_monotonic(&samples, 1795228741 * S + 500100000, 101 * S + 500000000, 0);
	/* Beyond the ends at the mean rate, 100 ppm. */
	assert_monotonic(&samples, 1795228740 * S - 100 * S - 10000000, 0, 0);
	/* Nothing overflows, however far off. */
	assert_true(clock_samples_monotonic(&samples, NSEC_MAX).ns > 0);
	assert_true(clock_samples_monotonic(&samples, NSEC_MIN).ns < 0);
	clock_samples_clear(&samples);
	assert_int_equal(samples.samples, 0);
}

static void assert_offset(const char *text, size_t section, nsec_t low_ns, nsec_t high_ns)
{
	struct clock_samples samples;
	struct problem_list problems = {NULL, 0, 0};
	struct realtime_offset offset;

	scratch_text("clock.csv", text);
	assert_int_equal(clock_samples_read(&samples, "clock.csv", &problems), 0);
	problem_clear(&problems);
	assert_true(section < samples.sections);
	offset = clock_samples_offset(&samples, section);
	assert_int_equal(offset.low_ns, low_ns);
	assert_int_equal(offset.high_ns, high_ns);
	clock_samples_clear(&samples);
}

SCRATCH_TEST(samples_bound_the_offset)
{
	const nsec_t at = 1795228640 * S;

	/* By nanoseconds, within 10 us; two that differ by 4 us leave less. */
	assert_offset("1795228740000000123,100000000123\n", 0, at - 10000, at + 10000);
	assert_offset(
	    "1795228740000000123,100000000123\n1795228741000000123,100999996123\n", 0,
	    at - 6000, at + 10000);
	/* No better than its hundredths and microseconds. */
	assert_offset("1795228740123456000,100120000000\n", 0, at + 3456000 - 10010000,
		      at + 3456000 + 10010000);
	assert_offset(
	    "1795228740123456000,100120000000\n1795228741000000123,101000000123\n", 0,
	    at - 10000, at + 10000);
	/* Samples that contradict each other leave everything possible. */
	assert_offset(
	    "1795228740000000123,100000000123\n1795228741000500123,101000000123\n", 0,
	    at - 10000, at + 510000);
	/* A step. */
	assert_offset(
	    "1795228740000000123,100000000123\n1795228741000000123,101000000123\n"
	    "1795228742000000123,102000000123\n1795228748000000123,103000000123\n",
	    1, at + 5 * S - 10000, at + 5 * S + 10000);
}

SCRATCH_TEST(the_boot_time_clock_is_passed_over)
{
	static const char *const texts[] = {
	    "realtime_ns,monotonic_ns,boottime_ns\n"
	    "1795228740000000000,100000000000,105000000000\n"
	    "1795228741000000000,101000000000,106000000000\n",
	    "1795228740000000000,100000000000,105000000000\n"
	    "1795228741000000000,101000000000,\n",
	};

	for (size_t i = 0; i < 2; i++) {
		struct clock_samples samples;

		assert_int_equal(read_text(&samples, texts[i], ""), 0);
		assert_int_equal(samples.samples, 2);
		assert_monotonic(&samples, 1795228741 * S, 101 * S, 0);
		clock_samples_clear(&samples);
	}
}

SCRATCH_TEST(one_sample_is_an_offset)
{
	struct clock_samples samples;

	assert_int_equal(read_text(&samples, "1000,400\n1000,400\n", ""), 0);
	assert_int_equal(samples.samples, 1);
	assert_monotonic(&samples, 1007, 407, 0);
	clock_samples_clear(&samples);
}

/* 10 s ahead between 12 s and 13 s. */
SCRATCH_TEST(a_step_forward_leaves_a_gap)
{
	struct clock_samples samples;

	assert_int_equal(
	    read_text(&samples,
		      "10000000000,110000000000\n11000000000,111000000000\n"
		      "12000000000,112000000000\n23000000000,113000000000\n"
		      "24000000000,114000000000\n",
		      "clock.csv: the real-time clock was stepped by 10.000000 s after "
		      "1970-01-01 00:00:12.000000000 (step, 1)\n"),
	    0);
	assert_int_equal(samples.sections, 2);
	assert_monotonic(&samples, 11 * S, 111 * S, 0);
	assert_monotonic(&samples, 12 * S + S / 4, 112 * S + S / 4, 0);
	assert_monotonic(&samples, 23 * S - S / 4, 113 * S - S / 4, 0);
	assert_monotonic(&samples, 24 * S, 114 * S, 0);
	assert_monotonic(&samples, 25 * S, 115 * S, 0);
	/* No clock ever showed this. */
	assert_monotonic(&samples, 17 * S + S / 2, 112 * S + S / 2, S);
	clock_samples_clear(&samples);
}

/* 2 s back between 13 s and 12 s. */
SCRATCH_TEST(a_step_back_makes_stamps_doubtful)
{
	struct clock_samples samples;

	assert_int_equal(
	    read_text(&samples,
		      "10000000000,110000000000\n11000000000,111000000000\n"
		      "12000000000,112000000000\n13000000000,113000000000\n"
		      "12000000000,114000000000\n13000000000,115000000000\n"
		      "14000000000,116000000000\n15000000000,117000000000\n",
		      "clock.csv: the real-time clock was stepped by -2.000000 s after "
		      "1970-01-01 00:00:13.000000000 (step, 1)\n"),
	    0);
	assert_int_equal(samples.sections, 2);
	assert_monotonic(&samples, 10 * S + S / 2, 110 * S + S / 2, 0);
	assert_monotonic(&samples, 12 * S + S / 2, 112 * S + S / 2, 2 * S);
	assert_monotonic(&samples, 13 * S + S / 2, 113 * S + S / 2, 2 * S);
	assert_monotonic(&samples, 11 * S + S / 2, 111 * S + S / 2, 2 * S);
	assert_monotonic(&samples, 14 * S + S / 2, 116 * S + S / 2, 0);
	clock_samples_clear(&samples);
}

/* Readings from a clock of 10 ms jump about, and are no steps. */
SCRATCH_TEST(coarse_readings_are_no_steps)
{
	struct clock_samples samples;
	FILE *file = fopen("clock.csv", "w");
	struct problem_list problems = {NULL, 0, 0};

	assert_non_null(file);
	for (nsec_t i = 0; i < 100; i++)
		fprintf(file, "%lld,%lld\n", (long long)(i * (S + 3333333)),
			(long long)(i * (S + 3333333) / 10000000 * 10000000));
	fclose(file);
	assert_int_equal(clock_samples_read(&samples, "clock.csv", &problems), 0);
	assert_int_equal(samples.sections, 1);
	assert_problems(&problems, "");
	clock_samples_clear(&samples);
}

SCRATCH_TEST(a_restarted_node_has_another_clock)
{
	struct clock_samples samples;

	assert_int_equal(
	    read_text(&samples, "10000000000,110000000000\n99000000000,1000000000\n",
		      "clock.csv:2: the monotonic clock restarted; the rest skipped "
		      "(restart, 1)\n"),
	    0);
	assert_int_equal(samples.samples, 1);
	clock_samples_clear(&samples);
}

SCRATCH_TEST(broken_lines_are_left_out)
{
	struct clock_samples samples;

	assert_int_equal(
	    read_text(&samples, "1000,400\nx,500\n1100,\n1200,600,7\n1300,700\n1400,80",
		      "clock.csv:2: invalid realtime_ns 'x' (expected a time in "
		      "nanoseconds); skipped "
		      "(broken, 1)\n"
		      "clock.csv:3: monotonic_ns is empty; skipped (broken, 1)\n"
		      "clock.csv:4: line with 3 fields skipped (expected 2) (broken, 1)\n"
		      "clock.csv:6: incomplete last line skipped "
		      "(truncated, 1)\n"),
	    0);
	assert_int_equal(samples.samples, 2);
	clock_samples_clear(&samples);
	assert_int_equal(read_text(&samples, "1000,400\n1001,400\n",
				   "clock.csv: monotonic_ns 400 with two times; the "
				   "later one skipped (twice, 1)\n"),
			 0);
	clock_samples_clear(&samples);
}

SCRATCH_TEST(without_a_sample_there_is_no_clock)
{
	struct problem_list problems = {NULL, 0, 0};
	struct clock_samples samples;

	assert_int_equal(
	    read_text(&samples, "", "clock.csv: no clock sample in it (empty, 1)\n"), -1);
	assert_int_equal(read_text(&samples, "monotonic_ns,realtime_ns\n",
				   "clock.csv: no clock sample in it (empty, 1)\n"),
			 -1);
	assert_int_equal(
	    read_text(&samples,
		      "\x7f"
		      "ELF,1\n",
		      "clock.csv:1: invalid realtime_ns '\x7f"
		      "ELF' (expected a time in nanoseconds); skipped (broken, "
		      "1)\nclock.csv: no clock sample in it (empty, 1)\n"),
	    -1);
	assert_int_equal(clock_samples_read(&samples, "none", &problems), -1);
	assert_problems(&problems, "none: No such file or directory (unreadable, 1)\n");
	assert_int_equal(clock_samples_read(&samples, ".", &problems), -1);
	assert_problems(&problems, ".: not a regular file (unreadable, 1)\n");
}
