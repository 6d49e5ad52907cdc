/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/host.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/cpu.h"
#include "simulate/dice.h"
#include "simulate/event.h"
#include "simulate/network.h"
#include "simulate/task.h"
#include "simulate/thread.h"

/* The address of the translated nodes (reserved for documentation, RFC 5737, 3849). */
static const uint8_t public4[16] = {203, 0, 113, 1};
static const uint8_t public6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};

static bool is_translated(const struct world *world, const struct endpoint *end)
{
	return end->host->number < (uint32_t)world->scenario->nat;
}

void name_endpoint(const struct world *world, struct endpoint *end, uint16_t port)
{
	bool is_6 = end->flow->family == 6;

	memcpy(end->near.address, end->host->node->address[is_6], 16);
	end->near.port = port;
	end->far = end->near;
	if (!is_translated(world, end) || is_translated(world, end->peer))
		return;
	memcpy(end->far.address, is_6 ? public6 : public4, 16);
	end->far.port = (uint16_t)(port ? 40000 + end->flow->number % 25000 : 0);
}

void address_fill(const struct endpoint *from, bool arrived, struct packet *packet)
{
	const struct endpoint *to = from->peer;
	const struct socket_name *source = arrived ? &from->far : &from->near;
	const struct socket_name *target = arrived ? &to->near : &to->far;

	memcpy(packet->src, source->address, sizeof(packet->src));
	memcpy(packet->dst, target->address, sizeof(packet->dst));
	if (!source->port) /* ICMP has its type and code there */
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
	OF_SYSTEM = 18432, /* memory of the daemons that are not modelled */
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
	    .anonymous = OF_SYSTEM + OF_THREAD * alive + OF_PROGRAM * programs +
			 (int64_t)host->hogged_kib,
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

static void record_request(struct context *ctx, enum event_kind kind,
			   const struct thread *thread)
{
	EVENT(ctx, kind, {.u = DISK_DEVICE}, {.u = thread->sector},
	      {.u = thread->bytes / SECTOR_BYTES}, {.u = thread->bytes},
	      {.i = thread->tid}, {.u = rwbs_of(thread)}, {.text = thread->name});
}

void disk_submit(struct context *ctx, struct thread *thread, uint64_t sector, bool writes)
{
	struct host *host = ctx->host;
	uint64_t sectors = thread->bytes / SECTOR_BYTES;
	nsec_t takes = least_ns + dice_exponential(&host->dice, mean_ns) +
		       (nsec_t)sectors * ns_per_sector;
	const double times = fault_now(ctx, SCENARIO_DISK);

	if (times > 0)
		takes = nsec_round((double)takes * times);
	thread->sector = sector;
	ctx->about = thread;
	record_request(ctx, EVENT_BLOCK_INSERT, thread);
	record_request(ctx, EVENT_BLOCK_ISSUE, thread);
	if (host->disk_free_ns < ctx->ns)
		host->disk_free_ns = ctx->ns;
	host->disk_free_ns += takes;
	host->count.disk_busy_ns += takes;
	host->count.disk_wait_ns += host->disk_free_ns - ctx->ns;
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
	queue_add(&ctx->world->queue, host->disk_free_ns, PENDING_DISK, thread, 0);
}

void disk_complete(struct context *ctx, struct thread *thread)
{
	wait_until(ctx, thread->asleep_ns);
	ctx->about = thread;
	EVENT(ctx, EVENT_BLOCK_COMPLETE, {.u = DISK_DEVICE}, {.u = thread->sector},
	      {.u = thread->bytes / SECTOR_BYTES}, {.i = 0}, {.u = rwbs_of(thread)});
	ctx->host->disk_waiting--;
	if (thread->call == EVENT_FSYNC_EXIT)
		ctx->host->dirty_kib -= thread->bytes / 1024;
	thread_wake(ctx, thread);
}

struct sar {
	struct output output;
	nsec_t last_ns,
	    span_ns;    /* time of the last sample; time since the one before it */
	nsec_t real_ns; /* what the node's clock said at the last sample */
	struct host_counts last;     /* what the last sample saw; rates are from there */
	nsec_t (*used_ns)[CPU_USES]; /* the same, one a processor */
	struct load load;
};

enum { VLAN = 10 };

/* Set up a host's description for the writers; addresses follow from its number. */
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
	uint32_t cpus = (uint32_t)world->scenario->cpus;

	memset(host, 0, sizeof(*host));
	host->number = number;
	host->name = mem_printf("node%u", number + 1);
	dice_init(&host->dice, world->seed, DICE_HOST, number);
	host->node = &world->node[number];
	node_init(world, number, host->name);
	host->trace_from = NSEC_MIN;
	host->trace_to = NSEC_MAX;
	host->cached_kib = BOOT_CACHED_KIB;
	host->cpu = &world->cpu[number * cpus];
	for (uint32_t i = 0; i < cpus; i++) {
		struct cpu *cpu = &host->cpu[i];

		cpu->host = host;
		cpu->number = i;
		cpu->charged_ns = world->begin_ns;
		snprintf(cpu->idle_name, sizeof(cpu->idle_name), "swapper/%u", i % 100);
		snprintf(cpu->nic_name, sizeof(cpu->nic_name), "virtio0-input.%u",
			 i % 100);
	}
}

void cpu_clear(struct cpu *cpu)
{
	for (size_t i = 0; i < cpu->ringed; i++)
		free(cpu->ring[i]);
	free(cpu->ring);
	free(cpu->runnable);
}

void host_clear(struct host *host)
{
	if (host->sar) {
		output_discard(&host->sar->output);
		free(host->sar->used_ns);
		free(host->sar);
	}
	free(host->name);
	sim_clock_clear(&host->clock);
}

uint64_t host_skb(struct host *host)
{
	return 0xffff888004000000u + (uint64_t)(host->skbs++ % 16384) * 256;
}

static const nsec_t step_ns = 5 * NSEC_PER_SEC;

void load_advance(struct load *load, nsec_t until_ns, uint32_t active)
{
	/* LOAD_ONE times exp(-5 s / 1, 5 and 15 minutes). */
	static const uint32_t decay[LOAD_AVERAGES] = {1884, 2014, 2037};

	for (; load->due_ns <= until_ns; load->due_ns += step_ns)
		for (int i = 0; i < LOAD_AVERAGES; i++)
			load->average[i] = (load->average[i] * decay[i] +
					    active * LOAD_ONE * (LOAD_ONE - decay[i])) /
					   LOAD_ONE;
}

/* A figure of a sample. */
struct figure {
	const char *metric;
	double value;
	int decimals;
};

#define WHOLE(metric, value)                                                             \
	{                                                                                \
		metric, (double)(value), 0                                               \
	}
#define REAL(metric, value)                                                              \
	{                                                                                \
		metric, value, 2                                                         \
	}

static void put_figures(const struct host *host, const char *item,
			const struct figure *figure, size_t count)
{
	const struct sar *sar = host->sar;

	for (size_t i = 0; i < count; i++)
		fprintf(sar->output.file, "%s\t%.0f\t%" PRId64 "\t%s\t%s\t%.*f\n",
			host->name, (double)sar->span_ns / 1e9,
			sar->real_ns / NSEC_PER_SEC, item, figure[i].metric,
			figure[i].decimals, figure[i].value);
}

#define PUT(host, item, ...)                                                             \
	put_figures(host, item, (const struct figure[]){__VA_ARGS__},                    \
		    sizeof((const struct figure[]){__VA_ARGS__}) /                       \
			sizeof(struct figure))

/* Increase and rate of a counter of the host since the last sample. */
#define SINCE(counter) ((double)(host->count.counter - host->sar->last.counter))
#define RATE(counter)  (SINCE(counter) * 1e9 / (double)host->sar->span_ns)

static void put_cpu(const struct host *host, const char *item,
		    const nsec_t used[CPU_USES])
{
	nsec_t all = 0;
	double percent[CPU_USES];

	for (size_t i = 0; i < CPU_USES; i++)
		all += used[i];
	for (size_t i = 0; i < CPU_USES; i++)
		percent[i] = all ? 100.0 * (double)used[i] / (double)all : 0;
	PUT(host, item, REAL("%usr", percent[USE_USER]), REAL("%nice", 0),
	    REAL("%sys", percent[USE_SYSTEM]), REAL("%iowait", percent[USE_IOWAIT]),
	    REAL("%steal", 0), REAL("%irq", percent[USE_IRQ]),
	    REAL("%soft", percent[USE_SOFTIRQ]), REAL("%guest", 0), REAL("%gnice", 0),
	    REAL("%idle", percent[USE_IDLE]));
}

/* Get the uses of a processor since the last sample; add them to `all` as well. */
static void add_used(const struct context *ctx, uint32_t number, nsec_t used[CPU_USES],
		     nsec_t all[CPU_USES])
{
	const struct cpu *cpu = &ctx->host->cpu[number];
	nsec_t *last = ctx->host->sar->used_ns[number];
	nsec_t open = ctx->ns > cpu->charged_ns ? ctx->ns - cpu->charged_ns : 0;

	for (int use = 0; use < CPU_USES; use++) {
		nsec_t total = cpu->used_ns[use];

		if (use == (cpu->current ? USE_USER : USE_IDLE))
			total += open;
		used[use] = total > last[use] ? total - last[use] : 0;
		all[use] += used[use];
		last[use] = total;
	}
}

static void put_cpus(const struct context *ctx)
{
	uint32_t cpus = (uint32_t)ctx->world->scenario->cpus;
	nsec_t(*used)[CPU_USES] = mem_alloc(cpus * sizeof(*used));
	nsec_t all[CPU_USES] = {0};
	char item[16];

	for (uint32_t i = 0; i < cpus; i++)
		add_used(ctx, i, used[i], all);
	put_cpu(ctx->host, "all", all);
	for (uint32_t i = 0; i < cpus; i++) {
		snprintf(item, sizeof(item), "cpu%u", i);
		put_cpu(ctx->host, item, used[i]);
	}
	free(used);
}

static void put_memory(const struct host *host)
{
	struct memory memory = memory_now(host);

	PUT(host, "-", WHOLE("kbmemfree", memory.free),
	    WHOLE("kbavail", memory.available), WHOLE("kbmemused", memory.used),
	    REAL("%memused", 100.0 * (double)memory.used / MEMORY_KIB),
	    WHOLE("kbbuffers", memory.buffers), WHOLE("kbcached", memory.cached),
	    WHOLE("kbcommit", memory.committed),
	    REAL("%commit", 100.0 * (double)memory.committed / MEMORY_KIB),
	    WHOLE("kbactive", memory.active), WHOLE("kbinact", memory.inactive),
	    WHOLE("kbdirty", memory.dirty), WHOLE("kbanonpg", memory.anonymous),
	    WHOLE("kbslab", memory.slab), WHOLE("kbkstack", memory.stack),
	    WHOLE("kbpgtbl", memory.tables), WHOLE("kbvmused", memory.vmalloc));
}

static void put_disk(const struct host *host)
{
	double requests = RATE(reads) + RATE(writes), span = (double)host->sar->span_ns;
	double read = RATE(read_sectors), written = RATE(written_sectors);
	double busy = 100.0 * SINCE(disk_busy_ns) / span, wait = SINCE(disk_wait_ns);

	PUT(host, DISK_NAME, REAL("tps", requests), REAL("rkB/s", read / 2),
	    REAL("wkB/s", written / 2), REAL("dkB/s", 0),
	    REAL("areq-sz", requests > 0 ? (read + written) / 2 / requests : 0),
	    REAL("aqu-sz", wait / span),
	    REAL("await", requests > 0 ? wait / 1e6 / (requests * span / 1e9) : 0),
	    REAL("%util", busy > 100 ? 100 : busy));
}

static void put_interface(const struct host *host, double bandwidth_mbit)
{
	double received = RATE(received_bytes) / 1024, sent = RATE(sent_bytes) / 1024;
	double most = bandwidth_mbit * 1e6 / 8 / 1024;

	PUT(host, NIC_NAME, REAL("rxpck/s", RATE(received)), REAL("txpck/s", RATE(sent)),
	    REAL("rxkB/s", received), REAL("txkB/s", sent), REAL("rxcmp/s", 0),
	    REAL("txcmp/s", 0), REAL("rxmcst/s", 0),
	    REAL("%ifutil", 100 * (received > sent ? received : sent) / most));
}

/* Count the running and runnable threads, without the sampler. */
static uint32_t count_runnable(const struct context *ctx)
{
	uint32_t sum = 0;

	for (int i = 0; i < ctx->world->scenario->cpus; i++) {
		const struct cpu *cpu = &ctx->host->cpu[i];

		sum += (uint32_t)cpu->runnables + (cpu->current != NULL);
	}
	return sum ? sum - 1 : 0;
}

static double load_average(const struct sar *sar, int which)
{
	return (double)sar->load.average[which] / LOAD_ONE;
}

/* Rows are in the order of `sadf -p -- -A`. */
void sar_sample(struct context *ctx)
{
	struct host *host = ctx->host;
	struct sar *sar = host->sar;
	uint32_t runnable = count_runnable(ctx);

	if (!sar || ctx->ns <= sar->last_ns)
		return;
	sar->span_ns = ctx->ns - sar->last_ns;
	host->hogged_kib = (uint64_t)(1024 * fault_now(ctx, SCENARIO_MEMORY));
	sar->real_ns = sim_clock_real(&host->clock, ctx->ns);
	load_advance(&sar->load, ctx->ns, runnable + host->disk_waiting);
	cpu_charge(ctx, USE_SYSTEM);
	put_cpus(ctx);
	PUT(host, "-", REAL("proc/s", RATE(forks)), REAL("cswch/s", RATE(switches)));
	PUT(host, "sum", REAL("all", RATE(interrupts)));
	PUT(host, "-", REAL("tps", RATE(reads) + RATE(writes)), REAL("rtps", RATE(reads)),
	    REAL("wtps", RATE(writes)), REAL("dtps", 0),
	    REAL("bread/s", RATE(read_sectors)), REAL("bwrtn/s", RATE(written_sectors)),
	    REAL("bdscd/s", 0));
	put_memory(host);
	PUT(host, "-", WHOLE("runq-sz", runnable), WHOLE("plist-sz", host->alive),
	    REAL("ldavg-1", load_average(sar, 0)), REAL("ldavg-5", load_average(sar, 1)),
	    REAL("ldavg-15", load_average(sar, 2)), WHOLE("blocked", host->disk_waiting));
	put_disk(host);
	put_interface(host, ctx->world->scenario->bandwidth_mbit);
	sar->last = host->count;
	sar->last_ns = ctx->ns;
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
