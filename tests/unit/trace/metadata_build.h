/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_METADATA_BUILD_H
#define CT_TEST_METADATA_BUILD_H

/* Metadata in packets. */
#include <endian.h>
#include <stdbool.h>

#include "../scratch.h"

enum { METADATA_HEAD = 37 };

/* One packet of metadata, of so many bytes in all; returns them for free(). */
static inline unsigned char *metadata_packet(const char *text, uint32_t bytes, bool big)
{
	unsigned char *packet = mem_zalloc(bytes);
	uint32_t length = (uint32_t)strlen(text);
	uint32_t magic = 0x75d11d57u, content = 8 * (METADATA_HEAD + length);
	uint32_t size = 8 * bytes;

	assert_true(METADATA_HEAD + length <= bytes);
	if (big != (BYTE_ORDER == BIG_ENDIAN)) {
		magic = __builtin_bswap32(magic);
		content = __builtin_bswap32(content);
		size = __builtin_bswap32(size);
	}
	memcpy(packet, &magic, 4);
	memcpy(packet + 24, &content, 4);
	memcpy(packet + 28, &size, 4);
	packet[35] = 1;
	packet[36] = 8;
	memcpy(packet + METADATA_HEAD, text, length);
	return packet;
}

#endif
