/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/network.h"

#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/cpu.h"
#include "simulate/dice.h"
#include "simulate/event.h"
#include "simulate/host.h"
#include "simulate/messages.h"
#include "simulate/transport.h"
#include "simulate/truth.h"

/* A packet that would be queued for longer is dropped. */
static const nsec_t queue_ns = 500 * NSEC_PER_MSEC;

void link_init(struct link *link, const struct scenario *scenario, uint64_t seed,
	       uint64_t number, bool lower)
{
	struct dice pair;
	double factor = lower ? scenario->asymmetry : 1;
	nsec_t spread;

	memset(link, 0, sizeof(*link));
	link->free_ns = link->last_ns = 0;
	/* Without asymmetry both directions of a pair have equal least delays. */
	dice_init(&pair, seed, DICE_PAIR, number << 2);
	dice_init(&link->dice, seed, DICE_PAIR, number << 2 | (lower ? 2 : 1));
	spread = dice_between(
	    &pair, 0, nsec_round(scenario->delay_us * scenario->delay_spread * 1e3));
	link->least_ns = nsec_round((scenario->delay_us * 1e3 + (double)spread) * factor);
	link->jitter_ns = nsec_round(scenario->jitter_us * factor * 1e3);
	/* Equal generators give both directions the same load. */
	dice_init(&link->load.dice, seed, DICE_LOAD,
		  number << 1 | (scenario->load_direction == LOADED_EACH && lower));
	link->load.until_ns = nsec_round(scenario->begin_s * 1e9);
	if (scenario->load_direction == LOADED_ONE && lower)
		link->load.until_ns = NSEC_MAX;
}

static nsec_t draw_jitter(struct link *link, const struct scenario *scenario)
{
	return dice_spread(&link->dice, scenario->jitter, link->jitter_ns,
			   link->jitter_ns);
}

/* Return the load's addition to the least delay at `at`; times must not decrease. */
static nsec_t load_at(struct link_load *load, const struct scenario *scenario, nsec_t at)
{
	nsec_t mean;

	if (scenario->load_us <= 0)
		return 0;
	mean = from_us(scenario->load_us);
	while (load->until_ns <= at) {
		bool begins = !load->level_ns;

		load->level_ns =
		    begins ? dice_between(&load->dice, mean / 2, 3 * mean / 2) : 0;
		load->until_ns +=
		    1 +
		    dice_exponential(&load->dice,
				     nsec_round(1e9 * (begins ? scenario->load_on_s
							      : scenario->load_off_s)));
	}
	return load->level_ns;
}

static bool draw_mishap(struct link *link, double share)
{
	return dice_chance(&link->dice, dice_odds(share));
}

struct delivery link_carry(struct link *link, const struct scenario *scenario,
			   nsec_t leaves_ns, uint32_t bytes)
{
	uint64_t ps_per_byte = (uint64_t)(8e6 / scenario->bandwidth_mbit);
	nsec_t begins = leaves_ns > link->free_ns ? leaves_ns : link->free_ns;
	const double second = (double)leaves_ns / 1e9 - scenario->begin_s;
	const double lost =
	    scenario_fault(scenario, SCENARIO_LOSE, link->from, link->to, second);
	struct delivery delivery = {
	    .lost = draw_mishap(link, lost > 0 ? lost : scenario->loss)};
	nsec_t arrival;

	if (begins - leaves_ns > queue_ns) {
		delivery.lost = true;
		return delivery;
	}
	link->free_ns = begins + (nsec_t)(bytes * ps_per_byte / 1000);
	if (delivery.lost)
		return delivery;
	arrival = link->free_ns + link->least_ns +
		  load_at(&link->load, scenario, link->free_ns) +
		  from_us(scenario_fault(scenario, SCENARIO_DELAY, link->from, link->to,
					 second)) +
		  draw_jitter(link, scenario);
	if (draw_mishap(link, scenario->reorder)) {
		arrival += from_us(scenario->reorder_us);
	} else {
		/* Queues keep their order, a few bits apart. */
		if (arrival <= link->last_ns)
			arrival = link->last_ns + 1;
		link->last_ns = arrival;
	}
	delivery.arrival_ns = arrival;
	if (draw_mishap(link, scenario->duplicate))
		delivery.again_ns = arrival + 1 + draw_jitter(link, scenario);
	return delivery;
}

enum {
	IPV6_HEADER = 40,
	ETHERNET = 14,
	FRAMING = 38,
	FLAG_PUSH = 8,
	MERGED_MOST = 62000
};

/* Return values of net_napi_gro_receive_exit. */
enum { GRO_MERGED_FREE = 1, GRO_HELD = 2, GRO_NORMAL = 3 };

/* A device between a container and the NIC of its host; the container's own has the same
 * name. */
struct hop {
	const char *device;
	bool received;
	uint8_t routers; /* routers of this host that the packet has passed here */
};

enum { MOST_HOPS = 4 };

/* The devices that packets of a node pass in addition to its NIC. */
struct path {
	const char *layer; /* a second interface that shows what is sent, or NULL */
	struct hop out[MOST_HOPS]; /* up to the NIC */
	struct hop in[MOST_HOPS];  /* from there */
	uint8_t routers;           /* on the way out */
};

static const struct path *path_of(const struct world *world, const struct host *host)
{
	static const struct path paths[] = {
	    [LAYERS_BOND] = {.layer = "bond0", .in = {{"bond0", true, 0}}},
	    [LAYERS_BRIDGE] = {.layer = "br0", .in = {{"br0", true, 0}}},
	    [LAYERS_VLAN] = {.layer = "eth0.10", .in = {{"eth0.10", true, 0}}},
	    [LAYERS_ROUTED] =
		{.out = {{NIC_NAME, false, 0}, {"vc1", true, 0}, {"br0", true, 0}},
		 .in = {{"br0", false, 1}, {"vc1", false, 1}, {NIC_NAME, true, 1}},
		 .routers = 1},
	    [LAYERS_VXLAN] =
		{.out = {{NIC_NAME, false, 0}, {"vc1", true, 0}, {"vx0", false, 0}},
		 .in = {{"vx0", true, 0}, {"vc1", false, 0}, {NIC_NAME, true, 0}}},
	    [LAYERS_ECHO] = {.layer = NULL},
	};
	int layers = world->scenario->layers;

	if (layers == LAYERS_MIXED)
		layers = host->number % 2 ? LAYERS_ROUTED : LAYERS_NONE;
	return &paths[layers];
}

/* Bytes of the whole packet, IP header included. */
static uint32_t size_of(const struct packet *packet)
{
	return packet->length + (packet->family == 6 ? IPV6_HEADER : 0);
}

static void record_packet(struct context *ctx, enum event_kind kind,
			  const struct packet *packet, uint64_t skb, const char *device)
{
	uint32_t bytes = size_of(packet) + (kind == EVENT_NET_RECEIVE ? 0 : ETHERNET);

	if (kind == EVENT_NET_DEV_XMIT)
		EVENT(ctx, kind, {.u = skb}, {.i = 0}, {.u = bytes}, {.text = device});
	else
		EVENT(ctx, kind, {.u = skb}, {.u = bytes}, {.text = device},
		      {.packet = packet});
}

/* A packet on its way between a container and its host's NIC. */
static void record_hops(struct context *ctx, const struct hop *hop,
			const struct packet *packet, uint64_t skb)
{
	uint8_t before = ctx->routers;

	for (int i = 0; i < MOST_HOPS && hop[i].device; i++) {
		ctx->routers = (uint8_t)(before + hop[i].routers);
		record_packet(ctx,
			      hop[i].received ? EVENT_NET_RECEIVE : EVENT_NET_DEV_QUEUE,
			      packet, skb, hop[i].device);
		if (!hop[i].received)
			record_packet(ctx, EVENT_NET_DEV_XMIT, packet, skb,
				      hop[i].device);
	}
	ctx->routers = before;
}

/* Record the events of a packet on its way out through the NIC. */
static void record_sent(struct context *ctx, const struct packet *packet, uint64_t skb)
{
	const struct path *path = path_of(ctx->world, ctx->host);

	record_hops(ctx, path->out, packet, skb);
	if (path->layer)
		record_packet(ctx, EVENT_NET_DEV_QUEUE, packet, skb, path->layer);
	ctx->routers = path->routers;
	record_packet(ctx, EVENT_NET_DEV_QUEUE, packet, skb, NIC_NAME);
	pass_time(ctx, 300, 2500);
	record_packet(ctx, EVENT_NET_DEV_XMIT, packet, skb, NIC_NAME);
	if (path->layer)
		record_packet(ctx, EVENT_NET_DEV_XMIT, packet, skb, path->layer);
	if (ctx->world->scenario->layers == LAYERS_ECHO)
		record_packet(ctx, EVENT_NET_RECEIVE, packet, skb, NIC_NAME);
	ctx->routers = 0;
}

/* Make it one segment of what was handed to the NIC. */
static void cut_segment(struct flight *flight, uint8_t number)
{
	uint32_t segment = flight->from->flow->segment, skipped = number * segment;
	struct packet *packet = &flight->packet;
	uint32_t whole = packet->payload;

	flight->index = (uint8_t)(flight->index + number);
	packet->seq += skipped;
	if (packet->family == 4)
		packet->id = (packet->id + number) & 0xffff;
	packet->payload -= skipped;
	if (packet->payload > segment) {
		packet->payload = segment;
		packet->flags &= (uint8_t)~FLAG_PUSH; /* the last one pushes */
	}
	packet->length -= whole - packet->payload;
}

static void schedule_arrival(struct world *world, const struct flight *flight,
			     nsec_t arrival_ns, bool copy)
{
	struct flight *sent = mem_alloc(sizeof(*sent));

	*sent = *flight;
	sent->copy = copy;
	queue_add(&world->queue, arrival_ns, PENDING_ARRIVAL, sent, 0);
}

/* Return true if the packet is part of a message, not only an acknowledgement. */
static bool has_data(const struct flight *flight)
{
	return flight->packet.payload || flight->packet.protocol != IPPROTO_TCP;
}

void nic_transmit(struct context *ctx, const struct flight *flight, uint8_t segments)
{
	struct world *world = ctx->world;
	struct host *host = ctx->host;

	record_sent(ctx, &flight->packet, host_skb(host));
	if (has_data(flight))
		requests_sent(ctx, flight->from);
	host->count.sent += segments;
	for (uint8_t i = 0; i < segments; i++) {
		struct flight sent = *flight;
		struct delivery delivery;

		sent.sent_ns = ctx->ns;
		if (segments > 1)
			cut_segment(&sent, i);
		host->count.sent_bytes += size_of(&sent.packet) + ETHERNET;
		delivery = link_carry(&flight->from->link, world->scenario, ctx->ns,
				      size_of(&sent.packet) + FRAMING);
		if (delivery.lost)
			continue;
		schedule_arrival(world, &sent, delivery.arrival_ns, false);
		if (delivery.again_ns)
			schedule_arrival(world, &sent, delivery.again_ns, true);
	}
}

/* Return true if `b` continues `a`, so that the receiver can merge them (GRO). */
static bool is_next(const struct flight *a, const struct flight *b)
{
	return a->from == b->from && a->packet.payload && b->packet.payload &&
	       a->packet.protocol == IPPROTO_TCP &&
	       a->packet.seq + a->packet.payload == b->packet.seq &&
	       a->packet.ack == b->packet.ack && !a->copy && !b->copy &&
	       a->window == b->window;
}

/* The packets in flight enter the stack; `packet` becomes what they are merged into. */
static void merge_flights(struct context *ctx, struct flight *const *flights,
			  size_t count, struct packet *packet, uint64_t *skb)
{
	struct host *host = ctx->host;

	*packet = flights[0]->packet;
	*skb = host_skb(host);
	for (size_t i = 0; i < count; i++) {
		const struct flight *flight = flights[i];

		host->count.received++;
		host->count.received_bytes += size_of(&flight->packet) + ETHERNET;
		if (ctx->world->messages && !flight->copy)
			messages_add(ctx->world, flight, ctx->ns);
		if (has_data(flight))
			requests_came(ctx, flight->from->peer);
		EVENT(ctx, EVENT_GRO_ENTRY, {.u = i ? host_skb(host) : *skb});
		EVENT(ctx, EVENT_GRO_EXIT,
		      {.i = i           ? GRO_MERGED_FREE
			    : count > 1 ? GRO_HELD
					: GRO_NORMAL});
		if (!i)
			continue;
		packet->payload += flight->packet.payload;
		packet->length += flight->packet.payload;
		packet->flags |= flight->packet.flags;
	}
}

/* Receive packets in flight that are merged into one packet. */
static void receive_packet(struct context *ctx, struct flight *const *flights,
			   size_t count)
{
	struct world *world = ctx->world;
	const struct endpoint *from = flights[0]->from;
	struct packet packet;
	uint64_t skb;

	merge_flights(ctx, flights, count, &packet, &skb);
	if (world->scenario->nat)
		address_fill(from, true, &packet);
	ctx->routers = path_of(world, from->host)->routers;
	record_packet(ctx, EVENT_NET_RECEIVE, &packet, skb, NIC_NAME);
	record_hops(ctx, path_of(world, ctx->host)->in, &packet, skb);
	ctx->routers = 0;
	for (size_t i = 0; i < count; i++)
		transport_receive(ctx, flights[i], i + 1 < count);
	for (size_t i = 0; i < count; i++)
		free(flights[i]);
}

/* Count the first packets that GRO merges into one. */
static size_t count_merged(const struct world *world, struct flight *const *flights,
			   size_t count)
{
	uint32_t bytes = 0;
	size_t i;

	for (i = 1; world->scenario->gro && i < count; i++) {
		bytes += flights[i - 1]->packet.payload;
		if (bytes > MERGED_MOST || !is_next(flights[i - 1], flights[i]))
			break;
	}
	return i;
}

size_t nic_poll(struct context *ctx)
{
	struct cpu *cpu = ctx->cpu;
	size_t count = cpu->ringed, merged;

	for (size_t i = 0; i < count; i += merged) {
		merged = count_merged(ctx->world, cpu->ring + i, count - i);
		receive_packet(ctx, cpu->ring + i, merged);
	}
	cpu->ringed = 0;
	cpu->polling = false;
	return count;
}

void nic_arrive(struct world *world, const struct pending *pending)
{
	struct flight *flight = pending->what;
	struct cpu *cpu = flight->from->peer->cpu;
	nsec_t coalesce_ns = from_us(world->scenario->coalesce_us);

	*MEM_NEXT(cpu->ring, cpu->ringed, cpu->ring_capacity) = flight;
	if (cpu->polling)
		return;
	cpu->polling = true;
	if (coalesce_ns)
		queue_add(&world->queue, world->now + coalesce_ns, PENDING_POLL, cpu, 0);
	else
		interrupt_nic(world, cpu);
}
