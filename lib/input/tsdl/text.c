/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "input/tsdl/tsdl.h"

#define METADATA_MAGIC 0x75d11d57u

/* In bytes; sizes in the packets are in bits. */
enum {
	PACKET_HEADER = 37,
	CONTENT_AT = 24,
	SIZE_AT = 28,
	CODED_AT = 32, /* compression, encryption and checksum, a byte each */
	MOST_TEXT = 1 << 28,
};

static uint32_t number_at(const char *bytes, bool swap)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	return swap ? __builtin_bswap32(number) : number;
}

/* Put the text of all packets to the front. */
static int join_packets(char *bytes, size_t *size, struct error *error)
{
	bool swap = number_at(bytes, false) != METADATA_MAGIC;
	size_t at = 0, text = 0;

	while (at < *size) {
		const char *packet = bytes + at;
		size_t left = *size - at, content, whole;

		if (left < PACKET_HEADER || number_at(packet, swap) != METADATA_MAGIC)
			return error_set(error, "no metadata packet at byte %zu", at);
		content = number_at(packet + CONTENT_AT, swap) / 8;
		whole = number_at(packet + SIZE_AT, swap) / 8;
		if (content < PACKET_HEADER || content > whole || whole > left)
			return error_set(error, "broken packet header at byte %zu", at);
		if (packet[CODED_AT] || packet[CODED_AT + 1] || packet[CODED_AT + 2])
			return error_set(error, "a coded packet at byte %zu", at);
		memmove(bytes + text, packet + PACKET_HEADER, content - PACKET_HEADER);
		text += content - PACKET_HEADER;
		at += whole;
	}
	*size = text;
	return 0;
}

static char *read_file(FILE *file, size_t *size, struct error *error)
{
	struct stat status;
	char *bytes;

	if (fstat(fileno(file), &status) || !S_ISREG(status.st_mode) ||
	    status.st_size > MOST_TEXT) {
		error_set(error, "want a plain file up to 256 MiB");
		return NULL;
	}
	bytes = mem_alloc((size_t)status.st_size + 1);
	*size = fread(bytes, 1, (size_t)status.st_size, file);
	return bytes;
}

char *tsdl_read(const char *path, size_t *size, struct error *error)
{
	FILE *file = fopen(path, "rb");
	char *text;
	int status = 0;

	if (!file) {
		error_errno(error, path);
		return NULL;
	}
	text = read_file(file, size, error);
	fclose(file);
	if (text && *size >= 4 &&
	    (number_at(text, false) == METADATA_MAGIC ||
	     number_at(text, true) == METADATA_MAGIC))
		status = join_packets(text, size, error);
	if (!text || status) {
		free(text);
		error_prefix(error, "%s", path);
		return NULL;
	}
	return text;
}
