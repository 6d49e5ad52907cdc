/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/net_flow.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FLAG_FIN = 1, FLAG_SYN = 2 };

static struct flow *get(struct flows *flows, const struct packet_seen *packet)
{
	size_t before = flows->keys.count, at;
	struct keys *keys = &flows->keys;

	keys_begin(keys);
	keys_integer(keys, packet->node);
	keys_integer(keys, packet->sport);
	keys_integer(keys, packet->dport);
	keys_text(keys, packet->protocol, strlen(packet->protocol));
	keys_text(keys, packet->src, strlen(packet->src));
	keys_text(keys, packet->dst, strlen(packet->dst));
	if (before >= MOST_FLOWS) {
		at = keys_lookup(keys);
		flows->merged += at == SIZE_MAX;
		return &flows->item[at == SIZE_MAX ? MOST_FLOWS - 1 : at];
	}
	at = keys_find(keys);
	if (at < before)
		return &flows->item[at];
	flows->item = mem_grow(flows->item, at, &flows->room, sizeof(*flows->item));
	flows->item[at] = (struct flow){
	    .node = packet->node,
	    .protocol = mem_strdup(packet->protocol),
	    .src = mem_strdup(packet->src),
	    .dst = mem_strdup(packet->dst),
	    .sport = packet->sport,
	    .dport = packet->dport,
	    .first_ns = packet->at_ns,
	};
	return &flows->item[at];
}

/* How many of its sequence numbers were sent before; moves the highest. */
static uint32_t sent_before(struct flow *flow, const struct packet_seen *packet)
{
	uint32_t length = (uint32_t)packet->payload + ((packet->flags & FLAG_SYN) != 0) +
			  ((packet->flags & FLAG_FIN) != 0);
	uint32_t end = packet->seq + length, again = 0;
	int32_t above;

	if (length == 0)
		return 0;
	above = (int32_t)(end - flow->high);
	/* A port that comes again begins anew, with another number. */
	if (!flow->has_high ||
	    ((packet->flags & FLAG_SYN) && packet->seq + 1 != flow->high)) {
		flow->high = end;
		flow->has_high = true;
		return 0;
	}
	if (above <= 0)
		return length;
	if ((int32_t)(packet->seq - flow->high) < 0)
		again = flow->high - packet->seq;
	flow->high = end;
	return again;
}

void flows_add(struct flows *flows, const struct packet_seen *packet)
{
	struct flow *flow = get(flows, packet);

	flow->packets++;
	flow->bytes += (uint64_t)packet->bytes;
	flow->last_ns = packet->at_ns;
	if (packet->is_tcp) {
		uint32_t again = sent_before(flow, packet);

		flow->again_packets += again > 0;
		/* SYN and FIN have numbers, but are no bytes. */
		flow->again_bytes +=
		    again < packet->payload ? again : (uint64_t)packet->payload;
	}
}

void flows_clear(struct flows *flows)
{
	for (size_t i = 0; i < flows->keys.count; i++) {
		free(flows->item[i].protocol);
		free(flows->item[i].src);
		free(flows->item[i].dst);
	}
	keys_clear(&flows->keys);
	free(flows->item);
	*flows = (struct flows){0};
}

/* "[65152,0,0,0,1,2,3,4]": the numbers; how many, 0 where it is no such list. */
static size_t list_numbers(const struct cell *cell, unsigned long value[16])
{
	char *text = mem_strndup(cell->bytes, cell->size), *at = text, *end;
	size_t count = 0;

	while (count < 16 && *at == (count ? ',' : '[')) {
		value[count] = strtoul(++at, &end, 10);
		if (end == at || value[count++] > 0xffff)
			break;
		at = end;
	}
	if (*at != ']')
		count = 0;
	free(text);
	return count;
}

/* Bytes of an address, or its 8 words, in brackets: how many bytes. */
static size_t list_bytes(const struct cell *cell, unsigned char bytes[16])
{
	unsigned long value[16] = {0};
	size_t count = list_numbers(cell, value);

	if (count == 8) {
		for (size_t i = 0; i < 8; i++) {
			bytes[2 * i] = (unsigned char)(value[i] >> 8);
			bytes[2 * i + 1] = (unsigned char)value[i];
		}
		return 16;
	}
	if (count != 4 && count != 16)
		return 0;
	for (size_t i = 0; i < 16; i++) {
		if (value[i] > 0xff)
			return 0;
		bytes[i] = (unsigned char)value[i];
	}
	return count;
}

void flow_address(char text[64], const struct cell *cell)
{
	unsigned char bytes[16] = {0};
	size_t size = 0;

	text[0] = '\0';
	if (cell->type == CELL_TEXT && cell->size && cell->bytes[0] != '[') {
		if (cell->size < 64) {
			memcpy(text, cell->bytes, cell->size);
			text[cell->size] = '\0';
		}
		return;
	}
	if (cell->type == CELL_TEXT) {
		size = list_bytes(cell, bytes);
	} else if (cell->type == CELL_BLOB && (cell->size == 4 || cell->size == 16)) {
		size = cell->size;
		memcpy(bytes, cell->bytes, size);
	}
	if (size)
		inet_ntop(size == 4 ? AF_INET : AF_INET6, bytes, text, 64);
}
