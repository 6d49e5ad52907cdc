/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_HOST_H
#define CT_SIMULATE_HOST_H

#include <stdint.h>
#include <stdio.h>

#include "base/nsec.h"
#include "simulate/world.h"

/* Set the addresses of an endpoint; its flow's family, host and peer must be set. */
void name_endpoint(const struct world *world, struct endpoint *end, uint16_t port);

/*
 * Fill in the addresses and ports of a packet that `from` sends, as that end sees them
 * or, if it has arrived, as the other end does.
 */
void address_fill(const struct endpoint *from, bool arrived, struct packet *packet);

/*
 * A host's memory as sar shows it, in KiB: a page cache that grows with reads and writes,
 * and processes that start and end.
 */
enum { MEMORY_KIB = 1 << 20, BOOT_CACHED_KIB = 98304 };

struct memory {
	int64_t free, available, used, buffers, cached, committed, active, inactive;
	int64_t dirty, anonymous, slab, stack, tables, vmalloc;
};

/*
 * Account for `bytes` of a file that were read or will be written: the larger the cache
 * already is, the fewer of them are new to it.
 */
void memory_cache(struct host *host, uint64_t bytes);

/* Return the host's current memory; the parts add up to MEMORY_KIB as in sar's figures.
 */
struct memory memory_now(const struct host *host);

/* A host's disk: it serves one request at a time. */

enum { DISK_DEVICE = 254 << 20, SECTOR_BYTES = 512 };

#define DISK_NAME "vda"

/* Submit the thread's request of thread->bytes to the disk. */
void disk_submit(struct context *ctx, struct thread *thread, uint64_t sector,
		 bool writes);

/* Complete the thread's request. */
void disk_complete(struct context *ctx, struct thread *thread);

void host_init(struct world *world, uint32_t number);
void host_clear(struct host *host);
void cpu_clear(struct cpu *cpu); /* with the packets that wait there */

/* Return the address of a new socket buffer, as a kernel would show it. */
uint64_t host_skb(struct host *host);

/* Return true if the host is traced at this true time. */
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
	nsec_t due_ns;                   /* time of the next step */
	uint32_t average[LOAD_AVERAGES]; /* in units of 1 / LOAD_ONE */
};

/* Do all steps up to until_ns, with `active` threads. */
void load_advance(struct load *load, nsec_t until_ns, uint32_t active);

/*
 * Open DIRECTORY/NODE/sar.sadf for each host, in the format of `sadf -p`: processors,
 * switches, interrupts, memory, load, disk and network, from the model's counts. Return
 * 0, or -1 with error.
 */
int sar_open(struct world *world, const char *directory, struct error *error);

/* Sample the host, if its file is open. */
void sar_sample(struct context *ctx);

/* Finish all files. Return 0, or -1 with error. */
int sar_close(struct world *world, struct error *error);

#endif
