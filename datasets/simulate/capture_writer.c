/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/capture_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/nsec.h"
#include "base/process.h"
#include "simulate/writer.h"

enum {
	SNAP = 128,          /* bytes of a frame that are captured */
	RECORD_HEAD = 16,    /* bytes in front of a frame */
	LEAST_ETHERNET = 60, /* bytes that arrive, padded if need be */
	ETHERNET = 14,
	VLAN_TAG = 4,
	TYPE_IPV4 = 0x0800,
	TYPE_VLAN = 0x8100,
	TYPE_IPV6 = 0x86dd,
};

struct capture_writer {
	struct sim_writer base;
	struct texts addresses; /* family and address: two of each node, then of others */
	char **path;            /* one a node */
	FILE **file;
	struct bytes record; /* the one that is written */
};

/* In network order. */
static void add_be16(struct bytes *bytes, unsigned value)
{
	bytes_add_byte(bytes, (uint8_t)(value >> 8));
	bytes_add_byte(bytes, (uint8_t)value);
}

static size_t address_number(struct capture_writer *writer, uint8_t family,
			     const uint8_t address[16])
{
	char key[17];

	key[0] = (char)family;
	memcpy(key + 1, address, 16);
	return texts_put_bytes(&writer->addresses, key, sizeof(key));
}

/* Return the Ethernet address that frames of an IP address have: the node's, or a
 * router's. */
static const unsigned char *mac_of(struct capture_writer *writer, uint8_t family,
				   const uint8_t address[16])
{
	static const unsigned char router[6] = {0x02, 0xff, 0xff, 0xff, 0xff, 0xfe};
	size_t number = address_number(writer, family, address);

	return number < 2 * writer->base.nodes ? writer->base.node[number / 2].mac
					       : router;
}

/* The interface pads what is short, after a sender's capture has seen it. All data is
 * zeros. */
static void make_record(struct capture_writer *writer, const struct sim_event *event,
			const struct sim_headers *headers, nsec_t stamp)
{
	const struct packet *packet = sim_event_packet(event);
	const struct sim_node *node = &writer->base.node[event->node];
	bool sent = event->class->capture == SIM_CAPTURED_SENT;
	const unsigned char *target = sent || event->overheard
					  ? mac_of(writer, packet->family, packet->dst)
					  : node->mac;
	const unsigned char *origin =
	    sent ? node->mac : mac_of(writer, packet->family, packet->src);
	size_t wire = headers->total + ETHERNET + (node->vlan ? (size_t)VLAN_TAG : 0),
	       captured;
	struct bytes *record = &writer->record;

	if (!sent && wire < LEAST_ETHERNET)
		wire = LEAST_ETHERNET;
	captured = wire < SNAP ? wire : SNAP;
	record->size = 0;
	bytes_add_le(record, (uint64_t)(stamp / NSEC_PER_SEC), 4);
	bytes_add_le(record, (uint64_t)(stamp % NSEC_PER_SEC), 4);
	bytes_add_le(record, captured, 4);
	bytes_add_le(record, wire, 4);
	bytes_add(record, target, 6);
	bytes_add(record, origin, 6);
	if (node->vlan) {
		add_be16(record, TYPE_VLAN);
		add_be16(record, node->vlan);
	}
	add_be16(record, packet->family == 4 ? TYPE_IPV4 : TYPE_IPV6);
	bytes_add(record, headers->bytes, headers->network + headers->transport);
	memset(bytes_extend(record, SNAP), 0, SNAP);
	record->size = RECORD_HEAD + captured;
}

static int write_record(const struct capture_writer *writer, size_t node,
			struct error *error)
{
	const struct bytes *record = &writer->record;

	return fwrite_unlocked(record->data, 1, record->size, writer->file[node]) ==
		       record->size
		   ? 0
		   : error_errno(error, writer->path[node]);
}

/* Return true if an overheard packet is from or to the node itself. */
static bool is_own(struct capture_writer *writer, const struct sim_event *event)
{
	const struct packet *packet = sim_event_packet(event);

	return address_number(writer, packet->family, packet->src) / 2 == event->node ||
	       address_number(writer, packet->family, packet->dst) / 2 == event->node;
}

/* Write a frame, and a second time a little later if the capture has it twice. */
static int write_frame(struct capture_writer *writer, const struct sim_event *event,
		       const struct sim_headers *headers, nsec_t stamp,
		       struct error *error)
{
	uint64_t chance = hash_mix((uint64_t)stamp ^ event->node);
	bool twice = (double)(chance >> 32) <
		     writer->base.node[event->node].captured_twice * 0x1p32;
	int status = 0;

	for (int i = 0; i <= twice && !status; i++) {
		make_record(writer, event, headers, stamp);
		status = write_record(writer, event->node, error);
		stamp += 1 + (nsec_t)(chance % 40000);
	}
	return status;
}

/* Return the timestamp that a card gives a received frame instead of `stamp`. */
static nsec_t card_stamp(const struct sim_node *node, const struct sim_event *event,
			 nsec_t stamp)
{
	nsec_t since = nsec_sub(event->true_ns, node->card_begin_ns);

	if (node->card_is_free)
		stamp = nsec_add(event->true_ns,
				 nsec_round((double)since * node->card_ppm * 1e-6));
	return nsec_add(stamp, node->card_ns);
}

static int capture_add(struct sim_writer *base, const struct sim_event *event,
		       struct error *error)
{
	struct capture_writer *writer = (struct capture_writer *)base;
	const struct sim_node *node = &base->node[event->node];
	nsec_t stamp = nsec_add(event->mono_ns, node->realtime_offset_ns);
	struct sim_headers headers;

	if (event->class->capture == SIM_NOT_CAPTURED ||
	    !sim_headers_of_event(&headers, event) ||
	    packet_is_local(sim_event_packet(event)) ||
	    (event->overheard && is_own(writer, event)))
		return 0;
	if (event->class->capture == SIM_CAPTURED_RECEIVED)
		stamp = card_stamp(node, event, stamp);
	if (stamp < 0 || stamp / NSEC_PER_SEC > UINT32_MAX)
		return error_set(error,
				 "%s: packet at %lld ns since the epoch (a capture can "
				 "hold 1970 to 2106)",
				 node->name, (long long)stamp);
	return write_frame(writer, event, &headers, stamp, error);
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
	bytes_clear(&writer->record);
	free(writer->path);
	free(writer->file);
	free(writer);
}

static int capture_open(struct sim_writer *base, size_t i, const char *directory,
			struct error *error)
{
	struct capture_writer *writer = (struct capture_writer *)base;
	/* Nanoseconds, version 2.4, stamps in UTC, Ethernet. */
	static const uint32_t head[] = {0xa1b23c4d, 4 << 16 | 2, 0, 0, SNAP, 1};

	writer->record.size = 0;
	for (size_t k = 0; k < sizeof(head) / sizeof(*head); k++)
		bytes_add_le(&writer->record, head[k], 4);
	writer->path[i] = mem_printf("%s/%s.pcap", directory, base->node[i].name);
	writer->file[i] = fopen(writer->path[i], "wxe");
	return writer->file[i] ? write_record(writer, i, error)
			       : error_errno(error, writer->path[i]);
}

struct sim_writer *sim_capture_writer_new(const char *directory,
					  const struct sim_node *node, size_t nodes,
					  struct error *error)
{
	static const struct sim_writer_ops ops = {capture_open, capture_add,
						  capture_finish, capture_free};
	struct capture_writer *writer = mem_zalloc(sizeof(*writer));

	raise_open_file_limit(); /* they stay open */
	writer->base = (struct sim_writer){&ops, node, nodes, false};
	writer->path = mem_zalloc(nodes * sizeof(*writer->path));
	writer->file = mem_zalloc(nodes * sizeof(*writer->file));
	for (size_t i = 0; i < 2 * nodes; i++)
		address_number(writer, i % 2 ? 6 : 4, node[i / 2].address[i % 2]);
	return sim_writer_open(&writer->base, directory, error);
}
