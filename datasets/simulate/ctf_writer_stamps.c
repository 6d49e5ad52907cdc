/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/ctf_writer_stamps.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "simulate/ctf_writer_bytes.h"
#include "simulate/ctf_writer_declare.h"
#include "simulate/ctf_writer_fields.h"

/* One stream while it is written anew, in place: it only gets shorter. */
struct stream {
	const struct sim_ctf_header_form *form;
	const struct sim_class *const *class;
	size_t classes;
	int fd;
	const char *path;
	uint64_t last; /* stamp, of the packet before too, as LTTng compares */
	uint8_t *from, *to;
	size_t room;
};

static int malformed(const struct stream *stream, uint64_t at, struct error *error)
{
	return error_set(error, "%s: no event or packet at byte %llu", stream->path,
			 (unsigned long long)at);
}

static size_t put(uint8_t *to, const void *value, size_t size)
{
	memcpy(to, value, size);
	return size;
}

/* Five bits share a word with the stamp; in that the id has the bits that come first. */
static size_t put_short(const struct sim_ctf_header_form *form, uint8_t *to, uint64_t id,
			uint64_t stamp)
{
	uint64_t low = stamp & ((UINT64_C(1) << form->stamp_bits) - 1);
	uint32_t word;

	if (form->id_bits % 8 == 0) {
		uint16_t id16 = (uint16_t)id;
		uint32_t low32 = (uint32_t)low;
		size_t size = put(to, &id16, sizeof(id16));

		return size + put(to + size, &low32, sizeof(low32));
	}
	word = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		   ? (uint32_t)(id | low << form->id_bits)
		   : (uint32_t)(id << form->stamp_bits | low);
	return put(to, &word, sizeof(word));
}

static size_t put_header(struct stream *stream, uint8_t *to,
			 const struct sim_ctf_event_begin *event)
{
	const struct sim_ctf_header_form *form = stream->form;
	uint64_t escape = (UINT64_C(1) << form->id_bits) - 1;
	bool fits = event->class_id < escape &&
		    (event->stamp - stream->last) >> form->stamp_bits == 0;
	uint32_t id = (uint32_t)event->class_id;
	size_t size;

	stream->last = event->stamp;
	if (fits)
		return put_short(form, to, id, event->stamp);
	if (form->id_bits % 8 == 0) {
		uint16_t id16 = (uint16_t)escape;

		size = put(to, &id16, sizeof(id16));
	} else {
		*to = (uint8_t)(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
				    ? escape
				    : escape << (8 - form->id_bits));
		size = 1;
	}
	size += put(to + size, &id, sizeof(id));
	return size + put(to + size, &event->stamp, sizeof(event->stamp));
}

/* The packet in `from` goes into `to`. Returns its new size; 0 if it is malformed. */
static size_t shorten_packet(struct stream *stream, size_t bytes)
{
	struct sim_ctf_packet_begin begin;
	struct sim_ctf_event_begin event;
	size_t at = sizeof(begin), end, size = sizeof(begin);

	memcpy(&begin, stream->from, sizeof(begin));
	end = begin.content_bits / 8;
	if (end > bytes)
		return 0;
	while (at < end) {
		size_t payload;

		if (end - at < sizeof(event))
			return 0;
		memcpy(&event, stream->from + at, sizeof(event));
		at += sizeof(event);
		if (event.class_id >= stream->classes ||
		    !sim_ctf_payload_bytes(stream->class[event.class_id],
					   stream -> from + at, end - at, &payload))
			return 0;
		size += put_header(stream, stream->to + size, &event);
		size += put(stream->to + size, stream->from + at, payload);
		at += payload;
	}
	begin.packet_bits = begin.content_bits = 8 * (uint64_t)size;
	put(stream->to, &begin, sizeof(begin));
	return size;
}

static void make_room(struct stream *stream, size_t bytes)
{
	if (bytes <= stream->room)
		return;
	free(stream->from);
	free(stream->to);
	stream->room = bytes;
	stream->from = mem_alloc(bytes);
	stream->to = mem_alloc(bytes);
}

/* Read the packet there. Its size, 0 at the end, or -1 with error. */
static ssize_t read_packet(struct stream *stream, off_t at, struct error *error)
{
	struct sim_ctf_packet_begin begin;
	ssize_t got = pread(stream->fd, &begin, sizeof(begin), at);
	size_t bytes;

	if (got < 0)
		return error_errno(error, stream->path);
	if (got == 0)
		return 0;
	if (got != sizeof(begin) || begin.magic != SIM_CTF_MAGIC ||
	    begin.packet_bits / 8 < sizeof(begin))
		return malformed(stream, (uint64_t)at, error);
	bytes = begin.packet_bits / 8;
	make_room(stream, bytes);
	got = pread(stream->fd, stream->from, bytes, at);
	if (got < 0)
		return error_errno(error, stream->path);
	return got == (ssize_t)bytes ? got : malformed(stream, (uint64_t)at, error);
}

static int shorten_stream(struct stream *stream, struct error *error)
{
	off_t from = 0, to = 0;
	ssize_t bytes;

	while ((bytes = read_packet(stream, from, error)) > 0) {
		size_t size = shorten_packet(stream, (size_t)bytes);

		if (!size)
			return malformed(stream, (uint64_t)from, error);
		if (pwrite(stream->fd, stream->to, size, to) != (ssize_t)size)
			return error_errno(error, stream->path);
		from += bytes;
		to += (off_t)size;
	}
	if (bytes == 0 && ftruncate(stream->fd, to))
		return error_errno(error, stream->path);
	return (int)bytes;
}

static int shorten_file(struct stream *stream, const char *path, struct error *error)
{
	int status;

	stream->path = path;
	stream->last = 0;
	stream->fd = open(path, O_RDWR | O_CLOEXEC);
	if (stream->fd < 0)
		return error_errno(error, path);
	status = shorten_stream(stream, error);
	if (close(stream->fd) && !status)
		status = error_errno(error, path);
	return status;
}

int sim_ctf_shorten_stamps(const char *directory, enum sim_event_header header,
			   const struct sim_class *const *class, size_t classes,
			   struct error *error)
{
	struct stream stream = {
	    .form = sim_ctf_header_form(header), .class = class, .classes = classes};
	DIR *listing = opendir(directory);
	struct dirent *entry;
	int status = 0;

	if (!listing)
		return error_errno(error, directory);
	while (!status && (entry = readdir(listing))) {
		char *path = mem_printf("%s/%s", directory, entry->d_name);

		if (strcmp(entry->d_name, "metadata") == 0)
			status = sim_ctf_declare_header(path, stream.form, error);
		else if (entry->d_name[0] != '.')
			status = shorten_file(&stream, path, error);
		free(path);
	}
	closedir(listing);
	free(stream.from);
	free(stream.to);
	return status;
}
