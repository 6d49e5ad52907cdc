/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/packet_origin.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
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
};

enum { LEAST_HEADERS = 20, MOST_HEADERS = 128 };

/* A packet as it was queued, the last time; texts and addresses as their hashes. */
struct queued_packet {
	nsec_t ts_ns;
	uint64_t device, protocol, address[2];
	int64_t length, id, ttl, seq;
	bool can_carry;
	uint64_t first_device;
	struct packet_origin origin;
};

static uint64_t hash(const struct cell *cell)
{
	uint64_t value = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	if (cell->type != CELL_TEXT && cell->type != CELL_BLOB)
		return 0;
	for (uint32_t i = 0; i < cell->size; i++)
		value = (value ^ (unsigned char)cell->bytes[i]) * UINT64_C(0x100000001b3);
	return value;
}

static int64_t integer(const struct cell *cell)
{
	return cell->type == CELL_INTEGER ? cell->integer : -1;
}

static bool holds(const struct cell *cell, const char *word)
{
	return cell->type == CELL_TEXT &&
	       memmem(cell->bytes, cell->size, word, strlen(word));
}

static struct queued_packet read_packet(const struct event_row *row)
{
	enum { IPV6_HEADER = 40 };
	const struct cell *field = row->field;
	bool is_v6 = field[V4_LENGTH].type != CELL_INTEGER;
	/* Of IPv6 there is no id. */
	const struct cell *at = is_v6 ? field + V6_TTL - V4_TTL : field;
	const struct cell *length = is_v6 ? &field[V6_LENGTH] : &field[V4_LENGTH];

	return (struct queued_packet){
	    .ts_ns = row->ts_ns,
	    .device = hash(&field[DEVICE]),
	    .protocol = hash(&at[V4_PROTOCOL]),
	    .address = {hash(&at[V4_SRC]), hash(&at[V4_DST])},
	    .length = length->type == CELL_INTEGER
			  ? length->integer + (is_v6 ? IPV6_HEADER : 0)
			  : -1,
	    .id = is_v6 ? -1 : integer(&field[V4_ID]),
	    .ttl = integer(&at[V4_TTL]),
	    .seq = integer(&at[V4_SEQ]),
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

static struct queued_packet *find(struct packet_origins *origins, uint64_t key)
{
	int64_t at;

	if (intmap_get(&origins->at, key, &at))
		return &origins->item[at];
	intmap_put(&origins->at, key, (int64_t)origins->count);
	origins->item = mem_grow(origins->item, origins->count, &origins->room,
				 sizeof(*origins->item));
	origins->item[origins->count] = (struct queued_packet){.length = -1};
	return &origins->item[origins->count++];
}

struct packet_origin packet_origin_of(struct packet_origins *origins,
				      const struct event_row *row)
{
	struct queued_packet now = read_packet(row), *before;
	int64_t buffer = integer(&row->field[SKBADDR]);

	now.origin = (struct packet_origin){row->id, row->tid, row->ts_ns, false};
	now.first_device = now.device;
	if (buffer == -1 || now.length < 0)
		return now.origin;
	/* The upper bits of all addresses of a kernel are the same. */
	before = find(origins, (uint64_t)buffer ^ (uint64_t)row->node << 48);
	if (before->length >= 0 && now.ts_ns - before->ts_ns < NSEC_PER_SEC) {
		bool is_carrier = carries(before, &now);

		if (is_same(before, &now)) {
			now.origin = before->origin;
			now.first_device = before->first_device;
		}
		now.origin.is_carrier |= is_carrier;
	}
	*before = now;
	return now.origin;
}

void packet_origins_clear(struct packet_origins *origins)
{
	free(origins->item);
	intmap_clear(&origins->at);
	*origins = (struct packet_origins){.count = 0};
}
