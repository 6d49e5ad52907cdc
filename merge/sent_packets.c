/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/sent_packets.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "timeline/reader.h"

enum { LEAST_HEADERS = 20, MOST_HEADERS = 128 };

/* A packet as it was last queued; names and addresses as hashes. */
struct queued_packet {
	nsec_t ts_ns;
	uint64_t device, protocol, address[2];
	int64_t length, id, ttl, seq;
	bool can_carry;
	uint64_t first_device;
	struct sent_packet packet;
};

struct sent_packets {
	struct queued_packet *queued; /* what is in the buffers */
	size_t count, capacity;
	struct intmap at; /* by node and buffer */
};

static uint64_t hash_cell(const struct cell *cell)
{
	return cell_has_bytes(cell) ? hash_bytes(HASH_INIT, cell->bytes, cell->size) : 0;
}

static bool text_contains(const struct cell *cell, const char *word)
{
	return cell->type == CELL_TEXT &&
	       memmem(cell->bytes, cell->size, word, strlen(word));
}

static struct queued_packet read_queued(const struct event_class *class,
					const struct cell *cell, nsec_t ts_ns)
{
	enum { IPV6_HEADER = 40 };
	const int *column = class->column;
	bool is_v6 = event_cell(cell, column[SEND_V4 + IP_LENGTH])->type != CELL_INTEGER;
	const int *ip = column + (is_v6 ? SEND_V6 : SEND_V4);
	const struct cell *protocol = event_cell(cell, ip[IP_PROTOCOL]);
	int64_t length = cell_integer(event_cell(cell, ip[IP_LENGTH]), -1);

	return (struct queued_packet){
	    .ts_ns = ts_ns,
	    .device = hash_cell(event_cell(cell, column[SEND_DEVICE])),
	    .protocol = hash_cell(protocol),
	    .address = {hash_cell(event_cell(cell, ip[IP_SRC])),
			hash_cell(event_cell(cell, ip[IP_DST]))},
	    .length = is_v6 && length >= 0 ? length + IPV6_HEADER : length,
	    .id = is_v6 ? -1 : cell_integer(event_cell(cell, ip[IPV4_ID]), -1),
	    .ttl = cell_integer(event_cell(cell, ip[IP_TTL]), -1),
	    .seq = cell_integer(event_cell(cell, ip[IP_SEQ]), -1),
	    .can_carry =
		!text_contains(protocol, "tcp") && !text_contains(protocol, "icmp"),
	};
}

/* Return true if both are one packet, or `now` is what NAT or a router made of it. */
static bool is_same(const struct queued_packet *before, const struct queued_packet *now)
{
	if (now->length != before->length || now->protocol != before->protocol ||
	    now->id != before->id || now->seq != before->seq)
		return false;
	if (now->address[0] != before->address[0] &&
	    now->address[1] != before->address[1])
		return false;
	return now->ttl < before->ttl ||
	       (now->ttl == before->ttl &&
		(now->id > 0 || now->device != before->first_device));
}

/* Return true if `now` is `before` with a tunnel's headers. */
static bool is_encapsulation(const struct queued_packet *before,
			     const struct queued_packet *now)
{
	int64_t headers = now->length - before->length;

	return now->can_carry && headers >= LEAST_HEADERS && headers <= MOST_HEADERS &&
	       now->device != before->device;
}

static struct queued_packet *find_buffer(struct sent_packets *packets, uint64_t key)
{
	struct queued_packet *added;
	int64_t at;

	if (intmap_get(&packets->at, key, &at))
		return &packets->queued[at];
	intmap_put(&packets->at, key, (int64_t)packets->count);
	added = MEM_NEXT(packets->queued, packets->count, packets->capacity);
	*added = (struct queued_packet){.length = -1};
	return added;
}

/* Copy what is known of the packet that was in the buffer before, if it is the same. */
static void compare_with(const struct queued_packet *before, struct queued_packet *now)
{
	if (before->length < 0 || now->ts_ns - before->ts_ns >= NSEC_PER_SEC)
		return;
	if (is_same(before, now)) {
		now->packet = before->packet;
		now->first_device = before->first_device;
	}
	now->packet.is_carrier |= is_encapsulation(before, now);
}

void sent_packets_event(struct sent_packets *packets, const struct event_class *class,
			uint32_t node, const struct cell *cell,
			struct sent_packet *packet)
{
	int64_t buffer = cell_integer(event_cell(cell, class->column[SEND_BUFFER]), -1);
	struct queued_packet now, *before;

	if (class->tag != AT_SEND || buffer == -1)
		return;
	now = read_queued(class, cell, packet->origin_ns);
	if (now.length < 0)
		return;
	now.packet = *packet;
	now.first_device = now.device;
	/* The upper bits of all addresses of a kernel are the same. */
	before = find_buffer(packets, (uint64_t)buffer ^ (uint64_t)node << 48);
	compare_with(before, &now);
	*packet = now.packet;
	*before = now;
}

struct sent_packets *sent_packets_new(void)
{
	return mem_zalloc(sizeof(struct sent_packets));
}

void sent_packets_free(struct sent_packets *packets)
{
	if (!packets)
		return;
	free(packets->queued);
	intmap_clear(&packets->at);
	free(packets);
}
