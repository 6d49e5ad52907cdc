/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_EVENT_IDS_H
#define CT_MERGE_EVENT_IDS_H

#include <stdint.h>

#include "base/error.h"
#include "merge/sent_packets.h"
#include "merge/spans/spans.h"

/*
 * The ids that events of streams got, by their place within the stream. All but
 * the last few of a stream lie in an unnamed file, in blocks. Whoever looks
 * them up goes through the streams from front to back, more or less, so the
 * last block of each stream and side is kept.
 */
struct event_ids;

enum event_side { EVENT_SENT, EVENT_RECEIVED, EVENT_SIDES };

/* A stream of a source as one number. */
static inline uint64_t event_stream(uint32_t source, uint32_t stream)
{
	return (uint64_t)source << 32 | stream;
}

/* An event that is, or can be, a packet's. */
struct event_link {
	int64_t id;              /* 0: it was not loaded */
	struct span_cause cause; /* as spans_event has it */
	struct sent_packet sent; /* as sent_packets_event has it */
};

struct event_ids *event_ids_new(void);

/* By ascending ordinal within a stream. 0, or -1 with error. */
int event_ids_add(struct event_ids *ids, uint64_t stream, uint64_t ordinal,
		  const struct event_link *link, struct error *error);

/* What was added, id 0 where nothing was. 0, or -1 with error. */
int event_ids_find(struct event_ids *ids, uint64_t stream, uint64_t ordinal,
		   enum event_side side, struct event_link *link, struct error *error);

void event_ids_free(struct event_ids *ids);

#endif
