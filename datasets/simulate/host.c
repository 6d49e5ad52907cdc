/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/host.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/event.h"
#include "simulate/network.h"
#include "simulate/thread.h"
#include "simulate/truth.h"

/* What the translated nodes are to the others (addresses for documentation, RFC 5737,
 * 3849). */
static const uint8_t public4[16] = {203, 0, 113, 1};
static const uint8_t public6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};

/* Give a host the addresses that belong to its number. */
static void address_init(struct host *host, uint32_t number)
{
	uint8_t high = (uint8_t)(number / 250), low = (uint8_t)(number % 250 + 1);
	const uint8_t address4[16] = {10, 7, high, low};
	const uint8_t address6[16] = {0xfd, 7, [14] = high, [15] = low};
	const unsigned char mac[6] = {0x52, 0x54, 0, 7, high, low};

	memcpy(host->address[0], address4, sizeof(address4));
	memcpy(host->address[1], address6, sizeof(address6));
	memcpy(host->mac, mac, sizeof(mac));
}

static bool is_behind(const struct world *world, const struct flow *flow, int side)
{
	return flow->end[side].node < (uint32_t)world->scenario->nat;
}

/* The address and the port of one end, as the other end knows them. */
static uint16_t seen_from_afar(const struct world *world, const struct flow *flow,
			       int side, uint8_t address[16])
{
	uint16_t port = flow->end[side].port;

	if (is_behind(world, flow, side) && !is_behind(world, flow, !side)) {
		memcpy(address, flow->family == 6 ? public6 : public4, 16);
		return (uint16_t)(port ? 40000 + (flow - world->flow) % 25000 : 0);
	}
	memcpy(address, world->host[flow->end[side].node].address[flow->family == 6], 16);
	return port;
}

static uint16_t seen_from_near(const struct world *world, const struct flow *flow,
			       int side, uint8_t address[16])
{
	memcpy(address, world->host[flow->end[side].node].address[flow->family == 6], 16);
	return flow->end[side].port;
}

void address_fill(const struct world *world, const struct flow *flow, int side,
		  struct packet *packet)
{
	packet->sport = seen_from_near(world, flow, side, packet->src);
	packet->dport = seen_from_afar(world, flow, !side, packet->dst);
}

void address_translate(const struct world *world, const struct flow *flow, int side,
		       struct packet *packet)
{
	uint16_t sport, dport;

	if (is_behind(world, flow, 0) == is_behind(world, flow, 1))
		return;
	sport = seen_from_afar(world, flow, side, packet->src);
	dport = seen_from_near(world, flow, !side, packet->dst);
	if (packet->protocol == IPPROTO_ICMP || packet->protocol == IPPROTO_ICMPV6)
		return;
	packet->sport = sport;
	packet->dport = dport;
}

/* About what a small virtual machine has. */
enum {
	BOOT_CACHED = 98304, /* when the run begins */
	CACHE_MOST = MEMORY_KIB / 2,
	KERNEL = 40960,
	KERNEL_THREADS = 80,
	SLAB = 22528,
	OF_SYSTEM = 18432, /* of the daemons that are not modelled */
	OF_THREAD = 2048,
	OF_PROGRAM = 12288, /* that a child executes */
	COMMITTED = 131072,
	VMALLOC = 13756,
};

void memory_init(struct host *host)
{
	host->cached_kib = BOOT_CACHED;
	host->dirty_kib = 0;
}

/* The more of the disk is there already, the less is new. */
static void cache(struct host *host, uint64_t bytes)
{
	uint64_t kib = bytes / 1024;

	host->cached_kib += kib * (CACHE_MOST - host->cached_kib) / CACHE_MOST;
}

void memory_read(struct host *host, uint64_t bytes)
{
	cache(host, bytes);
}

void memory_write(struct host *host, uint64_t bytes)
{
	cache(host, bytes);
	host->dirty_kib += bytes / 1024;
}

void memory_clean(struct host *host, uint64_t bytes)
{
	host->dirty_kib -= bytes / 1024;
}

struct memory memory_now(const struct host *host)
{
	int64_t alive = host->alive, programs = host->programs;
	struct memory memory = {
	    .buffers = 2048 + (int64_t)host->cached_kib / 64,
	    .cached = (int64_t)host->cached_kib,
	    .dirty = (int64_t)host->dirty_kib,
	    .anonymous = OF_SYSTEM + OF_THREAD * alive + OF_PROGRAM * programs,
	    .slab = SLAB + 40 * alive,
	    .stack = 16 * (KERNEL_THREADS + alive),
	    .tables = 640 + 48 * alive + 96 * programs,
	    .vmalloc = VMALLOC,
	};

	memory.used = KERNEL + memory.anonymous + memory.stack + memory.tables;
	memory.free =
	    MEMORY_KIB - memory.used - memory.buffers - memory.cached - memory.slab;
	memory.available = memory.free + memory.buffers + memory.cached - memory.dirty;
	memory.committed = COMMITTED + 2 * memory.anonymous;
	memory.active = memory.anonymous / 2 + memory.cached / 4;
	memory.inactive = memory.anonymous / 2 + memory.cached * 3 / 4;
	return memory;
}

/* Flags of rwbs as lttng-modules records them: write 1, read 4, synchronous 32. */
enum { RWBS_READ = 4, RWBS_WRITE = 1 | 32 };

static const nsec_t least_ns = 100 * NSEC_PER_USEC, mean_ns = 900 * NSEC_PER_USEC;
static const nsec_t ns_per_sector = 2500; /* 200 MB/s */

static uint32_t rwbs_of(const struct thread *thread)
{
	return thread->call == CALL_FSYNC ? RWBS_WRITE : RWBS_READ;
}

static void tell(struct now *now, enum event_kind kind, const struct thread *thread)
{
	EVENT(now, kind, {.u = DISK_DEVICE}, {.u = thread->sector},
	      {.u = thread->bytes / SECTOR_BYTES}, {.u = thread->bytes},
	      {.i = thread->tid}, {.u = rwbs_of(thread)},
	      {.text = cpu_thread_name(thread)});
}

void disk_submit(struct now *now, uint32_t number, uint64_t sector, bool writes)
{
	struct world *world = now->world;
	struct thread *thread = &world->thread[number];
	struct host *host = now_host(now);
	uint64_t sectors = thread->bytes / SECTOR_BYTES;
	nsec_t takes = least_ns + dice_exponential(&host->dice, mean_ns) +
		       (nsec_t)sectors * ns_per_sector;

	thread->sector = sector;
	now->about = number;
	tell(now, EVENT_BLOCK_INSERT, thread);
	tell(now, EVENT_BLOCK_ISSUE, thread);
	if (host->disk_free_ns < now->ns)
		host->disk_free_ns = now->ns;
	host->disk_free_ns += takes;
	host->count.disk_busy_ns += takes;
	host->count.disk_wait_ns += host->disk_free_ns - now->ns;
	host->disk_waiting++;
	if (writes) {
		host->count.writes++;
		host->count.written_sectors += sectors;
		memory_write(host, thread->bytes);
	} else {
		host->count.reads++;
		host->count.read_sectors += sectors;
		memory_read(host, thread->bytes);
	}
	queue_add(&world->queue, host->disk_free_ns, OCCASION_DISK, number, 0);
}

void disk_complete(struct now *now, uint32_t number)
{
	const struct thread *thread = &now->world->thread[number];

	now_wait(now, thread->asleep_ns);
	now->about = number;
	EVENT(now, EVENT_BLOCK_COMPLETE, {.u = DISK_DEVICE}, {.u = thread->sector},
	      {.u = thread->bytes / SECTOR_BYTES}, {.i = 0}, {.u = rwbs_of(thread)});
	now_host(now)->disk_waiting--;
	if (thread->call == CALL_FSYNC)
		memory_clean(now_host(now), thread->bytes);
	thread_wake(now, number);
}

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

static const nsec_t step_ns = 5 * NSEC_PER_SEC;

void load_advance(struct load *load, nsec_t now_ns, uint32_t active)
{
	/* LOAD_ONE times exp(-5 s / 1, 5 and 15 minutes). */
	static const uint32_t decay[LOAD_AVERAGES] = {1884, 2014, 2037};

	for (; load->due_ns <= now_ns; load->due_ns += step_ns)
		for (int i = 0; i < LOAD_AVERAGES; i++)
			load->average[i] = (load->average[i] * decay[i] +
					    active * LOAD_ONE * (LOAD_ONE - decay[i])) /
					   LOAD_ONE;
}

static void put(const struct sar_sample *sample, const char *item, const char *metric,
		double value)
{
	fprintf(sample->file, "%s\t%.0f\t%" PRId64 "\t%s\t%s\t%.2f\n", sample->host,
		(double)sample->span_ns / 1e9, sample->real_ns / NSEC_PER_SEC, item,
		metric, value);
}

/* Some figures have no fraction. */
static void put_whole(const struct sar_sample *sample, const char *item,
		      const char *metric, int64_t value)
{
	fprintf(sample->file, "%s\t%.0f\t%" PRId64 "\t%s\t%s\t%" PRId64 "\n",
		sample->host, (double)sample->span_ns / 1e9,
		sample->real_ns / NSEC_PER_SEC, item, metric, value);
}

static double rate(const struct sar_sample *sample, uint64_t now, uint64_t then)
{
	return (double)(now - then) * 1e9 / (double)sample->span_ns;
}

static void put_cpu(const struct sar_sample *sample, const char *item,
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
static void put_cpus(const struct sar_sample *sample, const struct now *now,
		     struct sar_counts *last)
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
			used[i][use] = total - last->used_ns[i][use];
			if (used[i][use] < 0)
				used[i][use] = 0;
			all[use] += used[i][use];
			last->used_ns[i][use] = total;
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

/* All disks together, in sectors. */
static void put_transfers(const struct sar_sample *sample, const struct host_counts *now,
			  const struct host_counts *then)
{
	double reads = rate(sample, now->reads, then->reads);
	double writes = rate(sample, now->writes, then->writes);

	put(sample, "-", "tps", reads + writes);
	put(sample, "-", "rtps", reads);
	put(sample, "-", "wtps", writes);
	put(sample, "-", "dtps", 0);
	put(sample, "-", "bread/s", rate(sample, now->read_sectors, then->read_sectors));
	put(sample, "-", "bwrtn/s",
	    rate(sample, now->written_sectors, then->written_sectors));
	put(sample, "-", "bdscd/s", 0);
}

static void put_memory(const struct sar_sample *sample, const struct memory *memory)
{
	put_whole(sample, "-", "kbmemfree", memory->free);
	put_whole(sample, "-", "kbavail", memory->available);
	put_whole(sample, "-", "kbmemused", memory->used);
	put(sample, "-", "%memused", 100.0 * (double)memory->used / MEMORY_KIB);
	put_whole(sample, "-", "kbbuffers", memory->buffers);
	put_whole(sample, "-", "kbcached", memory->cached);
	put_whole(sample, "-", "kbcommit", memory->committed);
	put(sample, "-", "%commit", 100.0 * (double)memory->committed / MEMORY_KIB);
	put_whole(sample, "-", "kbactive", memory->active);
	put_whole(sample, "-", "kbinact", memory->inactive);
	put_whole(sample, "-", "kbdirty", memory->dirty);
	put_whole(sample, "-", "kbanonpg", memory->anonymous);
	put_whole(sample, "-", "kbslab", memory->slab);
	put_whole(sample, "-", "kbkstack", memory->stack);
	put_whole(sample, "-", "kbpgtbl", memory->tables);
	put_whole(sample, "-", "kbvmused", memory->vmalloc);
}

static void put_queue(const struct sar_sample *sample, const struct host *host,
		      const struct load *load)
{
	static const char *const metric[LOAD_AVERAGES] = {"ldavg-1", "ldavg-5",
							  "ldavg-15"};

	put_whole(sample, "-", "runq-sz", sample->runnable);
	put_whole(sample, "-", "plist-sz", host->alive);
	for (int i = 0; i < LOAD_AVERAGES; i++)
		put(sample, "-", metric[i], (double)load->average[i] / LOAD_ONE);
	put_whole(sample, "-", "blocked", host->disk_waiting);
}

static void put_disk(const struct sar_sample *sample, const struct host_counts *now,
		     const struct host_counts *then)
{
	double reads = rate(sample, now->reads, then->reads);
	double writes = rate(sample, now->writes, then->writes);
	double read = rate(sample, now->read_sectors, then->read_sectors);
	double written = rate(sample, now->written_sectors, then->written_sectors);
	double busy = 100.0 * (double)(now->disk_busy_ns - then->disk_busy_ns) /
		      (double)sample->span_ns;

	double wait = (double)(now->disk_wait_ns - then->disk_wait_ns);

	put(sample, DISK_NAME, "tps", reads + writes);
	put(sample, DISK_NAME, "rkB/s", read / 2);
	put(sample, DISK_NAME, "wkB/s", written / 2);
	put(sample, DISK_NAME, "dkB/s", 0);
	put(sample, DISK_NAME, "areq-sz",
	    reads + writes > 0 ? (read + written) / 2 / (reads + writes) : 0);
	put(sample, DISK_NAME, "aqu-sz", wait / (double)sample->span_ns);
	put(sample, DISK_NAME, "await",
	    reads + writes > 0
		? wait / 1e6 / ((reads + writes) * (double)sample->span_ns / 1e9)
		: 0);
	put(sample, DISK_NAME, "%util", busy > 100 ? 100 : busy);
}

static void put_card(const struct sar_sample *sample, const struct scenario *scenario,
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
	put(sample, CARD_NAME, "rxcmp/s", 0);
	put(sample, CARD_NAME, "txcmp/s", 0);
	put(sample, CARD_NAME, "rxmcst/s", 0);
	put(sample, CARD_NAME, "%ifutil", 100 * busiest / most);
}

/*
 * Write the rows of a sample in the order of `sadf -p -- -A`, and what the
 * processors were used for into `last`.
 */
static void sar_put_sample(const struct sar_sample *sample, const struct now *now,
			   struct sar_counts *last, const struct load *load)
{
	const struct host *host = now_host(now);
	const struct host_counts *count = &host->count, *then = &last->of_host;
	struct memory memory = memory_now(host);

	put_cpus(sample, now, last);
	put(sample, "-", "proc/s", rate(sample, count->forks, then->forks));
	put(sample, "-", "cswch/s", rate(sample, count->switches, then->switches));
	put(sample, "sum", "all", rate(sample, count->interrupts, then->interrupts));
	put_transfers(sample, count, then);
	put_memory(sample, &memory);
	put_queue(sample, host, load);
	put_disk(sample, count, then);
	put_card(sample, now->world->scenario, count, then);
}

struct sar {
	struct output output;
	nsec_t last_ns;
	struct sar_counts last;
	struct load load;
};

static int open_host(struct world *world, struct host *host, const char *directory,
		     struct error *error)
{
	size_t cpus = (size_t)world->scenario->cpus;

	host->sar = mem_zalloc(sizeof(*host->sar));
	host->sar->last_ns = world->begin_ns;
	host->sar->load.due_ns = world->begin_ns;
	host->sar->last.used_ns = mem_zalloc(cpus * sizeof(*host->sar->last.used_ns));
	if (sim_writer_directory(directory, host->name, error))
		return -1;
	return sim_output_open(&host->sar->output, error, "%s/%s/sar.sadf", directory,
			       host->name);
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
