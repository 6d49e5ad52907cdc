/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/network.h"

#include <netinet/in.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/host.h"
#include "simulate/thread.h"

enum { IPV4_HEADER = 20, IPV6_HEADER = 40, UDP_HEADER = 8, ICMP_HEADER = 8 };
enum { ECHO = 8, ECHO_REPLY = 0, ECHO6 = 128, ECHO6_REPLY = 129 };
enum { FLAG_PUSH = 8, FLAG_ACK = 16 };
enum { REPEATS = 3, DOUBLINGS = 6 };

uint32_t flight_new(struct world *world)
{
	uint32_t index;

	if (world->free_flight) {
		index = world->free_flight - 1;
		world->free_flight = world->flight[index].next_free;
		return index;
	}
	world->flight = mem_grow(world->flight, world->flights, &world->flight_capacity,
				 sizeof(*world->flight));
	return (uint32_t)world->flights++;
}

void flight_free(struct world *world, uint32_t index)
{
	world->flight[index].next_free = world->free_flight;
	world->free_flight = index + 1;
}

/* The headers of a packet that this end sends next, but for TCP's numbers. */
static void transport_fill(struct world *world, uint32_t flow, int side, uint32_t payload,
			   struct packet *packet)
{
	struct flow *f = &world->flow[flow];
	struct endpoint *end = &f->end[side];
	uint32_t inner = payload + (f->protocol == IPPROTO_TCP ? TCP_HEADER : UDP_HEADER);

	memset(packet, 0, sizeof(*packet));
	packet->known = PACKET_NETWORK | PACKET_TRANSPORT;
	packet->family = f->family;
	packet->protocol = f->protocol;
	packet->payload = f->protocol == IPPROTO_TCP ? payload : 0;
	packet->length = inner + (f->family == 6 ? 0 : IPV4_HEADER);
	packet->id = f->family == 6 ? f->label : end->ip_id;
	address_fill(f, side, false, packet);
}

/* Send data from `seq` on, or an acknowledgement alone where there is none. */
static void send_packet(struct now *now, uint32_t flow, int side, uint32_t seq,
			uint32_t payload)
{
	struct flow *f = &now->world->flow[flow];
	struct endpoint *end = &f->end[side];
	uint32_t segments = payload ? (payload + f->segment - 1) / f->segment : 1;
	struct flight flight = {.flow = flow,
				.side = (uint8_t)side,
				.window = end->sender.base,
				.total = end->sender.next - end->sender.base};

	flight.index = (uint8_t)((seq - end->sender.base) / f->segment);
	transport_fill(now->world, flow, side, payload, &flight.packet);
	flight.packet.seq = seq;
	flight.packet.ack = end->receiver.next;
	flight.packet.window = end->tcp_window;
	flight.packet.flags = FLAG_ACK;
	if (payload && seq + payload == end->sender.next)
		flight.packet.flags |= FLAG_PUSH;
	end->ip_id = (uint16_t)(end->ip_id + segments);
	end->receiver.unanswered = 0;
	card_transmit(now, &flight, (uint8_t)segments);
}

/* See to it that this end looks again when its time is over. */
static void arm(struct now *now, uint32_t flow, int side)
{
	struct sender *sender = &now->world->flow[flow].end[side].sender;

	sender->deadline_ns = now->ns + sender->rto_ns;
	if (sender->armed)
		return;
	sender->armed = true;
	queue_add(&now->world->queue, sender->deadline_ns, OCCASION_RESEND,
		  flow * 2 + (uint32_t)side, 0);
}

static void tcp_send(struct now *now, uint32_t flow, int side, uint64_t bytes)
{
	struct flow *f = &now->world->flow[flow];
	struct sender *sender = &f->end[side].sender;
	uint32_t piece = now->world->scenario->gso ? (uint32_t)bytes : f->segment;

	sender->base = sender->next;
	sender->next += (uint32_t)bytes;
	for (uint32_t seq = sender->base; seq != sender->next;) {
		uint32_t left = sender->next - seq;
		uint32_t payload = left < piece ? left : piece;

		send_packet(now, flow, side, seq, payload);
		seq += payload;
	}
	arm(now, flow, side);
}

static void send_again(struct now *now, uint32_t flow, int side)
{
	struct flow *f = &now->world->flow[flow];
	struct sender *sender = &f->end[side].sender;
	uint32_t begin =
	    sender->base + (sender->una - sender->base) / f->segment * f->segment;
	uint32_t left = sender->next - begin;

	sender->recovering = true;
	send_packet(now, flow, side, begin, left < f->segment ? left : f->segment);
}

void transport_resend(struct now *now, uint32_t flow, int side)
{
	struct sender *sender = &now->world->flow[flow].end[side].sender;

	if (sender->rto_ns < now->world->rto_ns << DOUBLINGS)
		sender->rto_ns *= 2;
	send_again(now, flow, side);
	arm(now, flow, side);
}

static void take_answer(struct now *now, uint32_t flow, int side,
			const struct packet *packet)
{
	struct endpoint *end = &now->world->flow[flow].end[side];
	struct sender *sender = &end->sender;
	uint32_t gained = packet->ack - sender->una;

	if (gained && gained <= sender->next - sender->una) {
		sender->una = packet->ack;
		sender->repeats = 0;
		sender->rto_ns = now->world->rto_ns;
		sender->deadline_ns = now->ns + sender->rto_ns;
		if (sender->una == sender->next) {
			sender->recovering = false;
			thread_all_sent(now, end->writer);
		} else if (sender->recovering) {
			send_again(now, flow, side);
		}
	} else if (!gained && !packet->payload && sender->una != sender->next &&
		   ++sender->repeats == REPEATS) {
		send_again(now, flow, side);
	}
}

/* Whether what came will be answered by data soon enough. */
static bool is_reply_near(const struct world *world, const struct flow *flow, int side)
{
	return world->scenario->pattern == PATTERN_REQUEST && side == 1 &&
	       flow->end[side].unread >= world->request_bytes &&
	       4 * world->service_ns < world->rto_ns;
}

/* How many segments came without a gap. */
static uint32_t count_whole(uint64_t came)
{
	return ~came ? (uint32_t)__builtin_ctzll(~came) : 64;
}

/* Put a segment where it belongs; whether it is the next one that is wanted. */
static bool place_segment(struct flow *flow, int side, const struct flight *flight)
{
	struct endpoint *end = &flow->end[side];
	struct receiver *receiver = &end->receiver;
	uint64_t bit = (uint64_t)1 << flight->index;
	uint32_t upto, next;

	if ((int32_t)(flight->window - receiver->window) < 0)
		return false;
	if (flight->window != receiver->window) {
		receiver->window = flight->window;
		receiver->came = 0;
	}
	if (receiver->came & bit)
		return false;
	receiver->came |= bit;
	upto = count_whole(receiver->came) * flow->segment;
	next = receiver->window + (upto < flight->total ? upto : flight->total);
	if (next == receiver->next)
		return false;
	end->unread += next - receiver->next;
	receiver->next = next;
	return true;
}

static void take_data(struct now *now, const struct flight *flight, bool more)
{
	struct flow *flow = &now->world->flow[flight->flow];
	int side = !flight->side;
	struct endpoint *end = &flow->end[side];
	bool wanted = place_segment(flow, side, flight);
	bool whole = end->receiver.next == flight->window + flight->total;

	end->receiver.unanswered++;
	if (!wanted || (!more && (whole ? !is_reply_near(now->world, flow, side)
					: end->receiver.unanswered >= 2)))
		send_packet(now, flight->flow, side, end->sender.next, 0);
	if (wanted)
		thread_data_came(now, end->reader);
}

static void tcp_receive(struct now *now, const struct flight *flight, bool more)
{
	/* The caller's packet in flight may move while packets are sent in answer. */
	const struct flight kept = *flight;

	take_answer(now, kept.flow, !kept.side, &kept.packet);
	if (kept.packet.payload)
		take_data(now, &kept, more);
}

void transport_init(const struct world *world, struct flow *flow)
{
	uint32_t headers = (flow->family == 6 ? IPV6_HEADER : IPV4_HEADER) + TCP_HEADER;

	flow->segment = (uint32_t)world->scenario->mtu - headers;
	for (int side = 0; side < 2; side++) {
		struct endpoint *end = &flow->end[side];

		end->ip_id = (uint16_t)dice_next(&flow->dice);
		end->tcp_window = (uint16_t)(501 + dice_below(&flow->dice, 10));
		end->sender.base = (uint32_t)dice_next(&flow->dice);
		end->sender.una = end->sender.next = end->sender.base;
		end->sender.rto_ns = world->rto_ns;
		flow->end[!side].receiver.window = flow->end[!side].receiver.next =
		    end->sender.base;
	}
}

uint64_t transport_most(const struct flow *flow)
{
	uint64_t segments = 65000 / flow->segment;

	if (flow->protocol == IPPROTO_TCP)
		return flow->segment * (segments > 64 ? 64 : segments);
	return flow->segment + TCP_HEADER - UDP_HEADER;
}

static void send_datagram(struct now *now, uint32_t flow, int side, uint64_t bytes)
{
	struct flow *f = &now->world->flow[flow];
	struct endpoint *end = &f->end[side];
	struct flight flight = {.flow = flow, .side = (uint8_t)side};
	uint64_t most = transport_most(f);
	uint32_t payload = (uint32_t)(bytes < most ? bytes : most);
	bool reply = side == 1;

	transport_fill(now->world, flow, side, payload, &flight.packet);
	end->ip_id++;
	end->serial++;
	if (f->protocol == IPPROTO_UDP) {
		flight.packet.udp_length = (uint16_t)(payload + UDP_HEADER);
	} else {
		uint16_t type = f->family == 6 ? (reply ? ECHO6_REPLY : ECHO6)
					       : (reply ? ECHO_REPLY : ECHO);

		/* A reply bears the number of its request. */
		if (reply)
			end->serial = end->last_serial;
		flight.packet.sport = (uint16_t)(type << 8);
		flight.packet.dport = 0;
		flight.packet.seq = f->label << 16 | (end->serial & 0xffff);
	}
	flight.window = end->serial;
	flight.total = payload;
	card_transmit(now, &flight, 1);
}

void transport_send(struct now *now, uint32_t flow, int side, uint64_t bytes)
{
	if (now->world->flow[flow].protocol == IPPROTO_TCP)
		tcp_send(now, flow, side, bytes);
	else
		send_datagram(now, flow, side, bytes);
}

bool transport_is_answered(const struct flow *flow, int side)
{
	const struct sender *sender = &flow->end[side].sender;

	return flow->protocol != IPPROTO_TCP || sender->una == sender->next;
}

static void receive_datagram(struct now *now, const struct flight *flight)
{
	struct flow *flow = &now->world->flow[flight->flow];
	int side = !flight->side;
	struct endpoint *end = &flow->end[side];
	bool echo = flow->protocol != IPPROTO_UDP;

	if (echo && side == 1) { /* the kernel itself replies, to copies too */
		end->last_serial = flight->window;
		send_datagram(now, flight->flow, side, flight->total);
		return;
	}
	/* The network's copies and stragglers are of no use to anybody. */
	if ((int32_t)(flight->window - end->last_serial) <= 0)
		return;
	end->last_serial = flight->window;
	end->unread += flight->total;
	thread_data_came(now, end->reader);
}

void transport_receive(struct now *now, const struct flight *flight, bool more)
{
	if (now->world->flow[flight->flow].protocol == IPPROTO_TCP)
		tcp_receive(now, flight, more);
	else
		receive_datagram(now, flight);
}

bool transport_is_overdue(struct world *world, uint32_t flow, int side)
{
	struct sender *sender = &world->flow[flow].end[side].sender;

	sender->armed = false;
	if (sender->una == sender->next)
		return false;
	if (world->now >= sender->deadline_ns)
		return true;
	sender->armed = true;
	queue_add(&world->queue, sender->deadline_ns, OCCASION_RESEND,
		  flow * 2 + (uint32_t)side, 0);
	return false;
}
