/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/links.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/sorter.h"
#include "merge/event_places.h"
#include "merge/kernel_packets.h"
#include "merge/spans/span_rows.h"
#include "timeline/rows.h"

enum { ROWS_SORTED = 1 << 14 }; /* at once, 6 MiB */

enum { ECHO_REPLY_4 = 0, ECHO_4 = 8, ECHO_6 = 128, ECHO_REPLY_6 = 129 };

struct links {
	const struct merge_run *run;
	const struct selection *selection;
	struct event_places *places;
	struct kernel_packets *kernel_packets;
	struct sorter *packets; /* struct sorted_ends, by packet */
	struct sorter *sorter;  /* struct link, by time */
	struct group {
		struct observation *item;
		size_t count, capacity;
	} group;                /* observations of the current packet */
	struct texts addresses; /* as packets have them */
	struct texts names;     /* each address as text */
	struct texts protocols; /* protocols of declared messages */
	uint64_t messages;      /* messages, including those without loaded events */
	bool *is_loaded;        /* by source: some of its packet events are here */
	struct error *error;
};

/* The ends of a message, with the ids of its nodes and sources. */
struct sorted_ends {
	struct message_ends ends;
	int64_t src, dst, send_source, recv_source;
};

/* A packet as seen by a source of its sender's node and one of its receiver's. */
struct observation {
	struct sorted_ends sorted;
	struct event_link send, recv, first;     /* id 0: not loaded */
	nsec_t first_ns;                         /* when the data was first sent */
	struct timeline_message_observation row; /* all but its message */
	int left_out; /* ends whose sources had no events loaded */
	int captures; /* ends that captures saw */
};

/* A message to be written, or, if `number` is not 0, another observation of it. */
struct link {
	struct request_message message;
	struct timeline_message_observation observation;
	nsec_t send_ns, recv_ns;                    /* the message's */
	struct messages_end send_place, recv_place; /* their sources are ids */
	uint32_t number;
};

struct linking {
	struct timeline_writer *writer;
	struct error *error;
	int64_t messages; /* written */
};

struct links *links_new(const struct merge_run *run, const struct selection *selection)
{
	struct links *links = mem_zalloc(sizeof(*links));

	links->run = run;
	links->selection = selection;
	links->is_loaded = mem_zalloc(run->count + 1);
	links->places = event_places_new();
	links->kernel_packets = kernel_packets_new(run->nodes);
	return links;
}

int links_note(struct links *links, uint32_t source, const struct trace_event *event,
	       const struct event_link *link, struct error *error)
{
	links->is_loaded[source] = true;
	if (link->bytes && link->tag != AT_CAPTURED)
		kernel_packets_add(links->kernel_packets, links->run->source[source].node,
				   link->tag == AT_SEND,
				   &(struct kernel_packet){.ts_ns = link->ts_ns,
							   .ordinal = event->ordinal,
							   .source = source,
							   .stream = event->stream,
							   .bytes = link->bytes});
	return event_places_add(links->places, source, event, link, error);
}

static int compare_places(const struct messages_end *p, const struct messages_end *q)
{
	return COMPARE(p->source, q->source) ?:
	       COMPARE(p->stream, q->stream) ?:
	       COMPARE(p->ordinal, q->ordinal);
}

/* Compare by packet, then by the nodes that sent and received it. */
static int compare_packets(const struct sorted_ends *p, const struct sorted_ends *q)
{
	return COMPARE(p->ends.number, q->ends.number) ?:
	       COMPARE(p->ends.offset, q->ends.offset) ?:
	       COMPARE(p->src, q->src) ?:
	       COMPARE(p->dst, q->dst);
}

static int compare_ends(const void *a, const void *b)
{
	const struct sorted_ends *p = a, *q = b;

	return compare_packets(p, q) ?:
	       COMPARE(p->send_source, q->send_source) ?:
	       COMPARE(p->recv_source, q->recv_source) ?:
	       COMPARE(p->ends.send.ordinal, q->ends.send.ordinal) ?:
	       COMPARE(p->ends.recv.ordinal, q->ends.recv.ordinal);
}

/*
 * By send time; the rest is for an order that depends neither on threads nor, between two
 * sources, on what of them is here.
 */
static int compare_messages(const void *a, const void *b)
{
	const struct link *p = a, *q = b;

	return COMPARE(p->send_ns, q->send_ns) ?:
	       COMPARE(p->recv_ns, q->recv_ns) ?:
	       compare_places(&p->send_place, &q->send_place) ?:
	       compare_places(&p->recv_place, &q->recv_place) ?:
	       COMPARE(p->number, q->number);
}

/* Return the bound of a timestamp; it is open before the first bound of the clock and
 * after the last. */
static struct clock_bound bound_at(const struct clock *clock, nsec_t local_ns)
{
	if (!clock->bounds || local_ns < clock->bound[0].local_ns ||
	    local_ns > clock->bound[clock->bounds - 1].local_ns)
		return (struct clock_bound){local_ns, NSEC_MIN, NSEC_MAX};
	return clock_bound_at(clock, local_ns, 0);
}

/* Times, and how sure the latency is: nothing is in doubt of two stamps of one clock. */
static void set_times(struct timeline_message_observation *row,
		      const struct message_ends *ends, const struct merge_source *from,
		      const struct merge_source *to)
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

static bool has_ports(const struct packet *packet)
{
	return packet->known & PACKET_TRANSPORT && !is_icmp(packet) &&
	       (packet->sport || packet->dport);
}

/* Set the columns of the packet's transport that are known. */
static void set_transport(struct timeline_message *row, const struct packet *packet)
{
	if (!(packet->known & PACKET_TRANSPORT))
		return;
	if (packet->protocol == IPPROTO_TCP)
		row->seq = packet->seq;
	else if (is_icmp(packet) && is_echo(packet))
		row->seq = packet->seq & 0xffff;
	if (has_ports(packet)) {
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

/* Return the number of bytes after the headers of a TCP segment. Headers that were not
 * recorded are assumed to have the size of Linux's with timestamps. */
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

/* If its addresses were translated, use the sender's own address and port as the
 * message's source, and store the addresses that each end saw of the other. */
static void set_translation(struct links *links, struct request_message *message,
			    const struct message_ends *ends)
{
	const struct packet *packet = &ends->packet;
	const struct packet_names *sent = &ends->sent;
	struct timeline_message *row = &message->row;

	if (!sent->is_translated || !row->src)
		return;
	message->received_from = (struct request_name){row->src, row->sport};
	message->sent_to =
	    (struct request_name){address_name(links, packet, sent->dst),
				  has_ports(packet) ? sent->dport : TIMELINE_NONE};
	row->src = address_name(links, packet, sent->src);
	if (has_ports(packet))
		row->sport = sent->sport;
}

static int64_t event_or_none(int64_t event)
{
	return event ? event : TIMELINE_NONE;
}

/* Set the columns of what sent the message, if the node's kernel recorded it. */
static void set_cause(struct timeline_message *row, const struct span_cause *cause)
{
	row->send_by = span_wait_name(cause->wait);
	row->send_tid = cause->tid < 0 ? TIMELINE_NONE : cause->tid;
	row->send_first_recv = event_or_none(cause->first_recv);
	row->send_last_recv = event_or_none(cause->last_recv);
	row->send_assumed = cause->is_assumed;
}

static int sort_ends(void *context, const struct message_ends *ends, struct error *error)
{
	struct links *links = context;
	const struct merge_run *run = links->run;
	const struct merge_source *from = &run->source[ends->send.source];
	const struct merge_source *to = &run->source[ends->recv.source];
	const struct sorted_ends sorted = {*ends, run->node[from->node].id,
					   run->node[to->node].id, from->id, to->id};

	return sorter_add(links->packets, &sorted, error);
}

/*
 * Find the event of a message's end: of a packet that was captured, the kernel's own
 * event of it, if the kernel recorded one without headers. Return 0, or -1 with error.
 */
static int find_event(struct links *links, const struct messages_end *end, bool is_sent,
		      nsec_t ts_ns, struct event_link *link)
{
	const struct merge_source *source = &links->run->source[end->source];
	const struct kernel_packet *packet;
	struct messages_end kernels;

	if (event_places_find(links->places, end, link, links->error))
		return -1;
	if (!link->bytes || !merge_source_is(source, "capture"))
		return 0;
	packet = kernel_packets_find(links->kernel_packets, source->node, is_sent,
				     &(struct kernel_packet){.ts_ns = ts_ns,
							     .source = end->source,
							     .bytes = link->bytes});
	if (!packet)
		return 0;
	kernels = (struct messages_end){.source = packet->source,
					.stream = packet->stream,
					.ordinal = packet->ordinal};
	return event_places_find(links->places, &kernels, link, links->error);
}

/* Find the first send of an observation's data: its own send, or an earlier one. Return
 * 0, or -1 with error. */
static int find_first(struct links *links, struct observation *found)
{
	const struct messages_end *first = &found->sorted.ends.first;

	found->first = found->send;
	found->first_ns = found->row.send_ns;
	if (first->local_ns == NSEC_MAX)
		return 0;
	found->first_ns =
	    clock_correct(&links->run->source[first->source].clock, first->local_ns);
	return find_event(links, first, true, found->first_ns, &found->first);
}

/* Find the events of an observation, and correct its times. Return 0, or -1 with
 * error. */
static int find_observation(struct links *links, const struct sorted_ends *sorted,
			    struct observation *found)
{
	const struct message_ends *ends = &sorted->ends;
	const struct merge_source *from = &links->run->source[ends->send.source];
	const struct merge_source *to = &links->run->source[ends->recv.source];

	*found = (struct observation){
	    .sorted = *sorted, .row = {.send_source = from->id, .recv_source = to->id}};
	set_times(&found->row, ends, from, to);
	if (find_event(links, &ends->send, true, found->row.send_ns, &found->send) ||
	    find_event(links, &ends->recv, false, found->row.recv_ns, &found->recv))
		return -1;
	found->row.send_event = event_or_none(found->send.id);
	found->row.recv_event = event_or_none(found->recv.id);
	if (find_first(links, found))
		return -1;
	/* In a part, the events of other nodes are never loaded. */
	if (!links->run->is_part)
		found->left_out = !links->is_loaded[ends->send.source] +
				  !links->is_loaded[ends->recv.source];
	found->captures =
	    merge_source_is(from, "capture") + merge_source_is(to, "capture");
	return 0;
}

static bool is_bounded(const struct observation *observation)
{
	return observation->row.low_ns != TIMELINE_NONE &&
	       observation->row.high_ns != TIMELINE_NONE;
}

/* Return true if `a` is the better observation of the packet (docs/schema.md). */
static bool is_better(const struct observation *a, const struct observation *b)
{
	if (a->left_out != b->left_out)
		return a->left_out < b->left_out;
	if (a->captures != b->captures)
		return a->captures < b->captures;
	if (is_bounded(a) != is_bounded(b))
		return is_bounded(a);
	if (a->row.latency_ns != b->row.latency_ns)
		return a->row.latency_ns < b->row.latency_ns;
	if (a->row.send_source != b->row.send_source)
		return a->row.send_source < b->row.send_source;
	return a->row.recv_source < b->row.recv_source;
}

static bool is_by_same_sources(const struct observation *a, const struct observation *b)
{
	return a->row.send_source == b->row.send_source &&
	       a->row.recv_source == b->row.recv_source;
}

static nsec_t distance_between(const struct observation *a, const struct observation *b)
{
	nsec_t send_ns = nsec_sub(a->row.send_ns, b->row.send_ns) / 2;
	nsec_t recv_ns = nsec_sub(a->row.recv_ns, b->row.recv_ns) / 2;

	return (send_ns < 0 ? -send_ns : send_ns) + (recv_ns < 0 ? -recv_ns : recv_ns);
}

/* Return true if a message without events is selected by one of its ends. */
static bool is_selected(const struct links *links, const struct observation *observation)
{
	const struct merge_run *run = links->run;
	const struct message_ends *ends = &observation->sorted.ends;
	const char *from = run->node[run->source[ends->send.source].node].name;
	const char *to = run->node[run->source[ends->recv.source].node].name;

	return ends->send.stream == MESSAGES_NO_STREAM &&
	       ((selection_has_time(links->selection, observation->row.send_ns) &&
		 selection_has_node(links->selection, from)) ||
		(selection_has_time(links->selection, observation->row.recv_ns) &&
		 selection_has_node(links->selection, to)));
}

/* Return true if an event of the observation was loaded. A part keeps all observations;
 * its join drops the ones without events. */
static bool is_here(const struct links *links, const struct observation *observation)
{
	return observation->send.id || observation->recv.id || links->run->is_part ||
	       is_selected(links, observation);
}

/* Start a link with the sort key of its message. */
static struct link new_link(const struct observation *message)
{
	struct link link = {.send_ns = message->row.send_ns,
			    .recv_ns = message->row.recv_ns,
			    .send_place = message->sorted.ends.send,
			    .recv_place = message->sorted.ends.recv};

	link.send_place.source = (uint32_t)message->row.send_source;
	link.recv_place.source = (uint32_t)message->row.recv_source;
	return link;
}

/*
 * Return the first send of a message's data as its own sources saw it, unless others saw
 * one more than a millisecond earlier, which the uncertainty between their clocks does
 * not explain.
 */
static struct request_send find_first_send(const struct group *group,
					   const struct observation *message)
{
	const struct observation *first = message;
	struct request_send send;

	for (size_t i = 0; i < group->count; i++)
		if (group->item[i].first_ns < group->item[i].row.send_ns &&
		    group->item[i].first_ns < nsec_sub(first->first_ns, NSEC_PER_MSEC))
			first = &group->item[i];
	send = (struct request_send){.ns = first->first_ns,
				     .event = event_or_none(first->first.id),
				     .sent = first->first.sent};
	if (first->first.cause.event)
		send.by = span_wait_name(first->first.cause.wait);
	return send;
}

static const char *protocol_name(struct links *links, const struct packet *packet)
{
	const char *name = packet_protocol_name(packet);
	size_t number;

	if (!packet_is_declared(packet))
		return name ? name : "ip";
	number = texts_put_bytes(&links->protocols, (const char *)packet->dst,
				 strnlen((const char *)packet->dst, PACKET_NAME_MOST));
	return texts_get(&links->protocols, number);
}

static int add_message(struct links *links, const struct observation *seen)
{
	const struct message_ends *ends = &seen->sorted.ends;
	const struct packet *packet = &ends->packet;
	struct link link = new_link(seen);
	struct request_message *message = &link.message;

	message->row = (struct timeline_message){
	    .protocol = protocol_name(links, packet),
	    .src_node = seen->sorted.src,
	    .dst_node = seen->sorted.dst,
	    .send_event = seen->row.send_event,
	    .recv_event = seen->row.recv_event,
	    .send_ns = seen->row.send_ns,
	    .recv_ns = seen->row.recv_ns,
	    .latency_ns = seen->row.latency_ns,
	    .sport = TIMELINE_NONE,
	    .dport = TIMELINE_NONE,
	    .seq = TIMELINE_NONE,
	    .bytes = TIMELINE_NONE,
	    .send_tid = TIMELINE_NONE,
	    .send_first_recv = TIMELINE_NONE,
	    .send_last_recv = TIMELINE_NONE,
	    .send_assumed = TIMELINE_NONE,
	    .recv_batch = event_or_none(seen->recv.cause.first_recv),
	    .send_source = seen->row.send_source,
	    .recv_source = seen->row.recv_source,
	    .low_ns = seen->row.low_ns,
	    .high_ns = seen->row.high_ns,
	};
	message->first = find_first_send(&links->group, seen);
	message->is_carrier = seen->send.sent.is_carrier;
	message->send_source = ends->send.source;
	message->recv_source = ends->recv.source;
	message->data = packet_is_declared(packet) ? TIMELINE_NONE : data_bytes(packet);
	message->flags = packet->protocol == IPPROTO_TCP ? packet->flags : 0;
	if (packet_is_declared(packet)) {
		message->declared = packet->flags & (PACKET_ASKS | PACKET_ANSWERS);
		packet_get_key(packet, message->key);
	}
	if (seen->send.cause.event)
		set_cause(&message->row, &seen->send.cause);
	set_network(links, &message->row, packet);
	set_transport(&message->row, packet);
	set_translation(links, message, ends);
	return sorter_add(links->sorter, &link, links->error);
}

/* Return the message that another observation of the packet belongs to: the nearest in
 * time. */
static const struct observation *find_message(const struct group *group,
					      const struct observation *best,
					      const struct observation *other)
{
	const struct observation *nearest = best;

	for (size_t i = 0; i < group->count; i++)
		if (is_by_same_sources(&group->item[i], best) &&
		    distance_between(&group->item[i], other) <
			distance_between(nearest, other))
			nearest = &group->item[i];
	return nearest;
}

/*
 * Make one message of the observations of a packet between two nodes, or several if the
 * same two sources saw it several times, such as on a path back and forth.
 */
static int add_group(struct links *links)
{
	const struct group *group = &links->group;
	const struct observation *best = group->item;
	uint32_t number = 0;
	int status = 0;

	for (size_t i = 1; i < group->count; i++)
		if (is_better(&group->item[i], best))
			best = &group->item[i];
	for (size_t i = 0; i < group->count && !status; i++) {
		const struct observation *seen = &group->item[i];
		const struct observation *message;
		struct link link;

		if (is_by_same_sources(seen, best)) {
			links->messages++;
			status = is_here(links, seen) ? add_message(links, seen) : 0;
			continue;
		}
		message = find_message(group, best, seen);
		if (!is_here(links, message) || !is_here(links, seen))
			continue;
		link = new_link(message);
		link.observation = seen->row;
		link.number = ++number;
		status = sorter_add(links->sorter, &link, links->error);
	}
	links->group.count = 0;
	return status;
}

static int group_ends(void *context, const void *item)
{
	struct links *links = context;
	struct group *group = &links->group;
	const struct sorted_ends *sorted = item;

	if (group->count && compare_packets(&group->item->sorted, sorted) != 0 &&
	    add_group(links))
		return -1;
	return find_observation(links, sorted,
				MEM_NEXT(group->item, group->count, group->capacity));
}

int links_find(struct links *links, struct message_log *messages, uint64_t *count,
	       struct error *error)
{
	int status;

	links->error = error;
	links->packets =
	    sorter_new(sizeof(struct sorted_ends), ROWS_SORTED, compare_ends);
	links->sorter = sorter_new(sizeof(struct link), ROWS_SORTED, compare_messages);
	status = message_log_walk_ends(messages, sort_ends, links, error) ||
		 sorter_each(links->packets, group_ends, links, error);
	if (!status && links->group.count)
		status = add_group(links);
	if (!status)
		status = sorter_sort(links->sorter, error);
	sorter_free(links->packets);
	links->packets = NULL;
	*count = links->messages;
	return status ? -1 : 0;
}

static int write_link(void *context, const void *item)
{
	struct linking *linking = context;
	const struct link *link = item;
	struct timeline_message_observation observation = link->observation;

	observation.message = linking->messages;
	if (link->number)
		return timeline_add_message_observation(linking->writer, &observation,
							linking->error);
	linking->messages++;
	return timeline_add_message(linking->writer, &link->message.row, linking->error);
}

int links_write(struct links *links, struct timeline_writer *writer, struct error *error)
{
	struct linking linking = {writer, error, 0};

	return sorter_each(links->sorter, write_link, &linking, error) ? -1 : 0;
}

static int pass_link(void *requests, const void *item)
{
	const struct link *link = item;

	if (!link->number)
		requests_message(requests, &link->message);
	return 0;
}

int links_pass(struct links *links, struct requests *requests, struct error *error)
{
	return sorter_each(links->sorter, pass_link, requests, error);
}

void links_free(struct links *links)
{
	if (!links)
		return;
	event_places_free(links->places);
	kernel_packets_free(links->kernel_packets);
	sorter_free(links->packets);
	sorter_free(links->sorter);
	free(links->group.item);
	free(links->is_loaded);
	texts_clear(&links->addresses);
	texts_clear(&links->names);
	texts_clear(&links->protocols);
	free(links);
}
