/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vcluster/clock.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

enum {
	LEAST_ROUNDS = 50, /* even if one of them was fast enough */
	MOST_ROUNDS = 400,
	WAKE_TURNS = 2000, /* of WAKE_TURN_NS, for the agent to wake up */
	WAKE_TURN_NS = 200000,
	SLEEP_PATIENCE_MS = 300, /* for it to tell that it sleeps again */
};

static bool is_answered(const struct clock_peer *peer)
{
	return atomic_load(&peer->page->answer) == peer->round;
}

/* Spin until the machine answered this round: whether it did. */
static bool wait_for(const struct clock_peer *peer)
{
	nsec_t until = clock_read(CLOCK_MONOTONIC) + CLOCK_PATIENCE_NS;

	for (unsigned int turn = 1; !is_answered(peer); turn++)
		if (turn % 1024 == 0 && clock_read(CLOCK_MONOTONIC) > until)
			return false;
	return true;
}

/* A round that only has to be answered; we sleep, to leave the processor to the agent. */
static bool wait_for_agent(struct clock_peer *peer)
{
	const struct timespec turn = {.tv_nsec = WAKE_TURN_NS};

	for (int i = 0; !is_answered(peer); i++) {
		if (i == WAKE_TURNS)
			return false;
		nanosleep(&turn, NULL);
	}
	return true;
}

static bool ask_once(struct clock_peer *peer, struct clock_reading *reading)
{
	nsec_t mono0, mono1;

	peer->round++;
	reading->host0_ns = clock_read(CLOCK_MONOTONIC);
	atomic_store(&peer->page->ask, peer->round);
	if (!wait_for(peer))
		return false;
	reading->host1_ns = clock_read(CLOCK_MONOTONIC);
	mono0 = atomic_load(&peer->page->mono0_ns);
	mono1 = atomic_load(&peer->page->mono1_ns);
	reading->real_ns = atomic_load(&peer->page->real_ns);
	reading->mono_ns = mono0 + (mono1 - mono0) / 2;
	return true;
}

/* Do several rounds and keep the fastest. Return its duration, or NSEC_MAX if none was
 * answered. */
static nsec_t ask_often(struct clock_peer *peer, nsec_t within_ns,
			struct clock_reading *best)
{
	nsec_t best_ns = NSEC_MAX;

	for (int i = 0; i < MOST_ROUNDS; i++) {
		struct clock_reading reading;

		if (i >= LEAST_ROUNDS && best_ns <= within_ns)
			break;
		if (!ask_once(peer, &reading))
			break;
		if (reading.host1_ns - reading.host0_ns < best_ns) {
			best_ns = reading.host1_ns - reading.host0_ns;
			*best = reading;
		}
	}
	return best_ns;
}

/* Discard what an earlier question left in the port. Return 0, or -1 if it is closed. */
static int drain(struct clock_peer *peer, struct error *error)
{
	char text[64];
	ssize_t length;

	do
		length = recv(peer->port, text, sizeof(text), MSG_DONTWAIT);
	while (length > 0 || (length < 0 && errno == EINTR));
	if (length == 0)
		return error_set(error, "the machine is gone");
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return error_errno(error, "the machine's port");
	return 0;
}

/* Let the agent finish before it is woken again; what it said is drained then. */
static void wait_for_sleep(struct clock_peer *peer)
{
	struct pollfd port = {.fd = peer->port, .events = POLLIN};

	while (poll(&port, 1, SLEEP_PATIENCE_MS) < 0 && errno == EINTR)
		;
}

enum clock_ask_status clock_ask(struct clock_peer *peer, nsec_t within_ns,
				struct clock_reading *reading, struct error *error)
{
	const char wake = CLOCK_WAKE;
	nsec_t best_ns = NSEC_MAX;

	if (drain(peer, error))
		return CLOCK_ASK_GONE;
	/* Before it wakes: CLOCK_ENOUGH would send it to sleep at once. */
	atomic_store(&peer->page->ask, ++peer->round);
	if (send(peer->port, &wake, 1, MSG_NOSIGNAL) != 1) {
		error_errno(error, "the machine's port");
		return CLOCK_ASK_GONE;
	}
	if (wait_for_agent(peer))
		best_ns = ask_often(peer, within_ns, reading);
	atomic_store(&peer->page->ask, CLOCK_ENOUGH);
	wait_for_sleep(peer);
	return best_ns <= within_ns ? CLOCK_ASK_GOOD : CLOCK_ASK_NONE;
}
