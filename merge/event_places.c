/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/event_places.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/spill.h"

/*
 * The links of a stream's events, by ordinal. All except the last few are in an unnamed
 * file, in blocks. Lookups go through a stream roughly from front to back, so the last
 * block that was read is cached.
 */
enum { BLOCK = 64 }; /* events, 7 KiB */

struct noted_event {
	uint64_t ordinal;
	struct event_link link;
};

struct stream {
	struct spill_chain chain; /* holds struct noted_event; `first` is an ordinal */
	size_t cached;            /* index of the chunk in `bytes`, or SIZE_MAX */
	struct bytes bytes;
};

struct event_places {
	struct intmap index; /* by source and stream: index in `stream` */
	struct stream *stream;
	size_t streams, capacity;
	struct spill spill;
};

struct event_places *event_places_new(void)
{
	struct event_places *places = mem_zalloc(sizeof(*places));

	places->spill.what = "of event ids";
	return places;
}

static struct stream *stream_of(struct event_places *places, uint32_t source,
				uint32_t stream)
{
	uint64_t key = (uint64_t)source << 32 | stream;
	struct stream *added;
	int64_t at;

	if (intmap_get(&places->index, key, &at))
		return &places->stream[at];
	intmap_put(&places->index, key, (int64_t)places->streams);
	added = MEM_NEXT(places->stream, places->streams, places->capacity);
	*added = (struct stream){.cached = SIZE_MAX};
	return added;
}

int event_places_add(struct event_places *places, uint32_t source,
		     const struct trace_event *event, const struct event_link *link,
		     struct error *error)
{
	const struct noted_event noted = {event->ordinal, *link};
	struct spill_chain *chain = &stream_of(places, source, event->stream)->chain;

	if (chain->open.size == BLOCK * sizeof(noted) &&
	    spill_chain_close(chain, &places->spill, error))
		return -1;
	if (!chain->open.size)
		chain->first = event->ordinal;
	bytes_add(&chain->open, &noted, sizeof(noted));
	return 0;
}

/* Read a chunk's events, unless they are cached. Return 0, or -1 with error. */
static int read_chunk(const struct event_places *places, struct stream *stream,
		      size_t chunk, struct bytes_cursor *from, struct error *error)
{
	*from = (struct bytes_cursor){.at = stream->bytes.data,
				      .end = stream->bytes.data + stream->bytes.size};
	if (stream->cached == chunk)
		return 0;
	stream->cached = chunk < stream->chain.chunks ? chunk : stream->cached;
	return spill_chain_read(&stream->chain, &places->spill, chunk, &stream->bytes,
				from, error);
}

int event_places_find(struct event_places *places, const struct messages_end *end,
		      struct event_link *link, struct error *error)
{
	struct stream *stream = stream_of(places, end->source, end->stream);
	const struct noted_event *event;
	struct bytes_cursor from;
	size_t chunk, count, at;

	*link = (struct event_link){.id = 0};
	/* The last chunk that begins at the ordinal or before it. */
	chunk = PARTITION_POINT(stream->chain.chunks, i,
				stream->chain.chunk[i].first <= end->ordinal);
	if (stream->chain.open.size && stream->chain.first <= end->ordinal)
		chunk = stream->chain.chunks + 1;
	if (!chunk)
		return 0;
	if (read_chunk(places, stream, chunk - 1, &from, error))
		return -1;
	event = (const void *)from.at;
	count = (size_t)(from.end - from.at) / sizeof(*event);
	at = PARTITION_POINT(count, i, event[i].ordinal < end->ordinal);
	if (at < count && event[at].ordinal == end->ordinal)
		*link = event[at].link;
	return 0;
}

void event_places_free(struct event_places *places)
{
	for (size_t i = 0; i < places->streams; i++) {
		spill_chain_clear(&places->stream[i].chain);
		bytes_clear(&places->stream[i].bytes);
	}
	free(places->stream);
	intmap_clear(&places->index);
	spill_clear(&places->spill);
	free(places);
}
