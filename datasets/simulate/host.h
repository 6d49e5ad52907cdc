/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_HOST_H
#define CT_SIMULATE_HOST_H

#include "simulate/world.h"

void host_init(struct world *world, uint32_t number);
void host_clear(struct world *world, struct host *host);

/* The address of a socket buffer, as a kernel would show it. */
uint64_t host_skb(struct host *host);

/* Whether the host's tracer runs. */
static inline bool host_is_traced(const struct host *host, nsec_t now)
{
	return now >= host->trace_from && now < host->trace_to;
}

#endif
