/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/ctf/packet.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define MAGIC 0xc1fc1fc1u /* the first field of packets */

enum {
	BLOCK = 1 << 18,      /* least number of bytes to read at once */
	AHEAD = 1 << 23,      /* most bytes to read ahead */
	HEAD_BYTES = 1 << 14, /* more than any packet header needs */
	MOST_FALSE = 1000, /* limit of magic numbers that do not start a packet, so that
			      the search is short */
};

int ctf_window_open(struct ctf_window *window, const struct ctf_file *file)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC);
	int failed = fd < 0;
	struct stat status;

	failed = failed || fstat(fd, &status);
	window->file = file;
	window->size = failed ? 0 : (uint64_t)status.st_size;
	window->at = window->count = 0;
	window->error = failed ? errno : 0;
	if (fd >= 0)
		close(fd);
	return failed ? -1 : 0;
}

/*
 * Ask the system to read the next bytes while these are decoded; a file that is reopened
 * for each block has no readahead of its own. Request as much as was just read, because
 * the next packet is about as large.
 */
static void request_readahead(const struct ctf_window *window, int fd, uint64_t count)
{
	uint64_t next = window->at + window->count;

	if (next < window->size && !window->is_scattered)
		posix_fadvise(fd, (off_t)next, (off_t)(count < AHEAD ? count : AHEAD),
			      POSIX_FADV_WILLNEED);
}

/* Read up to `until` bytes after `at`. If they cannot be read, the file ends there. */
static void read_more(struct ctf_window *window, uint64_t until)
{
	int fd = open(window->file->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		window->error = errno;
		window->size = window->at + window->count;
		return;
	}
	while (window->count < until) {
		ssize_t got = pread(fd, window->byte + window->count,
				    (size_t)(until - window->count),
				    (off_t)(window->at + window->count));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			window->error = errno;
		if (got <= 0) {
			window->size = window->at + window->count;
			break;
		}
		window->count += (uint64_t)got;
	}
	request_readahead(window, fd, until);
	close(fd);
}

bool ctf_window_report(struct ctf_window *window, struct problem_list *problems)
{
	if (!window->error)
		return false;
	problem_add(problems, window->file->path, PROBLEM_UNREADABLE, 1,
		    "cannot read from byte %" PRIu64 " on: %s", window->size,
		    strerror(window->error));
	window->error = 0;
	return true;
}

struct ctf_bytes ctf_window_load(struct ctf_window *window, uint64_t at, uint64_t count)
{
	uint64_t rest = at < window->size ? window->size - at : 0, kept, wanted;

	if (count > rest)
		count = rest;
	if (at < window->at || at > window->at + window->count) {
		window->at = at;
		window->count = 0;
	}
	kept = window->at + window->count - at;
	if (count > kept) {
		wanted = window->is_scattered || count > BLOCK ? count
			 : rest < BLOCK                        ? rest
							       : BLOCK;
		if (kept && at > window->at)
			memmove(window->byte, window->byte + (at - window->at), kept);
		window->at = at;
		window->count = kept;
		if (wanted > window->capacity) {
			window->capacity = wanted;
			window->byte = mem_realloc(window->byte, (size_t)wanted, 1);
		}
		read_more(window, wanted);
	}
	return (struct ctf_bytes){window->byte ? window->byte + (at - window->at) : NULL,
				  window->at + window->count - at};
}

void ctf_window_clear(struct ctf_window *window)
{
	free(window->byte);
	window->byte = NULL;
	window->count = window->capacity = 0;
}

static const struct schema_stream *find_stream(const struct schema *schema,
					       const struct ctf_packet *packet)
{
	for (size_t i = 0; i < schema->streams; i++)
		if (!packet_has(packet, ROLE_STREAM) ||
		    schema->stream[i].id == packet->value[ROLE_STREAM])
			return &schema->stream[i];
	return NULL;
}

/* Copy the roles that the fields have set so far. */
static void copy_roles(const struct ctf_cursor *cursor, struct ctf_packet *packet)
{
	packet->has = cursor->has;
	memcpy(packet->value, cursor->slot, sizeof(packet->value));
	if (packet_has(packet, ROLE_UUID))
		memcpy(packet->uuid, cursor->bytes.byte + cursor->slot[ROLE_UUID] / 8,
		       sizeof(packet->uuid));
}

static bool read_head(const struct schema *schema, struct ctf_cursor *cursor,
		      struct ctf_packet *packet)
{
	cursor->has = 0;
	memset(cursor->slot, 0, sizeof(packet->value));
	if (!ctf_program_run(schema->packet_program, cursor))
		return false;
	copy_roles(cursor, packet);
	if (packet_has(packet, ROLE_MAGIC) && packet->value[ROLE_MAGIC] != MAGIC)
		return false;
	packet->stream = find_stream(schema, packet);
	if (!packet->stream || !ctf_program_run(packet->stream->packet_program, cursor))
		return false;
	copy_roles(cursor, packet);
	return true;
}

/*
 * Set the packet's sizes. If only one is recorded, it is used for both; without either,
 * the packet is the rest of the file.
 */
static void set_sizes(struct ctf_packet *packet, uint64_t there)
{
	bool size = packet_has(packet, ROLE_SIZE),
	     content = packet_has(packet, ROLE_CONTENT);

	packet->size = size      ? packet->value[ROLE_SIZE]
		       : content ? packet->value[ROLE_CONTENT]
				 : there;
	packet->content = content ? packet->value[ROLE_CONTENT] : packet->size;
}

bool ctf_packet_has_uuid(const struct ctf_packet *packet, const struct schema *schema)
{
	return !schema->has_uuid || !packet_has(packet, ROLE_UUID) ||
	       memcmp(packet->uuid, schema->uuid, sizeof(packet->uuid)) == 0;
}

static bool resembles_first(const struct ctf_packet *packet,
			    const struct ctf_packet *first)
{
	return !first->stream ||
	       (packet->stream == first->stream &&
		packet->value[ROLE_INSTANCE] == first->value[ROLE_INSTANCE] &&
		memcmp(packet->uuid, first->uuid, sizeof(packet->uuid)) == 0);
}

enum packet_found ctf_packet_at(struct ctf_window *window, struct ctf_cursor *cursor,
				uint64_t at, struct ctf_packet *packet)
{
	uint64_t there = at < window->size ? 8 * (window->size - at) : 0;

	memset(packet, 0, sizeof(*packet));
	cursor->bytes = ctf_window_load(window, at, HEAD_BYTES);
	if (cursor->bytes.count > HEAD_BYTES)
		cursor->bytes.count = HEAD_BYTES;
	if (!there)
		return PACKET_NONE;
	cursor->at = 0;
	cursor->end = cursor->budget = 8 * cursor->bytes.count;
	if (!read_head(window->schema, cursor, packet))
		return PACKET_GARBLED;
	set_sizes(packet, there);
	if (packet->size == 0 || packet->size % 8 || packet->content < cursor->at ||
	    packet->content > packet->size || packet->size > INT64_MAX ||
	    !ctf_packet_has_uuid(packet, window->schema) ||
	    !resembles_first(packet, &window->file->first))
		return PACKET_GARBLED;
	cursor->budget = packet->content;
	cursor->end = packet->content;
	if (packet->size <= there)
		return PACKET_WHOLE;
	if (packet->content > there)
		cursor->end = packet->content = there;
	return PACKET_CUT;
}

uint64_t ctf_packet_seek(struct ctf_window *window, struct ctf_cursor *cursor,
			 uint64_t from)
{
	const struct schema *schema = window->schema;
	struct ctf_packet packet;
	unsigned char magic[4];

	for (int i = 0; i < 4; i++)
		magic[schema->is_magic_big ? 3 - i : i] = (unsigned char)(MAGIC >> 8 * i);
	for (int tries = 0;
	     schema->has_magic && from < window->size && tries <= MOST_FALSE;) {
		struct ctf_bytes bytes = ctf_window_load(window, from, BLOCK);
		const unsigned char *found =
		    memmem(bytes.byte, bytes.count, magic, sizeof(magic));
		enum packet_found is;

		if (!found && bytes.count < BLOCK)
			break;
		if (!found) {
			from += bytes.count - sizeof(magic) + 1;
			continue;
		}
		from += (uint64_t)(found - bytes.byte);
		is = ctf_packet_at(window, cursor, from, &packet);
		if (is == PACKET_WHOLE ||
		    (is == PACKET_CUT && packet_has(&packet, ROLE_UUID)))
			return from;
		from++;
		tries++;
	}
	return window->size;
}
