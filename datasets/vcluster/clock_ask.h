/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_VCLUSTER_CLOCK_ASK_H
#define CT_VCLUSTER_CLOCK_ASK_H

#include "base/error.h"
#include "base/nsec.h"
#include "vcluster/clock_page.h"

/*
 * The host's side: what the clocks of a machine said between two readings of
 * our own CLOCK_MONOTONIC. The idea is Cristian's (1989, "Probabilistic clock
 * synchronization"): of many rounds the fastest bounds best.
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
 * The fastest of many rounds, if it took `within_ns` at most. Takes some
 * milliseconds of both processors, and waits up to 0.7 s for a machine that is busy.
 */
enum clock_ask_status clock_ask(struct clock_peer *peer, nsec_t within_ns,
				struct clock_reading *reading, struct error *error);

nsec_t clock_now(void); /* our CLOCK_MONOTONIC */

#endif
