/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/apply/metadata.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

#define PACKET_MAGIC UINT32_C(0x75d11d57)

/* Where the fields of a packet's header stand, in bytes; it is not aligned. */
enum {
	AT_MAGIC = 0,
	AT_UUID = 4,
	AT_CONTENT = 24, /* bits that are used, header and all */
	AT_PACKET = 28,  /* bits up to the next packet */
	AT_COMPRESSION = 32,
	AT_ENCRYPTION = 33,
	AT_CHECKSUM = 34,
	AT_MAJOR = 35,
	AT_MINOR = 36,
	HEADER_SIZE = 37,
	UUID_SIZE = 16,
};

struct bytes {
	unsigned char *byte;
	size_t size;
};

static int read_file(const char *path, struct bytes *bytes, struct error *error)
{
	struct stat status;
	FILE *file;
	int failed;

	if (stat(path, &status))
		return error_errno(error, path);
	if (!S_ISREG(status.st_mode))
		return error_set(error, "%s: no regular file", path);
	file = fopen(path, "r");
	if (!file)
		return error_errno(error, path);
	bytes->byte = mem_alloc((size_t)status.st_size);
	bytes->size = fread(bytes->byte, 1, (size_t)status.st_size, file);
	failed = ferror(file);
	if (failed)
		error_errno(error, path);
	fclose(file);
	return failed ? -1 : 0;
}

static uint32_t get_u32(const unsigned char *byte, bool big_endian)
{
	uint32_t value = 0;

	for (size_t k = 0; k < 4; k++)
		value |= (uint32_t)byte[k] << 8 * (big_endian ? 3 - k : k);
	return value;
}

/* Whether the bytes begin with a packet, and in which byte order. */
static bool is_packetized(const struct bytes *bytes, bool *big_endian)
{
	if (bytes->size < AT_UUID)
		return false;
	*big_endian = get_u32(bytes->byte, true) == PACKET_MAGIC;
	return *big_endian || get_u32(bytes->byte, false) == PACKET_MAGIC;
}

/* What is wrong with a packet whose header is there; NULL for nothing. */
static const char *packet_fault(const unsigned char *packet, const unsigned char *first,
				size_t left, bool big_endian)
{
	uint32_t content = get_u32(packet + AT_CONTENT, big_endian);
	uint32_t whole = get_u32(packet + AT_PACKET, big_endian);

	if (get_u32(packet + AT_MAGIC, big_endian) != PACKET_MAGIC)
		return "no metadata packet";
	if (memcmp(packet + AT_UUID, first + AT_UUID, UUID_SIZE) != 0)
		return "another trace's uuid";
	if (packet[AT_MAJOR] != 1 || packet[AT_MINOR] != 8)
		return "another version, want CTF 1.8";
	if (packet[AT_COMPRESSION] || packet[AT_ENCRYPTION] || packet[AT_CHECKSUM])
		return "compressed, encrypted or with a checksum, want plain";
	if (content % 8 || whole % 8 || content / 8 < HEADER_SIZE || content > whole)
		return "impossible size";
	if (content / 8 > left)
		return "cut short";
	return NULL;
}

/* The packets' contents, moved together at the front of the bytes. */
static int unwrap(struct bytes *bytes, bool big_endian, const char *path,
		  struct error *error)
{
	unsigned char first[HEADER_SIZE];
	size_t at = 0, length = 0;

	while (at < bytes->size) {
		unsigned char *packet = bytes->byte + at;
		size_t left = bytes->size - at, content;
		const char *fault;

		if (left >= HEADER_SIZE && at == 0)
			memcpy(first, packet, HEADER_SIZE);
		fault = left < HEADER_SIZE
			    ? "cut short"
			    : packet_fault(packet, first, left, big_endian);
		if (fault)
			return error_set(error, "%s: packet at byte %zu: %s", path, at,
					 fault);
		content = get_u32(packet + AT_CONTENT, big_endian) / 8 - HEADER_SIZE;
		at += get_u32(packet + AT_PACKET, big_endian) / 8;
		memmove(bytes->byte + length, packet + HEADER_SIZE, content);
		length += content;
	}
	bytes->size = length;
	return 0;
}

char *metadata_read(const char *path, struct error *error)
{
	struct bytes bytes = {NULL, 0};
	bool big_endian = false;
	char *text = NULL;

	if (read_file(path, &bytes, error))
		goto out;
	if (is_packetized(&bytes, &big_endian)) {
		if (unwrap(&bytes, big_endian, path, error))
			goto out;
	}
	if (memchr(bytes.byte, '\0', bytes.size))
		error_set(error, "%s: a NUL byte in the text, want metadata", path);
	else
		text = mem_strndup((const char *)bytes.byte, bytes.size);
out:
	free(bytes.byte);
	return text;
}
