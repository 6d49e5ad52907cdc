/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf/stream.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

#define MOST_BYTES ((uint64_t)1 << 30) /* of a packet; LTTng's have a MiB or so */

static bool open_part(struct ctf_stream *stream, struct ctf_part part)
{
	stream->opened = &stream->file[part.file];
	stream->next = part.from;
	stream->size = stream->until = 0;
	if (ctf_window_open(&stream->window, stream->opened->path))
		return false;
	stream->size = stream->window.size;
	stream->until = part.to < stream->size ? part.to : stream->size;
	return true;
}

/* Open the next part that can be. False when there is none. */
static bool open_next(struct ctf_stream *stream, struct problem_list *problems)
{
	while (stream->at_part < stream->parts) {
		if (!open_part(stream, stream->part[stream->at_part++]))
			problem_add(problems, stream->opened->path, "unreadable", 1,
				    "%s, left out", strerror(errno));
		else if (stream->next < stream->until)
			return true;
	}
	ctf_window_clear(&stream->window);
	return false;
}

static void tell_cut(const struct ctf_stream *stream, struct problem_list *problems)
{
	problem_add(problems, stream->opened->path, "truncated", 1,
		    "cut in the middle of a packet, %" PRIu64 " of its %" PRIu64
		    " bytes are there",
		    stream->size - stream->at, stream->packet.size / 8);
}

/* Damaged places after the first one of a stream are counted. */
static void tell_gap(struct ctf_stream *stream, struct problem_list *problems)
{
	uint64_t gap = stream->next - stream->at;

	if (stream->gaps++)
		stream->gap_bytes += gap;
	else if (stream->next == stream->size)
		problem_add(problems, stream->opened->path, "garbled", 1,
			    "no packet at byte %" PRIu64 " of %" PRIu64
			    ", the rest is left out",
			    stream->at, stream->size);
	else
		problem_add(problems, stream->opened->path, "garbled", 1,
			    "no packet at byte %" PRIu64 " of %" PRIu64 ", %" PRIu64
			    " bytes up to the next one are left out",
			    stream->at, stream->size, gap);
}

static void tell_gaps(struct ctf_stream *stream, struct problem_list *problems)
{
	if (stream->gaps > 1)
		problem_add(problems, stream->opened->path, "garbled", stream->gaps - 1,
			    "no packet at %" PRIu64 " more places, %" PRIu64
			    " bytes are left out there",
			    stream->gaps - 1, stream->gap_bytes);
	stream->gaps = stream->gap_bytes = 0;
}

/* The file is not what it was when it was opened. */
static void tell_shrunk(struct ctf_stream *stream, struct problem_list *problems)
{
	if (stream->window.size < stream->size)
		problem_add(problems, stream->opened->path, "truncated", 1,
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
static enum packet_found check_cut(struct ctf_stream *stream,
				   const struct ctf_trace *trace)
{
	uint64_t next = stream->size;

	if (packet_has(&stream->packet, ROLE_UUID))
		next = ctf_seek(&stream->window, trace, &stream->opened->first,
				&stream->cursor, stream->at + 1);
	stream->next = next;
	if (next < stream->window.size)
		return PACKET_GARBLED;
	return ctf_packet_at(&stream->window, trace, &stream->opened->first,
			     &stream->cursor, stream->at, &stream->packet);
}

/* Look at the head of the packet at hand, and where the next one is. */
static enum packet_found read_head(struct ctf_stream *stream,
				   const struct ctf_trace *trace)
{
	enum packet_found found =
	    ctf_packet_at(&stream->window, trace, &stream->opened->first, &stream->cursor,
			  stream->at, &stream->packet);

	if (found == PACKET_WHOLE)
		stream->next = stream->at + stream->packet.size / 8;
	else if (found == PACKET_CUT)
		found = check_cut(stream, trace);
	else
		stream->next = ctf_seek(&stream->window, trace, &stream->opened->first,
					&stream->cursor, stream->at + 1);
	return found;
}

/* Have the content of the packet at hand; less of it where the file got shorter. */
static bool read_content(struct ctf_stream *stream, struct problem_list *problems)
{
	uint64_t bytes = (stream->packet.content + 7) / 8;
	struct ctf_cursor *cursor = &stream->cursor;

	if (bytes > MOST_BYTES) {
		problem_add(problems, stream->opened->path, "broken", 1,
			    "the packet at byte %" PRIu64 " has %" PRIu64
			    " bytes, more than 1 GiB, and is left out",
			    stream->at, bytes);
		return false;
	}
	cursor->bytes = ctf_window_show(&stream->window, stream->at, bytes);
	if (cursor->bytes.count >= bytes)
		return true;
	stream->is_cut = true;
	cursor->end = stream->packet.content = 8 * cursor->bytes.count;
	return cursor->at <= cursor->end;
}

/* A packet whose head says that it ends before. */
static bool can_skip(const struct ctf_stream *stream)
{
	const struct ctf_packet *packet = &stream->packet;
	uint64_t end = packet->value[ROLE_END];
	nsec_t end_ns;

	return packet->stream->can_skip && packet_has(packet, ROLE_END_STAMP) &&
	       packet_has(packet, ROLE_BEGIN) && packet_has(packet, ROLE_END) &&
	       packet->value[ROLE_BEGIN] <= end &&
	       ctf_instant(&packet->stream->clock, end, &end_ns) &&
	       end_ns < stream->skip_before;
}

static void skip(struct ctf_stream *stream)
{
	stream->is_skipped = true;
	stream->cursor.at = stream->cursor.end;
}

bool ctf_stream_next(struct ctf_stream *stream, const struct ctf_trace *trace,
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
			return true;
		}
	}
}

static void cursor_init(struct ctf_cursor *cursor, const struct ctf_trace *trace)
{
	memset(cursor, 0, sizeof(*cursor));
	cursor->slot =
	    mem_zalloc((size_t)trace->schema->slots * sizeof(*cursor->slot) + 1);
}

static void cursor_clear(struct ctf_cursor *cursor)
{
	free(cursor->slot);
	free(cursor->place);
}

/* The first packet of a file, wherever that is. */
static enum packet_found read_first(const struct ctf_trace *trace, struct ctf_file *file,
				    uint64_t *size)
{
	struct ctf_window window = {.path = NULL};
	struct ctf_cursor cursor;
	enum packet_found found;
	uint64_t at;

	if (ctf_window_open(&window, file->path))
		return PACKET_NONE;
	*size = window.size;
	cursor_init(&cursor, trace);
	found = ctf_packet_at(&window, trace, NULL, &cursor, 0, &file->first);
	if (found == PACKET_GARBLED) {
		at = ctf_seek(&window, trace, NULL, &cursor, 1);
		if (at < window.size)
			found = ctf_packet_at(&window, trace, NULL, &cursor, at,
					      &file->first);
	}
	cursor_clear(&cursor);
	ctf_window_clear(&window);
	return found;
}

/* The stream that a file goes on, or a new one. */
static struct ctf_stream *stream_of(struct ctf_streams *streams,
				    const struct ctf_trace *trace,
				    const struct ctf_file *file)
{
	const struct ctf_packet *packet = &file->first;
	struct ctf_stream *stream;

	for (size_t i = 0; i < streams->count; i++) {
		const struct ctf_packet *other = &streams->stream[i].file[0].first;

		/* Files without these cannot be put in an order. */
		if (packet_has(packet, ROLE_INSTANCE) && packet_has(packet, ROLE_BEGIN) &&
		    other->stream == packet->stream &&
		    other->value[ROLE_INSTANCE] == packet->value[ROLE_INSTANCE])
			return &streams->stream[i];
	}
	streams->stream = mem_grow(streams->stream, streams->count, &streams->room,
				   sizeof(*streams->stream));
	stream = &streams->stream[streams->count++];
	memset(stream, 0, sizeof(*stream));
	cursor_init(&stream->cursor, trace);
	stream->skip_before = NSEC_MIN;
	return stream;
}

static bool is_behind(const struct ctf_file *one, const struct ctf_file *other)
{
	return one->begin != other->begin ? one->begin > other->begin
					  : one->rank > other->rank;
}

/* Behind those that begin before; of one begin, as the directory lists them. */
static void add_file(struct ctf_stream *stream, const struct ctf_file *file)
{
	size_t at = stream->files;

	stream->file =
	    mem_grow(stream->file, stream->files++, &stream->room, sizeof(*stream->file));
	for (; at > 0 && is_behind(&stream->file[at - 1], file); at--)
		stream->file[at] = stream->file[at - 1];
	stream->file[at] = *file;
}

/* Takes the path. */
static void look_at(struct ctf_streams *streams, const struct ctf_trace *trace,
		    struct ctf_file file, struct problem_list *problems)
{
	enum packet_found found;
	uint64_t size = 0;

	errno = 0;
	found = read_first(trace, &file, &size);
	streams->bytes += size;
	if ((found == PACKET_WHOLE || found == PACKET_CUT) &&
	    file.first.stream->clock.of) {
		file.begin =
		    ctf_clock_ns(&file.first.stream->clock, file.first.value[ROLE_BEGIN]);
		add_file(stream_of(streams, trace, &file), &file);
		return;
	}
	if (found == PACKET_NONE)
		problem_add(problems, file.path, "unreadable", 1, "%s, left out",
			    strerror(errno));
	else if (found != PACKET_GARBLED)
		problem_add(problems, file.path, "unreadable", 1,
			    "its events have no stamps, left out");
	else
		problem_add(problems, file.path, "garbled", 1,
			    "no packet at byte 0 of %" PRIu64 ", the rest is left out",
			    size);
	free(file.path);
}

static int by_path(const void *a, const void *b)
{
	const struct ctf_file *one = a, *other = b;

	return strcmp(one->path, other->path);
}

static int by_first_file(const void *a, const void *b)
{
	const struct ctf_stream *one = a, *other = b;

	return strcmp(one->file[0].path, other->file[0].path);
}

struct listing {
	struct ctf_file *file;
	size_t count, room;
};

/* The files of a directory that may be streams, in the order of their names. */
static int list_files(struct listing *listing, const char *path)
{
	struct dirent **entry = NULL;
	int count = scandir(path, &entry, NULL, NULL);
	struct stat status;

	for (int i = 0; i < count; i++) {
		struct ctf_file file = {.rank = (size_t)i};

		file.path = mem_printf("%s/%s", path, entry[i]->d_name);
		if (stat(file.path, &status) == 0 && S_ISREG(status.st_mode) &&
		    entry[i]->d_name[0] != '.' && status.st_size > 0 &&
		    strcmp(entry[i]->d_name, "metadata") != 0) {
			listing->file = mem_grow(listing->file, listing->count,
						 &listing->room, sizeof(file));
			listing->file[listing->count++] = file;
		} else {
			free(file.path);
		}
		free(entry[i]);
	}
	free(entry);
	if (listing->count)
		qsort(listing->file, listing->count, sizeof(*listing->file), by_path);
	return count < 0 ? -1 : 0;
}

int ctf_streams_open(struct ctf_streams *streams, const struct ctf_trace *trace,
		     const char *path, struct problem_list *problems, struct error *error)
{
	struct listing listing = {NULL, 0, 0};

	memset(streams, 0, sizeof(*streams));
	if (list_files(&listing, path))
		return error_errno(error, path);
	for (size_t i = 0; i < listing.count; i++)
		look_at(streams, trace, listing.file[i], problems);
	free(listing.file);
	for (size_t i = 0; i < streams->count; i++)
		ctf_stream_order(&streams->stream[i], trace);
	if (streams->count)
		qsort(streams->stream, streams->count, sizeof(*streams->stream),
		      by_first_file);
	return 0;
}

void ctf_streams_clear(struct ctf_streams *streams)
{
	for (size_t i = 0; i < streams->count; i++) {
		struct ctf_stream *stream = &streams->stream[i];

		ctf_window_clear(&stream->window);
		for (size_t k = 0; k < stream->files; k++)
			free(stream->file[k].path);
		free(stream->file);
		free(stream->part);
		cursor_clear(&stream->cursor);
	}
	free(streams->stream);
	memset(streams, 0, sizeof(*streams));
}
