/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_FTRACE_RING_H
#define CT_TRACE_FTRACE_RING_H

#include "trace/ftrace/trace_dat.h"

/*
 * The events of one processor's pages, in order. The layout of a page is that of the
 * kernel's ring buffer (include/linux/ring_buffer.h, kernel/trace/ring_buffer.c).
 */
struct ring {
	const struct trace_dat *dat;
	const struct trace_buffer *buffer;
	const struct cpu_pages *cpu;
	uint64_t at, end; /* the unread part of the file */
	uint64_t chunks;  /* not read yet; only compressed buffers have chunks */
	struct bytes pages, packed;
	size_t page;           /* the current page's offset in `pages` */
	size_t next, page_end; /* the next event, and the end of the last one */
	uint64_t ts;           /* the last event's timestamp, in the trace's clock */
	bool has_started;
	uint64_t broken; /* number of pages with skipped events */
};

struct ring_event {
	uint64_t ts;
	const uint8_t *data; /* valid until the next call */
	uint32_t size;
	uint64_t lost; /* number of events that the kernel lost just before; see
			  is_loss_unknown */
	bool has_loss, is_loss_unknown;
};

void ring_init(struct ring *ring, const struct trace_dat *dat,
	       const struct trace_buffer *buffer, const struct cpu_pages *cpu);

/* Read the next event. Return 1, 0 at the end, or -1 with error if the file is damaged.
 */
int ring_next(struct ring *ring, struct ring_event *event, struct error *error);

/*
 * Skip the rest of the page, unless it is the last one in memory or events were lost
 * after it: then its last event shows until when events were recorded.
 */
void ring_skip(struct ring *ring);

void ring_clear(struct ring *ring);

#endif
