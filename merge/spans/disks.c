/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/mem.h"
#include "merge/spans/spans_private.h"

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

static struct disk *disk_of(struct spans *spans, int64_t dev)
{
	struct span_node *node = &spans->node[spans->event->node];

	for (size_t i = 0; i < node->disks; i++)
		if (node->disk[i].dev == dev)
			return &node->disk[i];
	node->disk =
	    mem_grow(node->disk, node->disks, &node->disk_room, sizeof(*node->disk));
	node->disk[node->disks] = (struct disk){.dev = dev, .name = NO_TEXT};
	return &node->disk[node->disks++];
}

static void tell(struct spans *spans, uint32_t node, const struct disk *disk,
		 const struct disk_request *request, nsec_t end_ns, int64_t cut)
{
	struct span span = spans_begin(request->begin_ns, end_ns);

	span.value[DISK_OPERATION] = request->operation;
	span.value[DISK_SECTOR] = request->sector;
	span.value[DISK_BYTES] = request->sectors * SECTOR_BYTES;
	span.value[DISK_TID] = request->tid < 0 ? SPAN_NONE : request->tid;
	span.value[DISK_COMM] = request->comm == NO_TEXT ? SPAN_NONE : request->comm;
	span.value[DISK_ISSUE] = request->issue_ns;
	span.value[DISK_ERROR] = request->error;
	span.value[DISK_MERGED] = request->merged;
	span.value[DISK_CUT] = cut;
	spans_tell(spans, SPAN_DISK, node, disk->dev, &span);
}

static void tell_cut(struct spans *spans, const struct disk *disk,
		     const struct disk_request *request)
{
	tell(spans, spans->event->node, disk, request, spans->event->ts_ns,
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
	int64_t sectors = spans_integer(spans, BLOCK_SECTORS, 0);

	return sectors < 0 || sectors > UINT32_MAX ? 0 : sectors;
}

static bool overlaps(const struct disk_request *a, int64_t sector, int64_t sectors)
{
	return a->sector < nsec_add(sector, sectors) &&
	       sector < nsec_add(a->sector, a->sectors);
}

static const char *operation_of(unsigned rwbs, int64_t sectors)
{
	return rwbs & RWBS_DISCARD                               ? "discard"
	       : rwbs & (RWBS_FLUSH | RWBS_PREFLUSH) && !sectors ? "flush"
	       : rwbs & RWBS_WRITE                               ? "write"
								 : "read";
}

static struct disk_request take_fields(struct spans *spans)
{
	unsigned rwbs = field_rwbs(spans_field(spans, BLOCK_RWBS));
	int64_t sector = spans_integer(spans, BLOCK_SECTOR, 0),
		tid = spans_tid(spans, BLOCK_TID);
	int64_t sectors = sectors_of(spans);

	return (struct disk_request){
	    .sector = sector == -1 ? 0 : sector, /* of a flush, when it ends */
	    .sectors = sectors,
	    .is_write = (rwbs & RWBS_WRITE) != 0,
	    .operation = spans_word(spans, operation_of(rwbs, sectors)),
	    .begin_ns = spans->event->ts_ns,
	    .issue_ns = NSEC_MIN,
	    .tid = tid < 0 ? spans->tid : tid,
	    .comm = spans_text(spans, BLOCK_COMM),
	    .error = SPAN_NONE,
	};
}

static void add(struct spans *spans, struct disk *disk, struct disk_request request)
{
	if (disk->count == REQUESTS_MOST) {
		tell_cut(spans, disk, &disk->request[0]);
		drop(disk, 0);
	}
	disk->request =
	    mem_grow(disk->request, disk->count, &disk->room, sizeof(*disk->request));
	disk->request[disk->count++] = request;
}

/* The oldest that begins there; `issued`: -1 whether or not. SIZE_MAX: none. */
static size_t find(const struct disk *disk, const struct disk_request *span, int issued)
{
	for (size_t i = 0; i < disk->count; i++) {
		const struct disk_request *request = &disk->request[i];

		if (request->sector == span->sector &&
		    !request->sectors == !span->sectors &&
		    (issued < 0 || (request->issue_ns != NSEC_MIN) == issued))
			return i;
	}
	return SIZE_MAX;
}

/* The same sectors cannot be queued twice: the one before had an end that was lost. */
static void insert(struct spans *spans, struct disk *disk,
		   const struct disk_request *request)
{
	size_t at = find(disk, request, 0);

	if (at != SIZE_MAX && request->sectors > 0) {
		tell_cut(spans, disk, &disk->request[at]);
		drop(disk, at);
	}
	add(spans, disk, *request);
}

/* Queued requests that this one covers went into it; it began as the first of them. */
static void merge(struct disk *disk, struct disk_request *request)
{
	for (size_t i = 0; i < disk->count;) {
		const struct disk_request *other = &disk->request[i];

		if (other->issue_ns != NSEC_MIN || other->is_write != request->is_write ||
		    !overlaps(other, request->sector, request->sectors)) {
			i++;
			continue;
		}
		request->merged += 1 + other->merged;
		if (other->begin_ns < request->begin_ns) {
			request->begin_ns = other->begin_ns;
			request->tid = other->tid;
			request->comm = other->comm;
		}
		drop(disk, i);
	}
}

static void issue(struct spans *spans, struct disk *disk, struct disk_request *request)
{
	size_t at = find(disk, request, 0);

	if (at != SIZE_MAX) {
		const struct disk_request *queued = &disk->request[at];

		request->begin_ns = queued->begin_ns;
		request->tid = queued->tid;
		request->merged = queued->merged;
		request->comm = queued->comm;
		drop(disk, at);
	}
	request->issue_ns = spans->event->ts_ns;
	merge(disk, request);
	add(spans, disk, *request);
}

static void requeue(struct disk *disk, const struct disk_request *request)
{
	size_t at = find(disk, request, 1);

	if (at != SIZE_MAX)
		disk->request[at].issue_ns = NSEC_MIN;
}

/* It was issued before the recording, or that was lost. */
static void tell_beginless(struct spans *spans, const struct disk *disk,
			   const struct disk_request *done)
{
	struct disk_request request = *done;

	request.begin_ns = spans->node[spans->event->node].begin_ns;
	request.tid = -1;
	request.comm = NO_TEXT;
	request.error = spans_integer(spans, BLOCK_ERROR, SPAN_NONE);
	tell(spans, spans->event->node, disk, &request, spans->event->ts_ns,
	     span_cut(true, false));
}

/* Some of the sectors may be done, and the rest later. */
static void complete(struct spans *spans, struct disk *disk,
		     const struct disk_request *done)
{
	size_t at = find(disk, done, 1);
	struct disk_request *request;
	int64_t sectors = done->sectors;

	if (at == SIZE_MAX)
		at = find(disk, done, -1);
	if (at == SIZE_MAX) {
		/* A write with a flush before it ends twice, the second time of nothing.
		 */
		if (sectors > 0)
			tell_beginless(spans, disk, done);
		return;
	}
	request = &disk->request[at];
	request->error = spans_integer(spans, BLOCK_ERROR, SPAN_NONE);
	if (sectors > 0 && sectors < request->sectors - request->done) {
		request->sector = nsec_add(request->sector, sectors);
		request->done += sectors;
		return;
	}
	request->sector = nsec_sub(request->sector, request->done);
	tell(spans, spans->event->node, disk, request, spans->event->ts_ns, 0);
	drop(disk, at);
}

/* What is none of the kernel's numbers is -1. */
static int64_t dev_of(const struct spans *spans)
{
	int64_t dev = spans_integer(spans, BLOCK_DEV, -1);

	return dev < 0 || dev > UINT32_MAX ? -1 : dev;
}

/* The name of a statedump; the first one stays. */
static void name_disk(struct spans *spans)
{
	struct disk *disk = disk_of(spans, spans_integer(spans, NAMED_DEV, -1));

	if (disk->name == NO_TEXT)
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
	request = take_fields(spans);
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
			tell(spans, at, &node->disk[i], &node->disk[i].request[k], end_ns,
			     span_cut(false, true));
}
