/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/match.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/match/private.h"

/* How many matched identities are remembered to tell repeats from new packets. */
enum { MATCHED_KEPT = 1 << 15 };

struct matcher *matcher_new(struct pair_table *pairs, struct message_log *log,
			    size_t in_flight)
{
	struct matcher *matcher = mem_zalloc(sizeof(*matcher));

	entry_table_init(&matcher->entries);
	matcher->entries.most_waiting = in_flight;
	matcher->pairs = pairs;
	matcher->log = log;
	return matcher;
}

void matcher_on_tie(struct matcher *matcher, tie_fn *tie, void *context)
{
	matcher->tie = tie;
	matcher->tie_context = context;
}

void matcher_on_message(struct matcher *matcher, match_message_fn *look, void *context)
{
	matcher->look = look;
	matcher->look_context = context;
	matcher->entries.keeps_origins = true;
}

static struct match_end end_of(const struct match_side *side)
{
	const struct seen_origin *origin = entry_origin(side->entry, side->seen);

	return (struct match_end){origin->trace, origin->stream, origin->ordinal,
				  side->ns};
}

static void show_message(struct matcher *matcher, const struct match_side *send,
			 const struct match_side *receive)
{
	struct match_end from = end_of(send), to = end_of(receive);

	if (matcher->look(matcher->look_context, &from, &to, &receive->entry->packet,
			  matcher->error))
		matcher->failed = true;
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
	pair_add(&matcher->pairs->pair[message.pair], &message);
	/* After a failure the error stays that of the first. */
	if (matcher->failed)
		return;
	if (message_log_add(matcher->log, &message, matcher->error))
		matcher->failed = true;
	else if (matcher->look)
		show_message(matcher, send, receive);
}

/*
 * Whether a source's send is the packet's own, not passed on: one who also
 * received it forwards it, and says nothing new of the way before.
 */
static bool is_origin(struct entry *entry, const struct seen *seen)
{
	return !seen->received && !entry_seen_by(entry, seen->source, true);
}

/*
 * The first send and the first receive of an identity are a true constraint,
 * as long as the first receive belongs to a send that was recorded: more
 * receives than sends mean that one is missing.
 */
static void emit_messages(struct matcher *matcher, struct entry *entry)
{
	struct seen *seen = entry_seen(entry);

	for (uint32_t i = 0; i < entry->seens; i++) {
		if (!is_origin(entry, &seen[i]))
			continue;
		for (uint32_t k = 0; k < entry->seens; k++)
			if (seen[k].received && seen[k].source != seen[i].source &&
			    seen[k].count <= seen[i].count)
				match_emit(
				    matcher,
				    &(struct match_side){entry, &seen[i], seen[i].ns},
				    &(struct match_side){entry, &seen[k], seen[k].ns});
	}
}

/* Count what becomes of an entry's sightings, and let it go. */
static void retire(struct matcher *matcher, struct entry *entry)
{
	struct seen *seen = entry_seen(entry);

	if (entry->matched)
		emit_messages(matcher, entry);
	for (uint32_t i = 0; i < entry->seens; i++) {
		matcher->counts.ambiguous += seen[i].count - 1;
		if (seen[i].used)
			continue;
		if (entry->matched)
			matcher->counts.ambiguous++;
		else if (seen[i].received)
			matcher->counts.unmatched_received++;
		else
			matcher->counts.unmatched_sent++;
	}
	entry_table_remove(&matcher->entries, entry);
}

size_t match_waiting(const struct matcher *matcher, struct entry ***waiting)
{
	const struct entry_queue *queue = &matcher->entries.waiting;
	size_t n = 0;

	*waiting = mem_alloc(queue->count * sizeof(struct entry *));
	for (struct entry *entry = queue->oldest; entry; entry = entry->newer)
		(*waiting)[n++] = entry;
	return n;
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

static void report_tie(struct matcher *matcher, struct entry *entry,
		       const struct seen *fresh)
{
	const struct seen *seen = entry_seen(entry);

	for (uint32_t i = 0; matcher->tie && i < entry->seens; i++) {
		if (seen[i].received == fresh->received ||
		    seen[i].source == fresh->source)
			continue;
		if (fresh->received)
			matcher->tie(matcher->tie_context, seen[i].source, seen[i].ns,
				     fresh->source, fresh->ns);
		else
			matcher->tie(matcher->tie_context, fresh->source, fresh->ns,
				     seen[i].source, seen[i].ns);
		return;
	}
}

/* Whether both sides are there, seen by two different sources. */
static bool has_both_sides(struct entry *entry)
{
	struct seen *seen = entry_seen(entry);

	for (uint32_t i = 0; i < entry->seens; i++)
		for (uint32_t k = 0; is_origin(entry, &seen[i]) && k < entry->seens; k++)
			if (seen[k].received && seen[k].source != seen[i].source)
				return true;
	return false;
}

static void note(struct matcher *matcher, struct entry *entry, uint32_t source,
		 uint32_t trace, const struct sighting *sighting)
{
	struct seen *seen = entry_seen_by(entry, source, sighting->received);

	if (!seen) {
		seen = entry_add_seen(entry, source, sighting);
		if (entry->has_origins)
			*entry_origin(entry, seen) = (struct seen_origin){
			    trace, sighting->stream, sighting->ordinal};
		if (!entry->matched && entry->seens > 1 && has_both_sides(entry)) {
			report_tie(matcher, entry, seen);
			entry_table_match(&matcher->entries, entry);
		}
	} else if (seen->device == sighting->device) {
		seen->count++;
	} else {
		/* The same packet on its way through the devices of one host. */
		matcher->counts.ambiguous++;
	}
}

void matcher_expect(const struct matcher *matcher, const struct sighting *sighting,
		    const struct sighting *sooner)
{
	entry_table_expect(&matcher->entries, sighting->hash);
	if (sooner)
		entry_table_expect_soon(&matcher->entries, sooner->hash);
}

int matcher_add(struct matcher *matcher, uint32_t source, uint32_t trace,
		const struct sighting *sighting, struct error *error)
{
	struct entry_table *entries = &matcher->entries;
	uint64_t hash = sighting->hash ? sighting->hash : packet_hash(&sighting->packet);

	matcher->error = error;
	if (sighting->received)
		matcher->counts.received++;
	else
		matcher->counts.sent++;
	note(matcher, entry_table_find(entries, &sighting->packet, hash), source, trace,
	     sighting);
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
	free(matcher);
}
