/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/match.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sync/match/matcher.h"

/* How many matched identities are remembered to tell repeats from new packets. */
enum { MATCHED_KEPT = 1 << 15 };

struct matcher *matcher_new(struct pair_table *pairs, struct message_log *log,
			    size_t in_flight, const struct match_listener *listener)
{
	struct matcher *matcher = mem_zalloc(sizeof(*matcher));

	entry_table_init(&matcher->entries);
	matcher->in_flight = in_flight;
	matcher->pairs = pairs;
	matcher->log = log;
	if (listener)
		matcher->listener = *listener;
	matcher->entries.keeps_origins = matcher->listener.message;
	if (matcher->listener.message)
		matcher->resends = resends_new();
	return matcher;
}

/* Whether it is all that its source saw of the packet going out. */
static bool is_handing(const struct entry *entry, const struct seen *it)
{
	const struct seen *end = entry->seen + entry->seens;

	for (const struct seen *seen = entry->seen; seen < end; seen++)
		if (seen != it && seen->source == it->source && !seen->received)
			return false;
	return !it->received && it->count == 1;
}

/* Sources of one host that sent a packet each tell when it went to the driver. */
static void show_handings(const struct matcher *matcher, const struct entry *entry)
{
	const struct match_listener *listener = &matcher->listener;
	const struct seen *p = entry->seen, *end = p + entry->seens;

	for (; p < end; p++)
		for (const struct seen *q = entry->seen; q < end; q++)
			if (p->source < q->source &&
			    match_is_one_host(matcher, p->source, q->source) &&
			    is_handing(entry, p) && is_handing(entry, q))
				listener->handing(listener->context,
						  &(struct match_handing){
						      p->source, p->ns, p->whole_ns},
						  &(struct match_handing){
						      q->source, q->ns, q->whole_ns});
}

/*
 * Whether a packet event that is no part of a message is explained by others of its
 * source: that has a part in one, or the packet was sent and then received within the
 * host.
 */
static bool is_inside(const struct entry *entry, const struct seen *it)
{
	const struct seen *end = entry->seen + entry->seens;

	for (const struct seen *seen = entry->seen; seen < end; seen++) {
		const struct seen *sent = it->received ? seen : it;
		const struct seen *received = it->received ? it : seen;

		if (seen->source == it->source &&
		    (seen->used || (!sent->received && received->received &&
				    sent->first_ns < received->last_ns)))
			return true;
	}
	return false;
}

static void count_left(struct clock_matching *counts, const struct entry *entry,
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
	matcher->sides = 0;
	for (uint32_t i = 0; i < entry->seens && entry->matched; i++)
		*MEM_NEXT(matcher->side, matcher->sides, matcher->side_capacity) =
		    (struct match_side){entry, &entry->seen[i], entry->seen[i].ns, 0};
	if (entry->matched)
		path_emit(matcher);
	if (matcher->listener.handing && entry->seens > 1)
		show_handings(matcher, entry);
	for (uint32_t i = 0; i < entry->seens; i++)
		count_left(&matcher->counts, entry, &entry->seen[i]);
	entry_table_remove(&matcher->entries, entry);
}

/*
 * Look again at what waits, and let go of the oldest. The others stay, those
 * with a message too: more receives may come of what a send held, and would
 * otherwise be taken for those of the same bytes sent again.
 */
static void settle_waiting(struct matcher *matcher, size_t oldest)
{
	rematch_waiting(matcher);
	for (; oldest && matcher->entries.waiting.oldest; oldest--)
		retire(matcher, matcher->entries.waiting.oldest);
}

static void report_tie(const struct match_listener *listener, const struct seen *seen,
		       uint32_t source, const struct packet_event *fresh)
{
	if (listener->tie && fresh->received)
		listener->tie(listener->context, seen->source, seen->ns, source,
			      fresh->ns);
	else if (listener->tie)
		listener->tie(listener->context, source, fresh->ns, seen->source,
			      seen->ns);
}

/* The other side of a fresh packet event, seen by another host, or NULL. */
static const struct seen *other_side(const struct matcher *matcher,
				     const struct entry *entry, uint32_t source,
				     bool received)
{
	const struct seen *end = entry->seen + entry->seens;

	for (const struct seen *seen = entry->seen; seen < end; seen++)
		if (seen->received != received &&
		    !match_is_one_host(matcher, seen->source, source))
			return seen;
	return NULL;
}

static void note(struct matcher *matcher, struct entry *entry, uint32_t source,
		 uint32_t trace, const struct packet_event *packet_event)
{
	struct sent_place first = {.ns = NSEC_MAX};
	const struct seen *other = NULL;
	enum entry_news news;

	if (matcher->resends && !packet_event->received)
		first = resends_add(matcher->resends, source, trace, packet_event);
	news = entry_add_seen(entry, source, trace, packet_event, &first);
	matcher->counts.inside += news == ENTRY_COPY;
	if (!entry->matched && news == ENTRY_FIRST && entry->seens > 1)
		other = other_side(matcher, entry, source, packet_event->received);
	if (other)
		report_tie(&matcher->listener, other, source, packet_event);
	/* Repeats keep an identity in mind: none may be taken for a new packet. */
	if (entry->matched ? news != ENTRY_FIRST : !!other)
		entry_table_match(&matcher->entries, entry);
}

void matcher_expect(const struct matcher *matcher, uint64_t hash, uint64_t sooner)
{
	const struct entry_table *entries = &matcher->entries;

	__builtin_prefetch(&entries->bucket[hash & (entries->buckets - 1)]);
	entry_fetch(entries->bucket[sooner & (entries->buckets - 1)]);
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
	if (entries->waiting.count > matcher->in_flight) {
		uint64_t before =
		    matcher->counts.unmatched_sent + matcher->counts.unmatched_received;

		settle_waiting(matcher, matcher->in_flight / 2);
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
	resends_free(matcher->resends);
	intmap_clear(&matcher->first_ns);
	intmap_clear(&matcher->translated);
	free(matcher->side);
	free(matcher->path.stop);
	free(matcher);
}
