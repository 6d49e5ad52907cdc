/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate.h"

enum { ROUNDS = 4 };

/* Pair a receive with a send that came later, by far more than clocks can drift. */
static void make_false(struct sim_message *message)
{
	nsec_t shift = 5 * NSEC_PER_MSEC << draw_between(0, 10);

	shift += draw_between(0, shift);
	message->is_false = true;
	if (draw() % 2)
		message->recv_ns -= shift;
	else
		message->send_ns += shift;
}

/* The same in some directions only; returns how many. */
static uint64_t make_some_false(double share, bool both_ways)
{
	uint64_t count = 0;

	for (size_t i = 0; i < sim.messages; i++) {
		struct sim_message *message = &sim.message[i];

		if ((both_ways || message->from < message->to) && draw_unit() < share) {
			make_false(message);
			count++;
		}
	}
	return count;
}

/*
 * Among false ones, a true one that is far quicker than those around it may be
 * left out with them, which only leaves more open. Of 700 drawn runs most lost none, and
 * the worst 0.3 % of the messages.
 */
enum { TRUE_ONES_LOST = 10, SHARE_LOST = 200 };

struct compare {
	size_t at;
	uint64_t lost, lost_most;
};

static int check_message(void *context, const struct message *message)
{
	struct compare *compare = context;
	const struct sim_message *made = &sim.message[compare->at++];

	compare->lost += message->rejected && !made->is_false;
	if (made->is_false ? !message->rejected : compare->lost > compare->lost_most)
		fail_msg("message %zu of %zu from n%u at %" PRId64 " is %s but %s",
			 compare->at, sim.messages, made->from, made->send_ns,
			 made->is_false ? "false" : "true",
			 message->rejected ? "rejected" : "kept");
	return 0;
}

/* Every false one; a true one only if there are false ones. */
static void check_rejected(uint64_t count)
{
	struct compare compare = {
	    .lost_most = count ? TRUE_ONES_LOST + sim.messages / SHARE_LOST : 0};
	struct error error = ERROR_INIT;
	uint64_t of_pairs = 0;

	assert_int_equal(
	    message_log_each(&sim.sync.network.log, check_message, &compare, &error), 0);
	for (size_t i = 0; i < sim.sync.network.pairs.count; i++)
		of_pairs += sim.sync.network.pairs.pair[i].rejected;
	assert_int_equal(of_pairs, count + compare.lost);
	assert_int_equal(pairs_rejected(&sim.sync.network.pairs), count + compare.lost);
}

static void check_share(double share, bool both_ways)
{
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t count;

		sim_init((size_t)draw_between(2, 4), 20 * SIM_SECONDS);
		for (uint32_t k = 1; k < sim.clocks; k++)
			sim_talk(k - 1, k, 2000, (int)draw_between(500, 2000));
		count = make_some_false(share, both_ways);
		sim_fit(NULL);
		check_rejected(count);
		assert_int_equal(sim.problems.count, 0);
		assert_int_equal(sim_violations(false), 0);
		sim_check_bounds();
	}
}

TEST(few_false_ones_are_found)
{
	check_share(0.001, true);
	check_share(0.001, false);
}

TEST(some_false_ones_are_found)
{
	check_share(0.01, true);
	check_share(0.01, false);
}

/*
 * Few go back, and of these a false one each before, among and after so many that go
 * forward: these are true, and their false neighbour tells nothing of them. Seeds with
 * which such a run was drawn.
 */
TEST(a_false_one_tells_nothing_of_others)
{
	static const uint64_t seeds[] = {13808171869048347479U, 2598484153812295487U};

	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		draw_state = seeds[i];
		some_false_ones_are_found(test_state);
	}
	draw_state = draw_seed;
}

/* Nothing tells which of so many are true: all stay, and it is said. */
SIM_TEST(too_many_are_a_problem)
{
	sim_init(2, 20 * SIM_SECONDS);
	sim_talk(0, 1, 1000, 1000);
	make_some_false(0.1, true);
	sim_fit(NULL);
	assert_int_equal(pairs_rejected(&sim.sync.network.pairs), 0);
	assert_int_equal(sim.sync.network.pairs.pair[0].messages_ab, 1000);
	assert_true(sim.problems.count > 0);
	assert_int_equal(sim.problems.item[0].kind, PROBLEM_CONTRADICTION);
	assert_string_equal(sim.problems.item[0].place, "n0");
	assert_true(sim.sync.network.pairs.pair[0].contradictory);
	assert_int_equal(sim.sync.verdict.pair[0].quality, CLOCK_CONTRADICTORY);
	assert_int_equal(sim.sync.network.graph.islands, 2);
	assert_false(sim_is_whole());
}

/* Neither a step nor a bend makes a message false. */
SIM_TEST(a_clock_that_is_set_costs_no_message)
{
	for (int i = 0; i < 2 * ROUNDS; i++) {
		nsec_t step = NSEC_PER_MSEC << draw_between(0, 12);

		sim_init(2, 20 * SIM_SECONDS);
		sim_bend(1, draw_between(SIM_SECONDS, 19 * SIM_SECONDS),
			 draw_real(-SIM_DRIFT, SIM_DRIFT), i % 2 ? step : -step);
		sim_talk(0, 1, 2000, 2000);
		sim_fit(NULL);
		check_rejected(0);
	}
}

/* On their way while a clock is set back, two speak against each other in any order. */
SIM_TEST(messages_that_cross_at_a_step_are_kept)
{
	const nsec_t at = 10 * SIM_SECONDS, step = 4 * NSEC_PER_MSEC, moment = 1000;

	for (int i = 0; i < ROUNDS; i++) {
		sim_init(2, 20 * SIM_SECONDS);
		sim_bend(1, at, draw_real(-SIM_DRIFT, SIM_DRIFT), -step);
		for (uint32_t k = 0; k < 2; k++) {
			sim_traffic(k, !k, 2000, 0, at - 2 * step);
			sim_traffic(k, !k, 2000, at + 2 * step, sim.length);
		}
		sim_stamps(0, 1, sim_local(0, at - moment), sim_local(1, at + step / 8));
		sim_stamps(1, 0, sim_local(1, at - step / 8), sim_local(0, at + moment));
		sim_fit(NULL);
		check_rejected(0);
	}
}

/*
 * Set, and set back some messages later, or the other clock as far: those in
 * between are contradicted from before and after, as false ones are, but they
 * agree among themselves.
 */
SIM_TEST(a_clock_that_is_set_twice_costs_none)
{
	for (int i = 0; i < 2 * ROUNDS; i++) {
		nsec_t at = draw_between(2 * SIM_SECONDS, 15 * SIM_SECONDS);
		nsec_t step = draw_between(2, 900) * NSEC_PER_MSEC;
		nsec_t until = at + draw_between(200, 800) * NSEC_PER_MSEC;
		bool both = i % 3 == 0, back = !both && i % 2;

		sim_init(2, 20 * SIM_SECONDS);
		sim_bend(1, at, draw_real(-SIM_DRIFT, SIM_DRIFT), back ? -step : step);
		sim_bend(both ? 0 : 1, until, draw_real(-SIM_DRIFT, SIM_DRIFT),
			 both || back ? step : -step);
		sim_talk(0, 1, 2000, 2000);
		sim_fit(NULL);
		check_rejected(0);
		sim_check_bounds();
	}
}

/*
 * One clock is set, and the other one soon after, with a message or two in between:
 * these look false. Then nobody knows where the clock was meanwhile.
 */
SIM_TEST(too_few_to_tell_open_the_bounds)
{
	uint64_t rejected = 0;
	int opened = 0;

	for (int i = 0; i < 4 * ROUNDS; i++) {
		nsec_t at = draw_between(5 * SIM_SECONDS, 15 * SIM_SECONDS);
		nsec_t until = at + 30 * NSEC_PER_MSEC;

		sim_init(2, 20 * SIM_SECONDS);
		sim.reference = "n0";
		sim_bend(1, at, draw_real(-SIM_DRIFT, SIM_DRIFT), NSEC_PER_SEC);
		sim_bend(0, until, draw_real(-SIM_DRIFT, SIM_DRIFT),
			 draw_between(400, 800) * NSEC_PER_MSEC);
		for (uint32_t k = 0; k < 2; k++) {
			sim_traffic(k, !k, 1000, 0, at);
			sim_traffic(k, !k, 1000, until, sim.length);
			sim_traffic(k, !k, 1, at + 5 * NSEC_PER_MSEC,
				    until - 5 * NSEC_PER_MSEC);
		}
		sim_fit(NULL);
		rejected += pairs_rejected(&sim.sync.network.pairs);
		sim_check_bounds();
		for (nsec_t time = at; time < until; time += NSEC_PER_MSEC) {
			struct sim_look look = sim_look(1, time);

			sim_check_look(1, time);
			opened += look.bound.low_ns == NSEC_MIN ||
				  look.bound.high_ns == NSEC_MAX;
		}
	}
	assert_true(rejected > 0);
	assert_true(opened > 0);
}

/* Two false messages are enough to move a line by far. */
SIM_TEST(two_of_few_are_found)
{
	for (int i = 0; i < ROUNDS; i++) {
		sim_init(2, 20 * SIM_SECONDS);
		sim_talk(0, 1, 100, 100);
		make_false(&sim.message[draw_between(0, 99)]);
		make_false(&sim.message[draw_between(100, 199)]);
		sim_fit(NULL);
		check_rejected(2);
		sim_check_bounds();
	}
}

/* If hosts seldom talk, a single message on each side speaks against a false one. */
SIM_TEST(one_among_seldom_ones_is_found)
{
	enum { TURNS = 60, APART = 10 };

	for (int i = 0; i < ROUNDS; i++) {
		sim_init(2, TURNS * APART * SIM_SECONDS);
		for (uint32_t k = 0; k < 2 * TURNS; k++) {
			nsec_t from = k * APART * SIM_SECONDS / 2;

			sim_traffic(k % 2, 1 - k % 2, 1, from, from + SIM_SECONDS);
		}
		sim.message[TURNS / 2 + draw_between(0, TURNS)].is_false = true;
		for (size_t k = 0; k < sim.messages; k++)
			if (sim.message[k].is_false)
				sim.message[k].recv_ns -= 9 * NSEC_PER_MSEC / 2;
		sim_fit(NULL);
		check_rejected(1);
		assert_int_equal(sim.problems.count, 0);
		sim_check_bounds();
	}
}
