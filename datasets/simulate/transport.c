/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/transport.h"

#include <netinet/in.h>
#include <string.h>

#include "simulate/dice.h"
#include "simulate/host.h"
#include "simulate/network.h"
#include "simulate/thread.h"

enum { IPV4_HEADER = 20, IPV6_HEADER = 40, UDP_HEADER = 8, ICMP_HEADER = 8 };
enum { ECHO = 8, ECHO_REPLY = 0, ECHO6 = 128, ECHO6_REPLY = 129 };
enum { FLAG_PUSH = 8, FLAG_ACK = 16 };
enum { MTU = 1500 }; /* largest IP packet, in bytes */
enum { REPEATS = 3, DOUBLINGS = 6 };

/* Fill in the headers of this end's next packet, except TCP's numbers. */
static void fill_headers(const struct endpoint *end, uint32_t payload,
			 struct packet *packet)
{
	const struct flow *flow = end->flow;
	bool is_tcp = flow->protocol == IPPROTO_TCP;

	memset(packet, 0, sizeof(*packet));
	packet->known = PACKET_NETWORK | PACKET_TRANSPORT;
	packet->family = flow->family;
	packet->protocol = flow->protocol;
	packet->payload = is_tcp ? payload : 0;
	packet->length = payload + (is_tcp ? TCP_HEADER : UDP_HEADER) +
			 (flow->family == 6 ? 0 : IPV4_HEADER);
	packet->id = flow->family == 6 ? flow->label : end->ip_id;
	address_fill(end, false, packet);
}

/* Send data from `seq` on, or only an acknowledgement if `payload` is 0. */
static void send_packet(struct context *ctx, struct endpoint *end, uint32_t seq,
			uint32_t payload)
{
	uint32_t segment = end->flow->segment;
	uint32_t segments = payload ? (payload + segment - 1) / segment : 1;
	struct flight flight = {.from = end,
				.window = end->sender.base,
				.total = end->sender.next - end->sender.base};

	flight.index = (uint8_t)((seq - end->sender.base) / segment);
	fill_headers(end, payload, &flight.packet);
	flight.packet.seq = seq;
	flight.packet.ack = end->receiver.next;
	flight.packet.window = end->tcp_window;
	flight.packet.flags = FLAG_ACK;
	if (payload && seq + payload == end->sender.next)
		flight.packet.flags |= FLAG_PUSH;
	end->ip_id = (uint16_t)(end->ip_id + segments);
	end->receiver.unanswered = 0;
	nic_transmit(ctx, &flight, (uint8_t)segments);
}

/* See to it that this end looks again when its time is over. */
static void arm_retransmission(struct context *ctx, struct endpoint *end)
{
	struct sender *sender = &end->sender;

	sender->deadline_ns = ctx->ns + sender->rto_ns;
	if (sender->armed)
		return;
	sender->armed = true;
	queue_add(&ctx->world->queue, sender->deadline_ns, PENDING_RESEND, end, 0);
}

static void tcp_send(struct context *ctx, struct endpoint *end, uint64_t bytes)
{
	struct sender *sender = &end->sender;
	uint32_t piece = ctx->world->scenario->gso ? (uint32_t)bytes : end->flow->segment;

	sender->base = sender->next;
	sender->next += (uint32_t)bytes;
	for (uint32_t seq = sender->base; seq != sender->next;) {
		uint32_t left = sender->next - seq;
		uint32_t payload = left < piece ? left : piece;

		send_packet(ctx, end, seq, payload);
		seq += payload;
	}
	arm_retransmission(ctx, end);
}

static void send_again(struct context *ctx, struct endpoint *end)
{
	struct sender *sender = &end->sender;
	uint32_t segment = end->flow->segment;
	uint32_t begin = sender->base + (sender->una - sender->base) / segment * segment;
	uint32_t left = sender->next - begin;

	sender->recovering = true;
	send_packet(ctx, end, begin, left < segment ? left : segment);
}

void transport_resend(struct context *ctx, struct endpoint *end)
{
	if (end->sender.rto_ns < ctx->world->rto_ns << DOUBLINGS)
		end->sender.rto_ns *= 2;
	send_again(ctx, end);
	arm_retransmission(ctx, end);
}

static void receive_answer(struct context *ctx, struct endpoint *end,
			   const struct packet *packet)
{
	struct sender *sender = &end->sender;
	uint32_t gained = packet->ack - sender->una;

	if (gained && gained <= sender->next - sender->una) {
		sender->una = packet->ack;
		sender->repeats = 0;
		sender->rto_ns = ctx->world->rto_ns;
		sender->deadline_ns = ctx->ns + sender->rto_ns;
		if (sender->una == sender->next) {
			sender->recovering = false;
			thread_all_sent(ctx, end->writer);
		} else if (sender->recovering) {
			send_again(ctx, end);
		}
	} else if (!gained && !packet->payload && sender->una != sender->next &&
		   ++sender->repeats == REPEATS) {
		send_again(ctx, end);
	}
}

/* Return true if a reply will soon carry the acknowledgement. */
static bool is_reply_near(const struct world *world, const struct endpoint *end)
{
	return world->scenario->pattern == PATTERN_REQUEST && end->replies &&
	       end->unread >= world->request_bytes &&
	       4 * world->service_ns < world->rto_ns;
}

/* Count the segments received before the first gap. */
static uint32_t count_whole(uint64_t came)
{
	return ~came ? (uint32_t)__builtin_ctzll(~came) : 64;
}

/* Store a segment. Return true if it is the next one in order. */
static bool place_segment(struct endpoint *end, const struct flight *flight)
{
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
	upto = count_whole(receiver->came) * end->flow->segment;
	next = receiver->window + (upto < flight->total ? upto : flight->total);
	if (next == receiver->next)
		return false;
	end->unread += next - receiver->next;
	receiver->next = next;
	return true;
}

static void receive_data(struct context *ctx, struct endpoint *end,
			 const struct flight *flight, bool more)
{
	bool wanted = place_segment(end, flight);
	bool whole = end->receiver.next == flight->window + flight->total;

	end->receiver.unanswered++;
	if (!wanted || (!more && (whole ? !is_reply_near(ctx->world, end)
					: end->receiver.unanswered >= 2)))
		send_packet(ctx, end, end->sender.next, 0);
	if (wanted)
		thread_data_came(ctx, end->reader);
}

void transport_init(const struct world *world, struct flow *flow)
{
	uint32_t headers = (flow->family == 6 ? IPV6_HEADER : IPV4_HEADER) + TCP_HEADER;

	flow->segment = MTU - headers;
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

static void send_datagram(struct context *ctx, struct endpoint *end, uint64_t bytes)
{
	const struct flow *flow = end->flow;
	struct flight flight = {.from = end};
	uint64_t most = transport_most(flow);
	uint32_t payload = (uint32_t)(bytes < most ? bytes : most);

	fill_headers(end, payload, &flight.packet);
	end->ip_id++;
	end->serial++;
	if (flow->protocol == IPPROTO_UDP) {
		flight.packet.udp_length = (uint16_t)(payload + UDP_HEADER);
	} else {
		uint16_t type = flow->family == 6 ? (end->replies ? ECHO6_REPLY : ECHO6)
						  : (end->replies ? ECHO_REPLY : ECHO);

		/* A reply bears the number of its request. */
		if (end->replies)
			end->serial = end->last_serial;
		flight.packet.sport = (uint16_t)(type << 8);
		flight.packet.dport = 0;
		flight.packet.seq = flow->label << 16 | (end->serial & 0xffff);
	}
	flight.window = end->serial;
	flight.total = payload;
	nic_transmit(ctx, &flight, 1);
}

void transport_send(struct context *ctx, struct endpoint *end, uint64_t bytes)
{
	if (end->flow->protocol == IPPROTO_TCP)
		tcp_send(ctx, end, bytes);
	else
		send_datagram(ctx, end, bytes);
}

bool transport_is_answered(const struct endpoint *end)
{
	return end->flow->protocol != IPPROTO_TCP || end->sender.una == end->sender.next;
}

static void receive_datagram(struct context *ctx, struct endpoint *end,
			     const struct flight *flight)
{
	bool is_echo = end->flow->protocol != IPPROTO_UDP;

	if (is_echo && end->replies) { /* the kernel itself replies, to copies too */
		end->last_serial = flight->window;
		send_datagram(ctx, end, flight->total);
		return;
	}
	/* Drop duplicates and packets that later ones have overtaken. */
	if ((int32_t)(flight->window - end->last_serial) <= 0)
		return;
	end->last_serial = flight->window;
	end->unread += flight->total;
	thread_data_came(ctx, end->reader);
}

void transport_receive(struct context *ctx, const struct flight *flight, bool more)
{
	struct endpoint *end = flight->from->peer;

	if (end->flow->protocol != IPPROTO_TCP) {
		receive_datagram(ctx, end, flight);
		return;
	}
	receive_answer(ctx, end, &flight->packet);
	if (flight->packet.payload)
		receive_data(ctx, end, flight, more);
}

bool transport_is_overdue(struct world *world, struct endpoint *end)
{
	struct sender *sender = &end->sender;

	sender->armed = false;
	if (sender->una == sender->next)
		return false;
	if (world->now >= sender->deadline_ns)
		return true;
	sender->armed = true;
	queue_add(&world->queue, sender->deadline_ns, PENDING_RESEND, end, 0);
	return false;
}
