/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_FTRACE_RING_H
#define CT_CTF_FTRACE_RING_H

#include "ctf/ftrace/trace_dat.h"

/*
 * The events of one processor's pages, in order. The layout of a page is that of the
 * kernel's ring buffer (include/linux/ring_buffer.h, kernel/trace/ring_buffer.c).
 */
struct ring {
	const struct trace_dat *dat;
	const struct trace_buffer *buffer;
	const struct cpu_pages *cpu;
	uint64_t at, end; /* of what was not read yet, in the file */
	uint64_t chunks;  /* that were not read yet; compressed buffers have some */
	struct bytes pages, packed;
	size_t page;           /* of the current page, in `pages` */
	size_t next, page_end; /* of the next event and of the last one's end, there */
	uint64_t ts;           /* of the last event, as the kernel counts */
	bool has_started;
	uint64_t broken; /* pages whose remaining events were left out */
};

struct ring_event {
	uint64_t ts;
	const uint8_t *data; /* valid until the next call */
	uint32_t size;
	uint64_t lost; /* events that the kernel lost right before; see is_loss_unknown */
	bool has_loss, is_loss_unknown;
};

void ring_init(struct ring *ring, const struct trace_dat *dat,
	       const struct trace_buffer *buffer, const struct cpu_pages *cpu);

/* Read the next event. Return 1, 0 at the end, or -1 with error if the file is damaged.
 */
int ring_next(struct ring *ring, struct ring_event *event, struct error *error);

void ring_clear(struct ring *ring);

#endif
