/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../test.h"
#include "input/capture/set_back.h"

#define TODAY (1795228740 * NSEC_PER_SEC)
#define MS    NSEC_PER_MSEC

enum { MOST = 2000 };

struct run {
	struct set_back back;
	struct trace_facts facts;
	uint64_t fed, delivered;
	nsec_t ns[MOST]; /* of the packets delivered, by their order */
};

static void deliver(void *context, struct captured *captured)
{
	struct run *run = context;

	assert_int_equal(captured->ordinal, run->delivered);
	run->ns[run->delivered++] = captured->ns;
}

static void feed(struct run *run, nsec_t ns)
{
	struct captured captured = {.ordinal = run->fed++, .ns = ns};

	if (set_back_pass(&run->back, &captured))
		deliver(run, &captured);
	else
		set_back_add(&run->back, &captured, &run->facts, deliver, run);
}

static void feed_many(struct run *run, int count, nsec_t begin_ns, nsec_t apart_ns)
{
	for (int i = 0; i < count; i++)
		feed(run, begin_ns + i * apart_ns);
}

static void end(struct run *run)
{
	set_back_end(&run->back, &run->facts, deliver, run);
	assert_int_equal(run->delivered, run->fed);
}

TEST(times_go_on)
{
	static const nsec_t size[] = {1500 * MS, 12000 * MS, 3600000 * MS, 90000000 * MS};

	for (size_t i = 0; i < sizeof(size) / sizeof(*size); i++)
		for (int after = 4; after < 400; after *= 3) {
			struct run run = {.fed = 0};
			nsec_t last = TODAY + 99 * 50 * MS;

			feed_many(&run, 100, TODAY, 50 * MS);
			feed_many(&run, after, TODAY + 100 * 50 * MS - size[i], 50 * MS);
			end(&run);
			assert_int_equal(run.facts.set_backs, 1);
			assert_int_equal(run.facts.set_back[0].at_ns, last);
			assert_int_equal(run.facts.set_back[0].size_ns % NSEC_PER_SEC, 0);
			assert_int_equal(run.ns[99], last);
			assert_in_range(run.ns[100] - last, NSEC_PER_SEC,
					2 * NSEC_PER_SEC);
			for (int k = 101; k < 100 + after; k++)
				assert_int_equal(run.ns[k] - run.ns[k - 1], 50 * MS);
		}
}

TEST(again_and_again)
{
	struct run run = {.fed = 0};

	for (int i = 0; i < 20; i++)
		feed_many(&run, 50, TODAY, 100 * MS);
	end(&run);
	assert_int_equal(run.facts.set_backs, TRACE_MOST_SET_BACKS);
	for (int i = 1; i < 50 * (TRACE_MOST_SET_BACKS + 1); i++)
		assert_true(run.ns[i] > run.ns[i - 1]);
}

/* Packets that overtake each other, and those of a second clock. */
TEST(what_returns_is_as_recorded)
{
	struct run run = {.fed = 0};

	for (int i = 0; i < 200; i++)
		feed(&run, TODAY + i * 50 * MS - (i % 7 == 3 ? 37000 * MS : 0));
	for (int i = 200; i < 400; i++)
		feed(&run, TODAY + i * 50 * MS - (i % 20 > 11 ? 5000 * MS : 0));
	feed(&run, TODAY);
	end(&run);
	assert_int_equal(run.facts.set_backs, 0);
	assert_int_equal(run.ns[3], TODAY + 3 * 50 * MS - 37000 * MS);
	assert_int_equal(run.ns[399], TODAY + 399 * 50 * MS - 5000 * MS);
	assert_int_equal(run.ns[400], TODAY);
}

/* 12 s of an hour are little: one correction for each time does for nearly all of it. */
TEST(a_small_part_is_as_recorded)
{
	struct run run = {.fed = 0};

	feed_many(&run, 1000, TODAY, 3600 * MS);
	feed_many(&run, 100, TODAY + 1000 * 3600 * MS - 12000 * MS, 50 * MS);
	end(&run);
	assert_int_equal(run.facts.set_backs, 0);
	assert_int_equal(run.ns[1000], TODAY + 1000 * 3600 * MS - 12000 * MS);
}

TEST(nothing_is_added_if_it_is_off)
{
	struct run run = {.back = {.is_off = true}};

	feed_many(&run, 100, TODAY, 50 * MS);
	feed_many(&run, 100, TODAY - 12000 * MS, 50 * MS);
	end(&run);
	assert_int_equal(run.facts.set_backs, 0);
	assert_int_equal(run.ns[100], TODAY - 12000 * MS);
}
