/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_VCLUSTER_CLOCK_H
#define CT_VCLUSTER_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "base/error.h"
#include "base/nsec.h"

/*
 * The protocol by which the host reads a machine's clocks. Both map one page of memory
 * (qemu's ivshmem device). The host wakes the machine's agent through a serial port with
 * CLOCK_WAKE. The agent spins and answers each new number in `ask` with its clocks and
 * the same number in `answer`. After CLOCK_ENOUGH, or CLOCK_PATIENCE_NS without a new
 * number, it writes CLOCK_SLEEPS to the port and sleeps. The shared members are atomic,
 * as for two threads.
 */
enum { CLOCK_WAKE = 'w', CLOCK_SLEEPS = 's', CLOCK_PAGE_BYTES = 4096 };

#define CLOCK_ENOUGH      UINT64_MAX /* in `ask`: no round follows */
#define CLOCK_PATIENCE_NS 5000000    /* without a round, on either side */

struct clock_page {
	_Alignas(64) _Atomic uint64_t ask;    /* the host writes: number of a round */
	_Alignas(64) _Atomic uint64_t answer; /* the machine writes: the same */
	/* The machine's readings between the two, in this order. */
	_Atomic int64_t mono0_ns, real_ns, mono1_ns;
};

_Static_assert(sizeof(struct clock_page) <= CLOCK_PAGE_BYTES, "a page each");

/*
 * The machine's side: answer the host's questions on `page` whenever `port` wakes us.
 * Return when the port fails: 0 at its end, or -1 with errno. A port that is not open on
 * the other side is at its end as well; try again later.
 */
int clock_answer(int port, struct clock_page *page);

/*
 * The host's side: readings of a machine's clocks between two readings of our own
 * CLOCK_MONOTONIC. Of many rounds the fastest gives the tightest bound (Cristian 1989,
 * "Probabilistic clock synchronization").
 */
struct clock_reading {
	nsec_t host0_ns, host1_ns; /* ours, before and after */
	nsec_t mono_ns, real_ns;   /* the machine's, in between */
};

struct clock_peer {
	int port; /* a connected socket, not owned */
	struct clock_page *page;
	uint64_t round; /* the last number asked */
};

enum clock_ask_status {
	CLOCK_ASK_GOOD,
	CLOCK_ASK_NONE, /* no round fast enough; the machine may be busy */
	CLOCK_ASK_GONE, /* the machine's port is closed; error is set */
};

/*
 * Read a machine's clocks in many rounds and keep the fastest, if it took at most
 * `within_ns`. Uses both processors for some milliseconds and waits up to 0.7 s for a
 * busy machine.
 */
enum clock_ask_status clock_ask(struct clock_peer *peer, nsec_t within_ns,
				struct clock_reading *reading, struct error *error);

static inline nsec_t clock_read(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (nsec_t)time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

#endif
