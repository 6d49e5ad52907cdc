/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/matcher_private.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"

/*
 * Decides which two timestamps of a packet are a true constraint.
 *
 * A packet passes many devices: those of containers, bridges and tunnels within its host,
 * and hosts that forward it. A clock orders its own events, and every router decrements
 * the time to live. So a packet's path has a level for each time to live, from the
 * highest to the lowest. A level begins in the host that sent the packet before it
 * received it on that level. That host's first send came before everything that other
 * hosts saw on that level or on lower ones.
 */

/* A packet that has not arrived after this time is lost. */
#define LONGEST_DELAY NSEC_PER_SEC

bool match_is_one_host(const struct matcher *matcher, uint32_t a, uint32_t b)
{
	const uint32_t *host = matcher->host_of_clock;

	return a == b || (host && host[a] == host[b]);
}

static uint64_t pair_key(uint32_t sender, uint32_t receiver)
{
	return (uint64_t)sender << 32 | receiver;
}

/* Return true if a clock was certainly recording when a packet that `to` received was
 * sent: it has received an earlier packet, and packets do not travel that long. */
static bool was_recording(const struct matcher *matcher, const struct stop *from,
			  const struct stop *to)
{
	int64_t first;

	return intmap_get(&matcher->first_ns,
			  pair_key(from->clock_index, to->clock_index), &first) &&
	       first < nsec_sub(to->received_ns, LONGEST_DELAY);
}

static void note_first_message(struct matcher *matcher, const struct match_side *send,
			       const struct match_side *receive)
{
	uint64_t key = pair_key(send->seen->clock_index, receive->seen->clock_index);
	int64_t first;

	if (!intmap_get(&matcher->first_ns, key, &first) || receive->ns < first)
		intmap_put(&matcher->first_ns, key, receive->ns);
}

static struct messages_end first_send_of(const struct match_side *side)
{
	const struct sent_place *first =
	    &side->entry->origin[side->seen - side->entry->seen].first;

	return (struct messages_end){first->trace_index, first->stream, first->ordinal,
				     first->ns};
}

static struct messages_end end_of(const struct match_side *side)
{
	const struct seen_origin *origin =
	    &side->entry->origin[side->seen - side->entry->seen];

	return (struct messages_end){origin->trace_index, origin->stream, origin->ordinal,
				     side->ns};
}

void match_emit(struct matcher *matcher, const struct match_side *send,
		const struct match_side *receive)
{
	const struct packet *packet = &receive->entry->packet;
	struct packet_names sent = {.is_translated = false};
	bool has_ports =
	    packet->protocol == IPPROTO_TCP || packet->protocol == IPPROTO_UDP;
	uint16_t lower_port =
	    packet->sport < packet->dport ? packet->sport : packet->dport;
	struct match_output *output = &matcher->output;

	if (send->entry != receive->entry)
		sent = packet_names_sent(&send->entry->packet, packet);
	if (sent.is_translated)
		match_learn_translation(matcher, &send->entry->packet, packet);
	send->seen->used = receive->seen->used = true;
	matcher->counts.matched++;
	note_first_message(matcher, send, receive);
	if (matcher->resends)
		*MEM_NEXT(output->ends, output->ends_count, output->ends_capacity) =
		    (struct message_ends){
			end_of(send), end_of(receive),      first_send_of(send), *packet,
			sent,         matcher->path.number, matcher->path.offset};
	*MEM_NEXT(output->message, output->messages, output->message_capacity) =
	    (struct matched){
		.from_clock = send->seen->clock_index,
		.to_clock = receive->seen->clock_index,
		.send_ns = send->ns,
		.recv_ns = receive->ns,
		.protocol = packet->protocol,
		.port = packet_is_declared(packet) ? declared_index(matcher, packet)
			: has_ports                ? lower_port
						   : 0,
	    };
}

struct stop *path_stop(struct path *path, uint32_t clock_index, uint8_t hops)
{
	struct stop *stop = path->stop + path->stops;

	if (path->stops && stop[-1].clock_index == clock_index && stop[-1].hops == hops)
		return stop - 1;
	stop = MEM_NEXT(path->stop, path->stops, path->capacity);
	*stop = (struct stop){.clock_index = clock_index,
			      .hops = hops,
			      .first_ns = NSEC_MAX,
			      .last_ns = NSEC_MIN};
	return stop;
}

void stop_add(struct stop *stop, bool received, nsec_t ns, nsec_t first_ns,
	      nsec_t last_ns)
{
	if (first_ns < stop->first_ns) {
		stop->first_ns = first_ns;
		stop->begins_sent = !received;
	}
	if (last_ns > stop->last_ns) {
		stop->last_ns = last_ns;
		stop->ends_sent = !received;
	}
	if (received && !stop->receives)
		stop->received_ns = ns;
	stop->sends += !received;
	stop->receives += received;
}

/* Down the levels; of one level clock by clock, each in the order of its clock. */
static int by_level(const void *a, const void *b)
{
	const struct match_side *p = a, *q = b;
	const struct seen *r = p->seen, *s = q->seen;

	return COMPARE(q->hops, p->hops) ?:
	       COMPARE(r->clock_index, s->clock_index) ?:
	       COMPARE(r->first_ns, s->first_ns) ?:
	       COMPARE(r->received, s->received) ?:
	       COMPARE(r->device, s->device);
}

/* Return how many times the packet passed. Containers name their device like that of
 * their host, so one device can seem to send twice what it received once in between. */
static uint32_t count_passes(uint32_t count, uint32_t between, bool is_outer)
{
	return is_outer && count == 2 * between ? between : count;
}

/* A stop of these sides, which are in order. */
static void add_stop(struct path *path, struct match_side *side, size_t sides)
{
	struct stop *stop = path_stop(path, side->seen->clock_index, side->hops);
	uint32_t most[2] = {0, 0}; /* by a device: sent, received */

	for (size_t i = 0; i < sides; i++) {
		const struct seen *seen = side[i].seen;
		struct match_side **first =
		    seen->received ? &stop->received : &stop->sent;

		if (!*first)
			*first = &side[i];
		if (seen->count > most[seen->received])
			most[seen->received] = seen->count;
		stop_add(stop, seen->received, side[i].ns, seen->first_ns, seen->last_ns);
	}
	if (stop->sent)
		stop->sends = count_passes(stop->sent->seen->count, most[1],
					   stop->begins_sent && stop->ends_sent);
	if (stop->received)
		stop->receives = count_passes(stop->received->seen->count, most[0],
					      !stop->begins_sent && !stop->ends_sent);
}

/* Return true if the level of a stop begins, or seems to begin, in several hosts. */
static bool is_contested(const struct matcher *matcher, const struct stop *stop)
{
	const struct path *path = &matcher->path;

	for (size_t i = 0; i < path->stops; i++)
		if (path->stop[i].hops == stop->hops && path->stop[i].begins_sent &&
		    !match_is_one_host(matcher, path->stop[i].clock_index,
				       stop->clock_index))
			return true;
	return false;
}

/* Return true if all only send: they are hosts that are not known to be one, such as a
 * trace and a capture of a node that were given separately, or the packets are different
 * ones. */
static bool all_only_send(const struct matcher *matcher, uint8_t hops)
{
	const struct path *path = &matcher->path;

	for (size_t i = 0; i < path->stops; i++)
		if (path->stop[i].hops == hops && path->stop[i].begins_sent &&
		    path->stop[i].receives)
			return false;
	return path->is_one_identity && !packet_is_anonymous(path->packet);
}

/* Return true if the other host may have seen an earlier, equal packet: this one passed
 * several times, or it is of a kind that hosts repeat forever (neighbour discovery) and
 * has no identification. */
static bool may_repeat(const struct matcher *matcher, const struct stop *from,
		       const struct stop *to)
{
	const struct packet *packet = matcher->path.packet;

	return from->sends > 1 || to->receives > 1 ||
	       (packet_is_to_many(packet) && (packet->family == 6 || !packet->id));
}

/* Return true if the packet certainly went from `from` to `to`, on one level or down. A
 * host may have sent first only because its receive was not recorded; then `to` must not
 * look as if it had forwarded the packet to it. */
static bool is_direct(const struct matcher *matcher, const struct stop *from,
		      const struct stop *to)
{
	if (to->receives > from->sends)
		return false;
	if (may_repeat(matcher, from, to) && !was_recording(matcher, from, to))
		return false;
	if (is_contested(matcher, from) && !all_only_send(matcher, from->hops))
		return false;
	if (from->hops != to->hops)
		return true;
	if (to->begins_sent || (!from->ends_sent && to->ends_sent))
		return false;
	return !is_contested(matcher, from) || !to->sends;
}

/* Emit a message. If the packet passed several times, the others are within the host. */
static void emit_message(struct matcher *matcher, const struct stop *from,
			 const struct stop *to)
{
	struct seen *sent = from->sent->seen, *received = to->received->seen;

	matcher->counts.inside +=
	    sent->count - from->sends + received->count - to->receives;
	sent->count = from->sends;
	received->count = to->receives;
	match_emit(matcher, from->sent, to->received);
}

/* Return true if two clocks saw a level on which the first sent the packet. */
static bool share_level(const struct matcher *matcher, uint32_t from, uint32_t to)
{
	const struct path *path = &matcher->path;
	const struct stop *stop = path->stop;

	for (size_t i = 0; i < path->stops; i++)
		for (size_t k = 0; stop[i].clock_index == from && stop[i].begins_sent &&
				   k < path->stops;
		     k++)
			if (stop[k].clock_index == to && stop[k].hops == stop[i].hops)
				return true;
	return false;
}

/*
 * To clocks of lower levels alone: routers between them are not traced, or what
 * arrived was not recorded. Only from the lowest level that is above them.
 */
static bool is_next_below(const struct matcher *matcher, const struct stop *from,
			  const struct stop *to)
{
	const struct path *path = &matcher->path;

	if (to->hops >= from->hops ||
	    share_level(matcher, from->clock_index, to->clock_index))
		return false;
	for (const struct stop *at = path->stop; at < path->stop + path->stops; at++)
		if (at->hops < from->hops && at->hops > to->hops &&
		    ((at->clock_index == to->clock_index && at->receives) ||
		     (at->clock_index == from->clock_index && at->begins_sent)))
			return false;
	return true;
}

bool path_leads(const struct matcher *matcher, const struct stop *from,
		const struct stop *to)
{
	return from->begins_sent && to->receives &&
	       !match_is_one_host(matcher, from->clock_index, to->clock_index) &&
	       (from->hops == to->hops || is_next_below(matcher, from, to)) &&
	       is_direct(matcher, from, to);
}

/* First what stays on a level. */
static void emit_all(struct matcher *matcher)
{
	const struct path *path = &matcher->path;
	const struct stop *stop = path->stop, *end = stop + path->stops;
	bool to_many = packet_is_to_many(path->packet);

	for (int down = 0; down < 2; down++)
		for (const struct stop *from = stop; from < end; from++) {
			/* Copies to many hosts take paths of many routers, which have
			 * no order. */
			if (down && to_many && from->hops != stop->hops)
				continue;
			for (const struct stop *to = stop; to < end; to++)
				if ((to->hops < from->hops) == down &&
				    path_leads(matcher, from, to))
					emit_message(matcher, from, to);
		}
}

/* Without all times to live there is one level. */
static void set_levels(struct match_side *side, size_t sides)
{
	bool known = true;

	for (size_t i = 0; i < sides; i++)
		known &= side[i].seen->hops > 0;
	for (size_t i = 0; i < sides; i++)
		side[i].hops = known ? side[i].seen->hops : 0;
}

void path_emit(struct matcher *matcher)
{
	struct match_side *side = matcher->side;
	struct path *path = &matcher->path;
	size_t n;

	path->packet = &side->entry->packet;
	path->number = entry_number(&matcher->entries, side->entry);
	path->offset = 0;
	path->is_one_identity = true;
	path->stops = 0;
	for (size_t i = 1; i < matcher->sides; i++)
		path->is_one_identity &= side[i].entry == side->entry;
	set_levels(side, matcher->sides);
	SORT(side, matcher->sides, by_level);
	for (size_t i = 0; i < matcher->sides; i += n) {
		n = 1;
		while (i + n < matcher->sides &&
		       side[i + n].seen->clock_index == side[i].seen->clock_index &&
		       side[i + n].hops == side[i].hops)
			n++;
		add_stop(path, side + i, n);
	}
	emit_all(matcher);
}
