/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_MEMORY_H
#define CT_SIMULATE_MEMORY_H

#include "simulate/world.h"

/*
 * What a host's memory holds, as far as sar tells it: a page cache that grows
 * with what is read and written, and processes that come and go. In KiB.
 */
enum { MEMORY_KIB = 1 << 20 };

struct memory {
	int64_t free, available, used, buffers, cached, committed, active, inactive;
	int64_t dirty, anonymous, slab, stack, tables, vmalloc;
};

void memory_init(struct host *host);

/* So many bytes of a file came from the disk, or are to go there, or went there. */
void memory_read(struct host *host, uint64_t bytes);
void memory_write(struct host *host, uint64_t bytes);
void memory_clean(struct host *host, uint64_t bytes);

/* What there is now; the parts add up to MEMORY_KIB as in sar's figures. */
struct memory memory_now(const struct host *host);

#endif
