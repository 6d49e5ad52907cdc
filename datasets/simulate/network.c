/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/network.h"

#include <math.h>
#include <netinet/in.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/event.h"
#include "simulate/host.h"
#include "simulate/thread.h"
#include "simulate/truth.h"

/* What would have to wait for its turn longer than this is dropped. */
static const nsec_t queue_ns = 500 * NSEC_PER_MSEC;

static nsec_t from_us(double us)
{
	return nsec_round(us * 1e3);
}

void link_init(struct link *link, const struct scenario *scenario, uint64_t seed,
	       uint64_t number, bool lower)
{
	struct dice pair;
	double factor = lower ? scenario->asymmetry : 1;
	nsec_t spread;

	memset(link, 0, sizeof(*link));
	link->free_ns = link->last_ns = 0;
	/* Both directions of a pair are as long, but for the asymmetry. */
	dice_init(&pair, seed, DICE_PAIR, number << 2);
	dice_init(&link->dice, seed, DICE_PAIR, number << 2 | (lower ? 2 : 1));
	spread = dice_between(
	    &pair, 0, nsec_round(scenario->delay_us * scenario->delay_spread * 1e3));
	link->least_ns = nsec_round((scenario->delay_us * 1e3 + (double)spread) * factor);
	link->jitter_ns = nsec_round(scenario->jitter_us * factor * 1e3);
	/* What both directions share comes of equal dice. */
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

/* What load adds to the least delay at a time; times come in order. */
static nsec_t load_at(struct link_load *load, const struct scenario *scenario, nsec_t now)
{
	nsec_t mean;

	if (scenario->load_us <= 0)
		return 0;
	mean = from_us(scenario->load_us);
	while (load->until_ns <= now) {
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

static bool happens(struct link *link, double share)
{
	return dice_chance(&link->dice, dice_odds(share));
}

struct journey link_carry(struct link *link, const struct scenario *scenario,
			  nsec_t leaves_ns, uint32_t bytes)
{
	uint64_t ps_per_byte = (uint64_t)(8e6 / scenario->bandwidth_mbit);
	nsec_t begins = leaves_ns > link->free_ns ? leaves_ns : link->free_ns;
	struct journey journey = {.lost = happens(link, scenario->loss)};
	nsec_t arrival;

	if (begins - leaves_ns > queue_ns) {
		journey.lost = true;
		return journey;
	}
	link->free_ns = begins + (nsec_t)(bytes * ps_per_byte / 1000);
	if (journey.lost)
		return journey;
	arrival = link->free_ns + link->least_ns +
		  load_at(&link->load, scenario, link->free_ns) +
		  draw_jitter(link, scenario);
	if (happens(link, scenario->reorder)) {
		arrival += from_us(scenario->reorder_us);
	} else {
		/* Queues keep their order, a few bits apart. */
		if (arrival <= link->last_ns)
			arrival = link->last_ns + 1;
		link->last_ns = arrival;
	}
	journey.arrival_ns = arrival;
	if (happens(link, scenario->duplicate))
		journey.again_ns = arrival + 1 + draw_jitter(link, scenario);
	return journey;
}

enum {
	IPV6_HEADER = 40,
	ETHERNET = 14,
	FRAMING = 38,
	FLAG_PUSH = 8,
	MERGED_MOST = 62000
};

/* What net_napi_gro_receive_exit returns. */
enum { GRO_MERGED_FREE = 1, GRO_HELD = 2, GRO_NORMAL = 3 };

/* A device between a container and the card of its host, whose own has the card's name.
 */
struct pass {
	const char *device;
	bool received;
	uint8_t routers; /* of this host that the packet has passed by then */
};

enum { MOST_PASSES = 4 };

/* What packets of a node go through beside its card. */
struct way {
	const char *layer; /* a second interface that shows what is sent, or NULL */
	struct pass out[MOST_PASSES]; /* up to the card */
	struct pass in[MOST_PASSES];  /* from there */
	uint8_t routers;              /* on the way out */
};

static const struct way *way_of(const struct world *world, uint32_t node)
{
	static const struct way ways[] = {
	    [LAYERS_NONE] = {.layer = NULL},
	    [LAYERS_BOND] = {.layer = "bond0", .in = {{"bond0", true, 0}}},
	    [LAYERS_BRIDGE] = {.layer = "br0", .in = {{"br0", true, 0}}},
	    [LAYERS_VLAN] = {.layer = "eth0.10", .in = {{"eth0.10", true, 0}}},
	    [LAYERS_ROUTED] =
		{NULL,
		 {{CARD_NAME, false, 0}, {"vc1", true, 0}, {"br0", true, 0}},
		 {{"br0", false, 1}, {"vc1", false, 1}, {CARD_NAME, true, 1}},
		 1},
	    [LAYERS_VXLAN] = {NULL,
			      {{CARD_NAME, false, 0},
			       {"vc1", true, 0},
			       {"vx0", false, 0}},
			      {{"vx0", true, 0}, {"vc1", false, 0}, {CARD_NAME, true, 0}},
			      0},
	    [LAYERS_ECHO] = {.layer = NULL},
	};
	int layers = world->scenario->layers;

	if (layers == LAYERS_MIXED)
		layers = node % 2 ? LAYERS_ROUTED : LAYERS_NONE;
	return &ways[layers];
}

/* Bytes of the whole packet, IP header included. */
static uint32_t size_of(const struct packet *packet)
{
	return packet->length + (packet->family == 6 ? IPV6_HEADER : 0);
}

/* What a device does with a packet. */
static void tell(struct now *now, enum event_kind kind, const struct packet *packet,
		 uint64_t skb, const char *device)
{
	uint32_t bytes = size_of(packet) + (kind == EVENT_NET_RECEIVE ? 0 : ETHERNET);

	if (kind == EVENT_NET_DEV_XMIT)
		EVENT(now, kind, {.u = skb}, {.i = 0}, {.u = bytes}, {.text = device});
	else
		EVENT(now, kind, {.u = skb}, {.u = bytes}, {.text = device},
		      {.packet = packet});
}

/* A packet on its way between a container and its host's card. */
static void tell_passes(struct now *now, const struct pass *pass,
			const struct packet *packet, uint64_t skb)
{
	uint8_t before = now->routers;

	for (int i = 0; i < MOST_PASSES && pass[i].device; i++) {
		now->routers = (uint8_t)(before + pass[i].routers);
		tell(now, pass[i].received ? EVENT_NET_RECEIVE : EVENT_NET_DEV_QUEUE,
		     packet, skb, pass[i].device);
		if (!pass[i].received)
			tell(now, EVENT_NET_DEV_XMIT, packet, skb, pass[i].device);
	}
	now->routers = before;
}

/* A packet goes out by the card. */
static void tell_way_out(struct now *now, const struct packet *packet, uint64_t skb)
{
	const struct way *way = way_of(now->world, now->node);

	tell_passes(now, way->out, packet, skb);
	if (way->layer)
		tell(now, EVENT_NET_DEV_QUEUE, packet, skb, way->layer);
	now->routers = way->routers;
	tell(now, EVENT_NET_DEV_QUEUE, packet, skb, CARD_NAME);
	now_pass(now, 300, 2500);
	tell(now, EVENT_NET_DEV_XMIT, packet, skb, CARD_NAME);
	if (way->layer)
		tell(now, EVENT_NET_DEV_XMIT, packet, skb, way->layer);
	if (now->world->scenario->layers == LAYERS_ECHO)
		tell(now, EVENT_NET_RECEIVE, packet, skb, CARD_NAME);
	now->routers = 0;
}

/* Make it one segment of what was handed to the card. */
static void cut_segment(const struct world *world, struct flight *flight, uint8_t number)
{
	uint32_t segment = world->flow[flight->flow].segment, skipped = number * segment;
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

static void post(struct world *world, const struct flight *flight, nsec_t arrival_ns,
		 bool copy)
{
	uint32_t index = flight_new(world);

	world->flight[index] = *flight;
	world->flight[index].copy = copy;
	queue_add(&world->queue, arrival_ns, OCCASION_ARRIVAL, index, 0);
}

void card_transmit(struct now *now, const struct flight *flight, uint8_t segments)
{
	struct world *world = now->world;
	const struct flow *flow = &world->flow[flight->flow];
	struct link *link = &world->flow[flight->flow].link[flight->side];
	struct host *host = now_host(now);

	tell_way_out(now, &flight->packet, host_skb(host));
	if (flight->packet.payload || flow->protocol != IPPROTO_TCP)
		requests_sent(now, flight->flow, flight->side);
	host->count.sent += segments;
	for (uint8_t i = 0; i < segments; i++) {
		struct flight sent = *flight;
		struct journey journey;

		sent.sent_ns = now->ns;
		if (segments > 1)
			cut_segment(world, &sent, i);
		host->count.sent_bytes += size_of(&sent.packet) + ETHERNET;
		journey = link_carry(link, world->scenario, now->ns,
				     size_of(&sent.packet) + FRAMING);
		if (journey.lost)
			continue;
		post(world, &sent, journey.arrival_ns, false);
		if (journey.again_ns)
			post(world, &sent, journey.again_ns, true);
	}
}

/* Whether b goes on where a ends, so that the receiver may merge them (GRO). */
static bool is_next(const struct flight *a, const struct flight *b)
{
	return a->flow == b->flow && a->side == b->side && a->packet.payload &&
	       b->packet.payload && a->packet.protocol == IPPROTO_TCP &&
	       a->packet.seq + a->packet.payload == b->packet.seq &&
	       a->packet.ack == b->packet.ack && !a->copy && !b->copy &&
	       a->window == b->window;
}

/* The packets in flight enter the stack; `packet` becomes what they are merged into. */
static void enter(struct now *now, const uint32_t *flights, size_t count,
		  struct packet *packet, uint64_t *skb)
{
	struct world *world = now->world;
	struct host *host = now_host(now);

	*packet = world->flight[flights[0]].packet;
	*skb = host_skb(host);
	for (size_t i = 0; i < count; i++) {
		const struct flight *flight = &world->flight[flights[i]];

		host->count.received++;
		host->count.received_bytes += size_of(&flight->packet) + ETHERNET;
		if (world->messages && !flight->copy)
			messages_add(world, flight, now->ns);
		if (flight->packet.payload ||
		    world->flow[flight->flow].protocol != IPPROTO_TCP)
			requests_came(now, flight->flow, !flight->side);
		EVENT(now, EVENT_GRO_ENTRY, {.u = i ? host_skb(host) : *skb});
		EVENT(now, EVENT_GRO_EXIT,
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

/* Take packets in flight that are merged into one packet. */
static void take(struct now *now, const uint32_t *flights, size_t count)
{
	struct world *world = now->world;
	const struct flight *flight = &world->flight[flights[0]];
	uint32_t sender = world->flow[flight->flow].end[flight->side].node;
	const struct way *way = way_of(world, now->node);
	struct packet packet;
	uint64_t skb;

	enter(now, flights, count, &packet, &skb);
	if (world->scenario->nat)
		address_fill(&world->flow[flight->flow], flight->side, true, &packet);
	now->routers = way_of(world, sender)->routers;
	tell(now, EVENT_NET_RECEIVE, &packet, skb, CARD_NAME);
	tell_passes(now, way->in, &packet, skb);
	now->routers = 0;
	for (size_t i = 0; i < count; i++)
		transport_receive(now, &world->flight[flights[i]], i + 1 < count);
	for (size_t i = 0; i < count; i++)
		flight_free(world, flights[i]);
}

/* How many of the packets in flight become one packet. */
static size_t count_merged(const struct world *world, const uint32_t *flights,
			   size_t count)
{
	uint32_t bytes = 0;
	size_t i;

	for (i = 1; world->scenario->gro && i < count; i++) {
		const struct flight *last = &world->flight[flights[i - 1]];

		bytes += last->packet.payload;
		if (bytes > MERGED_MOST || !is_next(last, &world->flight[flights[i]]))
			break;
	}
	return i;
}

size_t card_poll(struct now *now)
{
	struct cpu *cpu = now_cpu(now);
	size_t count = cpu->ringed, merged;

	for (size_t i = 0; i < count; i += merged) {
		merged = count_merged(now->world, cpu->ring + i, count - i);
		take(now, cpu->ring + i, merged);
	}
	cpu->ringed = 0;
	cpu->polling = false;
	return count;
}

void card_arrive(struct world *world, const struct occasion *occasion)
{
	const struct flight *flight = &world->flight[occasion->what];
	uint32_t node = world->flow[flight->flow].end[!flight->side].node;
	uint32_t number = flight->flow % (uint32_t)world->scenario->cpus;
	struct cpu *cpu = &world->host[node].cpu[number];
	nsec_t coalesce_ns = from_us(world->scenario->coalesce_us);

	*MEM_NEXT(cpu->ring, cpu->ringed, cpu->ring_room) = occasion->what;
	if (cpu->polling)
		return;
	cpu->polling = true;
	if (coalesce_ns)
		queue_add(&world->queue, world->now + coalesce_ns, OCCASION_POLL,
			  cpu_number(world, node, number), 0);
	else
		interrupt_card(world, node, number);
}
