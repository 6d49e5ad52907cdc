/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/packet.h"

#include <string.h>

/* Decode the known fields of one scope. */
static void take_heads(const struct field_class *const *head, enum native_head from,
		       enum native_head to, const struct native_cursor *cursor,
		       struct native_packet *packet)
{
	for (enum native_head i = from; i < to; i++) {
		const struct field_class *field = head[i];
		uint64_t at = cursor->place[i].at;

		packet->has[i] = field && at != NATIVE_ABSENT;
		if (!packet->has[i])
			continue;
		if (i == HEAD_UUID)
			memcpy(packet->uuid, cursor->bytes.byte + at / 8,
			       sizeof(packet->uuid));
		else
			packet->value[i] = native_bits(cursor->bytes, at, field->size,
						       field->order == ORDER_BIG);
	}
}

static const struct native_stream_class *find_stream(const struct native_trace *trace,
						     const struct native_packet *packet)
{
	for (size_t i = 0; i < trace->tsdl->streams; i++)
		if (!packet->has[HEAD_STREAM] ||
		    trace->stream[i].of->id == packet->value[HEAD_STREAM])
			return &trace->stream[i];
	return NULL;
}

static bool read_head(const struct native_trace *trace, struct native_cursor *cursor,
		      struct native_packet *packet)
{
	const struct native_stream_class *any =
	    trace->tsdl->streams ? trace->stream : NULL;

	for (int i = 0; i < HEADS; i++)
		cursor->place[i].at = NATIVE_ABSENT;
	if (!any || !native_plan_run(trace->packet_header, cursor))
		return false;
	take_heads(any->head, HEAD_MAGIC, HEAD_BEGIN, cursor, packet);
	if (packet->has[HEAD_MAGIC] && packet->value[HEAD_MAGIC] != NATIVE_MAGIC)
		return false;
	packet->stream = find_stream(trace, packet);
	if (!packet->stream || !native_plan_run(packet->stream->packet_context, cursor))
		return false;
	take_heads(packet->stream->head, HEAD_BEGIN, HEADS, cursor, packet);
	packet->head = cursor->at;
	return true;
}

/* Either size stands for both; with none of them the packet is all there is. */
static void set_sizes(struct native_packet *packet, uint64_t there)
{
	bool size = packet->has[HEAD_SIZE], content = packet->has[HEAD_CONTENT];

	packet->size = size      ? packet->value[HEAD_SIZE]
		       : content ? packet->value[HEAD_CONTENT]
				 : there;
	packet->content = content ? packet->value[HEAD_CONTENT] : packet->size;
}

static bool is_of(const struct native_packet *packet, const struct tsdl *tsdl)
{
	return !tsdl->has_uuid || !packet->has[HEAD_UUID] ||
	       memcmp(packet->uuid, tsdl->uuid, sizeof(packet->uuid)) == 0;
}

static bool is_like(const struct native_packet *packet, const struct native_packet *first)
{
	return packet->stream == first->stream &&
	       packet->value[HEAD_INSTANCE] == first->value[HEAD_INSTANCE] &&
	       memcmp(packet->uuid, first->uuid, sizeof(packet->uuid)) == 0;
}

enum packet_found native_packet_read(const struct native_trace *trace,
				     const struct native_packet *first,
				     struct native_cursor *cursor, uint64_t rest,
				     struct native_packet *packet)
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
	    !is_of(packet, trace->tsdl) || (first && !is_like(packet, first)))
		return PACKET_GARBLED;
	cursor->budget = packet->content;
	cursor->end = packet->content;
	if (packet->size <= there)
		return PACKET_WHOLE;
	if (packet->content > there)
		cursor->end = packet->content = there;
	return PACKET_CUT;
}
