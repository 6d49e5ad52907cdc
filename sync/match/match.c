/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/match.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sync/match/matcher_private.h"

enum {
	MATCHED_KEPT = 1 << 15, /* identities that distinguish repeats from new packets */
	MATCHED_AT_ONCE = 1 << 10,
	DECLARED_EVENTS =
	    256, /* limit of events of a declared message that are distinguished */
};

struct matcher *matcher_new(const uint32_t *host_of_clock, size_t in_flight,
			    bool keeps_ends)
{
	struct matcher *matcher = mem_zalloc(sizeof(*matcher));

	entry_table_init(&matcher->entries);
	matcher->host_of_clock = host_of_clock;
	matcher->in_flight = in_flight;
	matcher->entries.keeps_origins = keeps_ends;
	if (keeps_ends)
		matcher->resends = resends_new();
	return matcher;
}

/* Return true if `it` is a single send and its clock recorded no other send of the
 * packet. */
static bool is_handing(const struct entry *entry, const struct seen *it)
{
	const struct seen *end = entry->seen + entry->seens;

	for (const struct seen *seen = entry->seen; seen < end; seen++)
		if (seen != it && seen->clock_index == it->clock_index && !seen->received)
			return false;
	return !it->received && it->count == 1;
}

static struct match_handing handing_of(const struct seen *seen)
{
	return (struct match_handing){seen->clock_index, seen->ns, seen->whole_ns};
}

/* Record when each clock of a host handed a packet to the driver, to tie them. */
static void show_handings(struct matcher *matcher, const struct entry *entry)
{
	struct match_output *output = &matcher->output;
	const struct seen *p = entry->seen, *end = p + entry->seens;

	for (; p < end; p++)
		for (const struct seen *q = entry->seen; q < end; q++) {
			struct match_handing *both;

			if (p->clock_index >= q->clock_index ||
			    !match_is_one_host(matcher, p->clock_index, q->clock_index) ||
			    !is_handing(entry, p) || !is_handing(entry, q))
				continue;
			both = *MEM_NEXT(output->handing, output->handings,
					 output->handing_capacity);
			both[0] = handing_of(p);
			both[1] = handing_of(q);
		}
}

/* Return true if other events of its clock explain a packet event without a message: one
 * of them belongs to a message, or the packet was sent and then received within the host.
 */
static bool is_inside(const struct entry *entry, const struct seen *it)
{
	const struct seen *end = entry->seen + entry->seens;

	for (const struct seen *seen = entry->seen; seen < end; seen++) {
		const struct seen *sent = it->received ? seen : it;
		const struct seen *received = it->received ? it : seen;

		if (seen->clock_index == it->clock_index &&
		    (seen->used || (!sent->received && received->received &&
				    sent->first_ns < received->last_ns)))
			return true;
	}
	return false;
}

/* Count the events of a declared message; each has a count. */
static void count_declared(struct declared_counts *counts, const struct entry *entry,
			   const struct seen *seen)
{
	if (seen->used) {
		counts->ambiguous += seen->count - 1;
		return;
	}
	if (is_inside(entry, seen))
		counts->inside += seen->count;
	else if (entry->matched || seen->count > 1)
		counts->ambiguous += seen->count;
	else
		++*(seen->received ? &counts->unmatched_received
				   : &counts->unmatched_sent);
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

static void retire_declared(struct matcher *matcher, struct entry *entry)
{
	if (entry->matched)
		declared_emit(matcher);
	for (uint32_t i = 0; i < entry->seens; i++)
		count_declared(declared_counts_of(matcher, &entry->packet), entry,
			       &entry->seen[i]);
}

static void retire_packet(struct matcher *matcher, struct entry *entry)
{
	if (entry->matched)
		path_emit(matcher);
	if (matcher->host_of_clock && entry->seens > 1)
		show_handings(matcher, entry);
}

/* Emit the entry's messages, count its unmatched packet events, and remove it. */
static void emit_and_remove_entry(struct matcher *matcher, struct entry *entry)
{
	matcher->sides = 0;
	for (uint32_t i = 0; i < entry->seens && entry->matched; i++)
		*MEM_NEXT(matcher->side, matcher->sides, matcher->side_capacity) =
		    (struct match_side){entry, &entry->seen[i], entry->seen[i].ns, 0};
	if (packet_is_declared(&entry->packet))
		retire_declared(matcher, entry);
	else
		retire_packet(matcher, entry);
	for (uint32_t i = 0; i < entry->seens; i++)
		count_left(&matcher->counts, entry, &entry->seen[i]);
	entry_table_remove(&matcher->entries, entry);
}

/* Match the waiting entries again and remove the oldest. The others stay, also those with
 * a message: more receives of a send's data can follow, which would otherwise be taken
 * for a retransmission. */
static void settle_waiting(struct matcher *matcher, size_t oldest)
{
	rematch_waiting(matcher);
	for (; oldest && matcher->entries.waiting.oldest; oldest--)
		emit_and_remove_entry(matcher, matcher->entries.waiting.oldest);
}

static void add_meeting(struct match_output *output, const struct seen *seen,
			uint32_t clock_index, const struct packet_event *fresh)
{
	*MEM_NEXT(output->meeting, output->meetings, output->meeting_capacity) =
	    fresh->received ? (struct match_meeting){seen->clock_index, clock_index,
						     seen->ns, fresh->ns}
			    : (struct match_meeting){clock_index, seen->clock_index,
						     fresh->ns, seen->ns};
}

/* The other side of a fresh packet event, seen by another host, or NULL. */
static const struct seen *other_side(const struct matcher *matcher,
				     const struct entry *entry, uint32_t clock_index,
				     bool received)
{
	const struct seen *end = entry->seen + entry->seens;

	for (const struct seen *seen = entry->seen; seen < end; seen++)
		if (seen->received != received &&
		    !match_is_one_host(matcher, seen->clock_index, clock_index))
			return seen;
	return NULL;
}

static void add_packet_event(struct matcher *matcher, struct entry *entry,
			     uint32_t clock_index, uint32_t trace_index,
			     const struct packet_event *packet_event)
{
	struct sent_place first = {.ns = NSEC_MAX};
	const struct seen *other = NULL;
	enum entry_news news;

	if (matcher->resends && !packet_event->received)
		first =
		    resends_add(matcher->resends, clock_index, trace_index, packet_event);
	news = entry_add_seen(entry, clock_index, trace_index, packet_event, &first);
	matcher->counts.inside += news == ENTRY_COPY;
	if (!entry->matched && news == ENTRY_FIRST && entry->seens > 1)
		other = other_side(matcher, entry, clock_index, packet_event->received);
	if (other)
		add_meeting(&matcher->output, other, clock_index, packet_event);
	/* After a repeat the identity stays, so that another repeat is not taken for a
	 * new packet. */
	if (entry->matched ? news != ENTRY_FIRST : !!other)
		entry_table_match(&matcher->entries, entry);
}

/* Events of a declared message have no devices: each is apart, so that every receive can
 * become a message. */
static void add_declared(struct matcher *matcher, uint32_t clock_index,
			 uint32_t trace_index, const struct packet_event *event)
{
	struct packet_event numbered = declared_number(matcher, clock_index, event);
	struct entry *entry =
	    entry_table_find(&matcher->entries, &numbered.packet, numbered.hash);

	numbered.device = entry->seens < DECLARED_EVENTS ? entry->seens : DECLARED_EVENTS;
	add_packet_event(matcher, entry, clock_index, trace_index, &numbered);
}

void matcher_expect(const struct matcher *matcher, uint64_t hash, uint64_t sooner)
{
	const struct entry_table *entries = &matcher->entries;

	__builtin_prefetch(&entries->bucket[hash & (entries->buckets - 1)]);
	entry_fetch(entries->bucket[sooner & (entries->buckets - 1)]);
}

void matcher_add(struct matcher *matcher, uint32_t clock_index, uint32_t trace_index,
		 const struct packet_event *packet_event)
{
	struct entry_table *entries = &matcher->entries;
	uint64_t hash =
	    packet_event->hash ? packet_event->hash : packet_hash(&packet_event->packet);

	if (packet_event->received)
		matcher->counts.received++;
	else
		matcher->counts.sent++;
	if (packet_is_declared(&packet_event->packet))
		add_declared(matcher, clock_index, trace_index, packet_event);
	else
		add_packet_event(matcher,
				 entry_table_find(entries, &packet_event->packet, hash),
				 clock_index, trace_index, packet_event);
	if (entries->matched.count > MATCHED_KEPT)
		emit_and_remove_entry(matcher, entries->matched.oldest);
	if (entries->waiting.count > matcher->in_flight) {
		uint64_t before =
		    matcher->counts.unmatched_sent + matcher->counts.unmatched_received;

		settle_waiting(matcher, matcher->in_flight / 2);
		matcher->given_up += matcher->counts.unmatched_sent +
				     matcher->counts.unmatched_received - before;
	}
}

bool matcher_finish(struct matcher *matcher)
{
	struct entry_table *entries = &matcher->entries;

	if (!entries->matched.oldest && !entries->waiting.oldest)
		return false;
	if (!entries->matched.oldest)
		settle_waiting(matcher, SIZE_MAX);
	for (size_t i = 0; i < MATCHED_AT_ONCE && entries->matched.oldest; i++)
		emit_and_remove_entry(matcher, entries->matched.oldest);
	return true;
}

struct match_output *matcher_output(struct matcher *matcher)
{
	return &matcher->output;
}

const struct clock_matching *matcher_counts(const struct matcher *matcher)
{
	return &matcher->counts;
}

const struct declared_counts *matcher_declared(const struct matcher *matcher,
					       size_t *count)
{
	*count = matcher->declared.count;
	return matcher->declared.item;
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
	intmap_clear(&matcher->declared.numbers);
	free(matcher->declared.item);
	free(matcher->side);
	free(matcher->path.stop);
	free(matcher->output.message);
	free(matcher->output.ends);
	free(matcher->output.meeting);
	free(matcher->output.handing);
	free(matcher);
}
