/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/packet_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The members that all events of a flow share, in the order of the flow's bytes. */
#define FLOW_FIELDS(NUMBER, BYTES)                                                       \
	NUMBER(packet.known)                                                             \
	NUMBER(packet.family)                                                            \
	NUMBER(packet.protocol)                                                          \
	NUMBER(received)                                                                 \
	NUMBER(hops)                                                                     \
	BYTES(packet.src)                                                                \
	BYTES(packet.dst)                                                                \
	NUMBER(packet.sport)                                                             \
	NUMBER(packet.dport)                                                             \
	NUMBER(packet.fragment)                                                          \
	NUMBER(device)                                                                   \
	NUMBER(stream)

/* The other numbers of an event, in the order of a row. */
enum row_field {
	LEAD,  /* the event's safe time, relative to its own time */
	WHOLE, /* when all data had arrived, relative to the event's time; NSEC_MAX if
		  unknown */
	ID,
	LENGTH,
	SEQ,
	ACK,
	FLAGS,
	WINDOW,
	PAYLOAD,
	UDP_LENGTH,
	ROW_FIELDS,
};

enum { FLOW_BYTES = 51 };

/*
 * A flow and its previous event. Numbers are unsigned, so that arithmetic on arbitrary
 * bytes is defined.
 */
struct packet_flow {
	uint8_t bytes[FLOW_BYTES];
	struct packet_event event; /* only what all its events share */
	uint64_t last[ROW_FIELDS], id_step, ordinal;
};

static void get_flow(const struct packet_event *event, uint8_t bytes[FLOW_BYTES])
{
#define NUMBER(member)                                                                   \
	memcpy(bytes, &(uint64_t){htole64(event->member)}, sizeof(event->member));       \
	bytes += sizeof(event->member);
#define BYTES(member)                                                                    \
	memcpy(bytes, event->member, sizeof(event->member));                             \
	bytes += sizeof(event->member);
	FLOW_FIELDS(NUMBER, BYTES)
#undef NUMBER
#undef BYTES
}

static void set_flow(struct packet_event *event, const uint8_t bytes[FLOW_BYTES])
{
#define NUMBER(member)                                                                   \
	event->member =                                                                  \
	    (__typeof__(event->member))bytes_le(bytes, sizeof(event->member));           \
	bytes += sizeof(event->member);
#define BYTES(member)                                                                    \
	memcpy(event->member, bytes, sizeof(event->member));                             \
	bytes += sizeof(event->member);
	FLOW_FIELDS(NUMBER, BYTES)
#undef NUMBER
#undef BYTES
}

static struct packet_flow *add_flow(struct packet_rows *rows,
				    const uint8_t bytes[FLOW_BYTES])
{
	struct packet_flow *flow = MEM_NEXT(rows->flow, rows->flows, rows->capacity);

	memset(flow, 0, sizeof(*flow));
	memcpy(flow->bytes, bytes, FLOW_BYTES);
	set_flow(&flow->event, bytes);
	return flow;
}

/*
 * Write the index of an event's flow, or the flow itself if it is new. If two flows have
 * the same hash, the one that is not in the index is written again.
 */
static struct packet_flow *write_flow(struct packet_rows *rows,
				      const struct packet_event *event)
{
	uint8_t bytes[FLOW_BYTES];
	uint64_t hash;
	int64_t at;

	get_flow(event, bytes);
	hash = hash_bytes(HASH_INIT, bytes, sizeof(bytes));
	if (intmap_get(&rows->index, hash, &at) &&
	    memcmp(rows->flow[at].bytes, bytes, sizeof(bytes)) == 0) {
		bytes_add_varint(&rows->bytes, (uint64_t)at + 1);
		return &rows->flow[at];
	}
	intmap_put(&rows->index, hash, (int64_t)rows->flows);
	bytes_add_varint(&rows->bytes, 0);
	bytes_add(&rows->bytes, bytes, sizeof(bytes));
	return add_flow(rows, bytes);
}

/* Read a flow, or the index of one. Return NULL if the bytes are damaged. */
static struct packet_flow *read_flow(struct packet_rows *rows)
{
	uint64_t number = bytes_read_varint(&rows->cursor);
	const uint8_t *bytes;

	if (number)
		return number <= rows->flows ? &rows->flow[number - 1] : NULL;
	bytes = bytes_read(&rows->cursor, FLOW_BYTES);
	return bytes ? add_flow(rows, bytes) : NULL;
}

/* Predict a field from the flow's previous event and from the row's fields before it. */
static inline uint64_t predict_field(const struct packet_flow *flow,
				     const uint64_t field[ROW_FIELDS], int which)
{
	uint64_t last = flow->last[which];

	switch (which) {
	case ID:
		return last + flow->id_step;
	case SEQ:
		return last + flow->last[PAYLOAD];
	case PAYLOAD:
	case UDP_LENGTH:
		return last ? last + field[LENGTH] - flow->last[LENGTH] : 0;
	default:
		return last;
	}
}

static void set_last(struct packet_flow *flow, const uint64_t field[ROW_FIELDS],
		     uint64_t ordinal)
{
	flow->id_step = field[ID] - flow->last[ID];
	flow->ordinal = ordinal;
	memcpy(flow->last, field, sizeof(flow->last));
}

void packet_rows_add(struct packet_rows *rows, const struct packet_event *event)
{
	const struct packet *packet = &event->packet;
	uint64_t event_ns = (uint64_t)(event->event_ns ? event->event_ns : event->ns);
	bool is_whole = event->whole_ns != NSEC_MAX;
	const uint64_t field[ROW_FIELDS] = {
	    [LEAD] = (uint64_t)event->ns - event_ns,
	    [WHOLE] = (uint64_t)event->whole_ns - (is_whole ? event_ns : 0),
	    [ID] = packet->id,
	    [LENGTH] = packet->length,
	    [SEQ] = packet->seq,
	    [ACK] = packet->ack,
	    [FLAGS] = packet->flags,
	    [WINDOW] = packet->window,
	    [PAYLOAD] = packet->payload,
	    [UDP_LENGTH] = packet->udp_length,
	};
	struct packet_flow *flow = write_flow(rows, event);
	uint64_t more[ROW_FIELDS], mask = 0;

	for (int i = 0; i < ROW_FIELDS; i++) {
		more[i] = field[i] - predict_field(flow, field, i);
		mask |= (uint64_t)(more[i] != 0) << i;
	}
	bytes_add_zigzag(&rows->bytes, (int64_t)(event_ns - (uint64_t)rows->event_ns));
	bytes_add_zigzag(&rows->bytes, (int64_t)(event->ordinal - flow->ordinal));
	bytes_add_varint(&rows->bytes, mask);
	for (int i = 0; i < ROW_FIELDS; i++)
		if (more[i])
			bytes_add_zigzag(&rows->bytes, (int64_t)more[i]);
	set_last(flow, field, event->ordinal);
	rows->event_ns = (nsec_t)event_ns;
	rows->count++;
}

static bool has_valid_name(const struct packet *packet)
{
	char name[sizeof(packet->dst) + 1] = {0};

	memcpy(name, packet->dst, sizeof(packet->dst));
	return !packet_is_declared(packet) || packet_name_is_valid(name);
}

bool packet_rows_next(struct packet_rows *rows, struct packet_event *event)
{
	struct bytes_cursor *cursor = &rows->cursor;
	struct packet_flow *flow = read_flow(rows);
	uint64_t field[ROW_FIELDS], mask, event_ns;

	if (!flow)
		return false;
	event_ns = (uint64_t)rows->event_ns + (uint64_t)bytes_read_zigzag(cursor);
	*event = flow->event;
	event->ordinal = flow->ordinal + (uint64_t)bytes_read_zigzag(cursor);
	mask = bytes_read_varint(cursor);
	for (int i = 0; i < ROW_FIELDS; i++) {
		field[i] = predict_field(flow, field, i);
		if (mask >> i & 1)
			field[i] += (uint64_t)bytes_read_zigzag(cursor);
	}
	set_last(flow, field, event->ordinal);
	rows->event_ns = event->event_ns = (nsec_t)event_ns;
	event->ns = (nsec_t)(event_ns + field[LEAD]);
	event->whole_ns =
	    (nsec_t)(field[WHOLE] + (field[WHOLE] == NSEC_MAX ? 0 : event_ns));
	event->packet.id = (uint32_t)field[ID];
	event->packet.length = (uint32_t)field[LENGTH];
	event->packet.seq = (uint32_t)field[SEQ];
	event->packet.ack = (uint32_t)field[ACK];
	event->packet.flags = (uint8_t)field[FLAGS];
	event->packet.window = (uint16_t)field[WINDOW];
	event->packet.payload = (uint32_t)field[PAYLOAD];
	event->packet.udp_length = (uint16_t)field[UDP_LENGTH];
	return !cursor->is_bad && mask >> ROW_FIELDS == 0 &&
	       has_valid_name(&event->packet) && nsec_is_stamp(event->event_ns) &&
	       nsec_is_stamp(event->ns) &&
	       (event->whole_ns == NSEC_MAX || nsec_is_stamp(event->whole_ns));
}

void packet_rows_reset(struct packet_rows *rows)
{
	rows->bytes.size = 0;
	rows->count = 0;
	rows->event_ns = 0;
	rows->other_ordinal = 0;
	rows->number = 0;
	rows->flows = 0;
	intmap_clear(&rows->index);
}

void packet_rows_open(struct packet_rows *rows, const uint8_t *bytes, size_t size)
{
	packet_rows_reset(rows);
	rows->cursor = (struct bytes_cursor){bytes, bytes + size, false};
}

void packet_rows_clear(struct packet_rows *rows)
{
	bytes_clear(&rows->bytes);
	intmap_clear(&rows->index);
	free(rows->flow);
	memset(rows, 0, sizeof(*rows));
}
