/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <pcap/pcap.h>
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
	struct texts addresses; /* of nodes, behind their family; then of others */
	size_t *owner; /* a node an address; where two have the same, the first */
	size_t owned;
	char *directory;
	pcap_t *pcap;
	pcap_dumper_t **file; /* one a node */
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

static void note_addresses(struct capture_writer *writer, size_t index)
{
	const struct sim_node *node = &writer->base.node[index];

	for (size_t i = 0; i < node->addresses; i++)
		if (address_number(writer, node->family[i], node->address[i]) ==
		    writer->owned) {
			writer->owner =
			    mem_realloc(writer->owner, writer->owned + 1, sizeof(size_t));
			writer->owner[writer->owned++] = index;
		}
}

/* The Ethernet address behind one, as a captured frame shows it: a router's if no
 * node's. */
static const unsigned char *mac_of(struct capture_writer *writer, uint8_t family,
				   const uint8_t address[16])
{
	static const unsigned char router[6] = {0x02, 0xff, 0xff, 0xff, 0xff, 0xfe};
	size_t number = address_number(writer, family, address);

	return number < writer->owned ? writer->base.node[writer->owner[number]].mac
				      : router;
}

/* The card pads what is short, after a sender's capture has seen it. */
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

static int set_stamp(struct pcap_pkthdr *head, nsec_t stamp)
{
	nsec_t seconds = stamp / NSEC_PER_SEC;

	if (stamp < 0 || seconds > UINT32_MAX)
		return -1;
	head->ts.tv_sec = seconds;
	head->ts.tv_usec = stamp % NSEC_PER_SEC; /* nanoseconds, by the file's kind */
	return 0;
}

static char *path_of(const struct capture_writer *writer, size_t node)
{
	const char *name = writer->base.node[node].name;

	return mem_printf("%s/%s/%s.pcap", writer->directory, name, name);
}

/* errno says why. */
static int fail(const struct capture_writer *writer, size_t node, struct error *error)
{
	int number = errno;
	char *path = path_of(writer, node);

	errno = number;
	error_errno(error, path);
	free(path);
	return -1;
}

static int write_frame(const struct capture_writer *writer, const struct sim_event *event,
		       const struct frame *frame, struct error *error)
{
	const struct sim_node *node = &writer->base.node[event->node];
	pcap_dumper_t *file = writer->file[event->node];
	nsec_t stamp = nsec_add(event->mono_ns, node->realtime_offset_ns);
	struct pcap_pkthdr head = {
	    .caplen = (bpf_u_int32)(frame->wire < SNAP ? frame->wire : SNAP),
	    .len = (bpf_u_int32)frame->wire,
	};

	if (set_stamp(&head, stamp))
		return error_set(error,
				 "%s: a packet at %lld ns since the epoch, want one that "
				 "a capture can hold, from 1970 to 2106",
				 node->name, (long long)stamp);
	errno = 0;
	pcap_dump((u_char *)file, &head, frame->bytes);
	return ferror(pcap_dump_file(file)) ? fail(writer, event->node, error) : 0;
}

static bool is_captured(const struct sim_event *event)
{
	const struct packet *packet = sim_event_packet(event);

	return event->class->capture != SIM_NOT_CAPTURED && packet &&
	       !packet_is_local(packet);
}

static int capture_add(struct sim_writer *base, const struct sim_event *event,
		       struct error *error)
{
	struct capture_writer *writer = (struct capture_writer *)base;
	struct sim_headers headers;
	struct frame frame;

	if (!is_captured(event))
		return 0;
	sim_headers_of_event(&headers, event);
	build_frame(&frame, writer, event, &headers);
	return write_frame(writer, event, &frame, error);
}

static int close_file(const struct capture_writer *writer, size_t node,
		      struct error *error)
{
	int status = 0;

	if (!writer->file[node])
		return 0;
	errno = 0;
	if (pcap_dump_flush(writer->file[node]))
		status = fail(writer, node, error);
	pcap_dump_close(writer->file[node]);
	return status;
}

static int capture_finish(struct sim_writer *base, struct error *error)
{
	struct capture_writer *writer = (struct capture_writer *)base;
	int status = base->failed ? -1 : 0;

	for (size_t i = 0; i < base->nodes; i++)
		status |= close_file(writer, i, error);
	if (writer->pcap)
		pcap_close(writer->pcap);
	texts_clear(&writer->addresses);
	free(writer->owner);
	free(writer->directory);
	free(writer->file);
	free(writer);
	return status;
}

static int open_capture(struct capture_writer *writer, size_t i, struct error *error)
{
	char *path;
	FILE *file;

	if (sim_writer_directory(writer->directory, writer->base.node[i].name, error))
		return -1;
	path = path_of(writer, i);
	file = fopen(path, "wxe");
	if (!file) {
		error_errno(error, path);
	} else if (!(writer->file[i] = pcap_dump_fopen(writer->pcap, file))) {
		error_set(error, "%s: %s", path, pcap_geterr(writer->pcap));
		fclose(file);
	}
	free(path);
	return writer->file[i] ? 0 : -1;
}

struct sim_writer *sim_capture_writer_new(const char *directory,
					  const struct sim_node *node, size_t nodes,
					  struct error *error)
{
	static const struct sim_writer_ops ops = {capture_add, capture_finish};
	struct capture_writer *writer = mem_zalloc(sizeof(*writer));
	struct error ignored = ERROR_INIT;

	limits_allow_files(); /* they stay open */
	writer->base = (struct sim_writer){&ops, node, nodes, false};
	writer->directory = mem_strdup(directory);
	writer->file = mem_zalloc(nodes * sizeof(pcap_dumper_t *));
	writer->pcap = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, SNAP,
							    PCAP_TSTAMP_PRECISION_NANO);
	for (size_t i = 0; i < nodes; i++)
		note_addresses(writer, i);
	for (size_t i = 0; i < nodes; i++)
		if (open_capture(writer, i, error)) {
			capture_finish(&writer->base, &ignored);
			error_clear(&ignored);
			return NULL;
		}
	return &writer->base;
}
