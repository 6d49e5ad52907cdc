/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/transport.h"

#include <netinet/in.h>
#include <string.h>

#include "simulate/address.h"
#include "simulate/card.h"
#include "simulate/tcp.h"
#include "simulate/thread.h"

enum { IPV4_HEADER = 20, IPV6_HEADER = 40, UDP_HEADER = 8, ICMP_HEADER = 8 };
enum { ECHO = 8, ECHO_REPLY = 0, ECHO6 = 128, ECHO6_REPLY = 129 };

void transport_init(const struct world *world, struct flow *flow)
{
	uint32_t headers = (flow->family == 6 ? IPV6_HEADER : IPV4_HEADER) + TCP_HEADER;

	flow->segment = (uint32_t)world->scenario->mtu - headers;
	for (int side = 0; side < 2; side++) {
		struct endpoint *end = &flow->end[side];

		end->ip_id = (uint16_t)dice_next(&flow->dice);
		end->tcp_window = (uint16_t)(501 + dice_below(&flow->dice, 10));
		tcp_init(world, flow, side);
	}
}

uint64_t transport_most(const struct flow *flow)
{
	uint64_t segments = 65000 / flow->segment;

	if (flow->protocol == IPPROTO_TCP)
		return flow->segment * (segments > 64 ? 64 : segments);
	return flow->segment + TCP_HEADER - UDP_HEADER;
}

void transport_fill(struct world *world, uint32_t flow, int side, uint32_t payload,
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
	address_fill(world, f, side, packet);
}

static void send_datagram(struct now *now, uint32_t flow, int side, uint64_t bytes)
{
	struct flow *f = &now->world->flow[flow];
	struct endpoint *end = &f->end[side];
	struct shipment shipment = {.flow = flow, .side = side, .segments = 1};
	uint64_t most = transport_most(f);
	uint32_t payload = (uint32_t)(bytes < most ? bytes : most);
	bool reply = side == 1;

	transport_fill(now->world, flow, side, payload, &shipment.packet);
	end->ip_id++;
	end->serial++;
	if (f->protocol == IPPROTO_UDP) {
		shipment.packet.udp_length = (uint16_t)(payload + UDP_HEADER);
	} else {
		uint16_t type = f->family == 6 ? (reply ? ECHO6_REPLY : ECHO6)
					       : (reply ? ECHO_REPLY : ECHO);

		/* A reply bears the number of its request. */
		if (reply)
			end->serial = end->last_serial;
		shipment.packet.sport = (uint16_t)(type << 8);
		shipment.packet.dport = 0;
		shipment.packet.seq = f->label << 16 | (end->serial & 0xffff);
	}
	shipment.window = end->serial;
	shipment.total = payload;
	card_transmit(now, &shipment);
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

static void receive_datagram(struct now *now, const struct parcel *parcel)
{
	struct flow *flow = &now->world->flow[parcel->flow];
	int side = !parcel->side;
	struct endpoint *end = &flow->end[side];
	bool echo = flow->protocol != IPPROTO_UDP;

	if (echo && side == 1) { /* the kernel itself replies, to copies too */
		end->last_serial = parcel->window;
		send_datagram(now, parcel->flow, side, parcel->total);
		return;
	}
	/* The network's copies and stragglers are of no use to anybody. */
	if ((int32_t)(parcel->window - end->last_serial) <= 0)
		return;
	end->last_serial = parcel->window;
	end->unread += parcel->total;
	thread_data_came(now, end->reader);
}

void transport_receive(struct now *now, const struct parcel *parcel, bool more)
{
	if (now->world->flow[parcel->flow].protocol == IPPROTO_TCP)
		tcp_receive(now, parcel, more);
	else
		receive_datagram(now, parcel);
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

void transport_resend(struct now *now, uint32_t flow, int side)
{
	tcp_resend(now, flow, side);
}
