/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/stream.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "input/native/rotation.h"
#include "input/native/seek.h"

static void cursor_init(struct native_cursor *cursor, const struct native_trace *trace)
{
	memset(cursor, 0, sizeof(*cursor));
	cursor->slot = mem_zalloc((size_t)trace->slots.count * sizeof(*cursor->slot) + 1);
	cursor->place = mem_zalloc(trace->places * sizeof(*cursor->place));
}

static void cursor_clear(struct native_cursor *cursor)
{
	free(cursor->slot);
	free(cursor->place);
}

/* The first packet of a file, wherever that is. */
static enum packet_found read_first(const struct native_trace *trace,
				    struct native_file *file, uint64_t *size)
{
	struct native_window window = {.path = NULL};
	struct native_cursor cursor;
	enum packet_found found;
	uint64_t at;

	if (native_window_open(&window, file->path))
		return PACKET_NONE;
	*size = window.size;
	cursor_init(&cursor, trace);
	found = native_packet_at(&window, trace, NULL, &cursor, 0, &file->first);
	if (found == PACKET_GARBLED) {
		at = native_seek(&window, trace, NULL, &cursor, 1);
		if (at < window.size)
			found = native_packet_at(&window, trace, NULL, &cursor, at,
						 &file->first);
	}
	cursor_clear(&cursor);
	native_window_clear(&window);
	return found;
}

/* The stream that a file goes on, or a new one. */
static struct native_stream *stream_of(struct native_streams *streams,
				       const struct native_trace *trace,
				       const struct native_file *file)
{
	const struct native_packet *packet = &file->first;
	struct native_stream *stream;

	for (size_t i = 0; i < streams->count; i++) {
		const struct native_packet *other = &streams->stream[i].file[0].first;

		/* Files without these cannot be put in an order. */
		if (packet->has[HEAD_INSTANCE] && packet->has[HEAD_BEGIN] &&
		    other->stream == packet->stream &&
		    other->value[HEAD_INSTANCE] == packet->value[HEAD_INSTANCE])
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

static bool is_behind(const struct native_file *one, const struct native_file *other)
{
	return one->begin != other->begin ? one->begin > other->begin
					  : one->rank > other->rank;
}

/* Behind those that begin before; of one begin, as the directory lists them. */
static void add_file(struct native_stream *stream, const struct native_file *file)
{
	size_t at = stream->files;

	stream->file =
	    mem_grow(stream->file, stream->files++, &stream->room, sizeof(*stream->file));
	for (; at > 0 && is_behind(&stream->file[at - 1], file); at--)
		stream->file[at] = stream->file[at - 1];
	stream->file[at] = *file;
}

/* Takes the path. */
static void look_at(struct native_streams *streams, const struct native_trace *trace,
		    struct native_file file, struct problem_list *problems)
{
	enum packet_found found;
	uint64_t size = 0;

	errno = 0;
	found = read_first(trace, &file, &size);
	if (found == PACKET_WHOLE || found == PACKET_CUT) {
		file.begin = native_clock_ns(&file.first.stream->clock,
					     file.first.value[HEAD_BEGIN]);
		add_file(stream_of(streams, trace, &file), &file);
		return;
	}
	if (found == PACKET_NONE)
		problem_add(problems, file.path, "unreadable", 1, "%s, left out",
			    strerror(errno));
	else
		problem_add(problems, file.path, "garbled", 1,
			    "no packet at byte 0 of %" PRIu64 ", the rest is left out",
			    size);
	free(file.path);
}

static int by_path(const void *a, const void *b)
{
	const struct native_file *one = a, *other = b;

	return strcmp(one->path, other->path);
}

static int by_first_file(const void *a, const void *b)
{
	const struct native_stream *one = a, *other = b;

	return strcmp(one->file[0].path, other->file[0].path);
}

struct listing {
	struct native_file *file;
	size_t count, room;
};

/* The files of a directory that may be streams, in the order of their names. */
static int list_files(struct listing *listing, const char *path)
{
	struct dirent **entry = NULL;
	int count = scandir(path, &entry, NULL, NULL);
	struct stat status;

	for (int i = 0; i < count; i++) {
		struct native_file file = {.rank = (size_t)i};

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

int native_streams_open(struct native_streams *streams, const struct native_trace *trace,
			const char *path, struct problem_list *problems,
			struct error *error)
{
	struct listing listing = {NULL, 0, 0};

	memset(streams, 0, sizeof(*streams));
	if (list_files(&listing, path))
		return error_errno(error, path);
	for (size_t i = 0; i < listing.count; i++)
		look_at(streams, trace, listing.file[i], problems);
	free(listing.file);
	for (size_t i = 0; i < streams->count; i++)
		native_rotation_order(&streams->stream[i], trace);
	if (streams->count)
		qsort(streams->stream, streams->count, sizeof(*streams->stream),
		      by_first_file);
	return 0;
}

void native_streams_clear(struct native_streams *streams)
{
	for (size_t i = 0; i < streams->count; i++) {
		struct native_stream *stream = &streams->stream[i];

		native_window_clear(&stream->window);
		for (size_t k = 0; k < stream->files; k++)
			free(stream->file[k].path);
		free(stream->file);
		free(stream->part);
		cursor_clear(&stream->cursor);
	}
	free(streams->stream);
	memset(streams, 0, sizeof(*streams));
}
