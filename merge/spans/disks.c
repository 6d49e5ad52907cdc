/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/mem.h"
#include "merge/spans/spans_private.h"

/*
 * Disk requests: queued (block_rq_insert; not without a scheduler), issued to the device,
 * completed. The kernel identifies a request by device and first sector. While it is
 * queued, others can be merged into it; this shows when it is issued, because its sectors
 * then cover theirs. A requeued request is issued again.
 *
 * If completions are lost, later ones on the sector must not be counted for the earlier
 * requests. Of several requests in flight on one sector, the first issued with an
 * operation and size completes first. If the sector is issued again before all have
 * completed, the oldest have lost their completions, as they have if the tracer reported
 * lost events meanwhile. They are taken to have been in flight until the next issue on
 * the sector, whatever its operation.
 */
enum {
	REQUESTS_MOST = 65536, /* limit of a disk; beyond it, completions were lost */
	SECTOR_BYTES = 512,
	IN_FLIGHT_MOST = 16, /* on one sector */
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
	request->span.disk.sector = nsec_sub(request->span.disk.sector, request->done);
	request->span.disk.bytes = request->sectors * SECTOR_BYTES;
	request->span.disk.cut = cut | span_doubt(spans->node[node].doubt_ns, NEED_DISK,
						  request->span.begin_ns);
	spans_add(spans, SPAN_DISK, node, disk->dev, &request->span);
}

static void drop_request(struct disk *disk, size_t at)
{
	disk->count--;
	memmove(disk->request + at, disk->request + at + 1,
		(disk->count - at) * sizeof(*disk->request));
}

/* End a request whose completion was lost, marked as cut, and remove it. */
static void cut_request(struct spans *spans, struct disk *disk, size_t at, nsec_t end_ns)
{
	end_request(spans, spans->event->node, disk, &disk->request[at], end_ns,
		    span_cut(false, true));
	drop_request(disk, at);
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

static bool sectors_overlap(const struct disk_request *a, const struct disk_request *b)
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
	    .sectors = sectors_of(spans),
	    .is_write = (rwbs & RWBS_WRITE) != 0,
	    .lacks_operation = event_field(spans->event, BLOCK_RWBS)->type == CELL_NULL,
	    .next_issue_ns = NSEC_MAX,
	    .completed_ns = NSEC_MIN,
	};
	struct timeline_block_request *row = &request.span.disk;

	span_init(&request.span, spans->event->ts_ns, spans->event->ts_ns);
	row->sector = sector == -1 ? 0 : sector; /* -1: a flush that ends */
	row->operation =
	    (int64_t)texts_put(&spans->texts, operation_of(rwbs, request.sectors));
	row->tid = known(tid < 0 ? spans->tid : tid);
	row->comm = spans_text(spans, BLOCK_COMM);
	row->merged = 0;
	return request;
}

static void add_disk_request(struct spans *spans, struct disk *disk,
			     struct disk_request request)
{
	if (disk->count == REQUESTS_MOST)
		cut_request(spans, disk, 0, spans->event->ts_ns);
	*MEM_NEXT(disk->request, disk->count, disk->capacity) = request;
}

/* Return true if a request starts, or started before a part of it was done, at the first
 * sector of `as`. */
static bool is_at_sector(const struct disk_request *request,
			 const struct disk_request *as)
{
	int64_t sector = request->span.disk.sector;

	return (sector == as->span.disk.sector ||
		nsec_sub(sector, request->done) == as->span.disk.sector) &&
	       !request->sectors == !as->sectors;
}

/* Return true if that holds, and the request is of the same operation. */
static bool is_at(const struct disk_request *request, const struct disk_request *as)
{
	return is_at_sector(request, as) &&
	       (as->lacks_operation ||
		request->span.disk.operation == as->span.disk.operation);
}

/* Return the index of the oldest request like `as` that was issued, or is only queued,
 * according to `issued`, or SIZE_MAX. */
static size_t find_request(const struct disk *disk, const struct disk_request *as,
			   bool issued)
{
	for (size_t i = 0; i < disk->count; i++)
		if (is_at(&disk->request[i], as) &&
		    is_issued(&disk->request[i]) == issued)
			return i;
	return SIZE_MAX;
}

/* Queue a request. The same sectors cannot be queued twice: the end of an earlier request
 * was lost. */
static void queue_request(struct spans *spans, struct disk *disk,
			  const struct disk_request *request)
{
	size_t at = find_request(disk, request, false);

	if (at != SIZE_MAX && request->sectors > 0)
		cut_request(spans, disk, at, spans->event->ts_ns);
	add_disk_request(spans, disk, *request);
}

/* Return true if as many sectors are left of both. */
static bool has_size_of(const struct disk_request *request, const struct disk_request *as)
{
	return request->sectors - request->done == as->sectors - as->done;
}

/* The requests of one operation and size in flight on a sector, the oldest first. Flushes
 * have no sector. */
struct flight {
	size_t at[IN_FLIGHT_MOST], count, completed;
};

static struct flight find_flight(const struct disk *disk, const struct disk_request *as)
{
	struct flight flight = {.count = 0};

	for (size_t i = 0;
	     as->sectors && i < disk->count && flight.count < IN_FLIGHT_MOST; i++) {
		const struct disk_request *request = &disk->request[i];

		if (!is_at(request, as) || !is_issued(request) ||
		    !has_size_of(request, as))
			continue;
		flight.completed += request->completed_ns != NSEC_MIN;
		flight.at[flight.count++] = i;
	}
	return flight;
}

/* End all requests of a flight. The completions belong to the last of them; the first
 * have lost theirs, and each is cut where the next one on the sector was issued. */
static void end_flight(struct spans *spans, uint32_t node, struct disk *disk,
		       const struct flight *flight, nsec_t end_ns)
{
	size_t lost = flight->count - flight->completed;
	struct disk_request copy[IN_FLIGHT_MOST];

	for (size_t i = 0; i < flight->count; i++)
		copy[i] = disk->request[flight->at[i]];
	for (size_t i = 0; i < flight->count; i++) {
		size_t at = flight->at[i] - i; /* those before it were dropped */
		struct disk_request *request = &disk->request[at];

		if (i < lost) {
			nsec_t next_ns = copy[i].next_issue_ns;

			end_request(spans, node, disk, request,
				    next_ns < end_ns ? next_ns : end_ns,
				    span_cut(false, true));
		} else {
			request->span.disk.error = copy[i - lost].error;
			end_request(spans, node, disk, request,
				    copy[i - lost].completed_ns, 0);
		}
		drop_request(disk, at);
	}
}

/* When a request is issued, end the requests in flight on its sector if some of them have
 * lost their completions. */
static void end_lost(struct spans *spans, struct disk *disk,
		     const struct disk_request *request)
{
	const struct flight flight = find_flight(disk, request);
	const struct disk_request *oldest;

	for (size_t i = 0; request->sectors && i < disk->count; i++)
		if (is_issued(&disk->request[i]) &&
		    is_at_sector(&disk->request[i], request) &&
		    disk->request[i].next_issue_ns == NSEC_MAX)
			disk->request[i].next_issue_ns = spans->event->ts_ns;
	if (!flight.count)
		return;
	oldest = &disk->request[flight.at[0]];
	if (flight.completed || oldest->done || flight.count == IN_FLIGHT_MOST ||
	    span_doubt(spans->node[spans->event->node].doubt_ns, NEED_DISK,
		       oldest->span.disk.issue_ns))
		end_flight(spans, spans->event->node, disk, &flight, spans->event->ts_ns);
}

/* Let a request begin as the one that was merged into it. */
static void begin_as(struct disk_request *request, const struct disk_request *other)
{
	request->span.begin_ns = other->span.begin_ns;
	request->span.disk.tid = other->span.disk.tid;
	request->span.disk.comm = other->span.disk.comm;
}

/* Queued requests that this one covers went into it; it began as the first of them. */
static void merge_requests(struct disk *disk, struct disk_request *request)
{
	for (size_t i = 0; i < disk->count;) {
		const struct disk_request *other = &disk->request[i];

		if (is_issued(other) || other->is_write != request->is_write ||
		    !sectors_overlap(other, request)) {
			i++;
			continue;
		}
		request->span.disk.merged += 1 + other->span.disk.merged;
		if (other->span.begin_ns < request->span.begin_ns)
			begin_as(request, other);
		drop_request(disk, i);
	}
}

static void issue_request(struct spans *spans, struct disk *disk,
			  struct disk_request *request)
{
	size_t at;

	end_lost(spans, disk, request);
	at = find_request(disk, request, false);
	if (at != SIZE_MAX) {
		begin_as(request, &disk->request[at]);
		request->span.disk.merged = disk->request[at].span.disk.merged;
		drop_request(disk, at);
	}
	request->span.disk.issue_ns = spans->event->ts_ns;
	merge_requests(disk, request);
	add_disk_request(spans, disk, *request);
}

static void requeue_request(struct disk *disk, const struct disk_request *request)
{
	size_t at = find_request(disk, request, true);

	if (at != SIZE_MAX)
		disk->request[at].span.disk.issue_ns = TIMELINE_NONE;
}

/* Add a request whose issue was before the recording or was lost. */
static void add_beginless(struct spans *spans, const struct disk *disk,
			  struct disk_request *done)
{
	done->span.begin_ns = known_since(&spans->node[spans->event->node], NEED_DISK);
	done->span.disk.tid = done->span.disk.comm = TIMELINE_NONE;
	done->span.disk.error = event_integer(spans->event, BLOCK_ERROR, TIMELINE_NONE);
	end_request(spans, spans->event->node, disk, done, spans->event->ts_ns,
		    span_cut(true, false));
}

/* Return true if a completion can belong to this request: it is not larger than what is
 * left of the request. */
static bool can_complete(const struct disk_request *request,
			 const struct disk_request *done)
{
	return !is_issued(request) || done->sectors <= request->sectors - request->done;
}

/* Return the index of the completed request, or SIZE_MAX: one that this completes wholly,
 * or else the oldest. Cut the requests that lost their completions. */
static size_t find_completed(struct spans *spans, struct disk *disk,
			     const struct disk_request *done)
{
	const struct flight flight = find_flight(disk, done);

	if (flight.count)
		return flight.at[0];
	for (;;) {
		size_t at = find_request(disk, done, true);

		if (at == SIZE_MAX)
			at = find_request(disk, done, false);
		if (at == SIZE_MAX || can_complete(&disk->request[at], done))
			return at;
		cut_request(spans, disk, at, spans->event->ts_ns);
	}
}

/* Some of the sectors may be done, and the rest later. */
static void complete_request(struct spans *spans, struct disk *disk,
			     struct disk_request *done)
{
	size_t at = find_completed(spans, disk, done);
	struct disk_request *request;
	struct flight flight;
	int64_t sectors = done->sectors;

	if (at == SIZE_MAX) {
		/* A write with a flush before it ends twice, the second time of nothing.
		 */
		if (sectors > 0)
			add_beginless(spans, disk, done);
		return;
	}
	request = &disk->request[at];
	if (is_issued(request) && sectors > 0 &&
	    sectors < request->sectors - request->done) {
		request->span.disk.sector = nsec_add(request->span.disk.sector, sectors);
		request->done += sectors;
		return;
	}
	flight = find_flight(disk, done);
	if (flight.count <= 1)
		flight = (struct flight){.at = {at}, .count = 1};
	request = &disk->request[flight.at[flight.completed++]];
	request->completed_ns = spans->event->ts_ns;
	request->error = event_integer(spans->event, BLOCK_ERROR, TIMELINE_NONE);
	if (flight.completed == flight.count)
		end_flight(spans, spans->event->node, disk, &flight, spans->event->ts_ns);
}

/* Return the event's device, or -1. */
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
		queue_request(spans, disk, &request);
		break;
	case AT_BLOCK_ISSUE:
		issue_request(spans, disk, &request);
		break;
	case AT_BLOCK_REQUEUE:
		requeue_request(disk, &request);
		break;
	default:
		complete_request(spans, disk, &request);
		break;
	}
}

void disk_lose(struct spans *spans, uint32_t at, nsec_t stop_ns)
{
	struct span_node *node = &spans->node[at];

	for (size_t i = 0; i < node->disks; i++) {
		struct disk *disk = &node->disk[i];

		while (disk->count) {
			struct flight flight = find_flight(disk, &disk->request[0]);
			nsec_t begin_ns = disk->request[0].span.begin_ns;

			if (!is_issued(&disk->request[0]) || !flight.count)
				flight = (struct flight){.count = 1};
			end_flight(spans, at, disk, &flight,
				   stop_ns > begin_ns ? stop_ns : begin_ns);
		}
	}
}
