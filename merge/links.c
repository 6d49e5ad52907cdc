/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/spill.h"
#include "merge/sorter.h"
#include "timeline/rows.h"

/*
 * What events of a stream became, by their place within it. All but the last few of a
 * stream lie in an unnamed file, in blocks. Whoever looks them up goes through the
 * streams from front to back, more or less, so the last block of each is cached.
 */
enum { BLOCK = 64 }; /* events, 7 KiB */

struct noted_event {
	uint64_t ordinal;
	struct event_link link;
};

struct stream {
	struct spill_chain chain; /* of noted_event; chunks begin with an ordinal */
	size_t cached;            /* the chunk in `bytes`; SIZE_MAX: none yet */
	struct bytes bytes;
};

enum { ROWS_SORTED = 1 << 14 }; /* at once, 6 MiB */

enum { ECHO_REPLY_4 = 0, ECHO_4 = 8, ECHO_6 = 128, ECHO_REPLY_6 = 129 };

struct links {
	const struct merge_run *run;
	struct intmap index; /* of streams */
	struct stream *stream;
	size_t streams, capacity;
	struct spill spill;
	struct sorter *sorter;  /* of links */
	struct texts addresses; /* as packets have them */
	struct texts names;     /* of each, as texts */
	uint64_t messages;      /* that were looked at */
};

/* A message on its way to its row. */
struct link {
	struct request_message message;
	struct messages_end send_place, recv_place; /* their sources are ids */
};

struct linking {
	struct requests *requests;
	struct timeline_writer *writer;
	struct error *error;
};

struct links *links_new(const struct merge_run *run)
{
	struct links *links = mem_zalloc(sizeof(*links));

	links->run = run;
	links->spill.what = "of event ids";
	return links;
}

static struct stream *stream_of(struct links *links, uint32_t source, uint32_t stream)
{
	uint64_t key = (uint64_t)source << 32 | stream;
	struct stream *added;
	int64_t at;

	if (intmap_get(&links->index, key, &at))
		return &links->stream[at];
	intmap_put(&links->index, key, (int64_t)links->streams);
	added = MEM_NEXT(links->stream, links->streams, links->capacity);
	*added = (struct stream){.cached = SIZE_MAX};
	return added;
}

int links_note(struct links *links, uint32_t source, const struct ctf_event *event,
	       const struct event_link *link, struct error *error)
{
	const struct noted_event noted = {event->ordinal, *link};
	struct spill_chain *chain = &stream_of(links, source, event->stream)->chain;

	if (chain->open.size == BLOCK * sizeof(noted) &&
	    spill_chain_close(chain, &links->spill, error))
		return -1;
	if (!chain->open.size)
		chain->first = event->ordinal;
	bytes_add(&chain->open, &noted, sizeof(noted));
	return 0;
}

/* The chunk's events: 0, or -1 with error. */
static int read_chunk(const struct links *links, struct stream *stream, size_t chunk,
		      struct bytes_cursor *from, struct error *error)
{
	*from = (struct bytes_cursor){.at = stream->bytes.data,
				      .end = stream->bytes.data + stream->bytes.size};
	if (stream->cached == chunk)
		return 0;
	stream->cached = chunk < stream->chain.chunks ? chunk : stream->cached;
	return spill_chain_read(&stream->chain, &links->spill, chunk, &stream->bytes,
				from, error);
}

/* What became of an event: id 0 where it was not loaded. 0, or -1 with error. */
static int find_event(struct links *links, const struct messages_end *end,
		      struct event_link *link, struct error *error)
{
	struct stream *stream = stream_of(links, end->source, end->stream);
	const struct noted_event *event;
	struct bytes_cursor from;
	size_t chunk, count, at;

	*link = (struct event_link){.id = 0};
	/* The last chunk that begins at the ordinal or before it. */
	chunk = FIRST_NOT(stream->chain.chunks, i,
			  stream->chain.chunk[i].first <= end->ordinal);
	if (stream->chain.open.size && stream->chain.first <= end->ordinal)
		chunk = stream->chain.chunks + 1;
	if (!chunk)
		return 0;
	if (read_chunk(links, stream, chunk - 1, &from, error))
		return -1;
	event = (const void *)from.at;
	count = (size_t)(from.end - from.at) / sizeof(*event);
	at = FIRST_NOT(count, i, event[i].ordinal < end->ordinal);
	if (at < count && event[at].ordinal == end->ordinal)
		*link = event[at].link;
	return 0;
}

static int compare_places(const struct messages_end *p, const struct messages_end *q)
{
	if (p->source != q->source)
		return p->source < q->source ? -1 : 1;
	if (p->stream != q->stream)
		return p->stream < q->stream ? -1 : 1;
	return (p->ordinal > q->ordinal) - (p->ordinal < q->ordinal);
}

/*
 * By send time; the rest is for an order that depends neither on threads nor, between two
 * sources, on what of them is here.
 */
static int compare(const void *a, const void *b)
{
	const struct link *p = a, *q = b;

	if (p->message.row.send_ns != q->message.row.send_ns)
		return p->message.row.send_ns < q->message.row.send_ns ? -1 : 1;
	if (p->message.row.recv_ns != q->message.row.recv_ns)
		return p->message.row.recv_ns < q->message.row.recv_ns ? -1 : 1;
	if (compare_places(&p->send_place, &q->send_place))
		return compare_places(&p->send_place, &q->send_place);
	return compare_places(&p->recv_place, &q->recv_place);
}

/* How sure a stamp is; not at all before the first time that was stated, or after the
 * last. */
static struct clock_bound bound_at(const struct clock *clock, nsec_t local_ns)
{
	if (!clock->bounds || local_ns < clock->bound[0].local_ns ||
	    local_ns > clock->bound[clock->bounds - 1].local_ns)
		return (struct clock_bound){local_ns, NSEC_MIN, NSEC_MAX};
	return clock_bound_at(clock, local_ns, 0);
}

/* Times, and how sure the latency is: nothing is in doubt of two stamps of one clock. */
static void set_times(struct timeline_message *row, const struct message_ends *ends,
		      const struct merge_source *from, const struct merge_source *to)
{
	struct clock_bound begin, end;

	row->send_ns = clock_correct(&from->clock, ends->send.local_ns);
	row->recv_ns = clock_correct(&to->clock, ends->recv.local_ns);
	row->latency_ns = nsec_sub(row->recv_ns, row->send_ns);
	if (merge_is_one_clock(from, to))
		return;
	begin = bound_at(&from->clock, ends->send.local_ns);
	end = bound_at(&to->clock, ends->recv.local_ns);
	row->low_ns = merge_bound_side(end.low_ns, begin.high_ns, TIMELINE_NONE);
	row->high_ns = merge_bound_side(end.high_ns, begin.low_ns, TIMELINE_NONE);
}

static bool is_icmp(const struct packet *packet)
{
	return packet->protocol == IPPROTO_ICMP || packet->protocol == IPPROTO_ICMPV6;
}

static bool is_echo(const struct packet *packet)
{
	int type = packet->sport >> 8;

	if (packet->protocol == IPPROTO_ICMP)
		return type == ECHO_4 || type == ECHO_REPLY_4;
	return type == ECHO_6 || type == ECHO_REPLY_6;
}

/* What is known of the packet's transport; the rest stays as it is. */
static void set_transport(struct timeline_message *row, const struct packet *packet)
{
	if (!(packet->known & PACKET_TRANSPORT))
		return;
	if (packet->protocol == IPPROTO_TCP)
		row->seq = packet->seq;
	else if (is_icmp(packet) && is_echo(packet))
		row->seq = packet->seq & 0xffff;
	if (!is_icmp(packet) && (packet->sport || packet->dport)) {
		row->sport = packet->sport;
		row->dport = packet->dport;
	}
}

/* The whole packet with its IP header; an IPv6 length does not count that. */
static int64_t packet_bytes(const struct packet *packet)
{
	enum { IPV6_HEADER = 40 };

	return packet->family == 6 ? (int64_t)packet->length + IPV6_HEADER
				   : (int64_t)packet->length;
}

/* Data of a TCP segment: what is behind the headers. Where these were not recorded they
 * are assumed to be as long as Linux's with time stamps. */
static int64_t data_bytes(const struct packet *packet)
{
	enum { IPV4_LEAST = 20, IPV6 = 40, TCP_LEAST = 20, STAMPED = TCP_LEAST + 12 };
	int ip = packet->family == 6 ? IPV6 : IPV4_LEAST;
	int64_t bytes = packet_bytes(packet), headers = bytes - packet->payload;

	if (packet->protocol != IPPROTO_TCP)
		return bytes;
	if (!(packet->known & PACKET_TRANSPORT) || headers < ip + TCP_LEAST)
		headers = ip + STAMPED;
	return bytes > headers ? bytes - headers : 0;
}

/* Runs have few addresses, and messages many. */
static const char *address_name(struct links *links, const struct packet *packet,
				const uint8_t *address)
{
	uint8_t key[1 + sizeof(packet->src)] = {packet->family};
	char name[INET6_ADDRSTRLEN];
	size_t at;

	memcpy(key + 1, address, sizeof(packet->src));
	at = texts_put_bytes(&links->addresses, (const char *)key, sizeof(key));
	if (at == links->names.count) {
		inet_ntop(packet->family == 6 ? AF_INET6 : AF_INET, address, name,
			  sizeof(name));
		texts_put(&links->names, name);
	}
	return texts_get(&links->names, at);
}

static void set_network(struct links *links, struct timeline_message *row,
			const struct packet *packet)
{
	if (!(packet->known & PACKET_NETWORK))
		return;
	row->src = address_name(links, packet, packet->src);
	row->dst = address_name(links, packet, packet->dst);
	row->bytes = packet_bytes(packet);
}

static int64_t event_or_none(int64_t event)
{
	return event ? event : TIMELINE_NONE;
}

/* What sent it, as far as the node's kernel recorded it. */
static void set_cause(struct timeline_message *row, const struct span_cause *cause)
{
	row->send_by = span_wait_name(cause->wait);
	row->send_tid = cause->tid < 0 ? TIMELINE_NONE : cause->tid;
	row->send_first_recv = event_or_none(cause->first_recv);
	row->send_last_recv = event_or_none(cause->last_recv);
	row->send_assumed = cause->is_assumed;
}

static int link_message(void *context, const struct message_ends *ends,
			struct error *error)
{
	struct links *links = context;
	const struct merge_run *run = links->run;
	const struct merge_source *from = &run->source[ends->send.source];
	const struct merge_source *to = &run->source[ends->recv.source];
	const struct packet *packet = &ends->packet;
	const char *protocol = packet_protocol_name(packet);
	struct event_link send, recv;
	struct link link = {.send_place = ends->send, .recv_place = ends->recv};
	struct request_message *message = &link.message;

	links->messages++;
	if (find_event(links, &ends->send, &send, error) ||
	    find_event(links, &ends->recv, &recv, error))
		return -1;
	/* A part's join drops what is in no timeline. */
	if (!send.id && !recv.id && !run->is_part)
		return 0;
	link.send_place.source = (uint32_t)from->id;
	link.recv_place.source = (uint32_t)to->id;
	message->row = (struct timeline_message){
	    .protocol = protocol ? protocol : "ip",
	    .src_node = run->node[from->node].id,
	    .dst_node = run->node[to->node].id,
	    .send_event = event_or_none(send.id),
	    .recv_event = event_or_none(recv.id),
	    .sport = TIMELINE_NONE,
	    .dport = TIMELINE_NONE,
	    .seq = TIMELINE_NONE,
	    .bytes = TIMELINE_NONE,
	    .send_tid = TIMELINE_NONE,
	    .send_first_recv = TIMELINE_NONE,
	    .send_last_recv = TIMELINE_NONE,
	    .send_assumed = TIMELINE_NONE,
	    .recv_batch = event_or_none(recv.cause.first_recv),
	    .send_source = from->id,
	    .recv_source = to->id,
	};
	message->sent = send.sent;
	message->send_source = ends->send.source;
	message->recv_source = ends->recv.source;
	message->data = data_bytes(packet);
	message->flags = packet->protocol == IPPROTO_TCP ? packet->flags : 0;
	if (send.cause.event)
		set_cause(&message->row, &send.cause);
	set_times(&message->row, ends, from, to);
	set_network(links, &message->row, packet);
	set_transport(&message->row, packet);
	return sorter_add(links->sorter, &link, error);
}

static int write_link(void *context, const void *item)
{
	const struct linking *linking = context;
	const struct link *link = item;

	requests_message(linking->requests, &link->message);
	return timeline_add_message(linking->writer, &link->message.row, linking->error);
}

int links_find(struct links *links, struct message_log *messages, uint64_t *count,
	       struct error *error)
{
	int status;

	links->sorter = sorter_new(sizeof(struct link), ROWS_SORTED, compare);
	status = message_log_walk_ends(messages, link_message, links, error);
	*count = links->messages;
	return status;
}

int links_write(struct links *links, struct requests *requests,
		struct timeline_writer *writer, struct error *error)
{
	struct linking linking = {requests, writer, error};

	return sorter_each(links->sorter, write_link, &linking, error) ? -1 : 0;
}

void links_free(struct links *links)
{
	if (!links)
		return;
	for (size_t i = 0; i < links->streams; i++) {
		spill_chain_clear(&links->stream[i].chain);
		bytes_clear(&links->stream[i].bytes);
	}
	free(links->stream);
	intmap_clear(&links->index);
	spill_clear(&links->spill);
	sorter_free(links->sorter);
	texts_clear(&links->addresses);
	texts_clear(&links->names);
	free(links);
}
