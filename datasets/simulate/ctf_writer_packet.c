/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/ctf_writer_packet.h"

#include <netinet/in.h>
#include <stdlib.h>

#include "base/mem.h"

/*
 * The recorded fields follow the headers bit by bit, so one table a header
 * gives the types and says where the values stand. LTTng puts an empty
 * structure NAME_padding before each array, which is kept; its labels begin
 * with an underscore, as all names do in the metadata.
 */
struct part {
	const char *name;
	uint8_t bits;
	uint8_t count; /* elements of an array, or 0 */
	enum { DECIMAL, HEX, PROTOCOL } show;
};

static const struct part ipv4_parts[] = {
    {"version", 4, 0, DECIMAL}, {"ihl", 4, 0, DECIMAL},
    {"tos", 8, 0, DECIMAL},     {"tot_len", 16, 0, DECIMAL},
    {"id", 16, 0, HEX},         {"frag_off", 16, 0, DECIMAL},
    {"ttl", 8, 0, DECIMAL},     {"protocol", 8, 0, PROTOCOL},
    {"checksum", 16, 0, HEX},   {"saddr", 8, 4, DECIMAL},
    {"daddr", 8, 4, DECIMAL},
};

static const struct part ipv6_parts[] = {
    {"version", 4, 0, DECIMAL},  {"prio", 4, 0, DECIMAL},
    {"flow_lbl", 8, 3, HEX},     {"payload_len", 16, 0, DECIMAL},
    {"nexthdr", 8, 0, PROTOCOL}, {"hop_limit", 8, 0, DECIMAL},
    {"saddr", 16, 8, HEX},       {"daddr", 16, 8, HEX},
};

static const struct part tcp_parts[] = {
    {"source_port", 16, 0, DECIMAL},
    {"dest_port", 16, 0, DECIMAL},
    {"seq", 32, 0, DECIMAL},
    {"ack_seq", 32, 0, DECIMAL},
    {"data_offset", 4, 0, DECIMAL},
    {"reserved", 3, 0, DECIMAL},
    {"flags", 9, 0, HEX},
    {"window_size", 16, 0, DECIMAL},
    {"checksum", 16, 0, HEX},
    {"urg_ptr", 16, 0, DECIMAL},
};

static const struct part udp_parts[] = {
    {"source_port", 16, 0, DECIMAL},
    {"dest_port", 16, 0, DECIMAL},
    {"len", 16, 0, DECIMAL},
    {"check", 16, 0, DECIMAL},
};

static const struct part icmp_parts[] = {
    {"type", 8, 0, DECIMAL},
    {"code", 8, 0, DECIMAL},
    {"checksum", 16, 0, DECIMAL},
    {"gateway", 32, 0, DECIMAL},
};

struct header {
	const char *name, *label;
	const struct part *part;
	size_t parts;
};

#define HEADER(name, parts)                                                              \
	{                                                                                \
		name, "_" name, parts, sizeof(parts) / sizeof(*(parts))                  \
	}

enum { UNKNOWN, TCP, UDP, ICMP, TRANSPORTS };
static const struct header transport_headers[TRANSPORTS] = {
    [UNKNOWN] = {"unknown", "_unknown", NULL, 0},
    [TCP] = HEADER("tcp", tcp_parts),
    [UDP] = HEADER("udp", udp_parts),
    [ICMP] = HEADER("icmp", icmp_parts),
};

enum { IPV4 = 1, IPV6, NETWORKS };
static const struct header network_headers[NETWORKS] = {
    [UNKNOWN] = {"unknown", "_unknown", NULL, 0},
    [IPV4] = HEADER("ipv4", ipv4_parts),
    [IPV6] = HEADER("ipv6", ipv6_parts),
};

/* Calls of libbabeltrace2 here fail only when memory runs out: GLib ends then. */
static void append(bt_field_class *structure, const char *name, bt_field_class *class)
{
	bt_field_class_structure_append_member(structure, name, class);
	bt_field_class_put_ref(class);
}

static bt_integer_range_set_unsigned *range(uint64_t least, uint64_t most)
{
	bt_integer_range_set_unsigned *ranges = bt_integer_range_set_unsigned_create();

	bt_integer_range_set_unsigned_add_range(ranges, least, most);
	return ranges;
}

static void map_label(bt_field_class *class, const char *label,
		      bt_integer_range_set_unsigned *ranges)
{
	bt_field_class_enumeration_unsigned_add_mapping(class, label, ranges);
	bt_integer_range_set_unsigned_put_ref(ranges);
}

static bt_field_class *protocol_class(bt_trace_class *trace)
{
	bt_field_class *class = bt_field_class_enumeration_unsigned_create(trace);
	bt_integer_range_set_unsigned *others = range(0, 0);

	bt_integer_range_set_unsigned_add_range(others, 2, 5);
	bt_integer_range_set_unsigned_add_range(others, 7, 16);
	bt_integer_range_set_unsigned_add_range(others, 18, 255);
	map_label(class, "_unknown", others);
	map_label(class, "_icmp", range(IPPROTO_ICMP, IPPROTO_ICMP));
	map_label(class, "_tcp", range(IPPROTO_TCP, IPPROTO_TCP));
	map_label(class, "_udp", range(IPPROTO_UDP, IPPROTO_UDP));
	return class;
}

static bt_field_class *part_class(bt_trace_class *trace, const struct part *part)
{
	bt_field_class *class = part->show == PROTOCOL
				    ? protocol_class(trace)
				    : bt_field_class_integer_unsigned_create(trace);

	bt_field_class_integer_set_field_value_range(class, part->bits);
	if (part->show == HEX)
		bt_field_class_integer_set_preferred_display_base(
		    class, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return class;
}

static void append_part(bt_trace_class *trace, bt_field_class *structure,
			const struct part *part)
{
	bt_field_class *class = part_class(trace, part), *array;
	char *padding;

	if (!part->count) {
		append(structure, part->name, class);
		return;
	}
	padding = mem_printf("%s_padding", part->name);
	append(structure, padding, bt_field_class_structure_create(trace));
	free(padding);
	array = bt_field_class_array_static_create(trace, class, part->count);
	bt_field_class_put_ref(class);
	append(structure, part->name, array);
}

static void append_choice(bt_trace_class *trace, bt_field_class *structure,
			  const char *name, const struct header *header, size_t headers);

static void append_option(bt_trace_class *trace, bt_field_class *variant,
			  const struct header *header, uint64_t selector)
{
	bt_field_class *class = bt_field_class_structure_create(trace);
	bt_integer_range_set_unsigned *ranges = range(selector, selector);

	for (size_t i = 0; i < header->parts; i++)
		append_part(trace, class, &header->part[i]);
	if (header == &network_headers[IPV4] || header == &network_headers[IPV6])
		append_choice(trace, class, "transport_header", transport_headers,
			      TRANSPORTS);
	bt_field_class_variant_with_selector_field_integer_unsigned_append_option(
	    variant, header->name, class, ranges);
	bt_integer_range_set_unsigned_put_ref(ranges);
	bt_field_class_put_ref(class);
}

/* NAME_type, which counts the headers, and the variant NAME that it selects. */
static void append_choice(bt_trace_class *trace, bt_field_class *structure,
			  const char *name, const struct header *header, size_t headers)
{
	bt_field_class *type = bt_field_class_enumeration_unsigned_create(trace);
	char *type_name = mem_printf("%s_type", name);
	bt_field_class *variant;

	bt_field_class_integer_set_field_value_range(type, 8);
	for (size_t i = 0; i < headers; i++)
		map_label(type, header[i].label, range(i, i));
	variant = bt_field_class_variant_create(trace, type);
	for (size_t i = 0; i < headers; i++)
		append_option(trace, variant, &header[i], i);
	append(structure, type_name, type);
	append(structure, name, variant);
	free(type_name);
}

void sim_ctf_packet_append(bt_trace_class *trace, bt_field_class *payload)
{
	append_choice(trace, payload, "network_header", network_headers, NETWORKS);
}

struct bits {
	const uint8_t *bytes;
	size_t next; /* bit */
};

/* In network order, as all of it stands. */
static uint64_t take(struct bits *bits, unsigned count)
{
	uint64_t value = 0;

	while (count) {
		unsigned room = 8 - bits->next % 8;
		unsigned taken = count < room ? count : room;
		unsigned byte = bits->bytes[bits->next / 8];

		byte = byte >> (room - taken) & ((1u << taken) - 1);
		value = value << taken | byte;
		bits->next += taken;
		count -= taken;
	}
	return value;
}

/* Fill in one part and return the index of the member behind it. */
static uint64_t fill_part(bt_field *structure, uint64_t index, const struct part *part,
			  struct bits *bits)
{
	bt_field *field;

	if (!part->count) {
		field = bt_field_structure_borrow_member_field_by_index(structure, index);
		bt_field_integer_unsigned_set_value(field, take(bits, part->bits));
		return index + 1;
	}
	field = bt_field_structure_borrow_member_field_by_index(structure, index + 1);
	for (unsigned i = 0; i < part->count; i++)
		bt_field_integer_unsigned_set_value(
		    bt_field_array_borrow_element_field_by_index(field, i),
		    take(bits, part->bits));
	return index + 2;
}

/* Select a header, fill it in, and return the index of the member behind it. */
static uint64_t fill_header(bt_field *variant, const struct header *header,
			    uint64_t selector, const uint8_t *bytes)
{
	struct bits bits = {bytes, 0};
	bt_field *structure;
	uint64_t index = 0;

	bt_field_variant_select_option_by_index(variant, selector);
	structure = bt_field_variant_borrow_selected_option_field(variant);
	for (size_t i = 0; i < header->parts; i++)
		index = fill_part(structure, index, &header->part[i], &bits);
	return index;
}

/* NAME_type at this index and NAME behind it. */
static uint64_t fill_choice(bt_field *structure, uint64_t index,
			    const struct header *header, uint64_t selector,
			    const uint8_t *bytes)
{
	bt_field *type =
	    bt_field_structure_borrow_member_field_by_index(structure, index);
	bt_field *variant =
	    bt_field_structure_borrow_member_field_by_index(structure, index + 1);

	bt_field_integer_unsigned_set_value(type, selector);
	return fill_header(variant, &header[selector], selector, bytes);
}

static unsigned transport_of(const struct sim_headers *headers)
{
	if (!headers->transport)
		return UNKNOWN;
	switch (headers->protocol) {
	case IPPROTO_TCP:
		return TCP;
	case IPPROTO_UDP:
		return UDP;
	default:
		return ICMP;
	}
}

void sim_ctf_packet_fill(bt_field *payload, uint64_t index,
			 const struct sim_headers *headers)
{
	unsigned network = UNKNOWN;
	bt_field *variant, *structure;
	uint64_t next;

	if (headers)
		network = headers->bytes[0] >> 4 == 4 ? IPV4 : IPV6;
	next = fill_choice(payload, index, network_headers, network,
			   headers ? headers->bytes : NULL);
	if (!headers)
		return;
	variant = bt_field_structure_borrow_member_field_by_index(payload, index + 1);
	structure = bt_field_variant_borrow_selected_option_field(variant);
	fill_choice(structure, next, transport_headers, transport_of(headers),
		    headers->bytes + headers->network);
}

static size_t header_bytes(const struct header *header)
{
	size_t bits = 0;

	for (size_t i = 0; i < header->parts; i++)
		bits += header->part[i].bits *
			(size_t)(header->part[i].count ? header->part[i].count : 1);
	return bits / 8;
}

size_t sim_ctf_packet_bytes(const uint8_t *at, size_t room)
{
	size_t network;

	if (!room || *at >= NETWORKS)
		return 0;
	if (*at == UNKNOWN)
		return 1;
	network = 1 + header_bytes(&network_headers[*at]);
	if (network >= room || at[network] >= TRANSPORTS)
		return 0;
	return network + 1 + header_bytes(&transport_headers[at[network]]);
}
