/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/ftrace/ring.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum {
	READ_BYTES = 1 << 18, /* read at once, in whole pages */
	CHUNK_MOST = 1 << 26, /* bytes of a decompressed chunk */
	STAMP_BYTES = 8,      /* a page starts with its timestamp */
	COMMIT_BYTES =
	    (1 << 27) - 1,   /* mask in the second field of a page: bytes of its events */
	HAS_COUNT = 1 << 30, /* the number of lost events follows the last event */
	HAS_LOST = 1u << 31, /* events were lost before this page */
	DELTA_BITS = 27,
	STAMP_BITS = 59, /* in an absolute timestamp */
};

/* The types of entries in a page; lower numbers are the length of an event in words. */
enum { KIND_LONG = 0, KIND_PADDING = 29, KIND_EXTEND = 30, KIND_STAMP = 31 };

void ring_init(struct ring *ring, const struct trace_dat *dat,
	       const struct trace_buffer *buffer, const struct cpu_pages *cpu)
{
	*ring =
	    (struct ring){.dat = dat,
			  .buffer = buffer,
			  .cpu = cpu,
			  .at = cpu->offset,
			  .end = cpu->offset + cpu->size - cpu->size % buffer->page_size};
}

void ring_clear(struct ring *ring)
{
	bytes_clear(&ring->pages);
	bytes_clear(&ring->packed);
}

static int set_ring_error(const struct ring *ring, const char *what, struct error *error)
{
	return error_set(error, "%s: byte %" PRIu64 ": %s", ring->dat->path, ring->at,
			 what);
}

/* Append bytes of the file from ring->at on. */
static int read_bytes(struct ring *ring, struct bytes *to, size_t size,
		      struct error *error)
{
	uint8_t *bytes = bytes_extend(to, size);

	while (size > 0) {
		ssize_t got =
		    pread(fileno(ring->dat->file), bytes, size, (off_t)ring->at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_errno(error, ring->dat->path);
		if (got == 0)
			return set_ring_error(
			    ring, "truncated in the pages of a processor", error);
		bytes += got;
		size -= (size_t)got;
		ring->at += (uint64_t)got;
	}
	return 0;
}

static int read_word(struct ring *ring, uint64_t *value, struct error *error)
{
	ring->packed.size = 0;
	if (read_bytes(ring, &ring->packed, 4, error))
		return -1;
	*value = trace_dat_number(ring->dat, ring->packed.data, 4);
	return 0;
}

/*
 * Read the pages of the next compressed chunk. Return 1, 0 at the end, or -1 with error.
 */
static int read_chunk(struct ring *ring, struct error *error)
{
	uint64_t stored, size;

	if (!ring->chunks)
		return 0;
	ring->chunks--;
	if (read_word(ring, &stored, error) || read_word(ring, &size, error))
		return -1;
	/* The size of a processor's data does not include the headers of its chunks. */
	if (size > CHUNK_MOST || stored > ring->dat->file_size)
		return set_ring_error(ring, "invalid size of a compressed chunk", error);
	ring->packed.size = ring->pages.size = 0;
	bytes_extend(&ring->pages, (size_t)size);
	if (read_bytes(ring, &ring->packed, (size_t)stored, error))
		return -1;
	if (trace_dat_decompress(ring->dat, &ring->packed, &ring->pages, error))
		return error_prefix(error, "%s: byte %" PRIu64, ring->dat->path,
				    ring->at - stored);
	return 1;
}

/* Read whole pages of the file. Return 1, 0 at the end, or -1 with error. */
static int read_pages(struct ring *ring, struct error *error)
{
	size_t page = ring->buffer->page_size;
	size_t most = READ_BYTES > page ? READ_BYTES - READ_BYTES % page : page;

	if (ring->buffer->is_compressed)
		return read_chunk(ring, error);
	if (ring->at >= ring->end)
		return 0;
	if (ring->end - ring->at < most)
		most = (size_t)(ring->end - ring->at);
	ring->pages.size = 0;
	return read_bytes(ring, &ring->pages, most, error) ? -1 : 1;
}

/* Return the second field of the page at an offset. */
static uint64_t read_commit(const struct ring *ring, size_t page)
{
	return trace_dat_number(ring->dat, ring->pages.data + page + STAMP_BYTES,
				ring->dat->commit_size);
}

/* Start the page at ring->page, which is loaded. */
static void start_page(struct ring *ring, struct ring_event *event)
{
	const uint8_t *page = ring->pages.data + ring->page;
	unsigned width = ring->dat->commit_size;
	size_t header = STAMP_BYTES + width;
	uint64_t commit = read_commit(ring, ring->page);
	size_t size = commit & COMMIT_BYTES;

	ring->ts = trace_dat_number(ring->dat, page, STAMP_BYTES);
	ring->next = ring->page + header;
	ring->page_end = ring->next;
	if (size > ring->buffer->page_size - header) {
		ring->broken++;
		return;
	}
	ring->page_end += size;
	if (!(commit & HAS_LOST))
		return;
	event->has_loss = true;
	if (commit & HAS_COUNT && size + width <= ring->buffer->page_size - header)
		event->lost +=
		    trace_dat_number(ring->dat, ring->pages.data + ring->page_end, width);
	else
		event->is_loss_unknown = true;
}

/*
 * Go to the next page, and load more pages if needed. Return 1, 0 at the end, or -1 with
 * error.
 */
static int next_page(struct ring *ring, struct ring_event *event, struct error *error)
{
	size_t page = ring->buffer->page_size;
	int status = 1;

	if (!ring->has_started && ring->buffer->is_compressed && ring->cpu->size &&
	    read_word(ring, &ring->chunks, error))
		return -1;
	ring->page = ring->has_started ? ring->page + page : 0;
	ring->has_started = true;
	if (ring->page + page > ring->pages.size) {
		status = read_pages(ring, error);
		ring->page = 0;
	}
	if (status > 0 && ring->pages.size < page)
		return set_ring_error(ring, "a page is truncated", error);
	if (status > 0)
		start_page(ring, event);
	return status;
}

/* Complete a timestamp of 59 bits with the upper bits of the last one. */
static uint64_t whole_stamp(uint64_t stamp, uint64_t last)
{
	const uint64_t above = ~((UINT64_C(1) << STAMP_BITS) - 1);

	return stamp | (last & above);
}

/*
 * Read one entry of the page. Return 1 for an event, 0 for something else, or -1 if the
 * entry extends past the page.
 */
static int read_entry(struct ring *ring, struct ring_event *event)
{
	const uint8_t *at = ring->pages.data + ring->next;
	size_t left = ring->page_end - ring->next;
	uint32_t word = left >= 4 ? (uint32_t)trace_dat_number(ring->dat, at, 4) : 0;
	unsigned kind = ring->dat->is_big ? word >> DELTA_BITS : word & 31;
	uint64_t delta = ring->dat->is_big ? word & ((1u << DELTA_BITS) - 1) : word >> 5;
	uint64_t second = left >= 8 ? trace_dat_number(ring->dat, at + 4, 4) : 0;
	size_t size = 8, skip = 4;

	if (left < 4)
		return -1;
	if (kind > KIND_LONG && kind < KIND_PADDING) {
		size = 4 + 4 * (size_t)kind;
	} else if (kind == KIND_LONG) {
		/* The length includes the word that holds it. */
		skip = 8;
		size = second < 4 ? 0 : 4 + (((size_t)second + 3) & ~(size_t)3);
	} else if (kind == KIND_PADDING) {
		if (!delta) { /* the rest of the page */
			ring->next = ring->page_end;
			return 0;
		}
		size = 4 + (size_t)second;
	} else {
		delta |= second << DELTA_BITS;
	}
	if (size < skip || size > left)
		return -1;
	ring->next += size;
	ring->ts = kind == KIND_STAMP ? whole_stamp(delta, ring->ts) : ring->ts + delta;
	if (kind >= KIND_PADDING)
		return 0;
	event->ts = ring->ts;
	event->data = at + skip;
	event->size = (uint32_t)(kind == KIND_LONG ? second - 4 : size - skip);
	return 1;
}

int ring_next(struct ring *ring, struct ring_event *event, struct error *error)
{
	*event = (struct ring_event){0};
	for (;;) {
		int status;

		if (ring->next >= ring->page_end) {
			status = next_page(ring, event, error);
			if (status <= 0)
				return status;
			continue;
		}
		status = read_entry(ring, event);
		if (status > 0)
			return 1;
		if (status < 0) {
			ring->broken++;
			ring->next = ring->page_end;
		}
	}
}

void ring_skip(struct ring *ring)
{
	size_t page = ring->buffer->page_size, next = ring->page + page;

	if (next + page <= ring->pages.size && !(read_commit(ring, next) & HAS_LOST))
		ring->next = ring->page_end;
}
