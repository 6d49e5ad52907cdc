/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/transport.h"

#include <netinet/in.h>
#include <string.h>

#include "simulate/address.h"
#include "simulate/host.h"
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

static nsec_t send_datagram(struct world *world, uint32_t flow, int side, uint64_t bytes,
			    nsec_t now)
{
	struct flow *f = &world->flow[flow];
	struct endpoint *end = &f->end[side];
	struct shipment shipment = {.flow = flow, .side = side, .segments = 1};
	uint64_t most = transport_most(f);
	uint32_t payload = (uint32_t)(bytes < most ? bytes : most);
	bool reply = side == 1;

	transport_fill(world, flow, side, payload, &shipment.packet);
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
	return host_transmit(world, &shipment, now);
}

nsec_t transport_send(struct world *world, uint32_t flow, int side, uint64_t bytes,
		      nsec_t now)
{
	if (world->flow[flow].protocol == IPPROTO_TCP)
		return tcp_send(world, flow, side, bytes, now);
	return send_datagram(world, flow, side, bytes, now);
}

bool transport_is_answered(const struct flow *flow, int side)
{
	const struct sender *sender = &flow->end[side].sender;

	return flow->protocol != IPPROTO_TCP || sender->una == sender->next;
}

static nsec_t receive_datagram(struct world *world, const struct parcel *parcel,
			       nsec_t now)
{
	struct flow *flow = &world->flow[parcel->flow];
	int side = !parcel->side;
	struct endpoint *end = &flow->end[side];
	bool echo = flow->protocol != IPPROTO_UDP;

	/* The network's copies and stragglers are of no use to anybody. */
	if ((int32_t)(parcel->window - end->last_serial) <= 0 && !(echo && side == 1))
		return now;
	end->last_serial = parcel->window;
	if (echo && side == 1) /* the kernel itself replies */
		return send_datagram(world, parcel->flow, side, parcel->total, now);
	end->unread += parcel->total;
	thread_data_came(world, end->reader, now);
	return now;
}

nsec_t transport_receive(struct world *world, const struct parcel *parcel, bool more,
			 nsec_t now)
{
	if (world->flow[parcel->flow].protocol == IPPROTO_TCP)
		return tcp_receive(world, parcel, more, now);
	return receive_datagram(world, parcel, now);
}

nsec_t transport_resend(struct world *world, uint32_t what, nsec_t now)
{
	return tcp_resend(world, what / 2, (int)(what & 1), now);
}
