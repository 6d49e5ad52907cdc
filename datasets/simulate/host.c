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

static bool is_behind(const struct world *world, const struct flow *flow, int side)
{
	return flow->end[side].node < (uint32_t)world->scenario->nat;
}

void address_of_end(const struct world *world, struct flow *flow, int side, uint16_t port)
{
	struct socket_name *near = &flow->end[side].near, *far = &flow->end[side].far;
	bool is_6 = flow->family == 6;

	memcpy(near->address, world->node[flow->end[side].node].address[is_6], 16);
	near->port = port;
	*far = *near;
	if (!is_behind(world, flow, side) || is_behind(world, flow, !side))
		return;
	memcpy(far->address, is_6 ? public6 : public4, 16);
	far->port = (uint16_t)(port ? 40000 + (flow - world->flow) % 25000 : 0);
}

void address_fill(const struct flow *flow, int side, bool arrived, struct packet *packet)
{
	const struct endpoint *from = &flow->end[side], *to = &flow->end[!side];
	const struct socket_name *source = arrived ? &from->far : &from->near;
	const struct socket_name *target = arrived ? &to->near : &to->far;

	memcpy(packet->src, source->address, sizeof(packet->src));
	memcpy(packet->dst, target->address, sizeof(packet->dst));
	if (!source->port) /* ICMP has something else there */
		return;
	packet->sport = source->port;
	packet->dport = target->port;
}

/* About what a small virtual machine has. */
enum {
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

void memory_cache(struct host *host, uint64_t bytes)
{
	uint64_t kib = bytes / 1024;

	host->cached_kib += kib * (CACHE_MOST - host->cached_kib) / CACHE_MOST;
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
	return thread->call == EVENT_FSYNC_EXIT ? RWBS_WRITE : RWBS_READ;
}

static void tell(struct now *now, enum event_kind kind, const struct thread *thread)
{
	EVENT(now, kind, {.u = DISK_DEVICE}, {.u = thread->sector},
	      {.u = thread->bytes / SECTOR_BYTES}, {.u = thread->bytes},
	      {.i = thread->tid}, {.u = rwbs_of(thread)}, {.text = thread->name});
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
		host->dirty_kib += thread->bytes / 1024;
	} else {
		host->count.reads++;
		host->count.read_sectors += sectors;
	}
	memory_cache(host, thread->bytes);
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
	if (thread->call == EVENT_FSYNC_EXIT)
		now_host(now)->dirty_kib -= thread->bytes / 1024;
	thread_wake(now, number);
}

struct sar {
	struct output output;
	nsec_t last_ns, span_ns;     /* of the last sample; from the one before to this */
	nsec_t real_ns;              /* of this */
	struct host_counts last;     /* what the last sample saw; rates are from there */
	nsec_t (*used_ns)[CPU_USES]; /* the same, one a processor */
	struct load load;
};

enum { VLAN = 10 };

/* What is written of a host; its addresses belong to its number. */
static void node_init(const struct world *world, uint32_t number, const char *name)
{
	const struct scenario *scenario = world->scenario;
	uint8_t high = (uint8_t)(number / 250), low = (uint8_t)(number % 250 + 1);
	struct sim_node *node = &world->node[number];
	struct dice dice;

	*node = (struct sim_node){
	    .name = name,
	    .cpus = (unsigned)scenario->cpus,
	    .mac = {0x52, 0x54, 0, 7, high, low},
	    .address = {{10, 7, high, low}, {0xfd, 7, [14] = high, [15] = low}},
	    .vlan = scenario->layers == LAYERS_VLAN ? VLAN : 0,
	    .event_header = (enum sim_event_header)scenario->event_header,
	};
	dice_init(&dice, world->seed, DICE_BOOT, number);
	for (size_t i = 0; i < sizeof(node->boot_id); i++)
		node->boot_id[i] = (unsigned char)dice_next(&dice);
	/* A random uuid says so (RFC 9562, version 4). */
	node->boot_id[6] = (node->boot_id[6] & 0x0f) | 0x40;
	node->boot_id[8] = (node->boot_id[8] & 0x3f) | 0x80;
}

void host_init(struct world *world, uint32_t number)
{
	struct host *host = &world->host[number];
	size_t cpus = (size_t)world->scenario->cpus;

	memset(host, 0, sizeof(*host));
	host->name = mem_printf("node%u", number + 1);
	dice_init(&host->dice, world->seed, DICE_HOST, number);
	host->node = &world->node[number];
	node_init(world, number, host->name);
	host->trace_from = NSEC_MIN;
	host->trace_to = NSEC_MAX;
	host->cached_kib = BOOT_CACHED_KIB;
	host->cpu = mem_zalloc(cpus * sizeof(*host->cpu));
	for (size_t i = 0; i < cpus; i++) {
		struct cpu *cpu = &host->cpu[i];

		cpu->current = NO_THREAD;
		cpu->charged_ns = world->begin_ns;
		snprintf(cpu->idle_name, sizeof(cpu->idle_name), "swapper/%zu", i % 100);
		snprintf(cpu->card_name, sizeof(cpu->card_name), "virtio0-input.%zu",
			 i % 100);
	}
}

void host_clear(struct world *world, struct host *host)
{
	for (int i = 0; i < world->scenario->cpus; i++) {
		free(host->cpu[i].ring);
		free(host->cpu[i].runnable);
	}
	if (host->sar) {
		output_discard(&host->sar->output);
		free(host->sar->used_ns);
		free(host->sar);
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

/* A figure of this sample; some have no fraction. */
static void put_figure(const struct host *host, const char *item, const char *metric,
		       double value, int decimals)
{
	const struct sar *sar = host->sar;

	fprintf(sar->output.file, "%s\t%.0f\t%" PRId64 "\t%s\t%s\t%.*f\n", host->name,
		(double)sar->span_ns / 1e9, sar->real_ns / NSEC_PER_SEC, item, metric,
		decimals, value);
}

static void put(const struct host *host, const char *item, const char *metric,
		double value)
{
	put_figure(host, item, metric, value, 2);
}

static void put_whole(const struct host *host, const char *metric, int64_t value)
{
	put_figure(host, "-", metric, (double)value, 0);
}

/* Of a counter of the host, since the last sample. */
#define SINCE(counter) ((double)(host->count.counter - host->sar->last.counter))
#define RATE(counter)  (SINCE(counter) * 1e9 / (double)host->sar->span_ns)

static void put_cpu(const struct host *host, const char *item,
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
		put(host, item, row[i].metric,
		    row[i].use < 0 || !all
			? 0
			: 100.0 * (double)used[row[i].use] / (double)all);
}

/* What a processor was used for since the last sample; adds it to `all`. */
static void take_used(const struct now *now, int number, nsec_t used[CPU_USES],
		      nsec_t all[CPU_USES])
{
	const struct cpu *cpu = &now_host(now)->cpu[number];
	nsec_t *last = now_host(now)->sar->used_ns[number];
	nsec_t open = now->ns > cpu->charged_ns ? now->ns - cpu->charged_ns : 0;

	for (int use = 0; use < CPU_USES; use++) {
		nsec_t total = cpu->used_ns[use];

		if (use == (cpu->current == NO_THREAD ? USE_IDLE : USE_USER))
			total += open;
		used[use] = total > last[use] ? total - last[use] : 0;
		all[use] += used[use];
		last[use] = total;
	}
}

static void put_cpus(const struct now *now)
{
	int cpus = now->world->scenario->cpus;
	nsec_t(*used)[CPU_USES] = mem_alloc((size_t)cpus * sizeof(*used));
	nsec_t all[CPU_USES] = {0};
	char item[16];

	for (int i = 0; i < cpus; i++)
		take_used(now, i, used[i], all);
	put_cpu(now_host(now), "all", all);
	for (int i = 0; i < cpus; i++) {
		snprintf(item, sizeof(item), "cpu%d", i);
		put_cpu(now_host(now), item, used[i]);
	}
	free(used);
}

/* All disks together, in sectors. */
static void put_transfers(const struct host *host)
{
	put(host, "-", "tps", RATE(reads) + RATE(writes));
	put(host, "-", "rtps", RATE(reads));
	put(host, "-", "wtps", RATE(writes));
	put(host, "-", "dtps", 0);
	put(host, "-", "bread/s", RATE(read_sectors));
	put(host, "-", "bwrtn/s", RATE(written_sectors));
	put(host, "-", "bdscd/s", 0);
}

static void put_memory(const struct host *host)
{
	struct memory memory = memory_now(host);

	put_whole(host, "kbmemfree", memory.free);
	put_whole(host, "kbavail", memory.available);
	put_whole(host, "kbmemused", memory.used);
	put(host, "-", "%memused", 100.0 * (double)memory.used / MEMORY_KIB);
	put_whole(host, "kbbuffers", memory.buffers);
	put_whole(host, "kbcached", memory.cached);
	put_whole(host, "kbcommit", memory.committed);
	put(host, "-", "%commit", 100.0 * (double)memory.committed / MEMORY_KIB);
	put_whole(host, "kbactive", memory.active);
	put_whole(host, "kbinact", memory.inactive);
	put_whole(host, "kbdirty", memory.dirty);
	put_whole(host, "kbanonpg", memory.anonymous);
	put_whole(host, "kbslab", memory.slab);
	put_whole(host, "kbkstack", memory.stack);
	put_whole(host, "kbpgtbl", memory.tables);
	put_whole(host, "kbvmused", memory.vmalloc);
}

static void put_queue(const struct host *host, uint32_t runnable)
{
	static const char *const metric[LOAD_AVERAGES] = {"ldavg-1", "ldavg-5",
							  "ldavg-15"};

	put_whole(host, "runq-sz", runnable);
	put_whole(host, "plist-sz", host->alive);
	for (int i = 0; i < LOAD_AVERAGES; i++)
		put(host, "-", metric[i], (double)host->sar->load.average[i] / LOAD_ONE);
	put_whole(host, "blocked", host->disk_waiting);
}

static void put_disk(const struct host *host)
{
	double requests = RATE(reads) + RATE(writes), span = (double)host->sar->span_ns;
	double read = RATE(read_sectors), written = RATE(written_sectors);
	double busy = 100.0 * SINCE(disk_busy_ns) / span, wait = SINCE(disk_wait_ns);

	put(host, DISK_NAME, "tps", requests);
	put(host, DISK_NAME, "rkB/s", read / 2);
	put(host, DISK_NAME, "wkB/s", written / 2);
	put(host, DISK_NAME, "dkB/s", 0);
	put(host, DISK_NAME, "areq-sz",
	    requests > 0 ? (read + written) / 2 / requests : 0);
	put(host, DISK_NAME, "aqu-sz", wait / span);
	put(host, DISK_NAME, "await",
	    requests > 0 ? wait / 1e6 / (requests * span / 1e9) : 0);
	put(host, DISK_NAME, "%util", busy > 100 ? 100 : busy);
}

static void put_card(const struct host *host, double bandwidth_mbit)
{
	double received = RATE(received_bytes) / 1024, sent = RATE(sent_bytes) / 1024;
	double most = bandwidth_mbit * 1e6 / 8 / 1024;

	put(host, CARD_NAME, "rxpck/s", RATE(received));
	put(host, CARD_NAME, "txpck/s", RATE(sent));
	put(host, CARD_NAME, "rxkB/s", received);
	put(host, CARD_NAME, "txkB/s", sent);
	put(host, CARD_NAME, "rxcmp/s", 0);
	put(host, CARD_NAME, "txcmp/s", 0);
	put(host, CARD_NAME, "rxmcst/s", 0);
	put(host, CARD_NAME, "%ifutil", 100 * (received > sent ? received : sent) / most);
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

/* The rows come in the order of `sadf -p -- -A`. */
void sar_sample(struct now *now)
{
	struct host *host = now_host(now);
	struct sar *sar = host->sar;
	uint32_t runnable = count_runnable(now);

	if (!sar || now->ns <= sar->last_ns)
		return;
	sar->span_ns = now->ns - sar->last_ns;
	sar->real_ns = sim_clock_real(&host->clock, now->ns);
	load_advance(&sar->load, now->ns, runnable + host->disk_waiting);
	cpu_charge(now, USE_SYSTEM);
	put_cpus(now);
	put(host, "-", "proc/s", RATE(forks));
	put(host, "-", "cswch/s", RATE(switches));
	put(host, "sum", "all", RATE(interrupts));
	put_transfers(host);
	put_memory(host);
	put_queue(host, runnable);
	put_disk(host);
	put_card(host, now->world->scenario->bandwidth_mbit);
	sar->last = host->count;
	sar->last_ns = now->ns;
}

int sar_open(struct world *world, const char *directory, struct error *error)
{
	size_t cpus = (size_t)world->scenario->cpus;

	for (size_t i = 0; i < world->hosts; i++) {
		struct host *host = &world->host[i];
		struct sar *sar = host->sar = mem_zalloc(sizeof(*sar));

		sar->last_ns = sar->load.due_ns = world->begin_ns;
		sar->used_ns = mem_zalloc(cpus * sizeof(*sar->used_ns));
		if (sim_output_open(&sar->output, error, "%s/%s/sar.sadf", directory,
				    host->name))
			return -1;
	}
	return 0;
}

int sar_close(struct world *world, struct error *error)
{
	for (size_t i = 0; i < world->hosts; i++)
		if (world->host[i].sar &&
		    output_commit(&world->host[i].sar->output, error))
			return -1;
	return 0;
}
