/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/writer.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

int sim_writer_add(struct sim_writer *writer, const struct sim_event *event,
		   struct error *error)
{
	assert(!writer->failed && event->node < writer->nodes &&
	       event->cpu < writer->node[event->node].cpus);
	writer->failed = writer->ops->add(writer, event, error) != 0;
	return writer->failed ? -1 : 0;
}

int sim_writer_finish(struct sim_writer *writer, struct error *error)
{
	int status = writer->failed ? -1 : 0;

	for (size_t i = 0; i < writer->nodes && !status; i++)
		status = writer->ops->finish(writer, i, error);
	writer->ops->free(writer);
	return status;
}

static int make_directory(const char *path, struct error *error)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST)
		return 0;
	return error_errno(error, path);
}

struct sim_writer *sim_writer_open(struct sim_writer *writer, const char *directory,
				   struct error *error)
{
	int status = make_directory(directory, error);

	for (size_t i = 0; i < writer->nodes && !status; i++) {
		AUTOFREE char *path =
		    mem_printf("%s/%s", directory, writer->node[i].name);

		status = make_directory(path, error);
		if (!status)
			status = writer->ops->open(writer, i, path, error);
	}
	if (!status)
		return writer;
	writer->ops->free(writer);
	return NULL;
}

int sim_output_open(struct output *output, struct error *error, const char *format, ...)
{
	AUTOFREE char *path = MEM_VPRINTF(format);

	return output_open(output, path, error);
}

enum {
	IPV4_HEADER = 20,
	IPV6_HEADER = 40,
	TCP_HEADER = 20,
	UDP_HEADER = 8,
	ICMP_HEADER = 8,
	TCP_NO_OPERATION = 1, /* an option */
	IPV4_DONT_FRAGMENT = 0x4000,
	FRAGMENT_OFFSET = 0x1fff,
	HOPS = 64,
};

static void put_be16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put_be32(uint8_t *at, uint32_t value)
{
	put_be16(at, value >> 16);
	put_be16(at + 2, value);
}

/* Add to a one's complement sum (RFC 1071); `count` is even here. */
static uint32_t add_words(uint32_t sum, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i += 2)
		sum += (uint32_t)(bytes[i] << 8 | bytes[i + 1]);
	return sum;
}

static uint16_t fold_checksum(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static uint32_t pseudo_header(const struct packet *packet, size_t length)
{
	uint32_t sum =
	    packet->protocol + (uint32_t)(length >> 16) + (uint32_t)(length & 0xffff);

	sum = add_words(sum, packet->src, sizeof(packet->src));
	return add_words(sum, packet->dst, sizeof(packet->dst));
}

static void build_tcp(uint8_t *at, const struct packet *packet, size_t header)
{
	put_be16(at, packet->sport);
	put_be16(at + 2, packet->dport);
	put_be32(at + 4, packet->seq);
	put_be32(at + 8, packet->ack);
	at[12] = (uint8_t)(header / 4 << 4);
	at[13] = packet->flags;
	put_be16(at + 14, packet->window);
	memset(at + TCP_HEADER, TCP_NO_OPERATION, header - TCP_HEADER);
}

static void build_udp(uint8_t *at, const struct packet *packet)
{
	put_be16(at, packet->sport);
	put_be16(at + 2, packet->dport);
	put_be16(at + 4, packet->udp_length);
}

static void build_icmp(uint8_t *at, const struct packet *packet)
{
	put_be16(at, packet->sport); /* type and code */
	put_be32(at + 4, packet->seq);
}

static size_t transport_length(const struct packet *packet, size_t network)
{
	if (!(packet->known & PACKET_TRANSPORT))
		return 0;
	if (packet->family == 4 && packet->fragment & FRAGMENT_OFFSET)
		return 0;
	if (packet->protocol == IPPROTO_TCP)
		return packet->length - packet->payload -
		       (packet->family == 4 ? network : 0);
	if (packet->protocol == IPPROTO_UDP)
		return UDP_HEADER;
	return packet->protocol == IPPROTO_ICMP && packet->family == 4 ? ICMP_HEADER : 0;
}

static void build_transport(struct sim_headers *headers, const struct packet *packet,
			    bool sent)
{
	uint8_t *at = headers->bytes + headers->network;
	uint32_t sum = pseudo_header(packet, headers->total - headers->network);
	uint16_t full;

	switch (packet->protocol) {
	case IPPROTO_TCP:
		build_tcp(at, packet, headers->transport);
		full = (uint16_t)~fold_checksum(add_words(sum, at, headers->transport));
		put_be16(at + 16, sent ? fold_checksum(sum) : full);
		break;
	case IPPROTO_UDP:
		build_udp(at, packet);
		full = (uint16_t)~fold_checksum(add_words(sum, at, headers->transport));
		put_be16(at + 6, sent ? fold_checksum(sum) : full ? full : 0xffff);
		break;
	case IPPROTO_ICMP:
		build_icmp(at, packet);
		put_be16(at + 2,
			 (uint16_t)~fold_checksum(add_words(0, at, headers->transport)));
		break;
	}
}

static void build_ipv4(uint8_t *at, const struct packet *packet, uint8_t hops)
{
	bool whole = packet->protocol == IPPROTO_TCP && packet->fragment == 0;

	at[0] = 4 << 4 | IPV4_HEADER / 4;
	put_be16(at + 2, packet->length);
	put_be16(at + 4, packet->id);
	put_be16(at + 6, whole ? IPV4_DONT_FRAGMENT : packet->fragment);
	at[8] = hops;
	at[9] = packet->protocol;
	memcpy(at + 12, packet->src, 4);
	memcpy(at + 16, packet->dst, 4);
	put_be16(at + 10, (uint16_t)~fold_checksum(add_words(0, at, IPV4_HEADER)));
}

static void build_ipv6(uint8_t *at, const struct packet *packet, uint8_t hops)
{
	put_be32(at, (uint32_t)6 << 28 | (packet->id & 0xfffff));
	put_be16(at + 4, packet->length);
	at[6] = packet->protocol;
	at[7] = hops;
	memcpy(at + 8, packet->src, 16);
	memcpy(at + 24, packet->dst, 16);
}

const struct packet *sim_event_packet(const struct sim_event *event)
{
	const struct sim_class *class = event->class;

	for (size_t i = 0; i < class->fields; i++) {
		const struct packet *packet = event->value[i].packet;

		if (class->field[i].type == SIM_PACKET)
			return packet && packet->known & PACKET_NETWORK ? packet : NULL;
	}
	return NULL;
}

/*
 * RFC 791, 8200, 9293, 768, 792. All data are zeros, and checksums are right. A TCP or
 * UDP packet that is being sent has the sum of its pseudo header instead, as its
 * interface adds the checksum.
 */
bool sim_headers_of_event(struct sim_headers *headers, const struct sim_event *event)
{
	const struct packet *packet = sim_event_packet(event);
	uint8_t hops = (uint8_t)(HOPS - event->routers);
	bool ipv4;

	if (!packet)
		return false;
	ipv4 = packet->family == 4;
	memset(headers, 0, sizeof(*headers));
	headers->protocol = packet->protocol;
	headers->network = ipv4 ? IPV4_HEADER : IPV6_HEADER;
	headers->total = packet->length + (ipv4 ? 0 : (size_t)IPV6_HEADER);
	headers->transport = transport_length(packet, headers->network);
	assert(headers->total >= headers->network + headers->transport &&
	       headers->network + headers->transport <= sizeof(headers->bytes));
	(ipv4 ? build_ipv4 : build_ipv6)(headers->bytes, packet, hops);
	if (headers->transport)
		build_transport(headers, packet,
				event->class->capture != SIM_CAPTURED_RECEIVED);
	return true;
}
