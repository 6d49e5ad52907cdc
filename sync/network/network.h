/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_NETWORK_NETWORK_H
#define CT_SYNC_NETWORK_NETWORK_H

#include "sync/network/clocks.h"
#include "sync/network/graph.h"

/*
 * Clocks as nodes, pairs as edges, and the messages that they exchanged. Const for all
 * stages that follow.
 */
struct network {
	double limit;     /* largest |rate| of a clock, without unit */
	double limit_ppm; /* the limit as given by the user */
	struct clock_set clocks;
	struct message_log log; /* false matches are marked as rejected */
	struct pair_table pairs;
	struct graph graph; /* graph of the clocks */
};

/* Return the name of a clock: that of its first trace. */
static inline const char *network_clock_name(const struct network *net, uint32_t clock)
{
	return net->clocks.clock[clock].name;
}

#endif
