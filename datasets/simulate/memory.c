/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/memory.h"

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
