/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_VCLUSTER_CLOCK_PAGE_H
#define CT_VCLUSTER_CLOCK_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * How the host learns what the clocks of a machine say. Both map one page of
 * memory (qemu's ivshmem device). The host wakes the machine's agent through a
 * serial port with CLOCK_WAKE; the agent spins, and answers each new number in
 * `ask` with its clocks and the same number in `answer`. When it hears
 * CLOCK_ENOUGH, or nothing for CLOCK_PATIENCE_NS, it writes CLOCK_SLEEPS to
 * the port and sleeps. The two sides are different machines' worth of caches
 * to the compiler, so what they share is atomic.
 */
enum { CLOCK_WAKE = 'w', CLOCK_SLEEPS = 's', CLOCK_PAGE_BYTES = 4096 };

#define CLOCK_ENOUGH      UINT64_MAX /* in `ask`: no round follows */
#define CLOCK_PATIENCE_NS 5000000    /* without a round, on either side */

struct clock_page {
	_Alignas(64) _Atomic uint64_t ask;    /* the host writes: number of a round */
	_Alignas(64) _Atomic uint64_t answer; /* the machine writes: the same */
	/* What the machine read between the two, in this order. */
	_Atomic int64_t mono0_ns, real_ns, mono1_ns;
};

_Static_assert(sizeof(struct clock_page) <= CLOCK_PAGE_BYTES, "a page each");

#endif
