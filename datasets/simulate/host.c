/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/host.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/address.h"
#include "simulate/memory.h"

void host_init(struct world *world, uint32_t number)
{
	struct host *host = &world->host[number];
	size_t cpus = (size_t)world->scenario->cpus;

	memset(host, 0, sizeof(*host));
	host->name = mem_printf("node%u", number + 1);
	dice_init(&host->dice, world->seed, DICE_HOST, number);
	address_init(host, number);
	host->trace_from = NSEC_MIN;
	host->trace_to = NSEC_MAX;
	memory_init(host);
	host->cpu = mem_zalloc(cpus * sizeof(*host->cpu));
	for (size_t i = 0; i < cpus; i++) {
		host->cpu[i].current = NO_THREAD;
		host->cpu[i].charged_ns = world->begin_ns;
	}
}

void host_clear(struct world *world, struct host *host)
{
	for (int i = 0; i < world->scenario->cpus; i++) {
		free(host->cpu[i].ring);
		free(host->cpu[i].runnable);
	}
	free(host->name);
	free(host->cpu);
	sim_clock_clear(&host->clock);
}

uint64_t host_skb(struct host *host)
{
	return 0xffff888004000000u + (uint64_t)(host->skbs++ % 16384) * 256;
}
