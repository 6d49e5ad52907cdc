/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/sent_packets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intmap.h"
#include "base/mem.h"

enum { LEAST_HEADERS = 20, MOST_HEADERS = 128 };

#define V4  "network_header_ipv4_"
#define V6  "network_header_ipv6_"
#define TCP "transport_header_tcp_"

/* The columns of the query; those from FIELDS on are fields of net_dev_queue. */
enum {
	ID,
	NODE,
	TID,
	TS_NS,
	IS_CAPTURE,
	FIELDS,
	SKBADDR = FIELDS,
	DEVICE,
	V4_LENGTH,
	V4_ID,
	V4_TTL,
	V4_PROTOCOL,
	V4_SRC,
	V4_DST,
	V4_SEQ,
	V4_IHL,
	V4_OFFSET,
	V4_FLAGS,
	V6_LENGTH,
	V6_TTL,
	V6_PROTOCOL,
	V6_SRC,
	V6_DST,
	V6_SEQ,
	V6_OFFSET,
	V6_FLAGS,
	COLUMNS
};

static const char *const queue_fields[COLUMNS - FIELDS] = {
    "skbaddr",        "name",         V4 "tot_len",         V4 "id",
    V4 "ttl",         V4 "protocol",  V4 "saddr",           V4 "daddr",
    V4 TCP "seq",     V4 "ihl",       V4 TCP "data_offset", V4 TCP "flags",
    V6 "payload_len", V6 "hop_limit", V6 "nexthdr",         V6 "saddr",
    V6 "daddr",       V6 TCP "seq",   V6 TCP "data_offset", V6 TCP "flags",
};

/* A capture has no buffers; its packets come in the columns of the same meaning. */
static const char *const capture_fields[COLUMNS - FIELDS] = {
    [V4_LENGTH - FIELDS] = "length",
    [V4_OFFSET - FIELDS] = "payload",
    [V4_FLAGS - FIELDS] = "flags",
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
	struct timeline_query *query;
	bool ended;
	struct sent_packet now;       /* the last one that was read */
	struct queued_packet *queued; /* what is in the buffers */
	size_t count, room;
	struct intmap at; /* by node and buffer */
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

static int64_t integer(const struct cell *cell, int64_t none)
{
	return cell->type == CELL_INTEGER ? cell->integer : none;
}

static bool holds(const struct cell *cell, const char *word)
{
	return cell->type == CELL_TEXT &&
	       memmem(cell->bytes, cell->size, word, strlen(word));
}

static struct queued_packet read_queued(const struct cell *row)
{
	enum { IPV6_HEADER = 40 };
	bool is_v6 = row[V4_LENGTH].type != CELL_INTEGER;
	const struct cell *at = is_v6 ? row + V6_TTL - V4_TTL : row; /* but V4_ID */
	int64_t length = is_v6 ? integer(&row[V6_LENGTH], -1) : row[V4_LENGTH].integer;

	return (struct queued_packet){
	    .ts_ns = row[TS_NS].integer,
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

static int64_t header_bytes(const struct cell *row)
{
	int64_t offset = integer(&row[V4_OFFSET], -1);

	if (row[IS_CAPTURE].integer)
		return offset < 0 ? -1 : nsec_sub(integer(&row[V4_LENGTH], 0), offset);
	if (offset >= 0)
		return 4 * ((integer(&row[V4_IHL], 5) & 15) + (offset & 15));
	offset = integer(&row[V6_OFFSET], -1);
	return offset < 0 ? -1 : 40 + 4 * (offset & 15);
}

static void read_packet(struct sent_packets *packets, const struct cell *row)
{
	struct queued_packet now = read_queued(row), *before;
	int64_t buffer = integer(&row[SKBADDR], -1), node = integer(&row[NODE], 0);

	now.packet = (struct sent_packet){
	    .event = row[ID].integer,
	    .header = header_bytes(row),
	    .flags = integer(&row[V4_FLAGS], integer(&row[V6_FLAGS], 0)),
	    .origin = row[ID].integer,
	    .origin_tid = integer(&row[TID], -1),
	    .origin_ns = now.ts_ns,
	};
	now.first_device = now.device;
	packets->now = now.packet;
	if (buffer == -1 || now.length < 0)
		return;
	/* The upper bits of all addresses of a kernel are the same. */
	before = find_buffer(packets, (uint64_t)buffer ^ (uint64_t)node << 48);
	if (before->length >= 0 && now.ts_ns - before->ts_ns < NSEC_PER_SEC) {
		now.packet.is_carrier = carries(before, &now);
		if (is_same(before, &now)) {
			now.packet.origin = before->packet.origin;
			now.packet.origin_tid = before->packet.origin_tid;
			now.packet.origin_ns = before->packet.origin_ns;
			now.packet.is_carrier |= before->packet.is_carrier;
			now.first_device = before->first_device;
		}
	}
	packets->now = now.packet;
	*before = now;
}

int sent_packets_find(struct sent_packets *packets, int64_t event,
		      const struct sent_packet **packet, struct error *error)
{
	int more;

	*packet = NULL;
	while (!packets->ended && packets->now.event < event) {
		more = timeline_query_next(packets->query, error);
		if (more < 0)
			return -1;
		if (more)
			read_packet(packets, timeline_query_row(packets->query));
		packets->ended = !more;
	}
	if (packets->now.event == event)
		*packet = &packets->now;
	return 0;
}

/* " SELECT" of one class; a field that it does not have is NULL. */
static int select_class(FILE *sql, struct timeline_query *columns,
			const struct cell *class, struct error *error)
{
	bool is_capture = integer(&class[2], 0);
	const char *const *field = is_capture ? capture_fields : queue_fields;
	char *column[COLUMNS - FIELDS] = {NULL};
	int more = timeline_query_ask(columns, &class[0], 1, error) ? -1 : 1;

	while (more > 0 && (more = timeline_query_next(columns, error)) > 0) {
		const struct cell *row = timeline_query_row(columns);

		for (size_t i = 0; i < COLUMNS - FIELDS; i++)
			if (field[i] && !column[i] && row[0].type == CELL_TEXT &&
			    !strncmp(field[i], row[0].bytes, row[0].size) &&
			    !field[i][row[0].size])
				column[i] = mem_strndup(row[1].bytes, row[1].size);
	}
	fprintf(sql, " SELECT q.id, e.node, e.tid, e.ts_ns, %d", is_capture);
	for (size_t i = 0; i < COLUMNS - FIELDS; i++) {
		if (column[i]) /* made of letters, digits and underscores */
			fprintf(sql, ", q.\"%s\"", column[i]);
		else
			fputs(", NULL", sql);
		free(column[i]);
	}
	fprintf(sql, " FROM \"%.*s\" AS q CROSS JOIN event AS e WHERE e.id = q.id",
		(int)class[1].size, class[1].bytes);
	return more;
}

/* All classes that tell of sent packets, by the events' order; NULL with error. */
static char *make_sql(struct timeline_reader *reader, struct error *error)
{
	struct timeline_query *classes = timeline_query_new(
	    reader,
	    "SELECT id, table_name, name = 'packet' FROM event_class"
	    " WHERE table_name IS NOT NULL AND name IN ('net_dev_queue', 'packet')",
	    error);
	struct timeline_query *columns = timeline_query_new(
	    reader,
	    "SELECT name, column_name FROM event_column WHERE class = ? AND NOT context"
	    " ORDER BY position",
	    error);
	char *text = NULL;
	size_t size, count = 0;
	FILE *sql = open_memstream(&text, &size);
	int more =
	    classes && columns && !timeline_query_ask(classes, NULL, 0, error) ? 1 : -1;

	while (more > 0 && (more = timeline_query_next(classes, error)) > 0) {
		fputs(count++ ? " UNION ALL" : "", sql);
		more = select_class(sql, columns, timeline_query_row(classes), error) < 0
			   ? -1
			   : 1;
	}
	fputs(count ? " ORDER BY 1" : "SELECT 1 LIMIT 0", sql);
	fclose(sql);
	timeline_query_free(classes);
	timeline_query_free(columns);
	if (more < 0) {
		free(text);
		text = NULL;
	}
	return text;
}

struct sent_packets *sent_packets_new(struct timeline_reader *reader, struct error *error)
{
	struct sent_packets *packets = mem_zalloc(sizeof(*packets));
	char *sql = make_sql(reader, error);

	if (sql)
		packets->query = timeline_query_new(reader, sql, error);
	free(sql);
	if (packets->query && !timeline_query_ask(packets->query, NULL, 0, error))
		return packets;
	sent_packets_free(packets);
	return NULL;
}

void sent_packets_free(struct sent_packets *packets)
{
	if (!packets)
		return;
	timeline_query_free(packets->query);
	free(packets->queued);
	intmap_clear(&packets->at);
	free(packets);
}
