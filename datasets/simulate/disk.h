/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_DISK_H
#define CT_SIMULATE_DISK_H

#include "simulate/now.h"

/* A host's disk, which serves one request after the other. */

enum { DISK_DEVICE = 254 << 20, SECTOR_BYTES = 512 };

#define DISK_NAME "vda"

/* The thread's request, of thread->bytes, goes to the disk. */
void disk_submit(struct now *now, uint32_t thread, uint64_t sector, bool writes);

/* The disk says that it is done. */
void disk_complete(struct now *now, uint32_t thread);

#endif
