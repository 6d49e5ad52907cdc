/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/private.h"

#include <stdlib.h>

#include "base/mem.h"

/*
 * Which two stamps of one packet are a true constraint.
 *
 * A packet passes many devices: of containers, bridges and tunnels within its host,
 * of hosts that forward it. What one source saw is in order by its own clock, and
 * every router takes one off the time to live. So a packet's way has levels, one for each
 * time to live, from the highest to the lowest; and a level begins in the host
 * that sent the packet before it received it there. That host's first send came
 * before everything that other hosts saw on that level, or on lower ones.
 */

enum { STOPS_INLINE = 16 };

static bool is_one_host(const struct path *path, const struct stop *a,
			const struct stop *b)
{
	return match_is_one_host(path->matcher, a->source, b->source);
}

/* Down the levels; of one level source by source, each in the order of its clock. */
static int by_level(const void *a, const void *b)
{
	const struct match_side *p = a, *q = b;
	const struct seen *r = p->seen, *s = q->seen;

	if (p->hops != q->hops)
		return p->hops > q->hops ? -1 : 1;
	if (r->source != s->source)
		return r->source < s->source ? -1 : 1;
	if (r->first_ns != s->first_ns)
		return r->first_ns < s->first_ns ? -1 : 1;
	if (r->received != s->received)
		return r->received ? 1 : -1;
	return (r->device > s->device) - (r->device < s->device);
}

/* The most often that the stop's source saw the packet on one side of one device. */
static uint32_t most_often(const struct match_side *side, size_t sides, bool received)
{
	uint32_t most = 0;

	for (size_t i = 0; i < sides; i++)
		if (side[i].seen->received == received && side[i].seen->count > most)
			most = side[i].seen->count;
	return most;
}

/*
 * How often the packet came by. Containers call their device like that of their host,
 * so that one device seems to send twice what it once received in between.
 */
static uint32_t times(uint32_t count, uint32_t between, bool is_outer)
{
	return is_outer && count == 2 * between ? between : count;
}

static struct stop stop_of(struct match_side *side, size_t sides)
{
	const struct seen *last = side->seen;
	struct stop stop = {.source = last->source, .hops = side->hops};
	uint32_t sends, receives;

	stop.begins_sent = !side->seen->received;
	for (size_t i = 0; i < sides; i++) {
		struct match_side **first =
		    side[i].seen->received ? &stop.received : &stop.sent;

		if (!*first)
			*first = &side[i];
		if (side[i].seen->last_ns > last->last_ns)
			last = side[i].seen;
	}
	stop.ends_sent = !last->received;
	sends = stop.sent ? stop.sent->seen->count : 0;
	receives = stop.received ? stop.received->seen->count : 0;
	stop.sends = times(sends, most_often(side, sides, true),
			   stop.begins_sent && stop.ends_sent);
	stop.receives = times(receives, most_often(side, sides, false),
			      !stop.begins_sent && !stop.ends_sent);
	return stop;
}

/* Whether the level of a stop begins in several hosts, or seems so. */
static bool is_contested(const struct path *path, const struct stop *stop)
{
	for (size_t i = 0; i < path->stops; i++)
		if (path->stop[i].hops == stop->hops && path->stop[i].begins_sent &&
		    !is_one_host(path, &path->stop[i], stop))
			return true;
	return false;
}

/*
 * Hosts of which we do not know that they are one, as a trace and a capture of a node
 * given by themselves; or the packets are not one.
 */
static bool all_only_send(const struct path *path, uint8_t hops)
{
	for (size_t i = 0; i < path->stops; i++)
		if (path->stop[i].hops == hops && path->stop[i].begins_sent &&
		    path->stop[i].received)
			return false;
	return path->is_one_identity && !packet_is_anonymous(path->packet);
}

/*
 * Whether the packet may not be the one that the other saw, but one before that looked
 * the same: it came by several times, or it is of those that hosts repeat for ever, as
 * they ask their neighbours who is there, and has nothing to tell it from the others.
 */
static bool may_repeat(const struct path *path, const struct stop *from,
		       const struct stop *to)
{
	const struct packet *packet = path->packet;

	return from->sends > 1 || to->receives > 1 ||
	       (packet_is_to_many(packet) && (packet->family == 6 || !packet->id));
}

/*
 * Whether the packet surely went from here to there, both on one level or `to` on a
 * lower one. That a host saw its send first may be because what it received was not
 * recorded; then the other must not look as if it had passed the packet on to it.
 */
static bool is_way(const struct path *path, const struct stop *from,
		   const struct stop *to)
{
	if (to->receives > from->sends)
		return false;
	if (may_repeat(path, from, to) &&
	    !match_was_recording(path->matcher, from->source, to->source,
				 to->received->ns))
		return false;
	if (is_contested(path, from) && !all_only_send(path, from->hops))
		return false;
	if (from->hops != to->hops)
		return true;
	if (to->begins_sent || (!from->ends_sent && to->ends_sent))
		return false;
	return !is_contested(path, from) || !to->sent;
}

/* Of what came by so many times, the others are the same packet within the host. */
static void set_times(const struct path *path, struct seen *seen, uint32_t times)
{
	path->matcher->counts.inside += seen->count - times;
	seen->count = times;
}

static size_t emit(const struct path *path, const struct stop *from,
		   const struct stop *to)
{
	set_times(path, from->sent->seen, from->sends);
	set_times(path, to->received->seen, to->receives);
	match_emit(path->matcher, from->sent, to->received);
	return 1;
}

/* Whether two sources were on one level where the packet was sent by the first. */
static bool share_level(const struct path *path, uint32_t from, uint32_t to)
{
	const struct stop *stop = path->stop;

	for (size_t i = 0; i < path->stops; i++)
		for (size_t k = 0;
		     stop[i].source == from && stop[i].begins_sent && k < path->stops;
		     k++)
			if (stop[k].source == to && stop[k].hops == stop[i].hops)
				return true;
	return false;
}

/*
 * To sources of lower levels alone: routers between them are not traced, or what
 * arrived was not recorded. Only from the lowest level that is above them.
 */
static bool is_next_below(const struct path *path, const struct stop *from,
			  const struct stop *to)
{
	if (to->hops >= from->hops || share_level(path, from->source, to->source))
		return false;
	for (const struct stop *at = path->stop; at < path->stop + path->stops; at++)
		if (at->hops < from->hops && at->hops > to->hops &&
		    ((at->source == to->source && at->received) ||
		     (at->source == from->source && at->begins_sent)))
			return false;
	return true;
}

bool path_leads(const struct path *path, const struct stop *from, const struct stop *to)
{
	return from->begins_sent && to->received && !is_one_host(path, from, to) &&
	       (from->hops == to->hops || is_next_below(path, from, to)) &&
	       is_way(path, from, to);
}

/* First what stays on a level. Returns how many. */
static size_t emit_all(const struct path *path)
{
	const struct stop *stop = path->stop, *end = stop + path->stops;
	bool to_many = packet_is_to_many(path->packet);
	size_t emitted = 0;

	for (int down = 0; down < 2; down++)
		for (const struct stop *from = stop; from < end; from++) {
			/* What many routers pass on has many ways, of which one is not
			 * before another. */
			if (down && to_many && from->hops != stop->hops)
				continue;
			for (const struct stop *to = stop; to < end; to++)
				if ((to->hops < from->hops) == down &&
				    path_leads(path, from, to))
					emitted += emit(path, from, to);
		}
	return emitted;
}

static void find_stops(struct path *path, struct match_side *side, size_t sides)
{
	size_t n;

	for (size_t i = 0; i < sides; i += n) {
		n = 1;
		while (i + n < sides &&
		       side[i + n].seen->source == side[i].seen->source &&
		       side[i + n].hops == side[i].hops)
			n++;
		path->stop[path->stops++] = stop_of(side + i, n);
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

size_t path_emit(struct matcher *matcher, struct match_side *side, size_t sides)
{
	struct path path = {
	    .matcher = matcher, .packet = &side->entry->packet, .is_one_identity = true};
	struct stop few[STOPS_INLINE];
	size_t emitted;

	path.stop = sides > STOPS_INLINE ? mem_alloc(sides * sizeof(*path.stop)) : few;
	for (size_t i = 1; i < sides; i++)
		path.is_one_identity &= side[i].entry == side->entry;
	set_levels(side, sides);
	qsort(side, sides, sizeof(*side), by_level);
	find_stops(&path, side, sides);
	emitted = emit_all(&path);
	if (path.stop != few)
		free(path.stop);
	return emitted;
}
