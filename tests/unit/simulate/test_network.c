/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of what happens, who talks to whom, and what becomes of packets. */
#include "../draw.h"

#include "simulate/network.h"
#include "simulate/world.h"

enum { PACKETS = 50000 };

TEST(test_queue_is_in_order)
{
	struct queue queue = {0};
	struct pending pending;
	nsec_t last = NSEC_MIN;
	uint64_t order = 0, taken = 0, put = 0;

	assert_false(queue_pop(&queue, &pending));
	for (int i = 0; i < 20000; i++) {
		if (draw() % 3) {
			nsec_t at = draw_between(0, 1000) + (i > 10000 ? 1000 : 0);

			/* Nothing is put before what was taken, as in a run. */
			if (at < last)
				at = last;
			queue_add(&queue, at, 3, &put, 77);
			put++;
		} else if (queue_pop(&queue, &pending)) {
			assert_true(pending.due > last ||
				    (pending.due == last && pending.order >= order));
			assert_true(pending.kind == 3 && pending.age == 77);
			last = pending.due;
			order = pending.order;
			taken++;
		}
	}
	while (queue_pop(&queue, &pending)) {
		assert_true(pending.due >= last);
		last = pending.due;
		taken++;
	}
	assert_int_equal(taken, put);
	queue_clear(&queue);
}

static struct scenario scenario_of(const char *text)
{
	struct scenario scenario;
	struct error error = ERROR_INIT;

	scenario_init(&scenario);
	if (scenario_parse(&scenario, "test", text, &error) ||
	    scenario_check(&scenario, &error))
		fail_msg("%s", error_text(&error));
	return scenario;
}

static void assert_pairs(const char *text, const char *wanted)
{
	struct scenario scenario = scenario_of(text);
	size_t count, used = 0;
	struct topology_pair *pair = topology_pairs(&scenario, 1, &count);
	char have[400] = "";

	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(have + used, sizeof(have) - used, "%s%u-%u",
					 i ? " " : "", pair[i].a + 1, pair[i].b + 1);
	assert_string_equal(have, wanted);
	free(pair);
	scenario_clear(&scenario);
}

TEST(test_topologies)
{
	assert_pairs("nodes 4\ntopology ring", "1-2 2-3 3-4 4-1");
	assert_pairs("nodes 2\ntopology ring", "1-2");
	assert_pairs("nodes 4\ntopology chain", "1-2 2-3 3-4");
	assert_pairs("nodes 4\ntopology star", "2-1 3-1 4-1");
	assert_pairs("nodes 4\ntopology mesh", "1-2 1-3 1-4 2-3 2-4 3-4");
	assert_pairs("nodes 4\ntopology mesh\npair 3 1 0", "1-2 1-4 2-3 2-4 3-4");
	assert_pairs("nodes 6\ntopology islands\nislands 2\nlone 1", "1-2 3-4 3-5 4-5");
	assert_pairs("nodes 4\ntopology clients\nservers 2", "3-1 3-2 4-1 4-2");
	assert_pairs("nodes 4\ntopology listed\npair 4 2 10", "4-2");
	assert_pairs("nodes 4\ntopology random\npairs 6\n", "1-2 1-3 3-4 2-4 2-3 1-4");
}

TEST(test_random_topology_connects_all)
{
	struct scenario scenario = scenario_of("nodes 300\ntopology random\npairs 1000");
	size_t count;
	struct topology_pair *pair = topology_pairs(&scenario, draw(), &count);
	bool reached[300] = {true};

	assert_int_equal(count, 1000);
	for (int round = 0; round < 300; round++)
		for (size_t i = 0; i < count; i++) {
			assert_true(pair[i].a < pair[i].b && pair[i].b < 300);
			if (reached[pair[i].a] || reached[pair[i].b])
				reached[pair[i].a] = reached[pair[i].b] = true;
		}
	for (int i = 0; i < 300; i++)
		assert_true(reached[i]);
	free(pair);
	scenario_clear(&scenario);
}

/* Delays of packets that never wait for each other, in ns. */
struct delays {
	nsec_t least, most;
	double mean;
	int lost, twice, late;
};

static struct delays carry(const char *text, bool lower)
{
	struct scenario scenario = scenario_of(text);
	struct link link;
	struct delays delays = {.least = NSEC_MAX};
	nsec_t last = 0;

	link_init(&link, &scenario, draw_seed, 5, lower);
	for (int i = 0; i < PACKETS; i++) {
		nsec_t leaves = (nsec_t)(i + 1) * 100 * NSEC_PER_MSEC;
		struct delivery delivery = link_carry(&link, &scenario, leaves, 125);
		nsec_t delay = delivery.arrival_ns - leaves;

		if (delivery.lost) {
			delays.lost++;
			continue;
		}
		delays.twice += delivery.again_ns != 0;
		assert_true(!delivery.again_ns ||
			    delivery.again_ns > delivery.arrival_ns);
		delays.late += delivery.arrival_ns < last;
		last = delivery.arrival_ns;
		delays.mean += (double)delay / PACKETS;
		delays.least = delay < delays.least ? delay : delays.least;
		delays.most = delay > delays.most ? delay : delays.most;
	}
	scenario_clear(&scenario);
	return delays;
}

/* A packet of 125 bytes takes 1 us at 1000 Mbit/s. */
TEST(test_delays)
{
	struct delays fixed =
	    carry("delay_us 100\ndelay_spread 0\njitter fixed\njitter_us 7", false);
	struct delays uniform =
	    carry("delay_us 100\ndelay_spread 0\njitter uniform\njitter_us 50", false);
	struct delays tail = carry(
	    "delay_us 100\ndelay_spread 0\njitter exponential\njitter_us 50", false);

	assert_true(fixed.least == 108000 && fixed.most == 108000);
	assert_true(uniform.least >= 101000 && uniform.least < 101100);
	assert_true(uniform.most <= 151000 && uniform.most > 150900);
	assert_true(fabs(uniform.mean - 126000) < 500);
	assert_true(tail.least >= 101000 && tail.least < 101100);
	assert_true(fabs(tail.mean - 151000) < 1500);
	assert_true(tail.most > 400000);
}

TEST(test_asymmetry)
{
	static const char text[] = "delay_us 100\njitter fixed\njitter_us 0\n"
				   "asymmetry 10\nbandwidth_mbit 1000000";
	struct delays there = carry(text, false), back = carry(text, true);

	assert_true(there.least >= 100000 && there.most <= 150001);
	assert_true(llabs(back.least - 10 * there.least) <= 10);
}

TEST(test_mishaps)
{
	struct delays plain = carry("jitter_us 10", false);
	struct delays odd = carry(
	    "loss 0.3\nduplicate 0.1\nreorder 0.05\nreorder_us 250000\njitter_us 10",
	    false);

	assert_true(plain.lost == 0 && plain.twice == 0 && plain.late == 0);
	assert_true(abs(odd.lost - PACKETS * 3 / 10) < 1000);
	assert_true(abs(odd.twice - PACKETS * 7 / 100) < 600);
	assert_true(odd.late > PACKETS / 100);
}

/* Packets in quick succession keep their order, and wait for their turn. */
TEST(test_queues_keep_order)
{
	struct scenario scenario = scenario_of("bandwidth_mbit 100\njitter_us 1000");
	struct link link;
	nsec_t leaves = NSEC_PER_SEC, last = 0;
	int dropped = 0;

	link_init(&link, &scenario, draw_seed, 1, false);
	for (int i = 0; i < PACKETS; i++) {
		struct delivery delivery;

		leaves += draw_between(0, 20000);
		delivery = link_carry(&link, &scenario, leaves, 1500);
		if (delivery.lost) {
			dropped++;
			continue;
		}
		assert_true(delivery.arrival_ns > last);
		assert_true(delivery.arrival_ns >= leaves + 100000 + 120000);
		assert_true(delivery.arrival_ns < leaves + NSEC_PER_SEC);
		last = delivery.arrival_ns;
	}
	assert_true(dropped > 0); /* twelve times as much as the link carries */
	scenario_clear(&scenario);
}
