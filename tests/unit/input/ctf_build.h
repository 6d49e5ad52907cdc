/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_CTF_BUILD_H
#define CT_TEST_CTF_BUILD_H

/* Files of a CTF trace, as far as they can be looked at without decoding events. */
#include <endian.h>

#include "input/ctf/files.h"
#include "input/ctf/packets.h"

#include "../scratch.h"

enum { METADATA_HEAD = 37 };

/* What says that packets are laid out as LTTng does. */
#define LAYOUT                                                                           \
	"trace { byte_order = le; packet.header := struct { uint32_t magic; "            \
	"uint32_t stream_id; uint64_t stream_instance_id; }; }; stream { "               \
	"packet.context := struct { timestamp_begin; timestamp_end; content_size; "      \
	"packet_size; packet_seq_num; events_discarded; }; };"

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
	memcpy(packet + METADATA_HEAD, text, length);
	return packet;
}

/* The packet at the n-th place of a stream, of so many bytes. */
static inline struct packet_head stream_head(uint64_t n, uint64_t bytes)
{
	return (struct packet_head){
	    .magic = htole32(0xc1fc1fc1u),
	    .uuid = {7},
	    .stream_id = htole32(1),
	    .stream_instance_id = htole64(3),
	    .timestamp_begin = htole64(1000 * n),
	    .timestamp_end = htole64(1000 * n + 900),
	    .content_size = htole64(8 * (bytes - 5)),
	    .packet_size = htole64(8 * bytes),
	    .sequence = htole64(n),
	    .discarded = htole64(2 * n),
	};
}

/* A stream file of some packets; the last `cut` bytes are missing. */
static inline void put_stream(const char *path, int packets, size_t bytes, size_t cut)
{
	unsigned char *file = mem_zalloc((size_t)packets * bytes);

	for (int i = 0; i < packets; i++) {
		struct packet_head head = stream_head((uint64_t)i, bytes);

		memcpy(file + (size_t)i * bytes, &head, sizeof(head));
	}
	scratch_bytes(path, file, (size_t)packets * bytes - cut);
	free(file);
}

/* Its index, as LTTng writes it, with room for entries of so many bytes. */
static inline void put_index(const char *path, int packets, size_t bytes)
{
	size_t size =
	    sizeof(struct index_head) + (size_t)packets * sizeof(struct index_entry);
	unsigned char *file = mem_zalloc(size);
	struct index_head head = {htobe32(INDEX_MAGIC), htobe32(1), htobe32(1),
				  htobe32(sizeof(struct index_entry))};

	memcpy(file, &head, sizeof(head));
	for (int i = 0; i < packets; i++) {
		struct index_entry entry = {
		    .offset = htobe64((uint64_t)i * bytes),
		    .packet_size = htobe64(8 * bytes),
		    .content_size = htobe64(8 * (bytes - 5)),
		};

		memcpy(file + sizeof(head) + (size_t)i * sizeof(entry), &entry,
		       sizeof(entry));
	}
	scratch_bytes(path, file, size);
	free(file);
}

#endif
