/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_FAKE_SOURCE_H
#define CT_TEST_FAKE_SOURCE_H

/* Packet sources that are made up: some packet events, handed out in steps. */
#include <stdlib.h>

#include "base/mem.h"
#include "input/packet_source.h"

struct fake_source {
	struct packet_source base;
	struct packet_event *item; /* owned, by ascending ns */
	size_t count, next;
	size_t most;    /* a step */
	uint64_t state; /* of the steps' sizes */
	int *freed;     /* counts, or NULL */
};

/* From none to `most` packet events; the last step may have found none. */
static inline bool fake_step(struct packet_source *source, packet_event_fn *give,
			     void *context)
{
	struct fake_source *fake = (struct fake_source *)source;
	struct trace_facts *facts = &source->facts;
	struct packet_counts *counts = &source->counts;
	size_t some;

	fake->state = fake->state * UINT64_C(6364136223846793005) + 1442695040888963407;
	some = (size_t)(fake->state >> 33) % (fake->most + 1);
	for (; some && fake->next < fake->count; some--) {
		const struct packet_event *item = &fake->item[fake->next++];

		if (!facts->events++)
			facts->begin_ns = item->ns;
		facts->end_ns = item->ns;
		counts->network_events++;
		++*(item->received ? &counts->received : &counts->sent);
		give(context, item);
	}
	return fake->next < fake->count;
}

static inline void fake_free(struct packet_source *source)
{
	struct fake_source *fake = (struct fake_source *)source;

	if (fake->freed)
		++*fake->freed;
	free(fake->item);
	free(fake);
}

/* Takes the items. */
static inline struct fake_source *fake_source_new(const char *path,
						  struct packet_event *item, size_t count)
{
	struct fake_source *fake = mem_zalloc(sizeof(*fake));

	fake->base.step = fake_step;
	fake->base.free = fake_free;
	fake->base.path = mem_strdup(path);
	fake->item = item;
	fake->count = count;
	fake->most = 20;
	return fake;
}

#endif
