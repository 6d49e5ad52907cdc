/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/links.h"

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
 * The ids that events of streams got, by their place within the stream. All but
 * the last few of a stream lie in an unnamed file, in blocks. Whoever looks
 * them up goes through the streams from front to back, more or less, so the
 * last block of each stream and side is kept.
 */
enum event_side { EVENT_SENT, EVENT_RECEIVED, EVENT_SIDES };

enum { BLOCK = 64 }; /* ids, 6 KiB */

struct event_id {
	uint64_t ordinal;
	struct event_link link;
};

struct stream {
	struct spill_chain chain; /* of event_id; chunks begin with an ordinal */
	struct kept {
		size_t chunk; /* SIZE_MAX: none yet */
		struct bytes bytes;
	} kept[EVENT_SIDES];
};

struct event_ids {
	struct intmap index; /* of streams */
	struct stream *stream;
	size_t streams, room;
	struct spill spill;
};

static struct stream *add_stream(struct event_ids *ids, uint64_t key)
{
	intmap_put(&ids->index, key, (int64_t)ids->streams);
	ids->stream =
	    mem_grow(ids->stream, ids->streams, &ids->room, sizeof(*ids->stream));
	ids->stream[ids->streams] = (struct stream){
	    .kept = {[EVENT_SENT] = {SIZE_MAX}, [EVENT_RECEIVED] = {SIZE_MAX}}};
	return &ids->stream[ids->streams++];
}

static int event_ids_add(struct event_ids *ids, uint64_t key, uint64_t ordinal,
			 const struct event_link *link, struct error *error)
{
	const struct event_id id = {ordinal, *link};
	struct stream *stream;
	int64_t at;

	if (intmap_get(&ids->index, key, &at))
		stream = &ids->stream[at];
	else
		stream = add_stream(ids, key);
	if (stream->chain.open.size == BLOCK * sizeof(id) &&
	    spill_chain_close(&stream->chain, &ids->spill, error))
		return -1;
	if (!stream->chain.open.size)
		stream->chain.first = ordinal;
	bytes_add(&stream->chain.open, &id, sizeof(id));
	return 0;
}

static struct event_link search(const struct event_id *id, size_t count, uint64_t ordinal)
{
	size_t at = FIRST_NOT(count, i, id[i].ordinal < ordinal);

	return at < count && id[at].ordinal == ordinal ? id[at].link
						       : (struct event_link){.id = 0};
}

static int event_ids_find(struct event_ids *ids, uint64_t key, uint64_t ordinal,
			  enum event_side side, struct event_link *link,
			  struct error *error)
{
	const struct spill_chain *chain;
	struct kept *kept;
	struct bytes_cursor from;
	size_t chunk;
	int64_t at;

	*link = (struct event_link){.id = 0};
	if (!intmap_get(&ids->index, key, &at))
		return 0;
	chain = &ids->stream[at].chain;
	kept = &ids->stream[at].kept[side];
	/* The last chunk that begins at the ordinal or before it. */
	chunk = FIRST_NOT(chain->chunks, i, chain->chunk[i].first <= ordinal);
	if (chain->open.size && chain->first <= ordinal)
		chunk = chain->chunks + 1;
	if (!chunk--)
		return 0;
	from.at = kept->bytes.data;
	from.end = from.at + kept->bytes.size;
	if (kept->chunk != chunk) {
		kept->chunk = SIZE_MAX;
		if (spill_chain_read(chain, &ids->spill, chunk, &kept->bytes, &from,
				     error))
			return -1;
		if (chunk < chain->chunks)
			kept->chunk = chunk;
	}
	*link = search((const void *)from.at,
		       (size_t)(from.end - from.at) / sizeof(struct event_id), ordinal);
	return 0;
}

static void event_ids_clear(struct event_ids *ids)
{
	for (size_t i = 0; i < ids->streams; i++) {
		spill_chain_clear(&ids->stream[i].chain);
		for (int side = 0; side < EVENT_SIDES; side++)
			bytes_clear(&ids->stream[i].kept[side].bytes);
	}
	free(ids->stream);
	intmap_clear(&ids->index);
	spill_clear(&ids->spill);
}

/* A stream of a source as one number. */
static uint64_t event_stream(uint32_t source, uint32_t stream)
{
	return (uint64_t)source << 32 | stream;
}

enum { ROWS_SORTED = 1 << 15 }; /* at once, 9 MiB */

enum { ECHO_REPLY_4 = 0, ECHO_4 = 8, ECHO_6 = 128, ECHO_REPLY_6 = 129 };

struct links {
	const struct merge_run *run;
	struct event_ids ids;
	struct sorter *sorter;  /* of links */
	struct texts addresses; /* as packets have them */
	char **name;            /* of each */
	size_t name_room;
	uint64_t messages; /* that were looked at */
};

/* A message on its way to its row. */
struct link {
	nsec_t send_ns, recv_ns;
	struct event_link send;
	int64_t recv_event, recv_batch;             /* 0: none */
	struct messages_end send_place, recv_place; /* their sources are ids */
	uint32_t send_source, recv_source;
	nsec_t low_ns, high_ns; /* TIMELINE_NONE: open */
	struct packet packet;
};

struct linking {
	struct links *links;
	const struct spans *spans;
	struct requests *requests;
	struct timeline_writer *writer;
	struct error *error;
};

struct links *links_new(const struct merge_run *run)
{
	struct links *links = mem_zalloc(sizeof(*links));

	links->run = run;
	links->ids.spill.what = "of event ids";
	return links;
}

int links_note(struct links *links, uint32_t source, const struct ctf_event *record,
	       const struct event_link *link, struct error *error)
{
	return event_ids_add(&links->ids, event_stream(source, record->stream),
			     record->ordinal, link, error);
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

	if (p->send_ns != q->send_ns)
		return p->send_ns < q->send_ns ? -1 : 1;
	if (p->recv_ns != q->recv_ns)
		return p->recv_ns < q->recv_ns ? -1 : 1;
	if (compare_places(&p->send_place, &q->send_place))
		return compare_places(&p->send_place, &q->send_place);
	return compare_places(&p->recv_place, &q->recv_place);
}

static nsec_t corrected(const struct links *links, const struct messages_end *end)
{
	return clock_correct(&links->run->source[end->source].clock, end->local_ns);
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

/* How sure the latency is: nothing is in doubt of two stamps of one clock. */
static void set_bounds(const struct links *links, const struct message_ends *ends,
		       struct link *link)
{
	const struct merge_source *from = &links->run->source[ends->send.source];
	const struct merge_source *to = &links->run->source[ends->recv.source];
	struct clock_bound begin, end;

	if (merge_is_one_clock(from, to))
		return;
	begin = bound_at(&from->clock, ends->send.local_ns);
	end = bound_at(&to->clock, ends->recv.local_ns);
	link->low_ns = merge_bound_side(end.low_ns, begin.high_ns, TIMELINE_NONE);
	link->high_ns = merge_bound_side(end.high_ns, begin.low_ns, TIMELINE_NONE);
}

static int find_event(struct links *links, const struct messages_end *end,
		      enum event_side side, struct event_link *link, struct error *error)
{
	return event_ids_find(&links->ids, event_stream(end->source, end->stream),
			      end->ordinal, side, link, error);
}

static int link_message(void *context, const struct message_ends *ends,
			struct error *error)
{
	struct links *links = context;
	struct event_link recv;
	struct link link = {.send_source = ends->send.source,
			    .recv_source = ends->recv.source,
			    .packet = ends->packet};

	links->messages++;
	if (find_event(links, &ends->send, EVENT_SENT, &link.send, error) ||
	    find_event(links, &ends->recv, EVENT_RECEIVED, &recv, error))
		return -1;
	/* A part's join drops what is in no timeline. */
	if (!link.send.id && !recv.id && !links->run->is_part)
		return 0;
	link.recv_event = recv.id;
	link.recv_batch = recv.cause.first_recv;
	link.send_place = ends->send;
	link.recv_place = ends->recv;
	link.send_place.source = (uint32_t)links->run->source[ends->send.source].id;
	link.recv_place.source = (uint32_t)links->run->source[ends->recv.source].id;
	link.send_ns = corrected(links, &ends->send);
	link.recv_ns = corrected(links, &ends->recv);
	set_bounds(links, ends, &link);
	return sorter_add(links->sorter, &link, error);
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

/* IP's and TCP's headers together; -1: they were not recorded. */
static int header_bytes(const struct packet *packet)
{
	enum { IPV4_LEAST = 20, IPV6 = 40, TCP_LEAST = 20 };
	int64_t bytes = packet_bytes(packet) - packet->payload;

	if (packet->protocol != IPPROTO_TCP || !(packet->known & PACKET_TRANSPORT) ||
	    bytes < (packet->family == 6 ? IPV6 : IPV4_LEAST) + TCP_LEAST)
		return -1;
	return (int)bytes;
}

static int64_t event_or_none(int64_t event)
{
	return event ? event : TIMELINE_NONE;
}

/* What sent it, as far as the node's kernel tells. */
static void set_cause(struct timeline_message *row, const struct spans *spans,
		      uint32_t node, const struct span_cause *noted)
{
	struct span_cause cause = *noted;

	spans_settle(spans, node, &cause);
	row->send_by = span_wait_name(cause.wait);
	row->send_tid = cause.tid < 0 ? TIMELINE_NONE : cause.tid;
	row->send_first_recv = event_or_none(cause.first_recv);
	row->send_last_recv = event_or_none(cause.last_recv);
	row->send_assumed = cause.is_assumed;
}

/* Runs have few addresses, and messages many. */
static const char *address_name(struct links *links, const struct packet *packet,
				const uint8_t *address)
{
	uint8_t key[1 + sizeof(packet->src)] = {packet->family};
	size_t count = links->addresses.count, at;

	memcpy(key + 1, address, sizeof(packet->src));
	at = texts_put_bytes(&links->addresses, (const char *)key, sizeof(key));
	if (at < count)
		return links->name[at];
	links->name = mem_grow(links->name, at, &links->name_room, sizeof(*links->name));
	links->name[at] = mem_alloc(INET6_ADDRSTRLEN);
	inet_ntop(packet->family == 6 ? AF_INET6 : AF_INET, address, links->name[at],
		  INET6_ADDRSTRLEN);
	return links->name[at];
}

static int write_link(void *context, const void *item)
{
	struct linking *linking = context;
	const struct merge_run *run = linking->links->run;
	const struct merge_source *source = run->source;
	const struct link *link = item;
	const struct packet *packet = &link->packet;
	const char *protocol = packet_protocol_name(packet);
	struct timeline_message row = {
	    .protocol = protocol ? protocol : "ip",
	    .src_node = run->node[source[link->send_source].node].id,
	    .dst_node = run->node[source[link->recv_source].node].id,
	    .send_event = event_or_none(link->send.id),
	    .recv_event = event_or_none(link->recv_event),
	    .send_ns = link->send_ns,
	    .recv_ns = link->recv_ns,
	    .latency_ns = nsec_sub(link->recv_ns, link->send_ns),
	    .sport = TIMELINE_NONE,
	    .dport = TIMELINE_NONE,
	    .seq = TIMELINE_NONE,
	    .bytes = TIMELINE_NONE,
	    .send_tid = TIMELINE_NONE,
	    .send_first_recv = TIMELINE_NONE,
	    .send_last_recv = TIMELINE_NONE,
	    .send_assumed = TIMELINE_NONE,
	    .recv_batch = event_or_none(link->recv_batch),
	    .send_source = source[link->send_source].id,
	    .recv_source = source[link->recv_source].id,
	    .low_ns = link->low_ns,
	    .high_ns = link->high_ns,
	};

	if (packet->known & PACKET_NETWORK) {
		row.src = address_name(linking->links, packet, packet->src);
		row.dst = address_name(linking->links, packet, packet->dst);
		row.bytes = packet_bytes(packet);
	}
	set_transport(&row, packet);
	if (linking->spans && link->send.id && link->send.cause.event)
		set_cause(&row, linking->spans, source[link->send_source].node,
			  &link->send.cause);
	requests_message(linking->requests,
			 &(struct request_message){
			     .row = &row,
			     .send_source = link->send_source,
			     .recv_source = link->recv_source,
			     .header = header_bytes(packet),
			     .flags = packet->protocol == IPPROTO_TCP ? packet->flags : 0,
			     .sent = &link->send.sent});
	return timeline_add_message(linking->writer, &row, linking->error);
}

int links_find(struct links *links, struct message_log *messages, struct error *error)
{
	links->sorter = sorter_new(sizeof(struct link), ROWS_SORTED, compare);
	return message_log_walk_ends(messages, link_message, links, error);
}

uint64_t links_messages(const struct links *links)
{
	return links->messages;
}

int links_write(struct links *links, const struct spans *spans, struct requests *requests,
		struct timeline_writer *writer, struct error *error)
{
	struct linking linking = {.links = links,
				  .spans = spans,
				  .requests = requests,
				  .writer = writer,
				  .error = error};

	return sorter_walk(links->sorter, write_link, &linking, error) ? -1 : 0;
}

void links_free(struct links *links)
{
	if (!links)
		return;
	event_ids_clear(&links->ids);
	sorter_free(links->sorter);
	for (size_t i = 0; i < links->addresses.count; i++)
		free(links->name[i]);
	free(links->name);
	texts_clear(&links->addresses);
	free(links);
}
