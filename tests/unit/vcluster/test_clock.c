/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <time.h>

#include "agent.h"
#include "vcluster/clock.h"

enum { TRIES = 100 }; /* on a busy machine an agent may not come up in time */

struct pair {
	struct clock_peer peer;
	struct error error;
	int agent_port;
	pid_t agent; /* 0: none runs */
};

static int pair_make(void **state)
{
	struct pair *pair = mem_zalloc(sizeof(*pair));
	int port[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, port), 0);
	pair->peer.port = port[0];
	pair->agent_port = port[1];
	pair->peer.page = mmap(NULL, CLOCK_PAGE_BYTES, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(pair->peer.page != MAP_FAILED);
	*state = pair;
	return 0;
}

static int pair_end(void **state)
{
	struct pair *pair = *state;

	close(pair->peer.port);
	close(pair->agent_port);
	if (pair->agent) /* its port is at its end */
		assert_int_equal(agent_status(pair->agent), 0);
	munmap(pair->peer.page, CLOCK_PAGE_BYTES);
	error_clear(&pair->error);
	free(pair);
	return 0;
}

static void start(struct pair *pair)
{
	pair->agent = agent_start(pair->agent_port, pair->peer.port, pair->peer.page);
}

static nsec_t real_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return (nsec_t)time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

static void ask_until_good(struct pair *pair, struct clock_reading *reading)
{
	for (int i = 0; i < TRIES; i++) {
		enum clock_ask_status status =
		    clock_ask(&pair->peer, NSEC_PER_SEC, reading, &pair->error);

		assert_int_not_equal(status, CLOCK_ASK_GONE);
		if (status == CLOCK_ASK_GOOD)
			return;
	}
	fail_msg("no answer in %d tries", TRIES);
}

FIXTURE_TEST(clocks_were_read_in_between, pair_make, pair_end)
{
	struct pair *pair = *test_state;
	nsec_t last_ns = 0;

	start(pair);
	for (int i = 0; i < 20; i++) {
		nsec_t real0 = real_now(), real1;
		struct clock_reading reading;

		ask_until_good(pair, &reading);
		real1 = real_now();
		assert_true(reading.host0_ns > last_ns);
		assert_true(reading.host0_ns <= reading.mono_ns);
		assert_true(reading.mono_ns <= reading.host1_ns);
		assert_true(reading.host1_ns <= clock_read(CLOCK_MONOTONIC));
		assert_true(real0 <= reading.real_ns && reading.real_ns <= real1);
		last_ns = reading.host1_ns;
	}
}

FIXTURE_TEST(old_words_in_the_port_are_passed_over, pair_make, pair_end)
{
	struct pair *pair = *test_state;
	struct clock_reading reading;

	assert_int_equal(write(pair->agent_port, "sss", 3), 3);
	start(pair);
	ask_until_good(pair, &reading);
	assert_true(reading.host0_ns <= reading.mono_ns);
}

FIXTURE_TEST(slow_rounds_are_no_reading, pair_make, pair_end)
{
	struct pair *pair = *test_state;
	struct clock_reading reading;

	start(pair);
	for (int i = 0; i < 3; i++)
		assert_int_equal(clock_ask(&pair->peer, 0, &reading, &pair->error),
				 CLOCK_ASK_NONE);
	ask_until_good(pair, &reading);
}

FIXTURE_TEST(nobody_answers, pair_make, pair_end)
{
	struct pair *pair = *test_state;
	struct clock_reading reading;

	assert_int_equal(clock_ask(&pair->peer, NSEC_PER_SEC, &reading, &pair->error),
			 CLOCK_ASK_NONE);
	/* The question is taken back: an agent that comes late sleeps again. */
	assert_true(atomic_load(&pair->peer.page->ask) == CLOCK_ENOUGH);
	start(pair);
	ask_until_good(pair, &reading);
}

FIXTURE_TEST(a_closed_port_is_told, pair_make, pair_end)
{
	struct pair *pair = *test_state;
	struct clock_reading reading;

	close(pair->agent_port);
	pair->agent_port = -1;
	assert_int_equal(clock_ask(&pair->peer, NSEC_PER_SEC, &reading, &pair->error),
			 CLOCK_ASK_GONE);
	assert_string_equal(error_text(&pair->error), "the machine is gone");
}
