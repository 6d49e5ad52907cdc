/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../test.h"
#include "input/capture/outliers.h"

enum { MOST = 20000 };

#define TODAY (1795228740 * NSEC_PER_SEC)
#define HOUR  (3600 * NSEC_PER_SEC)

struct run {
	struct outliers outliers;
	uint64_t fed, delivered;
	bool is_here[MOST]; /* by index */
};

static void deliver(void *context, struct captured *captured)
{
	struct run *run = context;

	run->is_here[captured->ordinal] = true;
	run->delivered++;
}

static void feed(struct run *run, nsec_t ns)
{
	struct captured captured = {.ordinal = run->fed++, .ns = ns};

	outliers_add(&run->outliers, &captured, deliver, run);
}

/* Some packets, a second apart. */
static void feed_many(struct run *run, int count, nsec_t begin_ns)
{
	for (int i = 0; i < count; i++)
		feed(run, begin_ns + i * NSEC_PER_SEC);
}

static void assert_left_out(struct run *run, uint64_t count, uint64_t first)
{
	outliers_end(&run->outliers, deliver, run);
	assert_int_equal(run->outliers.left_out, count);
	assert_int_equal(run->delivered, run->fed - count);
	if (count) {
		assert_int_equal(run->outliers.first_index, first);
		assert_false(run->is_here[first]);
	}
}

static const nsec_t absurd[] = {0,
				1,
				-HOUR,
				2051222400 * NSEC_PER_SEC,
				4000000000 * NSEC_PER_SEC,
				TODAY - 72 * HOUR,
				TODAY + 72 * HOUR};

TEST(a_single_one_is_left_out_wherever_it_is)
{
	static const int before[] = {0, 1, 7, 8, 9, 15, 16, 17, 100, 5000};

	for (size_t i = 0; i < sizeof(absurd) / sizeof(*absurd); i++)
		for (size_t k = 0; k < sizeof(before) / sizeof(*before); k++)
			for (int after = 0; after < 6000; after = 6 * after + 1) {
				struct run run = {.fed = 0};

				if (before[k] + after < 3)
					continue;
				feed_many(&run, before[k], TODAY);
				feed(&run, absurd[i]);
				feed_many(&run, after, TODAY + before[k] * NSEC_PER_SEC);
				assert_left_out(&run, 1, (uint64_t)before[k]);
			}
}

TEST(some_are_left_out)
{
	struct run run = {.fed = 0};

	for (int i = 0; i < 10; i++) {
		feed_many(&run, 100, TODAY + 100 * i * NSEC_PER_SEC);
		feed(&run, i % 2 ? 0 : 4000000000 * NSEC_PER_SEC);
	}
	assert_left_out(&run, 10, 100);
}

/* Many packets follow. */
TEST(a_step_is_real)
{
	static const nsec_t step[] = {-12 * NSEC_PER_SEC, HOUR,           -HOUR,
				      25 * HOUR,          -100000 * HOUR, 100000 * HOUR};

	for (size_t i = 0; i < sizeof(step) / sizeof(*step); i++)
		for (int before = 8; before < 5000; before *= 3) {
			struct run run = {.fed = 0};

			feed_many(&run, before, TODAY);
			feed_many(&run, 200, TODAY + step[i]);
			assert_left_out(&run, 0, 0);
		}
}

TEST(a_quiet_capture_is_whole)
{
	struct run run = {.fed = 0};

	for (int i = 0; i < 40; i++)
		feed(&run, TODAY + i * 7 * HOUR);
	feed_many(&run, 100, TODAY + 400 * HOUR);
	/* And after a night. */
	feed_many(&run, 3, TODAY + 412 * HOUR);
	assert_left_out(&run, 0, 0);
	for (int count = 1; count < 16; count++) {
		run = (struct run){.fed = 0};
		for (int i = 0; i < count; i++)
			feed(&run, TODAY + i * 7 * HOUR);
		assert_left_out(&run, 0, 0);
	}
}

/* One packet in `every` is stamped by a card that began at 0. */
TEST(two_clocks_are_right)
{
	static const nsec_t begin[] = {0, TODAY + 5 * HOUR, TODAY - 1000 * HOUR};

	for (size_t k = 0; k < sizeof(begin) / sizeof(*begin); k++)
		for (int every = 2; every < 200; every *= 3) {
			struct run run = {.fed = 0};

			for (int i = 0; i < 4000; i++)
				feed(&run,
				     (i % every ? TODAY : begin[k]) + i * NSEC_PER_MSEC);
			assert_left_out(&run, 0, 0);
		}
}
