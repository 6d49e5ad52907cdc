/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/ctf/packets.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define STREAM_MAGIC 0xc1fc1fc1u

enum { METADATA_MOST = 1 << 16 }; /* the layout is told before the first event */

/* Whether a head can be one, and is of the stream that the first one is of. */
static bool is_packet(const struct packet_walk *walk)
{
	const struct packet_head *head = &walk->head, *first = &walk->first;
	uint64_t content = le64toh(head->content_size);
	uint64_t packet = le64toh(head->packet_size);

	return le32toh(head->magic) == STREAM_MAGIC && packet % 8 == 0 &&
	       content >= 8 * sizeof(*head) && content <= packet && packet <= INT64_MAX &&
	       memcmp(head->uuid, first->uuid, sizeof(head->uuid)) == 0 &&
	       head->stream_id == first->stream_id &&
	       head->stream_instance_id == first->stream_instance_id;
}

enum packet_found packet_walk_next(struct packet_walk *walk)
{
	uint64_t bytes;

	walk->at = walk->next;
	if (walk->at >= walk->size)
		return PACKET_NONE;
	if (fseeko(walk->file, (off_t)walk->at, SEEK_SET) ||
	    fread(&walk->head, sizeof(walk->head), 1, walk->file) != 1)
		return PACKET_GARBLED;
	if (walk->at == 0)
		walk->first = walk->head;
	if (!is_packet(walk))
		return PACKET_GARBLED;
	bytes = le64toh(walk->head.packet_size) / 8;
	if (bytes > walk->size - walk->at) {
		walk->next = walk->size;
		return PACKET_CUT;
	}
	walk->next = walk->at + bytes;
	return PACKET_WHOLE;
}

/* The words stand in this order where the fields do. */
bool packets_are_known(FILE *metadata)
{
	static const char *const word[] = {
	    "byte_order = le", "uint32_t stream_id", "stream_instance_id",
	    "timestamp_begin", "timestamp_end",      "content_size",
	    "packet_size",     "packet_seq_num",     "events_discarded"};
	char *text = mem_alloc(METADATA_MOST);
	size_t size = fread(text, 1, METADATA_MOST, metadata);
	const char *at = text;
	bool known;

	for (size_t i = 0; at && i < sizeof(word) / sizeof(*word); i++)
		at = memmem(at, size - (size_t)(at - text), word[i], strlen(word[i]));
	known = at != NULL;
	free(text);
	return known;
}

/* Whether an index entry is of the packet found. */
static bool is_indexed(const struct packet_walk *walk, FILE *index)
{
	struct index_entry entry;

	return fread(&entry, sizeof(entry), 1, index) == 1 &&
	       be64toh(entry.offset) == walk->at &&
	       be64toh(entry.packet_size) == le64toh(walk->head.packet_size) &&
	       be64toh(entry.content_size) == le64toh(walk->head.content_size);
}

bool packets_are_sound(FILE *stream, uint64_t size, FILE *index)
{
	struct packet_walk walk = {.file = stream, .size = size};
	enum packet_found found;
	struct index_head head;

	if (index && (fread(&head, sizeof(head), 1, index) != 1 ||
		      be32toh(head.magic) != INDEX_MAGIC ||
		      be32toh(head.entry_size) != sizeof(struct index_entry)))
		return false;
	while ((found = packet_walk_next(&walk)) == PACKET_WHOLE)
		if (index && !is_indexed(&walk, index))
			return false;
	return found == PACKET_NONE && (!index || getc(index) == EOF);
}
