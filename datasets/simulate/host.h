/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_HOST_H
#define CT_SIMULATE_HOST_H

#include <stdint.h>
#include <stdio.h>

#include "base/nsec.h"
#include "simulate/world.h"

/* Set the addresses of an endpoint, whose flow has its family, host and peer. */
void name_endpoint(const struct world *world, struct endpoint *end, uint16_t port);

/*
 * Addresses and ports of a packet that one end sends, as that end sees them, or, where it
 * arrived, as the other end does.
 */
void address_fill(const struct endpoint *from, bool arrived, struct packet *packet);

/*
 * What a host's memory holds, as far as sar shows it: a page cache that grows
 * with what is read and written, and processes that come and go. In KiB.
 */
enum { MEMORY_KIB = 1 << 20, BOOT_CACHED_KIB = 98304 };

struct memory {
	int64_t free, available, used, buffers, cached, committed, active, inactive;
	int64_t dirty, anonymous, slab, stack, tables, vmalloc;
};

/*
 * So many bytes of a file came from the disk, or are to go there: the more of it is
 * cached already, the less is new.
 */
void memory_cache(struct host *host, uint64_t bytes);

/* What there is now; the parts add up to MEMORY_KIB as in sar's figures. */
struct memory memory_now(const struct host *host);

/* A host's disk, which serves one request after the other. */

enum { DISK_DEVICE = 254 << 20, SECTOR_BYTES = 512 };

#define DISK_NAME "vda"

/* The thread's request, of thread->bytes, goes to the disk. */
void disk_submit(struct context *ctx, struct thread *thread, uint64_t sector,
		 bool writes);

/* The disk says that it is done. */
void disk_complete(struct context *ctx, struct thread *thread);

void host_init(struct world *world, uint32_t number);
void host_clear(struct host *host);
void cpu_clear(struct cpu *cpu); /* with the packets that wait there */

/* The address of a socket buffer, as a kernel would show it. */
uint64_t host_skb(struct host *host);

/* Whether the host's tracer runs. */
static inline bool host_is_traced(const struct host *host, nsec_t at)
{
	return at >= host->trace_from && at < host->trace_to;
}

/*
 * Load averages as Linux makes them (Documentation of /proc/loadavg): every 5 s
 * an average decays towards the threads that run, wait to run, or wait for the
 * disk, with a time constant of 1, 5 and 15 minutes.
 */
enum { LOAD_AVERAGES = 3, LOAD_ONE = 2048 };

struct load {
	nsec_t due_ns;                   /* of the next step */
	uint32_t average[LOAD_AVERAGES]; /* in units of 1 / LOAD_ONE */
};

/* All steps up to that time, at which so many threads are active. */
void load_advance(struct load *load, nsec_t until_ns, uint32_t active);

/*
 * What sar would have sampled on each host, DIRECTORY/NODE/sar.sadf in the
 * format of `sadf -p`: processors, switches, interrupts, memory, load, disk and
 * network, from what the model counts.
 */
int sar_open(struct world *world, const char *directory, struct error *error);

/* Sample the host; nothing where no file is open. */
void sar_sample(struct context *ctx);

/* Finish all files. 0, or -1 with error. */
int sar_close(struct world *world, struct error *error);

#endif
