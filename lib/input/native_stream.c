/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native_stream.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { KEPT_BYTES = 1 << 18 }; /* behind the packet at hand */

/* Map a file to read it through. NULL with errno set; never of an empty file. */
static const unsigned char *map_file(const char *path, uint64_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *map = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &status) == 0) {
		*size = (uint64_t)status.st_size;
		map = mmap(NULL, (size_t)*size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return NULL;
	madvise(map, (size_t)*size, MADV_SEQUENTIAL);
	return map;
}

/*
 * Pages that were read count as ours until the system wants them. What is asked
 * for once more is read again, so nothing depends on them.
 */
static void let_go(struct native_stream *stream)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t read = stream->at / page * page;

	if (read - stream->gone < KEPT_BYTES)
		return;
	madvise((void *)(stream->map + stream->gone), (size_t)(read - stream->gone),
		MADV_DONTNEED);
	stream->gone = read;
}

static void close_map(struct native_stream *stream)
{
	if (stream->map)
		munmap((void *)stream->map, (size_t)stream->size);
	stream->map = NULL;
}

/* Map the next file that can be. False when there is none. */
static bool open_next(struct native_stream *stream, struct problem_list *problems)
{
	close_map(stream);
	while (stream->at_file < stream->files && !stream->map) {
		stream->path = stream->file[stream->at_file++].path;
		stream->map = map_file(stream->path, &stream->size);
		stream->next = stream->gone = 0;
		if (!stream->map)
			problem_add(problems, stream->path, "unreadable", 1,
				    "%s, left out", strerror(errno));
	}
	return stream->map != NULL;
}

static void tell_cut(const struct native_stream *stream, enum packet_found found,
		     struct problem_list *problems)
{
	if (found == PACKET_CUT)
		problem_add(problems, stream->path, "truncated", 1,
			    "cut in the middle of a packet, %" PRIu64 " of its %" PRIu64
			    " bytes are there",
			    stream->size - stream->at, stream->packet.size / 8);
	if (found == PACKET_GARBLED)
		problem_add(problems, stream->path, "garbled", 1,
			    "no packet at byte %" PRIu64 " of %" PRIu64
			    ", the rest is left out",
			    stream->at, stream->size);
}

bool native_stream_next(struct native_stream *stream, const struct native_trace *trace,
			struct problem_list *problems)
{
	const struct native_packet *first =
	    stream->at_file ? &stream->file[stream->at_file - 1].first : NULL;

	for (;;) {
		enum packet_found found;

		if (!stream->map || stream->next >= stream->size) {
			if (!open_next(stream, problems))
				return false;
			first = &stream->file[stream->at_file - 1].first;
		}
		stream->at = stream->next;
		let_go(stream);
		stream->cursor.bytes.byte = stream->map + stream->at;
		stream->cursor.bytes.count = stream->size - stream->at;
		found =
		    native_packet_read(trace, first, &stream->cursor, &stream->packet);
		tell_cut(stream, found, problems);
		stream->next = stream->size;
		if (found == PACKET_WHOLE)
			stream->next = stream->at + stream->packet.size / 8;
		if (found == PACKET_WHOLE || found == PACKET_CUT) {
			stream->packets++;
			return true;
		}
	}
}

/* The first packet of a file, as far as it is one. */
static enum packet_found read_first(const struct native_trace *trace,
				    struct native_file *file, uint64_t *size)
{
	struct native_cursor cursor = {.clock = 0};
	enum packet_found found = PACKET_NONE;

	cursor.bytes.byte = map_file(file->path, size);
	if (!cursor.bytes.byte)
		return PACKET_NONE;
	cursor.bytes.count = *size;
	cursor.slot = mem_zalloc((size_t)trace->slots.count * sizeof(*cursor.slot) + 1);
	cursor.place = mem_zalloc(trace->places * sizeof(*cursor.place));
	found = native_packet_read(trace, NULL, &cursor, &file->first);
	munmap((void *)cursor.bytes.byte, (size_t)*size);
	free(cursor.slot);
	free(cursor.place);
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
	stream->cursor.slot =
	    mem_zalloc((size_t)trace->slots.count * sizeof(*stream->cursor.slot) + 1);
	stream->cursor.place = mem_zalloc(trace->places * sizeof(*stream->cursor.place));
	return stream;
}

/* Behind those that begin before. */
static void add_file(struct native_stream *stream, const struct native_file *file)
{
	size_t at = stream->files;

	stream->file =
	    mem_grow(stream->file, stream->files++, &stream->room, sizeof(*stream->file));
	for (; at > 0 && stream->file[at - 1].begin > file->begin; at--)
		stream->file[at] = stream->file[at - 1];
	stream->file[at] = *file;
}

/* Takes the path. */
static void look_at(struct native_streams *streams, const struct native_trace *trace,
		    char *path, struct problem_list *problems)
{
	struct native_file file = {.path = path};
	enum packet_found found;
	uint64_t size = 0;

	errno = 0;
	found = read_first(trace, &file, &size);
	if (found == PACKET_WHOLE || found == PACKET_CUT) {
		file.begin = file.first.value[HEAD_BEGIN];
		add_file(stream_of(streams, trace, &file), &file);
		return;
	}
	if (found == PACKET_NONE)
		problem_add(problems, path, "unreadable", 1, "%s, left out",
			    strerror(errno));
	else
		problem_add(problems, path, "garbled", 1,
			    "no packet at byte 0 of %" PRIu64 ", the rest is left out",
			    size);
	free(path);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int by_first_file(const void *a, const void *b)
{
	const struct native_stream *one = a, *other = b;

	return strcmp(one->file[0].path, other->file[0].path);
}

int native_streams_open(struct native_streams *streams, const struct native_trace *trace,
			const char *path, struct problem_list *problems,
			struct error *error)
{
	struct dirent **entry = NULL;
	int count = scandir(path, &entry, NULL, by_name);
	struct stat status;

	memset(streams, 0, sizeof(*streams));
	if (count < 0)
		return error_errno(error, path);
	for (int i = 0; i < count; i++) {
		char *name = mem_printf("%s/%s", path, entry[i]->d_name);

		if (stat(name, &status) == 0 && S_ISREG(status.st_mode) &&
		    entry[i]->d_name[0] != '.' && status.st_size > 0 &&
		    strcmp(entry[i]->d_name, "metadata") != 0)
			look_at(streams, trace, name, problems);
		else
			free(name);
		free(entry[i]);
	}
	free(entry);
	if (streams->count)
		qsort(streams->stream, streams->count, sizeof(*streams->stream),
		      by_first_file);
	return 0;
}

void native_streams_clear(struct native_streams *streams)
{
	for (size_t i = 0; i < streams->count; i++) {
		struct native_stream *stream = &streams->stream[i];

		close_map(stream);
		for (size_t k = 0; k < stream->files; k++)
			free(stream->file[k].path);
		free(stream->file);
		free(stream->cursor.slot);
		free(stream->cursor.place);
	}
	free(streams->stream);
	memset(streams, 0, sizeof(*streams));
}
