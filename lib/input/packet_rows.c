/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/packet_rows.h"

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

/* Places in a key. */
enum {
	KEY_KNOWN,
	KEY_FAMILY,
	KEY_PROTOCOL,
	KEY_RECEIVED,
	KEY_HOPS,
	KEY_SRC = 8,
	KEY_DST = 24,
	KEY_SPORT = 40,
	KEY_DPORT = 42,
	KEY_FRAGMENT = 44,
	KEY_DEVICE = 46,
	KEY_STREAM = 50,
};

static void put(uint8_t *to, uint64_t number, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		to[i] = (uint8_t)(number >> 8 * i);
}

static void make_key(uint8_t key[FLOW_KEY], const struct sighting *sighting)
{
	const struct packet *packet = &sighting->packet;

	memset(key, 0, FLOW_KEY);
	key[KEY_KNOWN] = packet->known;
	key[KEY_FAMILY] = packet->family;
	key[KEY_PROTOCOL] = packet->protocol;
	key[KEY_RECEIVED] = sighting->received;
	key[KEY_HOPS] = sighting->hops;
	memcpy(key + KEY_SRC, packet->src, sizeof(packet->src));
	memcpy(key + KEY_DST, packet->dst, sizeof(packet->dst));
	put(key + KEY_SPORT, packet->sport, 2);
	put(key + KEY_DPORT, packet->dport, 2);
	put(key + KEY_FRAGMENT, packet->fragment, 2);
	put(key + KEY_DEVICE, sighting->device, 4);
	put(key + KEY_STREAM, sighting->stream, 4);
}

static void set_from_key(const uint8_t key[FLOW_KEY], struct sighting *sighting)
{
	struct packet *packet = &sighting->packet;

	packet->known = key[KEY_KNOWN];
	packet->family = key[KEY_FAMILY];
	packet->protocol = key[KEY_PROTOCOL];
	sighting->received = key[KEY_RECEIVED];
	sighting->hops = key[KEY_HOPS];
	memcpy(packet->src, key + KEY_SRC, sizeof(packet->src));
	memcpy(packet->dst, key + KEY_DST, sizeof(packet->dst));
	packet->sport = (uint16_t)bytes_le(key + KEY_SPORT, 2);
	packet->dport = (uint16_t)bytes_le(key + KEY_DPORT, 2);
	packet->fragment = (uint16_t)bytes_le(key + KEY_FRAGMENT, 2);
	sighting->device = (uint32_t)bytes_le(key + KEY_DEVICE, 4);
	sighting->stream = (uint32_t)bytes_le(key + KEY_STREAM, 4);
}

static struct packet_flow *add_flow(struct packet_flows *flows)
{
	struct packet_flow *flow;

	flows->item =
	    mem_grow(flows->item, flows->count, &flows->room, sizeof(*flows->item));
	flow = &flows->item[flows->count++];
	memset(flow, 0, sizeof(*flow));
	return flow;
}

/* Two keys of one hash: the flow begins anew. */
static struct packet_flow *find_flow(struct packet_encoder *encoder,
				     const struct sighting *sighting)
{
	struct packet_flows *flows = &encoder->flows;
	uint8_t key[FLOW_KEY];
	struct packet_flow *flow;
	uint64_t hash;
	int64_t at;

	make_key(key, sighting);
	hash = hash_bytes(HASH_INIT, key, FLOW_KEY);
	if (intmap_get(&encoder->index, hash, &at) &&
	    memcmp(flows->item[at].key, key, FLOW_KEY) == 0) {
		bytes_add_varint(&encoder->rows, (uint64_t)at + 1);
		return &flows->item[at];
	}
	intmap_put(&encoder->index, hash, (int64_t)flows->count);
	flow = add_flow(flows);
	memcpy(flow->key, key, FLOW_KEY);
	bytes_add_varint(&encoder->rows, 0);
	bytes_add(&encoder->rows, key, FLOW_KEY);
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
static uint64_t whole_of(const struct sighting *sighting, nsec_t event_ns)
{
	if (sighting->whole_ns == NSEC_MAX)
		return 0;
	return zigzag(less(sighting->whole_ns, event_ns)) + 1;
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

void packet_encoder_add(struct packet_encoder *encoder, const struct sighting *sighting)
{
	struct bytes *rows = &encoder->rows;
	const struct packet *packet = &sighting->packet;
	nsec_t event_ns = sighting->event_ns ? sighting->event_ns : sighting->ns;
	struct packet_flow *flow = find_flow(encoder, sighting);
	int64_t lead_ns = less(sighting->ns, event_ns);
	uint64_t whole = whole_of(sighting, event_ns);
	unsigned mask = mask_of(flow, packet, lead_ns, whole);
	const struct packet *last = &flow->packet;

	bytes_add_zigzag(rows, less(event_ns, encoder->event_ns));
	bytes_add_zigzag(rows, (int64_t)(sighting->ordinal - flow->ordinal));
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
	flow->ordinal = sighting->ordinal;
	expect_next(flow, packet);
}

void packet_encoder_reset(struct packet_encoder *encoder)
{
	encoder->rows.size = 0;
	encoder->count = 0;
	encoder->event_ns = 0;
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
	decoder->flows.count = 0;
}

static struct packet_flow *read_flow(struct packet_decoder *decoder)
{
	uint64_t number = bytes_read_varint(&decoder->cursor);
	struct packet_flow *flow;
	const uint8_t *key;

	if (number)
		return number <= decoder->flows.count ? &decoder->flows.item[number - 1]
						      : NULL;
	key = bytes_read(&decoder->cursor, FLOW_KEY);
	if (!key || key[KEY_RECEIVED] > 1)
		return NULL;
	flow = add_flow(&decoder->flows);
	memcpy(flow->key, key, FLOW_KEY);
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

bool packet_decoder_next(struct packet_decoder *decoder, struct sighting *sighting)
{
	struct bytes_cursor *cursor = &decoder->cursor;
	struct packet_flow *flow = read_flow(decoder);
	uint64_t mask;

	memset(sighting, 0, sizeof(*sighting));
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
	set_from_key(flow->key, sighting);
	read_packet(cursor, (unsigned)mask, &flow->packet, &sighting->packet);
	expect_next(flow, &sighting->packet);
	sighting->event_ns = decoder->event_ns;
	sighting->ns = plus(decoder->event_ns, flow->lead_ns);
	sighting->whole_ns = whole_at(flow->whole, decoder->event_ns);
	sighting->ordinal = flow->ordinal;
	return !cursor->is_bad && nsec_is_stamp(sighting->ns) &&
	       (sighting->whole_ns == NSEC_MAX || nsec_is_stamp(sighting->whole_ns));
}

void packet_decoder_clear(struct packet_decoder *decoder)
{
	free(decoder->flows.item);
	memset(decoder, 0, sizeof(*decoder));
}
