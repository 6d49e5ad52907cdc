/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "input/native/seek.h"

#define MOST_BYTES ((uint64_t)1 << 30) /* of a packet; LTTng's have a MiB or so */

static bool open_part(struct native_stream *stream, struct native_part part)
{
	stream->of = &stream->file[part.file];
	stream->path = stream->of->path;
	stream->next = part.from;
	stream->size = stream->until = 0;
	if (native_window_open(&stream->window, stream->path))
		return false;
	stream->size = stream->window.size;
	stream->until = part.to < stream->size ? part.to : stream->size;
	return true;
}

/* Open the next part that can be. False when there is none. */
static bool open_next(struct native_stream *stream, struct problem_list *problems)
{
	while (stream->at_part < stream->parts) {
		if (!open_part(stream, stream->part[stream->at_part++]))
			problem_add(problems, stream->path, "unreadable", 1,
				    "%s, left out", strerror(errno));
		else if (stream->next < stream->until)
			return true;
	}
	native_window_clear(&stream->window);
	return false;
}

static void tell_cut(const struct native_stream *stream, struct problem_list *problems)
{
	problem_add(problems, stream->path, "truncated", 1,
		    "cut in the middle of a packet, %" PRIu64 " of its %" PRIu64
		    " bytes are there",
		    stream->size - stream->at, stream->packet.size / 8);
}

/* Damaged places after the first one of a stream are counted. */
static void tell_gap(struct native_stream *stream, struct problem_list *problems)
{
	uint64_t gap = stream->next - stream->at;

	if (stream->gaps++)
		stream->gap_bytes += gap;
	else if (stream->next == stream->size)
		problem_add(problems, stream->path, "garbled", 1,
			    "no packet at byte %" PRIu64 " of %" PRIu64
			    ", the rest is left out",
			    stream->at, stream->size);
	else
		problem_add(problems, stream->path, "garbled", 1,
			    "no packet at byte %" PRIu64 " of %" PRIu64 ", %" PRIu64
			    " bytes up to the next one are left out",
			    stream->at, stream->size, gap);
}

static void tell_gaps(struct native_stream *stream, struct problem_list *problems)
{
	if (stream->gaps > 1)
		problem_add(problems, stream->path, "garbled", stream->gaps - 1,
			    "no packet at %" PRIu64 " more places, %" PRIu64
			    " bytes are left out there",
			    stream->gaps - 1, stream->gap_bytes);
	stream->gaps = stream->gap_bytes = 0;
}

/* The file is not what it was when it was opened. */
static void tell_shrunk(struct native_stream *stream, struct problem_list *problems)
{
	if (stream->window.size < stream->size)
		problem_add(problems, stream->path, "truncated", 1,
			    "it was cut from %" PRIu64 " to %" PRIu64
			    " bytes while it was read",
			    stream->size, stream->window.size);
	stream->size = stream->window.size;
	if (stream->until > stream->size)
		stream->until = stream->size;
}

/*
 * A packet that ends beyond its file: cut, or its size is wrong, and another one
 * begins in it, which it cannot without the uuid of both.
 */
static enum packet_found check_cut(struct native_stream *stream,
				   const struct native_trace *trace)
{
	uint64_t next = stream->size;

	if (stream->packet.has[HEAD_UUID])
		next = native_seek(&stream->window, trace, &stream->of->first,
				   &stream->cursor, stream->at + 1);
	stream->next = next;
	if (next < stream->window.size)
		return PACKET_GARBLED;
	return native_packet_at(&stream->window, trace, &stream->of->first,
				&stream->cursor, stream->at, &stream->packet);
}

/* Look at the head of the packet at hand, and where the next one is. */
static enum packet_found read_head(struct native_stream *stream,
				   const struct native_trace *trace)
{
	enum packet_found found =
	    native_packet_at(&stream->window, trace, &stream->of->first, &stream->cursor,
			     stream->at, &stream->packet);

	if (found == PACKET_WHOLE)
		stream->next = stream->at + stream->packet.size / 8;
	else if (found == PACKET_CUT)
		found = check_cut(stream, trace);
	else
		stream->next = native_seek(&stream->window, trace, &stream->of->first,
					   &stream->cursor, stream->at + 1);
	return found;
}

/* Have the content of the packet at hand; less of it where the file got shorter. */
static bool read_content(struct native_stream *stream, struct problem_list *problems)
{
	uint64_t bytes = (stream->packet.content + 7) / 8;
	struct native_cursor *cursor = &stream->cursor;

	if (bytes > MOST_BYTES) {
		problem_add(problems, stream->path, "broken", 1,
			    "the packet at byte %" PRIu64 " has %" PRIu64
			    " bytes, more than 1 GiB, and is left out",
			    stream->at, bytes);
		return false;
	}
	cursor->bytes = native_window_show(&stream->window, stream->at, bytes);
	if (cursor->bytes.count >= bytes)
		return true;
	stream->is_cut = true;
	cursor->end = stream->packet.content = 8 * cursor->bytes.count;
	return cursor->at <= cursor->end;
}

/* A packet whose head says that it ends before. */
static bool can_skip(const struct native_stream *stream)
{
	const struct native_packet *packet = &stream->packet;
	uint64_t end = packet->value[HEAD_END];
	nsec_t end_ns;

	return packet->stream->can_skip && packet->stream->has_ends &&
	       packet->has[HEAD_BEGIN] && packet->has[HEAD_END] &&
	       packet->value[HEAD_BEGIN] <= end &&
	       native_instant(&packet->stream->clock, end, &end_ns) &&
	       end_ns < stream->skip_before;
}

static void skip(struct native_stream *stream)
{
	stream->is_skipped = true;
	stream->cursor.at = stream->cursor.end;
	stream->packets++;
}

bool native_stream_next(struct native_stream *stream, const struct native_trace *trace,
			struct problem_list *problems)
{
	for (;;) {
		enum packet_found found;
		bool has_content;

		if (stream->next >= stream->until) {
			tell_gaps(stream, problems);
			if (!open_next(stream, problems))
				return false;
		}
		stream->at = stream->next;
		found = read_head(stream, trace);
		stream->is_cut = found == PACKET_CUT;
		stream->is_skipped = false;
		if (found == PACKET_WHOLE && can_skip(stream)) {
			skip(stream);
			return true;
		}
		has_content = (found == PACKET_WHOLE || found == PACKET_CUT) &&
			      read_content(stream, problems);
		tell_shrunk(stream, problems);
		if (found == PACKET_CUT)
			tell_cut(stream, problems);
		if (found == PACKET_GARBLED)
			tell_gap(stream, problems);
		if (has_content) {
			stream->packets++;
			return true;
		}
	}
}
