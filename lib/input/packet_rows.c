/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/packet_rows.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* What of a row is not as expected, and follows, in this order. */
enum {
	HAS_LEAD = 1,
	HAS_WHOLE = 2,
	HAS_ID = 4,
	HAS_LENGTH = 8,
	HAS_SEQ = 16,
	HAS_ACK = 32,
	HAS_FLAGS = 64,
	HAS_WINDOW = 128,
	HAS_SIZES = 256, /* payload and UDP length */
	HAS_ALL = 511,
};

static struct packet_key key_of(const struct packet_event *packet_event)
{
	const struct packet *packet = &packet_event->packet;
	struct packet_key key = {
	    .known = packet->known,
	    .family = packet->family,
	    .protocol = packet->protocol,
	    .received = packet_event->received,
	    .hops = packet_event->hops,
	    .sport = htole16(packet->sport),
	    .dport = htole16(packet->dport),
	    .fragment = htole16(packet->fragment),
	    .device = htole32(packet_event->device),
	    .stream = htole32(packet_event->stream),
	};

	memcpy(key.src, packet->src, sizeof(key.src));
	memcpy(key.dst, packet->dst, sizeof(key.dst));
	return key;
}

/* And what a key says of its packets. */
static void set_from_key(const struct packet_key *key, struct packet_event *packet_event)
{
	struct packet *packet = &packet_event->packet;

	packet->known = key->known;
	packet->family = key->family;
	packet->protocol = key->protocol;
	packet_event->received = key->received;
	packet_event->hops = key->hops;
	memcpy(packet->src, key->src, sizeof(packet->src));
	memcpy(packet->dst, key->dst, sizeof(packet->dst));
	packet->sport = le16toh(key->sport);
	packet->dport = le16toh(key->dport);
	packet->fragment = le16toh(key->fragment);
	packet_event->device = le32toh(key->device);
	packet_event->stream = le32toh(key->stream);
}

static struct packet_flow *add_flow(struct packet_flows *flows)
{
	struct packet_flow *flow;

	flow = MEM_NEXT(flows->item, flows->count, flows->capacity);
	memset(flow, 0, sizeof(*flow));
	return flow;
}

/* Two keys of one hash: the flow begins anew. */
static struct packet_flow *find_flow(struct packet_encoder *encoder,
				     const struct packet_event *packet_event)
{
	struct packet_flows *flows = &encoder->flows;
	const struct packet_key key = key_of(packet_event);
	uint64_t hash = hash_bytes(HASH_INIT, &key, sizeof(key));
	struct packet_flow *flow;
	int64_t at;

	if (intmap_get(&encoder->index, hash, &at) &&
	    memcmp(&flows->item[at].key, &key, sizeof(key)) == 0) {
		bytes_add_varint(&encoder->rows, (uint64_t)at + 1);
		return &flows->item[at];
	}
	intmap_put(&encoder->index, hash, (int64_t)flows->count);
	flow = add_flow(flows);
	flow->key = key;
	bytes_add_varint(&encoder->rows, 0);
	bytes_add(&encoder->rows, &key, sizeof(key));
	return flow;
}

static uint64_t zigzag(int64_t number)
{
	return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
}

/* a - b, whatever they are: read back by adding. */
static int64_t less(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* 0: nothing tells. A difference that takes all 64 bits cannot come of stamps. */
static uint64_t whole_of(const struct packet_event *packet_event, nsec_t event_ns)
{
	if (packet_event->whole_ns == NSEC_MAX)
		return 0;
	return zigzag(less(packet_event->whole_ns, event_ns)) + 1;
}

static nsec_t whole_at(uint64_t whole, nsec_t event_ns)
{
	uint64_t number = whole - 1;

	if (!whole)
		return NSEC_MAX;
	return plus(event_ns, (int64_t)(number >> 1 ^ -(number & 1)));
}

/* What the next packet of a flow should be like. */
static void expect_next(struct packet_flow *flow, const struct packet *packet)
{
	flow->id_step = packet->id - flow->packet.id;
	flow->packet = *packet;
	flow->packet.id += flow->id_step;
	flow->packet.seq += packet->payload;
}

static void add_if(struct bytes *rows, unsigned mask, unsigned bit, uint32_t difference)
{
	if (mask & bit)
		bytes_add_zigzag(rows, (int32_t)difference);
}

static unsigned mask_of(const struct packet_flow *flow, const struct packet *packet,
			int64_t lead_ns, uint64_t whole)
{
	const struct packet *last = &flow->packet;
	uint32_t longer = packet->length - last->length;
	unsigned mask = 0;

	mask |= lead_ns != flow->lead_ns ? HAS_LEAD : 0;
	mask |= whole != flow->whole ? HAS_WHOLE : 0;
	mask |= packet->id != last->id ? HAS_ID : 0;
	mask |= longer ? HAS_LENGTH : 0;
	mask |= packet->seq != last->seq ? HAS_SEQ : 0;
	mask |= packet->ack != last->ack ? HAS_ACK : 0;
	mask |= packet->flags != last->flags ? HAS_FLAGS : 0;
	mask |= packet->window != last->window ? HAS_WINDOW : 0;
	if (packet->payload != (last->payload ? last->payload + longer : 0) ||
	    packet->udp_length !=
		(last->udp_length ? (uint16_t)(last->udp_length + longer) : 0))
		mask |= HAS_SIZES;
	return mask;
}

void packet_encoder_add(struct packet_encoder *encoder,
			const struct packet_event *packet_event)
{
	struct bytes *rows = &encoder->rows;
	const struct packet *packet = &packet_event->packet;
	nsec_t event_ns =
	    packet_event->event_ns ? packet_event->event_ns : packet_event->ns;
	struct packet_flow *flow = find_flow(encoder, packet_event);
	int64_t lead_ns = less(packet_event->ns, event_ns);
	uint64_t whole = whole_of(packet_event, event_ns);
	unsigned mask = mask_of(flow, packet, lead_ns, whole);
	const struct packet *last = &flow->packet;

	bytes_add_zigzag(rows, less(event_ns, encoder->event_ns));
	bytes_add_zigzag(rows, (int64_t)(packet_event->ordinal - flow->ordinal));
	bytes_add_varint(rows, mask);
	if (mask & HAS_LEAD)
		bytes_add_zigzag(rows, less(lead_ns, flow->lead_ns));
	if (mask & HAS_WHOLE)
		bytes_add_varint(rows, whole);
	add_if(rows, mask, HAS_ID, packet->id - last->id);
	add_if(rows, mask, HAS_LENGTH, packet->length - last->length);
	add_if(rows, mask, HAS_SEQ, packet->seq - last->seq);
	add_if(rows, mask, HAS_ACK, packet->ack - last->ack);
	if (mask & HAS_FLAGS)
		bytes_add_byte(rows, packet->flags);
	add_if(rows, mask, HAS_WINDOW, (uint32_t)packet->window - last->window);
	add_if(rows, mask, HAS_SIZES, packet->payload);
	add_if(rows, mask, HAS_SIZES, packet->udp_length);
	encoder->event_ns = event_ns;
	encoder->count++;
	flow->lead_ns = lead_ns;
	flow->whole = whole;
	flow->ordinal = packet_event->ordinal;
	expect_next(flow, packet);
}

void packet_encoder_reset(struct packet_encoder *encoder)
{
	encoder->rows.size = 0;
	encoder->count = 0;
	encoder->event_ns = 0;
	encoder->other_ordinal = 0;
	encoder->flows.count = 0;
	intmap_clear(&encoder->index);
}

void packet_encoder_clear(struct packet_encoder *encoder)
{
	packet_encoder_reset(encoder);
	bytes_clear(&encoder->rows);
	free(encoder->flows.item);
	memset(encoder, 0, sizeof(*encoder));
}

void packet_decoder_begin(struct packet_decoder *decoder, const uint8_t *rows,
			  size_t size)
{
	decoder->cursor = (struct bytes_cursor){rows, rows + size, false};
	decoder->event_ns = 0;
	decoder->other_ordinal = 0;
	decoder->flows.count = 0;
}

static struct packet_flow *read_flow(struct packet_decoder *decoder)
{
	uint64_t number = bytes_read_varint(&decoder->cursor);
	struct packet_flow *flow;
	const struct packet_key *key;

	if (number)
		return number <= decoder->flows.count ? &decoder->flows.item[number - 1]
						      : NULL;
	key = (const void *)bytes_read(&decoder->cursor, sizeof(*key));
	if (!key || key->received > 1)
		return NULL;
	flow = add_flow(&decoder->flows);
	flow->key = *key;
	return flow;
}

static uint32_t read_if(struct bytes_cursor *cursor, unsigned mask, unsigned bit)
{
	return mask & bit ? (uint32_t)bytes_read_zigzag(cursor) : 0;
}

static void read_packet(struct bytes_cursor *cursor, unsigned mask,
			const struct packet *last, struct packet *packet)
{
	uint32_t longer;

	packet->id = last->id + read_if(cursor, mask, HAS_ID);
	longer = read_if(cursor, mask, HAS_LENGTH);
	packet->length = last->length + longer;
	packet->seq = last->seq + read_if(cursor, mask, HAS_SEQ);
	packet->ack = last->ack + read_if(cursor, mask, HAS_ACK);
	packet->flags = last->flags;
	if (mask & HAS_FLAGS) {
		const uint8_t *flags = bytes_read(cursor, 1);

		packet->flags = flags ? *flags : 0;
	}
	packet->window = (uint16_t)(last->window + read_if(cursor, mask, HAS_WINDOW));
	packet->payload = last->payload ? last->payload + longer : 0;
	packet->udp_length = last->udp_length ? (uint16_t)(last->udp_length + longer) : 0;
	if (mask & HAS_SIZES) {
		packet->payload = (uint32_t)bytes_read_zigzag(cursor);
		packet->udp_length = (uint16_t)bytes_read_zigzag(cursor);
	}
}

bool packet_decoder_next(struct packet_decoder *decoder,
			 struct packet_event *packet_event)
{
	struct bytes_cursor *cursor = &decoder->cursor;
	struct packet_flow *flow = read_flow(decoder);
	uint64_t mask;

	memset(packet_event, 0, sizeof(*packet_event));
	if (!flow)
		return false;
	decoder->event_ns = plus(decoder->event_ns, bytes_read_zigzag(cursor));
	flow->ordinal += (uint64_t)bytes_read_zigzag(cursor);
	mask = bytes_read_varint(cursor);
	if (mask > HAS_ALL || !nsec_is_stamp(decoder->event_ns))
		return false;
	if (mask & HAS_LEAD)
		flow->lead_ns = plus(flow->lead_ns, bytes_read_zigzag(cursor));
	if (mask & HAS_WHOLE)
		flow->whole = bytes_read_varint(cursor);
	set_from_key(&flow->key, packet_event);
	read_packet(cursor, (unsigned)mask, &flow->packet, &packet_event->packet);
	expect_next(flow, &packet_event->packet);
	packet_event->event_ns = decoder->event_ns;
	packet_event->ns = plus(decoder->event_ns, flow->lead_ns);
	packet_event->whole_ns = whole_at(flow->whole, decoder->event_ns);
	packet_event->ordinal = flow->ordinal;
	return !cursor->is_bad && nsec_is_stamp(packet_event->ns) &&
	       (packet_event->whole_ns == NSEC_MAX ||
		nsec_is_stamp(packet_event->whole_ns));
}

void packet_decoder_clear(struct packet_decoder *decoder)
{
	free(decoder->flows.item);
	memset(decoder, 0, sizeof(*decoder));
}
