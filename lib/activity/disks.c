/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "activity/activity_private.h"
#include "base/mem.h"

/*
 * Disk requests: queued (block_rq_insert; a device without a scheduler has none), issued
 * to the device, completed. The kernel names a request by its device and first sector;
 * while it is queued, others may be merged into it, which shows when it is issued: its
 * sectors then cover theirs. One that is requeued is issued again.
 */
enum { REQUESTS_MOST = 65536 }; /* of a disk; more are not in flight, but were lost */

/* Fields, in the order of the wish. */
enum { DEV, SECTOR, SECTORS, RWBS, TID, COMM, ERROR };

static struct disk_queue *queue_of(struct walk *walk, int64_t dev)
{
	struct activity_node *node = &walk->node[walk->at_node];

	for (size_t i = 0; i < node->disks; i++)
		if (node->disk[i].dev == dev)
			return &node->disk[i];
	node->disk =
	    mem_grow(node->disk, node->disks, &node->disk_room, sizeof(*node->disk));
	node->disk[node->disks] = (struct disk_queue){.dev = dev};
	return &node->disk[node->disks++];
}

static void tell(struct walk *walk, const struct disk_request *request, nsec_t end_ns)
{
	struct disk_span span = request->span;

	if (walk->status)
		return;
	span.end_ns = end_ns;
	span.comm = request->comm;
	if (walk_clip(walk, &span.begin_ns, end_ns, &span.cut_begin, true))
		walk->status = walk->ops->disk(walk->context, &span);
}

static void tell_cut(struct walk *walk, struct disk_request *request, nsec_t end_ns)
{
	request->span.cut_end = true;
	tell(walk, request, end_ns);
}

static void drop(struct disk_queue *queue, size_t at)
{
	queue->count--;
	memmove(queue->request + at, queue->request + at + 1,
		(queue->count - at) * sizeof(*queue->request));
}

/* The kernel counts them in 32 bits; more is damage. */
static int64_t sectors_of(const struct cell *cell)
{
	int64_t sectors = field_integer(cell, 0);

	return sectors < 0 || sectors > UINT32_MAX ? 0 : sectors;
}

static bool overlaps(const struct disk_span *a, int64_t sector, int64_t sectors)
{
	return a->sector < nsec_add(sector, sectors) &&
	       sector < nsec_add(a->sector, a->sectors);
}

static struct disk_request take_fields(struct walk *walk)
{
	const struct cell *field = walk->row.field;
	unsigned rwbs = field_rwbs(&field[RWBS]);
	int64_t sector = field_integer(&field[SECTOR], 0);

	return (struct disk_request){
	    .span = {.node = walk->node[walk->at_node].id,
		     .dev = field_integer(&field[DEV], -1),
		     .sector = sector == -1 ? 0 : sector, /* of a flush, when it ends */
		     .sectors = sectors_of(&field[SECTORS]),
		     .write = (rwbs & RWBS_WRITE) != 0,
		     .discard = (rwbs & RWBS_DISCARD) != 0,
		     .flush = (rwbs & (RWBS_FLUSH | RWBS_PREFLUSH)) != 0,
		     .begin_ns = walk->row.ts_ns,
		     .issue_ns = NSEC_MIN,
		     .tid = field_integer(&field[TID], walk->row.tid)},
	    .comm = texts_keep(&walk->texts, &field[COMM]),
	};
}

static void add(struct walk *walk, struct disk_queue *queue, struct disk_request request)
{
	if (queue->count == REQUESTS_MOST) {
		tell_cut(walk, &queue->request[0], walk->row.ts_ns);
		drop(queue, 0);
	}
	queue->request =
	    mem_grow(queue->request, queue->count, &queue->room, sizeof(*queue->request));
	queue->request[queue->count++] = request;
}

/* The oldest that begins there; `issued`: -1 whether or not. SIZE_MAX: none. */
static size_t find(const struct disk_queue *queue, const struct disk_span *span,
		   int issued)
{
	for (size_t i = 0; i < queue->count; i++) {
		const struct disk_request *request = &queue->request[i];

		if (request->span.sector == span->sector &&
		    !request->span.sectors == !span->sectors &&
		    (issued < 0 || request->issued == issued))
			return i;
	}
	return SIZE_MAX;
}

/* The same sectors cannot be queued twice: the one before had an end that was lost. */
static void insert(struct walk *walk, struct disk_queue *queue,
		   const struct disk_request *request)
{
	size_t at = find(queue, &request->span, 0);

	if (at != SIZE_MAX && request->span.sectors > 0) {
		tell_cut(walk, &queue->request[at], walk->row.ts_ns);
		drop(queue, at);
	}
	add(walk, queue, *request);
}

/* Queued requests that this one covers went into it; it began as the first of them. */
static void merge(struct disk_queue *queue, struct disk_request *request)
{
	for (size_t i = 0; i < queue->count;) {
		const struct disk_request *other = &queue->request[i];

		if (other->issued || other->span.write != request->span.write ||
		    !overlaps(&other->span, request->span.sector,
			      request->span.sectors)) {
			i++;
			continue;
		}
		request->span.merged += 1 + other->span.merged;
		if (other->span.begin_ns < request->span.begin_ns) {
			request->span.begin_ns = other->span.begin_ns;
			request->span.tid = other->span.tid;
			request->comm = other->comm;
		}
		drop(queue, i);
	}
}

static void issue(struct walk *walk, struct disk_queue *queue,
		  struct disk_request *request)
{
	size_t at = find(queue, &request->span, 0);

	if (at != SIZE_MAX) {
		const struct disk_request *queued = &queue->request[at];

		request->span.begin_ns = queued->span.begin_ns;
		request->span.tid = queued->span.tid;
		request->span.merged = queued->span.merged;
		request->comm = queued->comm;
		drop(queue, at);
	}
	request->issued = true;
	request->span.issue_ns = walk->row.ts_ns;
	merge(queue, request);
	add(walk, queue, *request);
}

static void requeue(struct disk_queue *queue, const struct disk_request *request)
{
	size_t at = find(queue, &request->span, 1);

	if (at != SIZE_MAX) {
		queue->request[at].issued = false;
		queue->request[at].span.issue_ns = NSEC_MIN;
	}
}

/* It was issued before the recording, or that was lost. */
static void tell_beginless(struct walk *walk, const struct disk_request *done)
{
	const struct activity_node *node = &walk->node[walk->at_node];
	struct disk_request request = *done;

	request.span.begin_ns =
	    node->begin_ns == NSEC_MIN ? walk->row.ts_ns : node->begin_ns;
	request.span.cut_begin = true;
	request.span.tid = -1;
	request.comm = "";
	tell(walk, &request, walk->row.ts_ns);
}

/* Some of the sectors may be done, and the rest later. */
static void complete(struct walk *walk, struct disk_queue *queue,
		     const struct disk_request *done)
{
	size_t at = find(queue, &done->span, 1);
	struct disk_request *request;
	int64_t sectors = done->span.sectors;

	if (at == SIZE_MAX)
		at = find(queue, &done->span, -1);
	if (at == SIZE_MAX) {
		/* A write with a flush before it ends twice, the second time of nothing.
		 */
		if (sectors > 0)
			tell_beginless(walk, done);
		return;
	}
	request = &queue->request[at];
	request->span.error = field_integer(&walk->row.field[ERROR], 0);
	if (sectors > 0 && sectors < request->span.sectors - request->done) {
		request->span.sector = nsec_add(request->span.sector, sectors);
		request->done += sectors;
		return;
	}
	request->span.sector = nsec_sub(request->span.sector, request->done);
	tell(walk, request, walk->row.ts_ns);
	drop(queue, at);
}

void disk_event(struct walk *walk)
{
	struct disk_request request = take_fields(walk);
	struct disk_queue *queue = queue_of(walk, request.span.dev);

	switch (walk->row.tag) {
	case AT_BLOCK_INSERT:
		insert(walk, queue, &request);
		break;
	case AT_BLOCK_ISSUE:
		issue(walk, queue, &request);
		break;
	case AT_BLOCK_REQUEUE:
		requeue(queue, &request);
		break;
	case AT_BLOCK_COMPLETE:
		complete(walk, queue, &request);
		break;
	}
}

void disk_finish(struct walk *walk, size_t at, nsec_t end_ns)
{
	const struct activity_node *node = &walk->node[at];

	for (size_t i = 0; i < node->disks; i++)
		for (size_t k = 0; k < node->disk[i].count; k++)
			tell_cut(walk, &node->disk[i].request[k], end_ns);
}
