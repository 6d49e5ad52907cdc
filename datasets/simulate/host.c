/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/host.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/address.h"
#include "simulate/messages.h"
#include "simulate/parcel.h"
#include "simulate/transport.h"

enum { ETHERNET = 38 }; /* header, checksum, preamble and gap of a frame */

void host_init(struct world *world, uint32_t number)
{
	struct host *host = &world->host[number];

	memset(host, 0, sizeof(*host));
	host->name = mem_printf("node%u", number + 1);
	dice_init(&host->dice, world->seed, DICE_HOST, number);
	address_init(host, number);
	host->trace_from = NSEC_MIN;
	host->trace_to = NSEC_MAX;
	host->cpu_free =
	    mem_zalloc((size_t)world->scenario->cpus * sizeof(*host->cpu_free));
}

void host_clear(struct host *host)
{
	free(host->name);
	free(host->cpu_free);
	free(host->ring);
	sim_clock_clear(&host->clock);
}

/* One segment of what was handed to the card. */
static void cut_segment(const struct world *world, const struct shipment *shipment,
			uint8_t number, struct packet *packet)
{
	uint32_t segment = world->flow[shipment->flow].segment;
	uint32_t skipped = number * segment;

	*packet = shipment->packet;
	if (shipment->segments == 1)
		return;
	packet->seq += skipped;
	if (packet->family == 4)
		packet->id = (packet->id + number) & 0xffff;
	packet->payload = shipment->packet.payload - skipped;
	if (packet->payload > segment) {
		packet->payload = segment;
		packet->flags &= (uint8_t)~8u; /* the last one pushes */
	}
	packet->length -= shipment->packet.payload - packet->payload;
}

static void post(struct world *world, uint32_t index, const struct journey *journey)
{
	uint32_t again;

	queue_add(&world->queue, journey->arrival_ns, OCCASION_ARRIVAL, index, 0);
	if (!journey->again_ns)
		return;
	again = parcel_new(world);
	world->parcel[again] = world->parcel[index];
	world->parcel[again].copy = true;
	queue_add(&world->queue, journey->again_ns, OCCASION_ARRIVAL, again, 0);
}

nsec_t host_transmit(struct world *world, const struct shipment *shipment, nsec_t now)
{
	struct flow *flow = &world->flow[shipment->flow];
	struct host *host = &world->host[flow->end[shipment->side].node];
	nsec_t *free_ns = &host->cpu_free[0];
	nsec_t begins = now > *free_ns ? now : *free_ns;
	nsec_t leaves = begins + dice_between(&host->dice, 1000, 4000);

	*free_ns = leaves + 500;
	for (uint8_t i = 0; i < shipment->segments; i++) {
		struct parcel parcel = {.sent_ns = leaves,
					.flow = shipment->flow,
					.window = shipment->window,
					.total = shipment->total,
					.index = (uint8_t)(shipment->index + i),
					.side = (uint8_t)shipment->side};
		struct journey journey;
		uint32_t index;

		cut_segment(world, shipment, i, &parcel.packet);
		journey = link_carry(&flow->link[shipment->side], &world->network, leaves,
				     parcel.packet.length + ETHERNET +
					 (flow->family == 6 ? 40 : 0));
		if (journey.lost)
			continue;
		index = parcel_new(world);
		world->parcel[index] = parcel;
		post(world, index, &journey);
	}
	return *free_ns;
}

/* The host has a packet, or several that it merged: parcels[0..count). */
static nsec_t take(struct world *world, struct host *host, const uint32_t *parcels,
		   size_t count, nsec_t now)
{
	nsec_t seen = now > host->cpu_free[0] ? now : host->cpu_free[0];

	host->cpu_free[0] = seen + dice_between(&host->dice, 500, 2000);
	for (size_t i = 0; i < count; i++) {
		const struct parcel *parcel = &world->parcel[parcels[i]];

		if (world->messages && !parcel->copy)
			messages_add(world, parcel, seen);
	}
	for (size_t i = 0; i < count; i++)
		transport_receive(world, &world->parcel[parcels[i]], i + 1 < count,
				  host->cpu_free[0]);
	for (size_t i = 0; i < count; i++)
		parcel_free(world, parcels[i]);
	return host->cpu_free[0];
}

/* Whether b goes on where a ends, so that the receiver may merge them (GRO). */
static bool is_next(const struct parcel *a, const struct parcel *b)
{
	return a->flow == b->flow && a->side == b->side && a->packet.payload &&
	       b->packet.payload && a->packet.protocol == IPPROTO_TCP &&
	       a->packet.seq + a->packet.payload == b->packet.seq &&
	       a->packet.ack == b->packet.ack && !a->copy && !b->copy &&
	       a->window == b->window;
}

void host_poll(struct world *world, uint32_t number, nsec_t now)
{
	struct host *host = &world->host[number];
	size_t count = host->ringed, end;

	host->polling = false;
	for (size_t i = 0; i < count; i = end) {
		uint32_t bytes = 0;

		for (end = i + 1; world->scenario->gro && end < count; end++) {
			bytes += world->parcel[host->ring[end - 1]].packet.payload;
			if (bytes > 62000 || !is_next(&world->parcel[host->ring[end - 1]],
						      &world->parcel[host->ring[end]]))
				break;
		}
		now = take(world, host, host->ring + i, end - i, now);
	}
	host->ringed = 0;
}

void host_arrive(struct world *world, uint32_t index, nsec_t now)
{
	const struct parcel *parcel = &world->parcel[index];
	uint32_t number = world->flow[parcel->flow].end[!parcel->side].node;
	struct host *host = &world->host[number];

	host->ring =
	    mem_grow(host->ring, host->ringed, &host->ring_room, sizeof(*host->ring));
	host->ring[host->ringed++] = index;
	if (host->polling)
		return;
	host->polling = true;
	if (world->coalesce_ns)
		queue_add(&world->queue, now + world->coalesce_ns, OCCASION_POLL, number,
			  0);
	else
		host_poll(world, number, now);
}
