/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/mem.h"
#include "merge/spans/span_model.h"

/*
 * Disk requests: queued (block_rq_insert; a device without a scheduler has none), issued
 * to the device, completed. The kernel names a request by its device and first sector;
 * while it is queued, others may be merged into it, which shows when it is issued: its
 * sectors then cover theirs. One that is requeued is issued again.
 */
enum {
	REQUESTS_MOST = 65536, /* of a disk; more are not in flight, but were lost */
	SECTOR_BYTES = 512,
};

/* LTTng's flags of what a request does. */
enum { RWBS_WRITE = 1, RWBS_DISCARD = 2, RWBS_FLUSH = 256, RWBS_PREFLUSH = 1024 };

static struct disk *disk_of(struct spans *spans, int64_t dev)
{
	struct span_node *node = &spans->node[spans->event->node];
	struct disk *disk;

	for (size_t i = 0; i < node->disks; i++)
		if (node->disk[i].dev == dev)
			return &node->disk[i];
	disk = MEM_NEXT(node->disk, node->disks, node->disk_capacity);
	*disk = (struct disk){.dev = dev, .name = TIMELINE_NONE};
	return disk;
}

static void end_request(struct spans *spans, uint32_t node, const struct disk *disk,
			struct disk_request *request, nsec_t end_ns, int64_t cut)
{
	request->span.end_ns = end_ns;
	request->span.disk.bytes = request->sectors * SECTOR_BYTES;
	request->span.disk.cut = cut;
	spans_add(spans, SPAN_DISK, node, disk->dev, &request->span);
}

static void cut_request(struct spans *spans, const struct disk *disk,
			struct disk_request *request)
{
	end_request(spans, spans->event->node, disk, request, spans->event->ts_ns,
		    span_cut(false, true));
}

static void drop(struct disk *disk, size_t at)
{
	disk->count--;
	memmove(disk->request + at, disk->request + at + 1,
		(disk->count - at) * sizeof(*disk->request));
}

/* The kernel counts them in 32 bits; more is damage. */
static int64_t sectors_of(const struct spans *spans)
{
	int64_t sectors = event_integer(spans->event, BLOCK_SECTORS, 0);

	return sectors < 0 || sectors > UINT32_MAX ? 0 : sectors;
}

static bool is_issued(const struct disk_request *request)
{
	return request->span.disk.issue_ns != TIMELINE_NONE;
}

static bool overlap(const struct disk_request *a, const struct disk_request *b)
{
	return a->span.disk.sector < nsec_add(b->span.disk.sector, b->sectors) &&
	       b->span.disk.sector < nsec_add(a->span.disk.sector, a->sectors);
}

static const char *operation_of(unsigned rwbs, int64_t sectors)
{
	return rwbs & RWBS_DISCARD                               ? "discard"
	       : rwbs & (RWBS_FLUSH | RWBS_PREFLUSH) && !sectors ? "flush"
	       : rwbs & RWBS_WRITE                               ? "write"
								 : "read";
}

static struct disk_request read_request(struct spans *spans)
{
	static const struct flag_name names[] = {
	    {"RWBS_FLAG_WRITE", RWBS_WRITE},
	    {"RWBS_FLAG_DISCARD", RWBS_DISCARD},
	    {"RWBS_FLAG_FLUSH", RWBS_FLUSH},
	    {"RWBS_FLAG_PREFLUSH", RWBS_PREFLUSH},
	    {NULL, 0},
	};
	unsigned rwbs = (unsigned)spans_flags(spans, BLOCK_RWBS, names, 0);
	int64_t sector = event_integer(spans->event, BLOCK_SECTOR, 0),
		tid = spans_tid(spans, BLOCK_TID);
	struct disk_request request = {
	    .span = spans_begin(spans->event->ts_ns, spans->event->ts_ns),
	    .sectors = sectors_of(spans),
	    .is_write = (rwbs & RWBS_WRITE) != 0,
	};
	struct timeline_block_request *row = &request.span.disk;

	row->sector = sector == -1 ? 0 : sector; /* of a flush, when it ends */
	row->operation =
	    (int64_t)texts_put(&spans->texts, operation_of(rwbs, request.sectors));
	row->tid = known(tid < 0 ? spans->tid : tid);
	row->comm = spans_text(spans, BLOCK_COMM);
	row->merged = 0;
	return request;
}

static void add(struct spans *spans, struct disk *disk, struct disk_request request)
{
	if (disk->count == REQUESTS_MOST) {
		cut_request(spans, disk, &disk->request[0]);
		drop(disk, 0);
	}
	*MEM_NEXT(disk->request, disk->count, disk->capacity) = request;
}

/* The oldest that begins there; `issued`: -1 whether or not. SIZE_MAX: none. */
static size_t find_request(const struct disk *disk, const struct disk_request *as,
			   int issued)
{
	for (size_t i = 0; i < disk->count; i++) {
		const struct disk_request *request = &disk->request[i];

		if (request->span.disk.sector == as->span.disk.sector &&
		    !request->sectors == !as->sectors &&
		    (issued < 0 || is_issued(request) == issued))
			return i;
	}
	return SIZE_MAX;
}

/* The same sectors cannot be queued twice: the one before had an end that was lost. */
static void insert(struct spans *spans, struct disk *disk,
		   const struct disk_request *request)
{
	size_t at = find_request(disk, request, 0);

	if (at != SIZE_MAX && request->sectors > 0) {
		cut_request(spans, disk, &disk->request[at]);
		drop(disk, at);
	}
	add(spans, disk, *request);
}

/* It began as another one, which went into it. */
static void begin_as(struct disk_request *request, const struct disk_request *other)
{
	request->span.begin_ns = other->span.begin_ns;
	request->span.disk.tid = other->span.disk.tid;
	request->span.disk.comm = other->span.disk.comm;
}

/* Queued requests that this one covers went into it; it began as the first of them. */
static void merge(struct disk *disk, struct disk_request *request)
{
	for (size_t i = 0; i < disk->count;) {
		const struct disk_request *other = &disk->request[i];

		if (is_issued(other) || other->is_write != request->is_write ||
		    !overlap(other, request)) {
			i++;
			continue;
		}
		request->span.disk.merged += 1 + other->span.disk.merged;
		if (other->span.begin_ns < request->span.begin_ns)
			begin_as(request, other);
		drop(disk, i);
	}
}

static void issue(struct spans *spans, struct disk *disk, struct disk_request *request)
{
	size_t at = find_request(disk, request, 0);

	if (at != SIZE_MAX) {
		begin_as(request, &disk->request[at]);
		request->span.disk.merged = disk->request[at].span.disk.merged;
		drop(disk, at);
	}
	request->span.disk.issue_ns = spans->event->ts_ns;
	merge(disk, request);
	add(spans, disk, *request);
}

static void requeue(struct disk *disk, const struct disk_request *request)
{
	size_t at = find_request(disk, request, 1);

	if (at != SIZE_MAX)
		disk->request[at].span.disk.issue_ns = TIMELINE_NONE;
}

/* It was issued before the recording, or that was lost. */
static void add_beginless(struct spans *spans, const struct disk *disk,
			  struct disk_request *done)
{
	done->span.begin_ns = spans->node[spans->event->node].begin_ns;
	done->span.disk.tid = done->span.disk.comm = TIMELINE_NONE;
	done->span.disk.error = event_integer(spans->event, BLOCK_ERROR, TIMELINE_NONE);
	end_request(spans, spans->event->node, disk, done, spans->event->ts_ns,
		    span_cut(true, false));
}

/* Some of the sectors may be done, and the rest later. */
static void complete(struct spans *spans, struct disk *disk, struct disk_request *done)
{
	size_t at = find_request(disk, done, 1);
	struct disk_request *request;
	int64_t sectors = done->sectors, *sector;

	if (at == SIZE_MAX)
		at = find_request(disk, done, -1);
	if (at == SIZE_MAX) {
		/* A write with a flush before it ends twice, the second time of nothing.
		 */
		if (sectors > 0)
			add_beginless(spans, disk, done);
		return;
	}
	request = &disk->request[at];
	sector = &request->span.disk.sector;
	request->span.disk.error =
	    event_integer(spans->event, BLOCK_ERROR, TIMELINE_NONE);
	if (sectors > 0 && sectors < request->sectors - request->done) {
		*sector = nsec_add(*sector, sectors);
		request->done += sectors;
		return;
	}
	*sector = nsec_sub(*sector, request->done);
	end_request(spans, spans->event->node, disk, request, spans->event->ts_ns, 0);
	drop(disk, at);
}

/* What is none of the kernel's numbers is -1. */
static int64_t dev_of(const struct spans *spans)
{
	int64_t dev = event_integer(spans->event, BLOCK_DEV, -1);

	return dev < 0 || dev > UINT32_MAX ? -1 : dev;
}

/* The name of a statedump; the first one stays. */
static void name_disk(struct spans *spans)
{
	struct disk *disk = disk_of(spans, event_integer(spans->event, NAMED_DEV, -1));

	if (disk->name == TIMELINE_NONE)
		disk->name = spans_text(spans, DEV_NAME);
}

void disk_event(struct spans *spans)
{
	struct disk_request request;
	struct disk *disk;

	if (spans->tag == AT_DISK_NAME) {
		name_disk(spans);
		return;
	}
	request = read_request(spans);
	disk = disk_of(spans, dev_of(spans));
	switch (spans->tag) {
	case AT_BLOCK_INSERT:
		insert(spans, disk, &request);
		break;
	case AT_BLOCK_ISSUE:
		issue(spans, disk, &request);
		break;
	case AT_BLOCK_REQUEUE:
		requeue(disk, &request);
		break;
	default:
		complete(spans, disk, &request);
		break;
	}
}

void disk_finish(struct spans *spans, uint32_t at, nsec_t end_ns)
{
	const struct span_node *node = &spans->node[at];

	for (size_t i = 0; i < node->disks; i++)
		for (size_t k = 0; k < node->disk[i].count; k++)
			end_request(spans, at, &node->disk[i], &node->disk[i].request[k],
				    end_ns, span_cut(false, true));
}
