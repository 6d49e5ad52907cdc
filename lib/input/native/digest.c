/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "input/native/pass.h"

enum {
	HEAD_BYTES = 1 << 14,
	MOST_BYTES = 1 << 24,  /* of a packet; LTTng's have a MiB or so */
	MOST_EVENTS = 1 << 21, /* of it */
};

bool native_digest_can(const struct native_stream_class *stream)
{
	const struct field_class *begin = stream->head[HEAD_BEGIN];

	return begin && begin->clock && begin->size == 64;
}

struct native_digest *native_digest_new(const struct native_trace *trace)
{
	struct native_digest *digest = mem_zalloc(sizeof(*digest));

	digest->cursor.slot =
	    mem_zalloc((size_t)trace->slots.count * sizeof(*digest->cursor.slot) + 1);
	digest->cursor.place = mem_zalloc(trace->places * sizeof(*digest->cursor.place));
	return digest;
}

/* Have the packet's bytes up to `until`; false where they are not to be had. */
static bool read_up_to(struct native_digest *digest, const struct native_piece *piece,
		       uint64_t until)
{
	int fd = open(piece->path, O_RDONLY | O_CLOEXEC);

	if (until > digest->room) {
		digest->byte = mem_realloc(digest->byte, (size_t)until, 1);
		digest->room = until;
	}
	while (digest->bytes < until) {
		ssize_t got = pread(fd, digest->byte + digest->bytes,
				    (size_t)(until - digest->bytes),
				    (off_t)(piece->at + digest->bytes));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		digest->bytes += (uint64_t)got;
	}
	if (fd >= 0)
		close(fd);
	digest->cursor.bytes = (struct native_bytes){digest->byte, digest->bytes};
	return digest->bytes == until;
}

bool native_digest_begin(struct native_digest *digest, const struct native_trace *trace,
			 const struct native_piece *piece)
{
	uint64_t rest = piece->at < piece->size ? piece->size - piece->at : 0;

	digest->bytes = 0;
	digest->events = digest->wants = 0;
	digest->is_sound = false;
	return read_up_to(digest, piece, rest < HEAD_BYTES ? rest : HEAD_BYTES) &&
	       native_packet_read(trace, piece->first, &digest->cursor, rest,
				  &digest->packet) == PACKET_WHOLE &&
	       digest->packet.size / 8 <= MOST_BYTES &&
	       native_digest_can(digest->packet.stream);
}

/* Events that nobody wants, as many as there are. False when there are too many. */
static bool pass_events(struct native_digest *digest)
{
	struct native_pass pass = {.until = NSEC_MAX, .last_ns = NSEC_MIN};

	do {
		if (digest->events == MOST_EVENTS)
			return false;
		digest->stamp = mem_grow(digest->stamp, digest->events,
					 &digest->stamp_room, sizeof(*digest->stamp));
		pass.most = digest->stamp_room - digest->events;
		pass.stamp = digest->stamp + digest->events;
		native_pass_run(digest->packet.stream, &digest->cursor, &pass);
		digest->events += pass.events;
	} while (digest->events == digest->stamp_room);
	return true;
}

/* Any event; there is room for its stamp. */
static bool take_event(struct native_digest *digest)
{
	const struct native_stream_class *stream = digest->packet.stream;
	struct native_cursor *cursor = &digest->cursor;
	struct native_wanted wanted = {digest->events, cursor->at, cursor->clock};
	const struct native_class *class;

	cursor->id = 0;
	if (!native_quick_read(&stream->quick, cursor) &&
	    !native_plan_run(stream->event_header, cursor))
		return false;
	class = native_find_class(stream, cursor->id);
	if (!class ||
	    !native_instant(&stream->clock, cursor->clock,
			    &digest->stamp[digest->events]) ||
	    !native_plan_run(class->plan, cursor))
		return false;
	digest->events++;
	if (class->is_passed)
		return true;
	digest->wanted = mem_grow(digest->wanted, digest->wants, &digest->want_room,
				  sizeof(*digest->wanted));
	digest->wanted[digest->wants++] = wanted;
	return true;
}

void native_digest_finish(struct native_digest *digest, const struct native_piece *piece)
{
	struct native_cursor *cursor = &digest->cursor;
	uint64_t bytes = (digest->packet.content + 7) / 8;

	if (digest->bytes < bytes && !read_up_to(digest, piece, bytes))
		return;
	while (cursor->at != cursor->end)
		if (!pass_events(digest) ||
		    (cursor->at != cursor->end && !take_event(digest)))
			return;
	digest->is_sound = true;
}

void native_digest_free(struct native_digest *digest)
{
	if (!digest)
		return;
	free(digest->byte);
	free(digest->stamp);
	free(digest->wanted);
	free(digest->cursor.slot);
	free(digest->cursor.place);
	free(digest);
}
