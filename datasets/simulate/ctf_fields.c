/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/ctf_fields.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

const struct sim_ctf_shape sim_ctf_shapes[] = {
    [SIM_U8] = {8, false, false},     [SIM_U16] = {16, false, false},
    [SIM_U32] = {32, false, false},   [SIM_U64] = {64, false, false},
    [SIM_HEX64] = {64, false, true},  [SIM_S32] = {32, true, false},
    [SIM_S64] = {64, true, false},    [SIM_TEXT] = {0, false, false},
    [SIM_COMM] = {0, false, false},   [SIM_S32_LIST] = {32, true, false},
    [SIM_PACKET] = {0, false, false},
};

static const struct sim_ctf_part ipv4_parts[] = {
    {"version", 4, 0, PART_DECIMAL}, {"ihl", 4, 0, PART_DECIMAL},
    {"tos", 8, 0, PART_DECIMAL},     {"tot_len", 16, 0, PART_DECIMAL},
    {"id", 16, 0, PART_HEX},         {"frag_off", 16, 0, PART_DECIMAL},
    {"ttl", 8, 0, PART_DECIMAL},     {"protocol", 8, 0, PART_PROTOCOL},
    {"checksum", 16, 0, PART_HEX},   {"saddr", 8, 4, PART_DECIMAL},
    {"daddr", 8, 4, PART_DECIMAL},
};

static const struct sim_ctf_part ipv6_parts[] = {
    {"version", 4, 0, PART_DECIMAL},  {"prio", 4, 0, PART_DECIMAL},
    {"flow_lbl", 8, 3, PART_HEX},     {"payload_len", 16, 0, PART_DECIMAL},
    {"nexthdr", 8, 0, PART_PROTOCOL}, {"hop_limit", 8, 0, PART_DECIMAL},
    {"saddr", 16, 8, PART_HEX},       {"daddr", 16, 8, PART_HEX},
};

static const struct sim_ctf_part tcp_parts[] = {
    {"source_port", 16, 0, PART_DECIMAL},
    {"dest_port", 16, 0, PART_DECIMAL},
    {"seq", 32, 0, PART_DECIMAL},
    {"ack_seq", 32, 0, PART_DECIMAL},
    {"data_offset", 4, 0, PART_DECIMAL},
    {"reserved", 3, 0, PART_DECIMAL},
    {"flags", 9, 0, PART_HEX},
    {"window_size", 16, 0, PART_DECIMAL},
    {"checksum", 16, 0, PART_HEX},
    {"urg_ptr", 16, 0, PART_DECIMAL},
};

static const struct sim_ctf_part udp_parts[] = {
    {"source_port", 16, 0, PART_DECIMAL},
    {"dest_port", 16, 0, PART_DECIMAL},
    {"len", 16, 0, PART_DECIMAL},
    {"check", 16, 0, PART_DECIMAL},
};

static const struct sim_ctf_part icmp_parts[] = {
    {"type", 8, 0, PART_DECIMAL},
    {"code", 8, 0, PART_DECIMAL},
    {"checksum", 16, 0, PART_DECIMAL},
    {"gateway", 32, 0, PART_DECIMAL},
};

#define HEADER(name, parts)                                                              \
	{                                                                                \
		name, parts, sizeof(parts) / sizeof(*(parts))                            \
	}

const struct sim_ctf_header sim_ctf_network[NETWORK_HEADERS] = {
    [HEADER_UNKNOWN] = {"unknown", NULL, 0},
    [HEADER_IPV4] = HEADER("ipv4", ipv4_parts),
    [HEADER_IPV6] = HEADER("ipv6", ipv6_parts),
};

const struct sim_ctf_header sim_ctf_transport[TRANSPORT_HEADERS] = {
    [HEADER_UNKNOWN] = {"unknown", NULL, 0},
    [HEADER_TCP] = HEADER("tcp", tcp_parts),
    [HEADER_UDP] = HEADER("udp", udp_parts),
    [HEADER_ICMP] = HEADER("icmp", icmp_parts),
};

const struct sim_ctf_header_form *sim_ctf_header_form(enum sim_event_header header)
{
	static const struct sim_ctf_header_form form[] = {
	    [SIM_HEADER_COMPACT] = {5, 27},
	    [SIM_HEADER_LARGE] = {16, 32},
	};

	return header == SIM_HEADER_FULL ? NULL : &form[header];
}

static uint8_t *append(struct sim_ctf_bytes *bytes, size_t count)
{
	if (count > bytes->capacity - bytes->used) {
		bytes->capacity = 2 * (bytes->used + count);
		bytes->data = mem_realloc(bytes->data, bytes->capacity, 1);
	}
	bytes->used += count;
	return bytes->data + bytes->used - count;
}

void sim_ctf_put(struct sim_ctf_bytes *bytes, uint64_t value, unsigned bits)
{
	while (bits) {
		unsigned taken;
		uint8_t *byte;

		if (!bytes->bits)
			*append(bytes, 1) = 0;
		byte = &bytes->data[bytes->used - 1];
		taken = 8 - bytes->bits < bits ? 8 - bytes->bits : bits;
		*byte |= (uint8_t)((value & ((1u << taken) - 1)) << bytes->bits);
		bytes->bits = (bytes->bits + taken) % 8;
		value >>= taken;
		bits -= taken;
	}
}

/* Whole bytes, which nothing stands before that is not. */
static void put_bytes(struct sim_ctf_bytes *bytes, const void *from, size_t count)
{
	if (count)
		memcpy(append(bytes, count), from, count);
}

void sim_ctf_put_leb128(struct sim_ctf_bytes *bytes, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		sim_ctf_put(bytes, value | 0x80, 8);
	sim_ctf_put(bytes, value, 8);
}

/* The last byte's bit 6 is the sign. */
static void put_signed_leb128(struct sim_ctf_bytes *bytes, int64_t value)
{
	while (value < -0x40 || value >= 0x40) {
		sim_ctf_put(bytes, (uint64_t)value | 0x80, 8);
		value = (value - (value & 0x7f)) / 128;
	}
	sim_ctf_put(bytes, (uint64_t)value & 0x7f, 8);
}

/* The code point of a character of UTF-8; a byte that begins none stands for itself. */
static uint32_t code_point(const char *text, size_t *size)
{
	const unsigned char *at = (const unsigned char *)text;
	uint32_t point;

	*size = utf8_length(text);
	if (*size < 2) {
		*size = 1;
		return at[0];
	}
	point = at[0] & (0x7fu >> *size);
	for (size_t i = 1; i < *size; i++)
		point = point << 6 | (at[i] & 0x3f);
	return point;
}

void sim_ctf_put_wide(struct sim_ctf_bytes *bytes, const char *text, unsigned bits)
{
	size_t size;

	for (; *text; text += size) {
		uint32_t point = code_point(text, &size);

		if (bits == 16 && point >= 0x10000) {
			point -= 0x10000;
			sim_ctf_put(bytes, 0xd800 + (point >> 10), 16);
			point = 0xdc00 + (point & 0x3ff);
		}
		sim_ctf_put(bytes, point, bits);
	}
}

struct bit_reader {
	const uint8_t *bytes;
	size_t next; /* bit */
};

/* In network order, as headers stand on the wire. */
static uint64_t read_bits(struct bit_reader *reader, unsigned count)
{
	uint64_t value = 0;

	while (count) {
		unsigned left = 8 - reader->next % 8;
		unsigned taken = count < left ? count : left;
		unsigned byte = reader->bytes[reader->next / 8];

		byte = byte >> (left - taken) & ((1u << taken) - 1);
		value = value << taken | byte;
		reader->next += taken;
		count -= taken;
	}
	return value;
}

static void put_header(struct sim_ctf_bytes *bytes, const struct sim_ctf_header *header,
		       const uint8_t *wire)
{
	struct bit_reader reader = {wire, 0};

	for (size_t i = 0; i < header->parts; i++) {
		const struct sim_ctf_part *part = &header->part[i];

		for (unsigned k = 0; k < (part->count ? part->count : 1); k++)
			sim_ctf_put(bytes, read_bits(&reader, part->bits), part->bits);
	}
}

static unsigned transport_of(const struct sim_headers *headers)
{
	if (!headers->transport)
		return HEADER_UNKNOWN;
	switch (headers->protocol) {
	case IPPROTO_TCP:
		return HEADER_TCP;
	case IPPROTO_UDP:
		return HEADER_UDP;
	default:
		return HEADER_ICMP;
	}
}

/* A selector and what it selects, twice: the transport header is part of the network's.
 */
static void put_packet(struct sim_ctf_bytes *bytes, const struct sim_headers *headers)
{
	unsigned network = HEADER_UNKNOWN, transport;

	if (headers)
		network = headers->bytes[0] >> 4 == 4 ? HEADER_IPV4 : HEADER_IPV6;
	sim_ctf_put(bytes, network, 8);
	if (!headers)
		return;
	put_header(bytes, &sim_ctf_network[network], headers->bytes);
	transport = transport_of(headers);
	sim_ctf_put(bytes, transport, 8);
	put_header(bytes, &sim_ctf_transport[transport],
		   headers->bytes + headers->network);
}

static void put_comm(struct sim_ctf_bytes *bytes, const char *text,
		     enum sim_trace_format format)
{
	size_t length = strnlen(text, SIM_COMM_BYTES - 1);

	put_bytes(bytes, text, length);
	length = format == SIM_CTF_2 ? SIM_COMM_BYTES - length : 1;
	memset(append(bytes, length), 0, length);
}

static void put_text(struct sim_ctf_bytes *bytes, const char *text,
		     enum sim_trace_format format)
{
	if (format == SIM_CTF_2) {
		sim_ctf_put_wide(bytes, text, 16);
		sim_ctf_put(bytes, 0, 16);
	} else {
		put_bytes(bytes, text, strlen(text) + 1);
	}
}

static void put_integer(struct sim_ctf_bytes *bytes, enum sim_type type,
			const union sim_value *value, enum sim_trace_format format)
{
	const struct sim_ctf_shape *shape = &sim_ctf_shapes[type];

	if (format != SIM_CTF_2 || shape->bits < 64)
		sim_ctf_put(bytes, value->u, shape->bits);
	else if (shape->is_signed)
		put_signed_leb128(bytes, value->i);
	else
		sim_ctf_put_leb128(bytes, value->u);
}

void sim_ctf_put_payload(struct sim_ctf_bytes *bytes, const struct sim_event *event,
			 const struct sim_headers *headers, enum sim_trace_format format)
{
	for (size_t i = 0; i < event->class->fields; i++) {
		const union sim_value *value = &event->value[i];
		enum sim_type type = event->class->field[i].type;

		switch (type) {
		case SIM_PACKET:
			put_packet(bytes, headers);
			break;
		case SIM_COMM:
			put_comm(bytes, value->text ? value->text : "", format);
			break;
		case SIM_TEXT:
			put_text(bytes, value->text ? value->text : "", format);
			break;
		case SIM_S32_LIST:
			sim_ctf_put(bytes, 1, 8); /* its length */
						  /* fall through */
		default:
			put_integer(bytes, type, value, format);
		}
	}
}

void sim_ctf_bytes_clear(struct sim_ctf_bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct sim_ctf_bytes){0};
}
