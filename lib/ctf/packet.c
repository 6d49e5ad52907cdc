/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf/packet.h"

#include <string.h>

static const struct ctf_stream_class *find_stream(const struct ctf_trace *trace,
						  const struct ctf_packet *packet)
{
	for (size_t i = 0; i < trace->schema->streams; i++)
		if (!packet_has(packet, ROLE_STREAM) ||
		    trace->stream[i].of->id == packet->value[ROLE_STREAM])
			return &trace->stream[i];
	return NULL;
}

/* What the fields told so far. */
static void take_roles(const struct ctf_cursor *cursor, struct ctf_packet *packet)
{
	packet->has = cursor->has;
	memcpy(packet->value, cursor->role, sizeof(packet->value));
	if (packet_has(packet, ROLE_UUID))
		memcpy(packet->uuid, cursor->bytes.byte + cursor->role[ROLE_UUID] / 8,
		       sizeof(packet->uuid));
	packet->value[ROLE_UUID] = 0;
}

static bool read_head(const struct ctf_trace *trace, struct ctf_cursor *cursor,
		      struct ctf_packet *packet)
{
	cursor->has = 0;
	memset(cursor->role, 0, sizeof(cursor->role));
	if (!ctf_program_run(trace->packet_header, cursor))
		return false;
	take_roles(cursor, packet);
	if (packet_has(packet, ROLE_MAGIC) && packet->value[ROLE_MAGIC] != CTF_MAGIC)
		return false;
	packet->stream = find_stream(trace, packet);
	if (!packet->stream || !ctf_program_run(packet->stream->packet_context, cursor))
		return false;
	take_roles(cursor, packet);
	packet->head = cursor->at;
	return true;
}

/* Either size stands for both; with none of them the packet is all there is. */
static void set_sizes(struct ctf_packet *packet, uint64_t there)
{
	bool size = packet_has(packet, ROLE_SIZE),
	     content = packet_has(packet, ROLE_CONTENT);

	packet->size = size      ? packet->value[ROLE_SIZE]
		       : content ? packet->value[ROLE_CONTENT]
				 : there;
	packet->content = content ? packet->value[ROLE_CONTENT] : packet->size;
}

static bool is_of(const struct ctf_packet *packet, const struct schema *schema)
{
	return !schema->has_uuid || !packet_has(packet, ROLE_UUID) ||
	       memcmp(packet->uuid, schema->uuid, sizeof(packet->uuid)) == 0;
}

static bool is_like(const struct ctf_packet *packet, const struct ctf_packet *first)
{
	return packet->stream == first->stream &&
	       packet->value[ROLE_INSTANCE] == first->value[ROLE_INSTANCE] &&
	       memcmp(packet->uuid, first->uuid, sizeof(packet->uuid)) == 0;
}

enum packet_found ctf_packet_read(const struct ctf_trace *trace,
				  const struct ctf_packet *first,
				  struct ctf_cursor *cursor, uint64_t rest,
				  struct ctf_packet *packet)
{
	uint64_t there = 8 * rest;

	memset(packet, 0, sizeof(*packet));
	if (!there)
		return PACKET_NONE;
	cursor->at = 0;
	cursor->end = cursor->budget = 8 * cursor->bytes.count;
	if (!read_head(trace, cursor, packet))
		return PACKET_GARBLED;
	set_sizes(packet, there);
	if (packet->size == 0 || packet->size % 8 || packet->content < packet->head ||
	    packet->content > packet->size || packet->size > INT64_MAX ||
	    !is_of(packet, trace->schema) || (first && !is_like(packet, first)))
		return PACKET_GARBLED;
	cursor->budget = packet->content;
	cursor->end = packet->content;
	if (packet->size <= there)
		return PACKET_WHOLE;
	if (packet->content > there)
		cursor->end = packet->content = there;
	return PACKET_CUT;
}

enum {
	HEAD_BYTES = 1 << 14, /* more than a packet's head takes */
	LOOK_BYTES = 1 << 18,
	MOST_FALSE =
	    1000, /* magic numbers that begin no packet, so that none take long */
};

enum packet_found ctf_packet_at(struct ctf_window *window, const struct ctf_trace *trace,
				const struct ctf_packet *first, struct ctf_cursor *cursor,
				uint64_t at, struct ctf_packet *packet)
{
	cursor->bytes = ctf_window_show(window, at, HEAD_BYTES);
	if (cursor->bytes.count > HEAD_BYTES)
		cursor->bytes.count = HEAD_BYTES;
	return ctf_packet_read(trace, first, cursor,
			       at < window->size ? window->size - at : 0, packet);
}

/* The bytes that every packet begins with. False where there are none. */
static bool find_magic(const struct ctf_trace *trace, unsigned char magic[4])
{
	for (int i = 0; i < 4; i++)
		magic[trace->is_magic_big ? 3 - i : i] =
		    (unsigned char)(CTF_MAGIC >> 8 * i);
	return trace->has_magic;
}

uint64_t ctf_seek(struct ctf_window *window, const struct ctf_trace *trace,
		  const struct ctf_packet *first, struct ctf_cursor *cursor,
		  uint64_t from)
{
	struct ctf_packet packet;
	unsigned char magic[4];
	int none = 0;

	if (!find_magic(trace, magic))
		return window->size;
	while (from < window->size) {
		struct ctf_bytes bytes = ctf_window_show(window, from, LOOK_BYTES);
		const unsigned char *found =
		    memmem(bytes.byte, bytes.count, magic, sizeof(magic));
		enum packet_found is;

		if (!found && bytes.count < LOOK_BYTES)
			break;
		if (!found) {
			from += bytes.count - sizeof(magic) + 1;
			continue;
		}
		from += (uint64_t)(found - bytes.byte);
		is = ctf_packet_at(window, trace, first, cursor, from, &packet);
		if (is == PACKET_WHOLE ||
		    (is == PACKET_CUT && packet_has(&packet, ROLE_UUID)))
			return from;
		if (++none > MOST_FALSE)
			break;
		from++;
	}
	return window->size;
}
