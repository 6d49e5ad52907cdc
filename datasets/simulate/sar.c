/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/sar.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/output.h"
#include "simulate/cpu.h"
#include "simulate/directory.h"
#include "simulate/load.h"
#include "simulate/sar_rows.h"

struct sar {
	struct output output;
	nsec_t last_ns;
	struct sar_counts last;
	struct load load;
};

static int open_host(struct world *world, struct host *host, const char *directory,
		     struct error *error)
{
	char *path = mem_printf("%s/%s", directory, host->name);
	char *file = mem_printf("%s/sar.sadf", path);
	size_t cpus = (size_t)world->scenario->cpus;
	int status = directory_ensure(path, error);

	host->sar = mem_zalloc(sizeof(*host->sar));
	host->sar->last_ns = world->begin_ns;
	host->sar->load.due_ns = world->begin_ns;
	host->sar->last.used_ns = mem_zalloc(cpus * sizeof(*host->sar->last.used_ns));
	if (!status)
		status = output_open(&host->sar->output, file, error);
	free(path);
	free(file);
	return status;
}

int sar_open(struct world *world, const char *directory, struct error *error)
{
	for (size_t i = 0; i < world->hosts; i++)
		if (open_host(world, &world->host[i], directory, error))
			return -1;
	return 0;
}

void sar_discard(struct host *host)
{
	if (!host->sar)
		return;
	output_discard(&host->sar->output);
	free(host->sar->last.used_ns);
	free(host->sar);
	host->sar = NULL;
}

int sar_close(struct world *world, struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < world->hosts; i++) {
		if (!status && world->host[i].sar)
			status = output_commit(&world->host[i].sar->output, error);
		sar_discard(&world->host[i]);
	}
	return status;
}

/* Threads that run or would; the sampler is none of them. */
static uint32_t count_runnable(const struct now *now)
{
	uint32_t sum = 0;

	for (int i = 0; i < now->world->scenario->cpus; i++) {
		const struct cpu *cpu = &now_host(now)->cpu[i];

		sum += (uint32_t)cpu->runnables + (cpu->current != NO_THREAD);
	}
	return sum ? sum - 1 : 0;
}

void sar_sample(struct now *now)
{
	struct host *host = now_host(now);
	struct sar *sar = host->sar;
	struct sar_sample sample;

	if (!sar || now->ns <= sar->last_ns)
		return;
	sample = (struct sar_sample){.file = sar->output.file,
				     .host = host->name,
				     .span_ns = now->ns - sar->last_ns,
				     .real_ns = sim_clock_real(&host->clock, now->ns),
				     .runnable = count_runnable(now)};
	load_advance(&sar->load, now->ns, sample.runnable + host->disk_waiting);
	cpu_charge(now, USE_SYSTEM);
	sar_put_sample(&sample, now, &sar->last, &sar->load);
	sar->last.of_host = host->count;
	sar->last_ns = now->ns;
}
