/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/nsec.h"
#include "base/process.h"
#include "simulate/writer.h"

enum {
	SNAP = 128,          /* bytes kept of a frame */
	LEAST_ETHERNET = 60, /* bytes that arrive, padded if need be */
	TYPE_IPV4 = 0x0800,
	TYPE_VLAN = 0x8100,
	TYPE_IPV6 = 0x86dd,
};

struct capture_writer {
	struct sim_writer base;
	struct texts addresses; /* two a node, behind their family; then of others */
	char **path;            /* one a node */
	FILE **file;
};

struct frame {
	uint8_t bytes[SNAP];
	size_t used, wire;
};

static void put(struct frame *frame, const void *bytes, size_t count)
{
	memcpy(frame->bytes + frame->used, bytes, count);
	frame->used += count;
}

static void put16(struct frame *frame, unsigned value)
{
	uint8_t bytes[2] = {(uint8_t)(value >> 8), (uint8_t)value};

	put(frame, bytes, 2);
}

static size_t address_number(struct capture_writer *writer, uint8_t family,
			     const uint8_t address[16])
{
	char key[17];

	key[0] = (char)family;
	memcpy(key + 1, address, 16);
	return texts_put_bytes(&writer->addresses, key, sizeof(key));
}

/* The Ethernet address behind one, as a captured frame shows it: a router's if no
 * node's. */
static const unsigned char *mac_of(struct capture_writer *writer, uint8_t family,
				   const uint8_t address[16])
{
	static const unsigned char router[6] = {0x02, 0xff, 0xff, 0xff, 0xff, 0xfe};
	size_t number = address_number(writer, family, address);

	return number < 2 * writer->base.nodes ? writer->base.node[number / 2].mac
					       : router;
}

/* The interface pads what is short, after a sender's capture has seen it. */
static void build_frame(struct frame *frame, struct capture_writer *writer,
			const struct sim_event *event, const struct sim_headers *headers)
{
	const struct packet *packet = sim_event_packet(event);
	const struct sim_node *node = &writer->base.node[event->node];
	bool sent = event->class->capture == SIM_CAPTURED_SENT;
	const unsigned char *peer =
	    mac_of(writer, packet->family, sent ? packet->dst : packet->src);

	memset(frame, 0, sizeof(*frame));
	put(frame, sent ? peer : node->mac, 6);
	put(frame, sent ? node->mac : peer, 6);
	if (node->vlan) {
		put16(frame, TYPE_VLAN);
		put16(frame, node->vlan);
	}
	put16(frame, packet->family == 4 ? TYPE_IPV4 : TYPE_IPV6);
	frame->wire = frame->used + headers->total;
	put(frame, headers->bytes, headers->network + headers->transport);
	if (!sent && frame->wire < LEAST_ETHERNET)
		frame->wire = LEAST_ETHERNET;
}

/* Numbers of 32 bits, little-endian. */
static bool write_numbers(FILE *file, uint32_t *number, size_t count)
{
	for (size_t i = 0; i < count; i++)
		number[i] = htole32(number[i]);
	return fwrite_unlocked(number, sizeof(*number), count, file) == count;
}

static int write_frame(const struct capture_writer *writer, const struct sim_event *event,
		       const struct frame *frame, struct error *error)
{
	const struct sim_node *node = &writer->base.node[event->node];
	FILE *file = writer->file[event->node];
	nsec_t stamp = nsec_add(event->mono_ns, node->realtime_offset_ns);
	uint32_t kept = (uint32_t)(frame->wire < SNAP ? frame->wire : SNAP);
	uint32_t head[] = {(uint32_t)(stamp / NSEC_PER_SEC),
			   (uint32_t)(stamp % NSEC_PER_SEC), kept, (uint32_t)frame->wire};

	if (stamp < 0 || stamp / NSEC_PER_SEC > UINT32_MAX)
		return error_set(error,
				 "%s: a packet at %lld ns since the epoch, want one that "
				 "a capture can hold, from 1970 to 2106",
				 node->name, (long long)stamp);
	if (!write_numbers(file, head, 4) ||
	    fwrite_unlocked(frame->bytes, 1, kept, file) != kept)
		return error_errno(error, writer->path[event->node]);
	return 0;
}

static int capture_add(struct sim_writer *base, const struct sim_event *event,
		       struct error *error)
{
	struct capture_writer *writer = (struct capture_writer *)base;
	struct sim_headers headers;
	struct frame frame;

	if (event->class->capture == SIM_NOT_CAPTURED ||
	    !sim_headers_of_event(&headers, event) ||
	    packet_is_local(sim_event_packet(event)))
		return 0;
	build_frame(&frame, writer, event, &headers);
	return write_frame(writer, event, &frame, error);
}

static int capture_finish(struct sim_writer *base, size_t node, struct error *error)
{
	struct capture_writer *writer = (struct capture_writer *)base;
	FILE *file = writer->file[node];

	writer->file[node] = NULL;
	return fclose(file) ? error_errno(error, writer->path[node]) : 0;
}

static void capture_free(struct sim_writer *base)
{
	struct capture_writer *writer = (struct capture_writer *)base;

	for (size_t i = 0; i < base->nodes; i++) {
		if (writer->file[i])
			fclose(writer->file[i]);
		free(writer->path[i]);
	}
	texts_clear(&writer->addresses);
	free(writer->path);
	free(writer->file);
	free(writer);
}

static int capture_open(struct sim_writer *base, size_t i, const char *directory,
			struct error *error)
{
	struct capture_writer *writer = (struct capture_writer *)base;
	/* Nanoseconds, version 2.4, stamps in UTC, Ethernet. */
	uint32_t head[] = {0xa1b23c4d, 4 << 16 | 2, 0, 0, SNAP, 1};

	writer->path[i] = mem_printf("%s/%s.pcap", directory, base->node[i].name);
	writer->file[i] = fopen(writer->path[i], "wxe");
	if (!writer->file[i] || !write_numbers(writer->file[i], head, 6))
		return error_errno(error, writer->path[i]);
	return 0;
}

struct sim_writer *sim_capture_writer_new(const char *directory,
					  const struct sim_node *node, size_t nodes,
					  struct error *error)
{
	static const struct sim_writer_ops ops = {capture_open, capture_add,
						  capture_finish, capture_free};
	struct capture_writer *writer = mem_zalloc(sizeof(*writer));

	limits_allow_files(); /* they stay open */
	writer->base = (struct sim_writer){&ops, node, nodes, false};
	writer->path = mem_zalloc(nodes * sizeof(*writer->path));
	writer->file = mem_zalloc(nodes * sizeof(*writer->file));
	for (size_t i = 0; i < 2 * nodes; i++)
		address_number(writer, i % 2 ? 6 : 4, node[i / 2].address[i % 2]);
	return sim_writer_open(&writer->base, directory, error);
}
