/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/sar.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/output.h"
#include "simulate/card.h"
#include "simulate/cpu.h"
#include "simulate/directory.h"
#include "simulate/disk.h"

struct sar {
	struct output output;
	nsec_t last_ns;
	struct host_counts last;
	nsec_t (*last_used)[CPU_USES]; /* one a processor */
};

/* One sample, while it is written. */
struct sample {
	FILE *file;
	const char *host;
	nsec_t span_ns;
	nsec_t real_ns;
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
	host->sar->last_used = mem_zalloc(cpus * sizeof(*host->sar->last_used));
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
	free(host->sar->last_used);
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

static void put(const struct sample *sample, const char *item, const char *metric,
		double value)
{
	fprintf(sample->file, "%s\t%.0f\t%" PRId64 "\t%s\t%s\t%.2f\n", sample->host,
		(double)sample->span_ns / 1e9, sample->real_ns / NSEC_PER_SEC, item,
		metric, value);
}

static double rate(const struct sample *sample, uint64_t now, uint64_t then)
{
	return (double)(now - then) * 1e9 / (double)sample->span_ns;
}

static void put_cpu(const struct sample *sample, const char *item,
		    const nsec_t used[CPU_USES])
{
	static const struct {
		const char *metric;
		int use; /* -1: always 0 */
	} row[] = {{"%usr", USE_USER},      {"%nice", -1},  {"%sys", USE_SYSTEM},
		   {"%iowait", USE_IOWAIT}, {"%steal", -1}, {"%irq", USE_IRQ},
		   {"%soft", USE_SOFTIRQ},  {"%guest", -1}, {"%gnice", -1},
		   {"%idle", USE_IDLE}};
	nsec_t all = 0;

	for (size_t i = 0; i < CPU_USES; i++)
		all += used[i];
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		put(sample, item, row[i].metric,
		    row[i].use < 0 || !all
			? 0
			: 100.0 * (double)used[row[i].use] / (double)all);
}

/* What each processor was used for since the last sample, and all together. */
static void put_cpus(const struct sample *sample, struct now *now)
{
	int cpus = now->world->scenario->cpus;
	const struct host *host = now_host(now);
	nsec_t(*used)[CPU_USES] = mem_zalloc((size_t)cpus * sizeof(*used));
	nsec_t all[CPU_USES] = {0};

	for (int i = 0; i < cpus; i++) {
		const struct cpu *cpu = &host->cpu[i];
		nsec_t open = now->ns > cpu->charged_ns ? now->ns - cpu->charged_ns : 0;

		for (int use = 0; use < CPU_USES; use++) {
			nsec_t total = cpu->used_ns[use];

			if (use == (cpu->current == NO_THREAD ? USE_IDLE : USE_USER))
				total += open;
			used[i][use] = total - host->sar->last_used[i][use];
			if (used[i][use] < 0)
				used[i][use] = 0;
			all[use] += used[i][use];
			host->sar->last_used[i][use] = total;
		}
	}
	put_cpu(sample, "all", all);
	for (int i = 0; i < cpus; i++) {
		char item[16];

		snprintf(item, sizeof(item), "cpu%d", i);
		put_cpu(sample, item, used[i]);
	}
	free(used);
}

static void put_disk(const struct sample *sample, const struct host_counts *now,
		     const struct host_counts *then)
{
	double reads = rate(sample, now->reads, then->reads);
	double writes = rate(sample, now->writes, then->writes);
	double read = rate(sample, now->read_sectors, then->read_sectors);
	double written = rate(sample, now->written_sectors, then->written_sectors);
	double busy = 100.0 * (double)(now->disk_busy_ns - then->disk_busy_ns) /
		      (double)sample->span_ns;

	put(sample, "-", "tps", reads + writes);
	put(sample, "-", "rtps", reads);
	put(sample, "-", "wtps", writes);
	put(sample, "-", "bread/s", read);
	put(sample, "-", "bwrtn/s", written);
	put(sample, DISK_NAME, "tps", reads + writes);
	put(sample, DISK_NAME, "rkB/s", read / 2);
	put(sample, DISK_NAME, "wkB/s", written / 2);
	put(sample, DISK_NAME, "areq-sz",
	    reads + writes > 0 ? (read + written) / 2 / (reads + writes) : 0);
	put(sample, DISK_NAME, "%util", busy > 100 ? 100 : busy);
}

static void put_network(const struct sample *sample, const struct scenario *scenario,
			const struct host_counts *now, const struct host_counts *then)
{
	double received = rate(sample, now->received_bytes, then->received_bytes) / 1024;
	double sent = rate(sample, now->sent_bytes, then->sent_bytes) / 1024;
	double busiest = received > sent ? received : sent;
	double most = scenario->bandwidth_mbit * 1e6 / 8 / 1024;

	put(sample, CARD_NAME, "rxpck/s", rate(sample, now->received, then->received));
	put(sample, CARD_NAME, "txpck/s", rate(sample, now->sent, then->sent));
	put(sample, CARD_NAME, "rxkB/s", received);
	put(sample, CARD_NAME, "txkB/s", sent);
	put(sample, CARD_NAME, "%ifutil", 100 * busiest / most);
}

static uint64_t count_waiting(const struct now *now)
{
	uint64_t sum = 0;

	for (int i = 0; i < now->world->scenario->cpus; i++) {
		const struct cpu *cpu = &now_host(now)->cpu[i];

		sum += cpu->runnables + (cpu->current != NO_THREAD);
	}
	return sum;
}

void sar_sample(struct now *now)
{
	struct host *host = now_host(now);
	struct sar *sar = host->sar;
	struct sample sample;

	if (!sar || now->ns <= sar->last_ns)
		return;
	sample = (struct sample){.file = sar->output.file,
				 .host = host->name,
				 .span_ns = now->ns - sar->last_ns,
				 .real_ns = sim_clock_real(&host->clock, now->ns)};
	cpu_charge(now, USE_SYSTEM);
	put_cpus(&sample, now);
	put(&sample, "-", "proc/s", 0);
	put(&sample, "-", "cswch/s",
	    rate(&sample, host->count.switches, sar->last.switches));
	put(&sample, "sum", "all",
	    rate(&sample, host->count.interrupts, sar->last.interrupts));
	put(&sample, "-", "runq-sz", (double)count_waiting(now));
	put(&sample, "-", "plist-sz", host->threads);
	put(&sample, "-", "blocked", host->disk_waiting);
	put_disk(&sample, &host->count, &sar->last);
	put_network(&sample, now->world->scenario, &host->count, &sar->last);
	sar->last = host->count;
	sar->last_ns = now->ns;
}
