/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/address.h"

#include <netinet/in.h>
#include <string.h>

/* What the translated nodes are to the others (addresses for documentation, RFC 5737,
 * 3849). */
static const uint8_t public4[16] = {203, 0, 113, 1};
static const uint8_t public6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};

void address_init(struct host *host, uint32_t number)
{
	uint8_t high = (uint8_t)(number / 250), low = (uint8_t)(number % 250 + 1);
	const uint8_t address4[16] = {10, 7, high, low};
	const uint8_t address6[16] = {0xfd, 7, [14] = high, [15] = low};
	const unsigned char mac[6] = {0x52, 0x54, 0, 7, high, low};

	memcpy(host->address[0], address4, sizeof(address4));
	memcpy(host->address[1], address6, sizeof(address6));
	memcpy(host->mac, mac, sizeof(mac));
}

static bool is_behind(const struct world *world, const struct flow *flow, int side)
{
	return flow->end[side].node < (uint32_t)world->scenario->nat;
}

/* The address and the port of one end, as the other end knows them. */
static uint16_t seen_from_afar(const struct world *world, const struct flow *flow,
			       int side, uint8_t address[16])
{
	uint16_t port = flow->end[side].port;

	if (is_behind(world, flow, side) && !is_behind(world, flow, !side)) {
		memcpy(address, flow->family == 6 ? public6 : public4, 16);
		return (uint16_t)(port ? 40000 + (flow - world->flow) % 25000 : 0);
	}
	memcpy(address, world->host[flow->end[side].node].address[flow->family == 6], 16);
	return port;
}

static uint16_t seen_from_near(const struct world *world, const struct flow *flow,
			       int side, uint8_t address[16])
{
	memcpy(address, world->host[flow->end[side].node].address[flow->family == 6], 16);
	return flow->end[side].port;
}

void address_fill(const struct world *world, const struct flow *flow, int side,
		  struct packet *packet)
{
	packet->sport = seen_from_near(world, flow, side, packet->src);
	packet->dport = seen_from_afar(world, flow, !side, packet->dst);
}

void address_translate(const struct world *world, const struct flow *flow, int side,
		       struct packet *packet)
{
	uint16_t sport, dport;

	if (is_behind(world, flow, 0) == is_behind(world, flow, 1))
		return;
	sport = seen_from_afar(world, flow, side, packet->src);
	dport = seen_from_near(world, flow, !side, packet->dst);
	if (packet->protocol == IPPROTO_ICMP || packet->protocol == IPPROTO_ICMPV6)
		return;
	packet->sport = sport;
	packet->dport = dport;
}
