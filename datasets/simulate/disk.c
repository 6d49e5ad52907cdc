/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/disk.h"

#include "simulate/cpu.h"
#include "simulate/event.h"
#include "simulate/memory.h"
#include "simulate/spans.h"
#include "simulate/task.h"
#include "simulate/thread.h"

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
