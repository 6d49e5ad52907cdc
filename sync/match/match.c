/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/match.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/match/private.h"

/* How many matched identities are remembered to tell repeats from new packets. */
enum { MATCHED_KEPT = 1 << 15 };

enum { SIDES_INLINE = 16 };

/* A packet that is not there after this time does not come any more. */
#define LONGEST_WAY NSEC_PER_SEC

struct matcher *matcher_new(struct pair_table *pairs, struct message_log *log,
			    size_t in_flight, const struct match_listener *listener)
{
	struct matcher *matcher = mem_zalloc(sizeof(*matcher));

	entry_table_init(&matcher->entries);
	matcher->entries.most_waiting = in_flight;
	matcher->pairs = pairs;
	matcher->log = log;
	if (listener)
		matcher->listener = *listener;
	matcher->entries.keeps_origins = matcher->listener.message;
	return matcher;
}

bool match_is_one_host(const struct matcher *matcher, uint32_t a, uint32_t b)
{
	const uint32_t *host = matcher->listener.host;

	return a == b || (host && host[a] == host[b]);
}

static uint64_t way_key(uint32_t sender, uint32_t receiver)
{
	return (uint64_t)sender << 32 | receiver;
}

bool match_was_recording(const struct matcher *matcher, uint32_t sender,
			 uint32_t receiver, nsec_t recv_ns)
{
	int64_t first;

	return intmap_get(&matcher->heard, way_key(sender, receiver), &first) &&
	       first < nsec_sub(recv_ns, LONGEST_WAY);
}

static void note_heard(struct matcher *matcher, const struct match_side *send,
		       const struct match_side *receive)
{
	uint64_t key = way_key(send->seen->source, receive->seen->source);
	int64_t first;

	if (!intmap_get(&matcher->heard, key, &first) || receive->ns < first)
		intmap_put(&matcher->heard, key, receive->ns);
}

static struct messages_end end_of(const struct match_side *side)
{
	const struct seen_origin *origin = entry_origin(side->entry, side->seen);

	return (struct messages_end){origin->trace, origin->stream, origin->ordinal,
				     side->ns};
}

void match_emit(struct matcher *matcher, const struct match_side *send,
		const struct match_side *receive)
{
	const struct packet *packet = &receive->entry->packet;
	bool has_ports =
	    packet->protocol == IPPROTO_TCP || packet->protocol == IPPROTO_UDP;
	uint16_t lower_port =
	    packet->sport < packet->dport ? packet->sport : packet->dport;
	struct message message = {
	    .pair = pair_table_find(matcher->pairs, send->seen->source,
				    receive->seen->source),
	    .forward = send->seen->source < receive->seen->source,
	    .send_ns = send->ns,
	    .recv_ns = receive->ns,
	    .protocol = packet->protocol,
	    .port = has_ports ? lower_port : 0,
	};

	send->seen->used = receive->seen->used = true;
	matcher->counts.matched++;
	note_heard(matcher, send, receive);
	pair_add(&matcher->pairs->pair[message.pair], &message);
	/* After a failure the error stays that of the first. */
	if (matcher->failed)
		return;
	if (message_log_add(matcher->log, &message, matcher->error))
		matcher->failed = true;
	else if (matcher->listener.message)
		matcher->failed = matcher->listener.message(
		    matcher->listener.context,
		    &(struct message_ends){end_of(send), end_of(receive), *packet},
		    matcher->error);
}

/* Messages of an entry's packet events. */
static void emit_messages(struct matcher *matcher, struct entry *entry)
{
	struct match_side few[SIDES_INLINE], *side = few;
	struct seen *seen = entry_seen(entry);

	if (entry->seens > SIDES_INLINE)
		side = mem_alloc(entry->seens * sizeof(*side));
	for (uint32_t i = 0; i < entry->seens; i++)
		side[i] = (struct match_side){entry, &seen[i], seen[i].ns, 0};
	path_emit(matcher, side, entry->seens);
	if (side != few)
		free(side);
}

/* Whether it is all that its source saw of the packet going out. */
static bool is_handing(struct entry *entry, const struct seen *it)
{
	const struct seen *seen = entry_seen(entry);

	if (it->received || it->count > 1)
		return false;
	for (uint32_t i = 0; i < entry->seens; i++)
		if (&seen[i] != it && seen[i].source == it->source && !seen[i].received)
			return false;
	return true;
}

/* Sources of one host that sent a packet each tell when it went to the driver. */
static void show_handings(const struct matcher *matcher, struct entry *entry)
{
	const struct seen *p = entry_seen(entry), *end = p + entry->seens;

	for (; p < end; p++)
		for (const struct seen *q = entry_seen(entry); q < end; q++)
			if (p->source < q->source &&
			    match_is_one_host(matcher, p->source, q->source) &&
			    is_handing(entry, p) && is_handing(entry, q))
				matcher->listener.handing(
				    matcher->listener.context,
				    &(struct match_handing){p->source, p->ns,
							    p->whole_ns},
				    &(struct match_handing){q->source, q->ns,
							    q->whole_ns});
}

/*
 * Whether a packet event that is no part of a message is explained by others of its
 * source: that has a part in one, or the packet was sent and then received within the
 * host.
 */
static bool is_inside(struct entry *entry, const struct seen *it)
{
	const struct seen *seen = entry_seen(entry);

	for (uint32_t i = 0; i < entry->seens; i++) {
		if (seen[i].source != it->source)
			continue;
		if (seen[i].used)
			return true;
		if (it->received && !seen[i].received && seen[i].first_ns < it->last_ns)
			return true;
		if (!it->received && seen[i].received && seen[i].last_ns > it->first_ns)
			return true;
	}
	return false;
}

static void count_left(struct clock_matching *counts, struct entry *entry,
		       const struct seen *seen)
{
	if (!seen->used && is_inside(entry, seen)) {
		counts->inside += seen->count;
		return;
	}
	counts->ambiguous += seen->count - 1;
	if (seen->used)
		return;
	if (entry->matched)
		counts->ambiguous++;
	else if (seen->received)
		counts->unmatched_received++;
	else
		counts->unmatched_sent++;
}

/* Make what an entry's packet events tell of, count what is left, and let it go. */
static void retire(struct matcher *matcher, struct entry *entry)
{
	if (entry->matched)
		emit_messages(matcher, entry);
	if (matcher->listener.handing && entry->seens > 1)
		show_handings(matcher, entry);
	for (uint32_t i = 0; i < entry->seens; i++)
		count_left(&matcher->counts, entry, &entry_seen(entry)[i]);
	entry_table_remove(&matcher->entries, entry);
}

/*
 * Look again at what waits, and let go of the oldest. The others stay, those
 * with a message too: more receives may come of what a send held, and would
 * otherwise be taken for those of the same bytes sent again.
 */
static void settle_waiting(struct matcher *matcher, size_t oldest)
{
	match_ranges(matcher);
	match_transport(matcher);
	for (; oldest && matcher->entries.waiting.oldest; oldest--)
		retire(matcher, matcher->entries.waiting.oldest);
}

static void report_tie(struct matcher *matcher, const struct seen *seen, uint32_t source,
		       const struct packet_event *fresh)
{
	const struct match_listener *listener = &matcher->listener;

	if (listener->tie && fresh->received)
		listener->tie(listener->context, seen->source, seen->ns, source,
			      fresh->ns);
	else if (listener->tie)
		listener->tie(listener->context, source, fresh->ns, seen->source,
			      seen->ns);
}

/* The other side of a fresh packet event, seen by another host, or NULL. */
static const struct seen *other_side(const struct matcher *matcher, struct entry *entry,
				     uint32_t source, bool received)
{
	const struct seen *seen = entry_seen(entry);

	for (uint32_t i = 0; i < entry->seens; i++)
		if (seen[i].received != received &&
		    !match_is_one_host(matcher, seen[i].source, source))
			return &seen[i];
	return NULL;
}

static void note(struct matcher *matcher, struct entry *entry, uint32_t source,
		 uint32_t trace, const struct packet_event *packet_event)
{
	bool is_new = entry_add_seen(entry, source, trace, packet_event);
	const struct seen *other;

	if (entry->matched) {
		/* Repeats keep an identity in mind: none may be taken for a new packet.
		 */
		if (!is_new)
			entry_table_match(&matcher->entries, entry);
		return;
	}
	if (!is_new || entry->seens < 2)
		return;
	other = other_side(matcher, entry, source, packet_event->received);
	if (other) {
		report_tie(matcher, other, source, packet_event);
		entry_table_match(&matcher->entries, entry);
	}
}

void matcher_expect(const struct matcher *matcher,
		    const struct packet_event *packet_event,
		    const struct packet_event *sooner)
{
	entry_table_expect(&matcher->entries, packet_event->hash);
	if (sooner)
		entry_table_expect_soon(&matcher->entries, sooner->hash);
}

int matcher_add(struct matcher *matcher, uint32_t source, uint32_t trace,
		const struct packet_event *packet_event, struct error *error)
{
	struct entry_table *entries = &matcher->entries;
	uint64_t hash =
	    packet_event->hash ? packet_event->hash : packet_hash(&packet_event->packet);

	matcher->error = error;
	if (packet_event->received)
		matcher->counts.received++;
	else
		matcher->counts.sent++;
	note(matcher, entry_table_find(entries, &packet_event->packet, hash), source,
	     trace, packet_event);
	if (entries->matched.count > MATCHED_KEPT)
		retire(matcher, entries->matched.oldest);
	if (entries->waiting.count > entries->most_waiting) {
		uint64_t before =
		    matcher->counts.unmatched_sent + matcher->counts.unmatched_received;

		settle_waiting(matcher, entries->most_waiting / 2);
		matcher->given_up += matcher->counts.unmatched_sent +
				     matcher->counts.unmatched_received - before;
	}
	return matcher->failed ? -1 : 0;
}

int matcher_finish(struct matcher *matcher, struct error *error)
{
	matcher->error = error;
	while (matcher->entries.matched.oldest)
		retire(matcher, matcher->entries.matched.oldest);
	settle_waiting(matcher, SIZE_MAX);
	return matcher->failed ? -1 : 0;
}

const struct clock_matching *matcher_counts(const struct matcher *matcher)
{
	return &matcher->counts;
}

uint64_t matcher_given_up(const struct matcher *matcher)
{
	return matcher->given_up;
}

void matcher_free(struct matcher *matcher)
{
	if (!matcher)
		return;
	entry_table_clear(&matcher->entries);
	intmap_clear(&matcher->heard);
	free(matcher);
}
