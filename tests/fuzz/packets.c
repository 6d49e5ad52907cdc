/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Fuzz target: any bytes as a .packets or a .messages file. A fuzzer seldom finds a
 * checksum, so the first byte says what the others are: the file, or the content of its
 * chunks, one after the other, each with a kind, a source and a size in front.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/chunk_file.h"
#include "base/mem.h"
#include "input/messages_file.h"
#include "input/packets_file.h"
#include "scene.h"

enum { HEAD = 5, IS_CHUNKS = 1, IS_MESSAGES = 2 };

static const struct chunk_format packets = {.name = "",
					    .magic = "\x89"
						     "ctpk\r\n\x1a",
					    .version = 2};
static const struct chunk_format messages = {.name = "",
					     .magic = "\x89"
						      "ctmg\r\n\x1a",
					     .version = 2};

/* KIND SOURCE ITEMS SIZE SIZE, and so many bytes. */
static void write_chunks(FILE *file, const uint8_t *bytes, size_t size)
{
	while (size >= HEAD) {
		size_t length = (size_t)bytes[3] << 8 | bytes[4];
		struct bytes content = {0};

		if (length > size - HEAD)
			length = size - HEAD;
		bytes_add(&content, bytes + HEAD, length);
		chunk_write(file,
			    &(struct chunk){.kind = bytes[0] % 5,
					    .number = bytes[1],
					    .items = bytes[2]},
			    &content);
		bytes_clear(&content);
		bytes += HEAD + length;
		size -= HEAD + length;
	}
}

static void use(void *context, const struct packet_event *packet_event)
{
	*(uint64_t *)context +=
	    packet_hash(&packet_event->packet) ^ (uint64_t)packet_event->ns;
}

static void read_packets(const char *path)
{
	struct source_list contents;
	struct error error = ERROR_INIT;

	if (packets_file_contents(path, &contents, &error) == 0) {
		for (size_t i = 0; i < contents.count; i++) {
			struct packet_source *source = packets_file_open(path, i, &error);
			uint64_t sum = 0;

			while (source && packet_source_step(source, use, &sum))
				;
			packet_source_free(source);
		}
		source_list_clear(&contents);
	}
	error_clear(&error);
}

static void read_messages(const char *path)
{
	struct error error = ERROR_INIT;
	struct messages_reader *reader = messages_reader_open(path, &error);
	struct node_message message;

	while (reader && messages_reader_next(reader, &message, &error) > 0)
		if (!messages_reader_source(reader, message.own.source)->trace ||
		    !messages_reader_source(reader, message.other.source)->node)
			abort();
	if (reader)
		messages_reader_free(reader);
	error_clear(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("packets", MFD_CLOEXEC);
	char *path = mem_printf("/proc/self/fd/%d", fd);
	FILE *file = fopen(path, "wb");
	bool is_messages;

	if (!file)
		abort();
	is_messages = size && bytes[0] & IS_MESSAGES;
	if (size && bytes[0] & IS_CHUNKS) {
		chunk_write_begin(file, is_messages ? &messages : &packets);
		write_chunks(file, bytes + 1, size - 1);
	} else if (size) {
		fwrite(bytes + 1, 1, size - 1, file);
	}
	fclose(file);
	(is_messages ? read_messages : read_packets)(path);
	free(path);
	close(fd);
	return 0;
}
