/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/sent_packets.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "merge/event_class.h"

enum { LEAST_HEADERS = 20, MOST_HEADERS = 128 };

#define V4  "network_header_ipv4_"
#define V6  "network_header_ipv6_"
#define TCP "transport_header_tcp_"

/* The fields of net_dev_queue that are read. */
enum field {
	SKBADDR,
	DEVICE,
	V4_LENGTH,
	V4_ID,
	V4_TTL,
	V4_PROTOCOL,
	V4_SRC,
	V4_DST,
	V4_SEQ,
	V6_LENGTH,
	V6_TTL,
	V6_PROTOCOL,
	V6_SRC,
	V6_DST,
	V6_SEQ,
	FIELDS
};

static const char *const queue_fields[FIELDS] = {
    "skbaddr",      "name",       V4 "tot_len", V4 "id",      V4 "ttl",
    V4 "protocol",  V4 "saddr",   V4 "daddr",   V4 TCP "seq", V6 "payload_len",
    V6 "hop_limit", V6 "nexthdr", V6 "saddr",   V6 "daddr",   V6 TCP "seq",
};

/* Where a class has the fields; -1: it has not. */
struct sent_class {
	int column[FIELDS];
};

/* A packet as it was queued, the last time; texts and addresses as their hashes. */
struct queued_packet {
	nsec_t ts_ns;
	uint64_t device, protocol, address[2];
	int64_t length, id, ttl, seq;
	bool can_carry;
	uint64_t first_device;
	struct sent_packet packet;
};

struct sent_packets {
	struct sent_class *class;
	size_t classes, class_room;
	struct queued_packet *queued; /* what is in the buffers */
	size_t count, room;
	struct intmap at; /* by node and buffer */
};

static uint64_t hash(const struct cell *cell)
{
	return cell->type == CELL_TEXT || cell->type == CELL_BLOB
		   ? hash_bytes(HASH_INIT, cell->bytes, cell->size)
		   : 0;
}

static int64_t integer(const struct cell *cell, int64_t none)
{
	return cell->type == CELL_INTEGER ? cell->integer : none;
}

static bool holds(const struct cell *cell, const char *word)
{
	return cell->type == CELL_TEXT &&
	       memmem(cell->bytes, cell->size, word, strlen(word));
}

static struct queued_packet read_queued(const struct cell row[FIELDS], nsec_t ts_ns)
{
	enum { IPV6_HEADER = 40 };
	bool is_v6 = row[V4_LENGTH].type != CELL_INTEGER;
	const struct cell *at = is_v6 ? row + V6_TTL - V4_TTL : row; /* but V4_ID */
	int64_t length = is_v6 ? integer(&row[V6_LENGTH], -1) : row[V4_LENGTH].integer;

	return (struct queued_packet){
	    .ts_ns = ts_ns,
	    .device = hash(&row[DEVICE]),
	    .protocol = hash(&at[V4_PROTOCOL]),
	    .address = {hash(&at[V4_SRC]), hash(&at[V4_DST])},
	    .length = is_v6 && length >= 0 ? length + IPV6_HEADER : length,
	    .id = is_v6 ? -1 : integer(&row[V4_ID], -1),
	    .ttl = integer(&at[V4_TTL], -1),
	    .seq = integer(is_v6 ? &row[V6_SEQ] : &row[V4_SEQ], -1),
	    .can_carry =
		!holds(&at[V4_PROTOCOL], "tcp") && !holds(&at[V4_PROTOCOL], "icmp"),
	};
}

/* Whether both are one packet, or what NAT or a router made of it. */
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

/* Whether `now` is `before` with a tunnel's headers. */
static bool carries(const struct queued_packet *before, const struct queued_packet *now)
{
	int64_t headers = now->length - before->length;

	return now->can_carry && headers >= LEAST_HEADERS && headers <= MOST_HEADERS &&
	       now->device != before->device;
}

static struct queued_packet *find_buffer(struct sent_packets *packets, uint64_t key)
{
	int64_t at;

	if (intmap_get(&packets->at, key, &at))
		return &packets->queued[at];
	intmap_put(&packets->at, key, (int64_t)packets->count);
	packets->queued = mem_grow(packets->queued, packets->count, &packets->room,
				   sizeof(*packets->queued));
	packets->queued[packets->count] = (struct queued_packet){.length = -1};
	return &packets->queued[packets->count++];
}

/* What is told of the packet that was in the buffer before holds for it, too. */
static void compare_with(const struct queued_packet *before, struct queued_packet *now)
{
	if (before->length < 0 || now->ts_ns - before->ts_ns >= NSEC_PER_SEC)
		return;
	now->packet.is_carrier = carries(before, now);
	if (is_same(before, now)) {
		now->packet.origin = before->packet.origin;
		now->packet.origin_tid = before->packet.origin_tid;
		now->packet.origin_ns = before->packet.origin_ns;
		now->packet.is_carrier |= before->packet.is_carrier;
		now->first_device = before->first_device;
	}
}

void sent_packets_event(struct sent_packets *packets, int class, uint32_t node,
			const struct cell *cell, struct sent_packet *packet)
{
	const struct sent_class *of = &packets->class[class];
	struct queued_packet now, *before;
	struct cell row[FIELDS];
	int64_t buffer;

	for (size_t i = 0; i < FIELDS; i++)
		row[i] = of->column[i] < 0 ? (struct cell){.type = CELL_NULL}
					   : cell[of->column[i]];
	buffer = integer(&row[SKBADDR], -1);
	now = read_queued(row, packet->origin_ns);
	if (buffer == -1 || now.length < 0)
		return;
	now.packet = *packet;
	now.first_device = now.device;
	/* The upper bits of all addresses of a kernel are the same. */
	before = find_buffer(packets, (uint64_t)buffer ^ (uint64_t)node << 48);
	compare_with(before, &now);
	*packet = now.packet;
	*before = now;
}

int sent_packets_class(struct sent_packets *packets, const struct ctf_class *class)
{
	struct sent_class *made;

	if (strcmp(class->name, "net_dev_queue") != 0)
		return -1;
	packets->class = mem_grow(packets->class, packets->classes, &packets->class_room,
				  sizeof(*packets->class));
	made = &packets->class[packets->classes];
	for (size_t i = 0; i < FIELDS; i++)
		made->column[i] = event_column(class, queue_fields[i], false);
	return (int)packets->classes++;
}

struct sent_packets *sent_packets_new(void)
{
	return mem_zalloc(sizeof(struct sent_packets));
}

void sent_packets_free(struct sent_packets *packets)
{
	if (!packets)
		return;
	free(packets->class);
	free(packets->queued);
	intmap_clear(&packets->at);
	free(packets);
}
