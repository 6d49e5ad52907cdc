/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/host.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/cpu.h"
#include "simulate/event.h"
#include "simulate/spans.h"
#include "simulate/task.h"
#include "simulate/thread.h"

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
	spans_disk(now, number);
	tell(now, EVENT_BLOCK_INSERT, thread);
	spans_disk_issue(now, number);
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
	spans_disk_end(now, number, thread->call == CALL_FSYNC);
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
