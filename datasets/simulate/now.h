/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_NOW_H
#define CT_SIMULATE_NOW_H

#include "simulate/world.h"

/*
 * Where and when something happens: on which processor of which node, and at
 * what true time, which goes on with all that is done there. What a processor
 * does in one go is never interrupted; what comes meanwhile begins after it.
 * So times of one processor only grow, while those of two may overlap.
 */
struct now {
	struct world *world;
	uint32_t node, cpu;
	nsec_t ns;
	uint8_t routers; /* that the packet of the next event has passed */
};

static inline struct host *now_host(const struct now *now)
{
	return &now->world->host[now->node];
}

static inline struct cpu *now_cpu(const struct now *now)
{
	return &now_host(now)->cpu[now->cpu];
}

/* Begin something on a processor, not before it is through with the last. */
static inline struct now now_begin(struct world *world, uint32_t node, uint32_t cpu,
				   nsec_t ns)
{
	nsec_t free_ns = world->host[node].cpu[cpu].free_ns;

	return (struct now){world, node, cpu, ns > free_ns ? ns : free_ns, 0};
}

static inline void now_end(const struct now *now)
{
	now_cpu(now)->free_ns = now->ns;
}

/* Something takes from least to most ns. */
static inline void now_pass(struct now *now, nsec_t least, nsec_t most)
{
	now->ns += dice_between(&now_host(now)->dice, least, most);
}

/* Wait, spinning, for what another processor does at that time. */
static inline void now_wait(struct now *now, nsec_t ns)
{
	if (now->ns <= ns)
		now->ns = ns + 1;
}

#endif
