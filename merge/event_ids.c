/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/event_ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/spill.h"

enum { BLOCK = 64 }; /* ids, 6 KiB */

#define NO_BLOCK SIZE_MAX

struct event_id {
	uint64_t ordinal;
	struct event_link link;
};

/* A full block in the file. */
struct block {
	uint64_t first; /* ordinal */
	uint64_t at;    /* in the file */
};

struct kept {
	size_t block; /* index, or NO_BLOCK */
	struct event_id *id;
};

struct stream {
	struct event_id *open; /* what is not in the file yet */
	size_t used;
	struct block *block;
	size_t blocks, room;
	struct kept kept[EVENT_SIDES];
};

struct event_ids {
	struct intmap index; /* of streams */
	struct stream *stream;
	size_t streams, room;
	struct spill spill;
};

struct event_ids *event_ids_new(void)
{
	struct event_ids *ids = mem_zalloc(sizeof(*ids));

	ids->spill.what = "of event ids";
	return ids;
}

static struct stream *add_stream(struct event_ids *ids, uint64_t key)
{
	struct stream *stream;

	intmap_put(&ids->index, key, (int64_t)ids->streams);
	ids->stream =
	    mem_grow(ids->stream, ids->streams, &ids->room, sizeof(*ids->stream));
	stream = &ids->stream[ids->streams++];
	memset(stream, 0, sizeof(*stream));
	stream->open = mem_alloc(BLOCK * sizeof(*stream->open));
	for (int side = 0; side < EVENT_SIDES; side++)
		stream->kept[side].block = NO_BLOCK;
	return stream;
}

static int spill(struct event_ids *ids, struct stream *stream, struct error *error)
{
	stream->block = mem_grow(stream->block, stream->blocks, &stream->room,
				 sizeof(*stream->block));
	stream->block[stream->blocks++] =
	    (struct block){stream->open[0].ordinal, ids->spill.size};
	stream->used = 0;
	return spill_add(&ids->spill, stream->open, BLOCK * sizeof(*stream->open), error);
}

int event_ids_add(struct event_ids *ids, uint64_t key, uint64_t ordinal,
		  const struct event_link *link, struct error *error)
{
	struct stream *stream;
	int64_t at;

	if (intmap_get(&ids->index, key, &at))
		stream = &ids->stream[at];
	else
		stream = add_stream(ids, key);
	if (stream->used == BLOCK && spill(ids, stream, error))
		return -1;
	stream->open[stream->used++] = (struct event_id){ordinal, *link};
	return 0;
}

static struct event_link search(const struct event_id *id, size_t count, uint64_t ordinal)
{
	size_t at = FIRST_NOT(count, i, id[i].ordinal < ordinal);

	return at < count && id[at].ordinal == ordinal ? id[at].link
						       : (struct event_link){.id = 0};
}

static int find_spilled(struct event_ids *ids, struct stream *stream, uint64_t ordinal,
			struct kept *kept, struct event_link *link, struct error *error)
{
	/* The last block that begins at the ordinal or before it. */
	size_t block = FIRST_NOT(stream->blocks, i, stream->block[i].first <= ordinal);

	*link = (struct event_link){.id = 0};
	if (!block--)
		return 0;
	if (!kept->id)
		kept->id = mem_alloc(BLOCK * sizeof(*kept->id));
	if (kept->block != block) {
		kept->block = NO_BLOCK;
		if (spill_read(&ids->spill, stream->block[block].at, kept->id,
			       BLOCK * sizeof(*kept->id), error))
			return -1;
		kept->block = block;
	}
	*link = search(kept->id, BLOCK, ordinal);
	return 0;
}

int event_ids_find(struct event_ids *ids, uint64_t key, uint64_t ordinal,
		   enum event_side side, struct event_link *link, struct error *error)
{
	struct stream *stream;
	int64_t at;

	*link = (struct event_link){.id = 0};
	if (!intmap_get(&ids->index, key, &at))
		return 0;
	stream = &ids->stream[at];
	if (stream->used && ordinal >= stream->open[0].ordinal) {
		*link = search(stream->open, stream->used, ordinal);
		return 0;
	}
	return find_spilled(ids, stream, ordinal, &stream->kept[side], link, error);
}

void event_ids_free(struct event_ids *ids)
{
	if (!ids)
		return;
	for (size_t i = 0; i < ids->streams; i++) {
		free(ids->stream[i].open);
		free(ids->stream[i].block);
		for (int side = 0; side < EVENT_SIDES; side++)
			free(ids->stream[i].kept[side].id);
	}
	free(ids->stream);
	intmap_clear(&ids->index);
	spill_clear(&ids->spill);
	free(ids);
}
