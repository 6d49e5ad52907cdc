/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_WRITTEN_H
#define CT_TEST_WRITTEN_H

/*
 * What the tests of the writers have written: nodes, classes, packets; and
 * how they read it back. To be included behind draw.h and scratch.h.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>

#include "input/capture/capture.h"
#include "input/packet_source.h"
#include "simulate/writer.h"

enum { NODES = 2, CPUS = 2 };

#define OFFSET INT64_C(1795229131487635949) /* CLOCK_REALTIME less CLOCK_MONOTONIC */

#define NODE(number, vlan_id)                                                            \
	{                                                                                \
		.name = "n" #number, .cpus = CPUS, .realtime_offset_ns = OFFSET,         \
		.mac = {2, 0, 0, 0, 0, number},                                          \
		.address = {{10, 0, 0, number}, {0xfd, [15] = number}},                  \
		.boot_id = {0xb0, 0x07, number}, .vlan = vlan_id                         \
	}

static const struct sim_node plain_nodes[NODES] = {NODE(1, 0), NODE(2, 0)};
static const struct sim_node tagged_nodes[NODES] = {NODE(1, 42), NODE(2, 42)};

static const struct sim_field skb_fields[] = {
    {"skbaddr", SIM_HEX64},
    {"len", SIM_U32},
    {"name", SIM_TEXT},
    {"network_header", SIM_PACKET},
};
static const struct sim_field every_field[] = {
    {"u8", SIM_U8},     {"u16", SIM_U16}, {"u32", SIM_U32},   {"u64", SIM_U64},
    {"hex", SIM_HEX64}, {"s32", SIM_S32}, {"s64", SIM_S64},   {"text", SIM_TEXT},
    {"comm", SIM_COMM}, {"int", SIM_U32}, {"event", SIM_S32},
};

enum { EVERY = sizeof(every_field) / sizeof(*every_field) };

static const struct sim_field list_field[] = {{"vtids", SIM_S32_LIST}};

static const struct sim_class classes[] = {
    {"net_dev_queue", skb_fields, 4, SIM_CAPTURED_SENT},
    {"net_if_receive_skb", skb_fields, 4, SIM_CAPTURED_RECEIVED},
    {"every_type", every_field, EVERY, SIM_NOT_CAPTURED},
    {"no_field", NULL, 0, SIM_NOT_CAPTURED},
    {"list", list_field, 1, SIM_NOT_CAPTURED},
};
static const struct sim_class *const every = &classes[2], *const empty = &classes[3];

enum { CLASSES = sizeof(classes) / sizeof(*classes) };

static inline struct sim_writer *new_ctf(const char *directory)
{
	struct error error = ERROR_INIT;
	struct sim_writer *writer =
	    sim_ctf_writer_new(directory, plain_nodes, NODES, classes, CLASSES, &error);

	assert_string_equal(error_text(&error), "");
	assert_non_null(writer);
	return writer;
}

static inline void add(struct sim_writer *writer, const struct sim_event *event)
{
	struct error error = ERROR_INIT;
	int status = sim_writer_add(writer, event, &error);

	assert_string_equal(error_text(&error), "");
	assert_int_equal(status, 0);
}

static inline void finish(struct sim_writer *writer)
{
	struct error error = ERROR_INIT;
	int status = sim_writer_finish(writer, &error);

	assert_string_equal(error_text(&error), "");
	assert_int_equal(status, 0);
}

static inline void assert_fails(int status, struct error *error, const char *text)
{
	assert_string_equal(error_text(error), text);
	assert_int_equal(status, -1);
	error_clear(error);
}

/* An event of node n1 about a packet, whose values stand in value[4]. */
static inline struct sim_event packet_event(union sim_value value[4], bool received,
					    unsigned cpu, int64_t mono_ns,
					    const struct packet *packet)
{
	value[0].u = UINT64_C(0xffff8e5300000000) + (uint64_t)mono_ns;
	value[1].u = packet ? packet->length + 14 : 42;
	value[2].text = "eth0";
	value[3].packet = packet;
	return (struct sim_event){
	    .cpu = cpu,
	    .mono_ns = mono_ns,
	    .class = &classes[received],
	    .value = value,
	};
}

static inline void assert_no_problem(const struct problem_list *problems)
{
	if (problems->count)
		fail_msg("%s: %s: %s", problems->item[0].place,
			 problem_kind_word(problems->item[0].kind),
			 problems->item[0].text);
}

struct seen {
	struct packet_event *item;
	size_t count, capacity;
};

static inline void collect(void *context, const struct packet_event *packet_event)
{
	struct seen *seen = context;

	seen->item =
	    mem_grow(seen->item, seen->count, &seen->capacity, sizeof(*seen->item));
	seen->item[seen->count++] = *packet_event;
}

/* Read a source to its end; the caller frees what was seen and the source. */
static inline void read_source(struct packet_source *source, struct seen *seen)
{
	assert_non_null(source);
	memset(seen, 0, sizeof(*seen));
	while (packet_source_step(source, collect, seen))
		;
}

static inline struct packet_source *read_trace(const char *path, struct seen *seen)
{
	struct error error = ERROR_INIT;
	struct packet_source *source = trace_packets_open(path, &error);

	assert_string_equal(error_text(&error), "");
	read_source(source, seen);
	return source;
}

static inline struct packet_source *read_capture(const char *path, struct seen *seen)
{
	static const struct node_address own[] = {{4, {10, 0, 0, 1}},
						  {6, {0xfd, [15] = 1}}};
	struct error error = ERROR_INIT;
	struct packet_source *source = capture_packets_open(
	    &(struct capture_input){
		.path = path, .name = "n1", .local = own, .locals = 2},
	    &error);

	assert_string_equal(error_text(&error), "");
	read_source(source, seen);
	return source;
}

/* "10.7.0.1:39302 > 10.7.0.3:7001 tcp seq 796852315 ack ... id 30279 len 252". */
#define PACKET_TEXT 192
static inline char *packet_format(char text[PACKET_TEXT], const struct packet *packet)
{
	char src[INET6_ADDRSTRLEN] = "?", dst[INET6_ADDRSTRLEN] = "?";
	int family = packet->family == 6 ? AF_INET6 : AF_INET;
	const char *protocol = packet_protocol_name(packet);
	int used;

	if (packet->known & PACKET_NETWORK) {
		inet_ntop(family, packet->src, src, sizeof(src));
		inet_ntop(family, packet->dst, dst, sizeof(dst));
	}
	used = snprintf(text, PACKET_TEXT, "%s:%u > %s:%u %s id %u len %u", src,
			packet->sport, dst, packet->dport, protocol ? protocol : "ip",
			packet->id, packet->length);
	if (packet->protocol == IPPROTO_TCP)
		snprintf(text + used, PACKET_TEXT - (size_t)used,
			 " seq %u ack %u flags 0x%x win %u", packet->seq, packet->ack,
			 packet->flags, packet->window);
	else if (packet->seq)
		snprintf(text + used, PACKET_TEXT - (size_t)used, " echo %u seq %u",
			 packet->seq >> 16, packet->seq & 0xffff);
	return text;
}

static inline void assert_packet(const struct packet *read, const struct packet *want)
{
	char have_text[PACKET_TEXT], want_text[PACKET_TEXT];
	struct packet copy = *read, *have = &copy;

	/* A capture hashes the data of datagrams, which is not drawn. */
	if (have->protocol == IPPROTO_UDP)
		have->seq = want->seq;
	if (!packet_equal(have, want))
		fail_msg("have %s, known %u, want %s, known %u",
			 packet_format(have_text, have), have->known,
			 packet_format(want_text, want), want->known);
	assert_int_equal(have->payload, want->payload);
}

#endif
