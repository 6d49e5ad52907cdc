/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_CTF_WRITE_H
#define CT_TEST_CTF_WRITE_H

/*
 * Small CTF traces, whole with events: metadata as text, streams byte by byte.
 * Every field is aligned to a byte, so that it is put where the last one ended.
 */
#include "../scratch.h"

/* The start of all metadata here; timestamps are nanoseconds since the epoch. */
#define METADATA_TYPES                                                                   \
	"/* CTF 1.8 */\n"                                                                \
	"typealias integer { size = 8; align = 8; } := uint8_t;\n"                       \
	"typealias integer { size = 16; align = 8; } := uint16_t;\n"                     \
	"typealias integer { size = 32; align = 8; } := uint32_t;\n"                     \
	"typealias integer { size = 64; align = 8; } := uint64_t;\n"                     \
	"typealias integer { size = 8; align = 8; signed = true; } := int8_t;\n"         \
	"typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"       \
	"typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"       \
	"typealias integer { size = 8; align = 8; encoding = UTF8; } := text_t;\n"       \
	"typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; }"            \
	" := real32_t;\n"                                                                \
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; }"           \
	" := real64_t;\n"                                                                \
	"trace { major = 1; minor = 8; byte_order = le;\n"                               \
	"  packet.header := struct { uint32_t magic; uint32_t stream_id; }; };\n"        \
	"env { hostname = \"web\"; };\n"                                                 \
	"clock { name = c; freq = 1000000000; };\n"                                      \
	"typealias integer { size = 64; align = 8; map = clock.c.value; } := stamp_t;\n"

/* A stream class; `more` are further parts of it. */
#define METADATA_STREAM(id, more)                                                        \
	"stream { id = " #id ";\n"                                                       \
	"  packet.context := struct { uint64_t content_size; uint64_t packet_size;"      \
	" uint32_t cpu_id; };\n"                                                         \
	"  event.header := struct { uint32_t id; stamp_t timestamp; };\n" more "};\n"

#define METADATA_EVENT(stream, id, name, fields)                                         \
	"event { stream_id = " #stream "; id = " #id "; name = \"" name                  \
	"\"; fields := struct { " fields " }; };\n"

enum { PACKET_CONTENT = 8, PACKET_SIZE = 16, MOST_STREAM = 4096 };

/* A stream file of one packet. */
struct ctf_stream {
	size_t size;
	unsigned char bytes[MOST_STREAM];
};

static inline void put_bytes(struct ctf_stream *stream, const void *bytes, size_t size)
{
	assert_true(stream->size + size <= MOST_STREAM);
	memcpy(stream->bytes + stream->size, bytes, size);
	stream->size += size;
}

/* The lowest `size` bytes of a number; the machine is little-endian. */
static inline void put_int(struct ctf_stream *stream, size_t size, uint64_t number)
{
	put_bytes(stream, &number, size);
}

static inline void put_string(struct ctf_stream *stream, const char *text)
{
	put_bytes(stream, text, strlen(text) + 1);
}

static inline void begin_stream(struct ctf_stream *stream, unsigned id, unsigned cpu)
{
	stream->size = 0;
	put_int(stream, 4, 0xc1fc1fc1u);
	put_int(stream, 4, id);
	put_int(stream, 8, 0);
	put_int(stream, 8, 0);
	put_int(stream, 4, cpu);
}

static inline void begin_event(struct ctf_stream *stream, unsigned id, uint64_t ns)
{
	put_int(stream, 4, id);
	put_int(stream, 8, ns);
}

static inline void end_stream(struct ctf_stream *stream, const char *path)
{
	uint64_t bits = 8 * stream->size;

	memcpy(stream->bytes + PACKET_CONTENT, &bits, sizeof(bits));
	memcpy(stream->bytes + PACKET_SIZE, &bits, sizeof(bits));
	scratch_bytes(path, stream->bytes, stream->size);
}

#endif
