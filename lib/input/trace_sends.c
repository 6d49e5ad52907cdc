/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/trace_sends.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MOST_WAITING = 65536 };

struct waiting {
	struct sighting sighting;
	uint64_t skb;
	size_t next_free;
	bool used;
};

void trace_sends_init(struct trace_sends *sends, sighting_fn *give, void *context)
{
	memset(sends, 0, sizeof(*sends));
	sends->give = give;
	sends->context = context;
}

static void hold(struct trace_sends *sends, uint64_t skb, const struct sighting *sighting)
{
	size_t at;

	if (sends->free_list) {
		at = sends->free_list - 1;
		sends->free_list = sends->waiting[at].next_free;
	} else {
		sends->waiting = mem_grow(sends->waiting, sends->waitings, &sends->room,
					  sizeof(*sends->waiting));
		at = sends->waitings++;
	}
	sends->waiting[at].sighting = *sighting;
	sends->waiting[at].skb = skb;
	sends->waiting[at].used = true;
	intmap_put(&sends->queued, skb, (int64_t)at);
}

static void let_go(struct trace_sends *sends, size_t at)
{
	sends->give(sends->context, &sends->waiting[at].sighting);
	sends->waiting[at].used = false;
	sends->waiting[at].next_free = sends->free_list;
	sends->free_list = at + 1;
}

void trace_sends_queued(struct trace_sends *sends, uint64_t skb,
			const struct sighting *sighting)
{
	int64_t at;

	if (!sends->has_xmit) {
		sends->give(sends->context, sighting);
		return;
	}
	/* The same buffer queued again: handed from one device to the next. */
	if (intmap_take(&sends->queued, skb, &at))
		let_go(sends, (size_t)at);
	if (sends->queued.count >= MOST_WAITING)
		trace_sends_flush(sends);
	hold(sends, skb, sighting);
}

void trace_sends_transmitted(struct trace_sends *sends, uint64_t skb, uint32_t device,
			     unsigned cpu, nsec_t local_ns, bool taken)
{
	uint64_t lane = (uint64_t)cpu << 32 | device;
	struct sighting *sighting;
	int64_t at, previous;

	if (intmap_get(&sends->queued, skb, &at) && taken &&
	    sends->waiting[at].sighting.device == device) {
		sighting = &sends->waiting[at].sighting;
		sighting->whole_ns = local_ns;
		if (intmap_get(&sends->last_xmit, lane, &previous) &&
		    previous > sighting->ns && previous <= local_ns)
			sighting->ns = previous;
		intmap_take(&sends->queued, skb, &at);
		let_go(sends, (size_t)at);
	}
	intmap_put(&sends->last_xmit, lane, local_ns);
}

void trace_sends_flush(struct trace_sends *sends)
{
	for (size_t i = 0; i < sends->waitings; i++)
		if (sends->waiting[i].used)
			let_go(sends, i);
	intmap_clear(&sends->queued);
}

void trace_sends_clear(struct trace_sends *sends)
{
	intmap_clear(&sends->queued);
	intmap_clear(&sends->last_xmit);
	free(sends->waiting);
	memset(sends, 0, sizeof(*sends));
}
