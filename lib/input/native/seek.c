/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/seek.h"

#include <string.h>

enum {
	HEAD_BYTES = 1 << 14, /* more than a packet's head takes */
	LOOK_BYTES = 1 << 18,
	MOST_FALSE =
	    1000, /* magic numbers that begin no packet, so that none take long */
};

enum packet_found native_packet_at(struct native_window *window,
				   const struct native_trace *trace,
				   const struct native_packet *first,
				   struct native_cursor *cursor, uint64_t at,
				   struct native_packet *packet)
{
	cursor->bytes = native_window_show(window, at, HEAD_BYTES);
	if (cursor->bytes.count > HEAD_BYTES)
		cursor->bytes.count = HEAD_BYTES;
	return native_packet_read(trace, first, cursor,
				  at < window->size ? window->size - at : 0, packet);
}

/* The bytes that every packet begins with. False where there are none. */
static bool find_magic(const struct native_trace *trace, unsigned char magic[4])
{
	const struct field_class *header = trace->tsdl->packet_header;
	const struct field_class *field =
	    header && header->members ? header->member[0].class : NULL;

	if (!field || field->place != HEAD_MAGIC || field->size != 32)
		return false;
	for (int i = 0; i < 4; i++)
		magic[field->order == ORDER_BIG ? 3 - i : i] =
		    (unsigned char)(NATIVE_MAGIC >> 8 * i);
	return true;
}

uint64_t native_seek(struct native_window *window, const struct native_trace *trace,
		     const struct native_packet *first, struct native_cursor *cursor,
		     uint64_t from)
{
	struct native_packet packet;
	unsigned char magic[4];
	int none = 0;

	if (!find_magic(trace, magic))
		return window->size;
	while (from < window->size) {
		struct native_bytes bytes = native_window_show(window, from, LOOK_BYTES);
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
		is = native_packet_at(window, trace, first, cursor, from, &packet);
		if (is == PACKET_WHOLE || (is == PACKET_CUT && packet.has[HEAD_UUID]))
			return from;
		if (++none > MOST_FALSE)
			break;
		from++;
	}
	return window->size;
}
