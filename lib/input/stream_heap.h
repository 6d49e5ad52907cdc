/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_STREAM_HEAP_H
#define CT_INPUT_STREAM_HEAP_H

#include <stddef.h>

#include "base/nsec.h"

/*
 * The streams of a trace that are still read, the one whose next event is the
 * earliest first. For those who walk a trace: embed `head_ns` by putting a
 * struct stream_head first into what stands for a stream.
 */
struct stream_head {
	nsec_t head_ns; /* no event of this stream to come is before */
};

struct stream_heap {
	struct stream_head **head;
	size_t count;
};

/* Room for so many streams. */
void stream_heap_init(struct stream_heap *heap, size_t streams);

/* One more, in any order as long as all have the same head_ns. */
void stream_heap_add(struct stream_heap *heap, struct stream_head *head);

/* The head of every stream but the first, or the end of time. */
nsec_t stream_heap_second(const struct stream_heap *heap);

/* The first stream has gone on, or is at its end and leaves. */
void stream_heap_settle(struct stream_heap *heap);
void stream_heap_remove(struct stream_heap *heap);

void stream_heap_clear(struct stream_heap *heap);

#endif
