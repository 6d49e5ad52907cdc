/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/walk_private.h"

#include <inttypes.h>
#include <string.h>

static void set_facts(struct native_walk *walk, const struct native_stream_class *stream)
{
	const struct tsdl_clock *clock = stream->clock.of;
	const char *host = walk->trace->tsdl->hostname;
	struct reader_facts *facts = &walk->facts;

	if (host)
		strncpy(facts->hostname, host, sizeof(facts->hostname) - 1);
	if (facts->has_clock)
		return;
	facts->has_clock = 1;
	facts->clock_frequency = clock->frequency;
	facts->clock_offset_ns = native_offset_ns(clock);
	facts->has_uuid = clock->has_uuid;
	memcpy(facts->clock_uuid, clock->uuid, sizeof(facts->clock_uuid));
}

/*
 * What was lost before this packet. The counters are of the whole stream; lost
 * before its first packet, events are counted as one, as nobody knows when.
 */
static void count_lost(struct native_walk *walk, struct native_reading *reading)
{
	const struct native_packet *packet = &reading->of->packet;
	uint64_t sequence = packet->value[HEAD_SEQUENCE];
	uint64_t discarded = packet->value[HEAD_DISCARDED];

	if (packet->has[HEAD_DISCARDED] && !reading->has_before)
		walk->facts.discarded_events += discarded != 0;
	else if (packet->has[HEAD_DISCARDED])
		walk->facts.discarded_events += discarded - reading->discarded;
	if (packet->has[HEAD_SEQUENCE] && reading->has_before &&
	    sequence - reading->sequence > 1)
		walk->facts.discarded_packets += sequence - reading->sequence - 1;
	reading->has_before = true;
	reading->sequence = sequence;
	reading->discarded = discarded;
}

/* Go on to the next packet, with what helpers have done of it. */
static bool next_packet(struct native_walk *walk, struct native_reading *reading)
{
	struct native_stream *stream = reading->of;
	struct native_digest *digest =
	    walk->ahead ? native_ahead_take(walk->ahead, reading->index) : NULL;
	uint64_t at = stream->next;
	bool found;

	if (digest && digest->is_sound)
		native_window_swap(&stream->window, at, &digest->byte, digest->bytes,
				   &digest->room);
	found = native_stream_next(stream, walk->trace, &walk->problems);
	if (walk->ahead && found)
		native_ahead_follow(walk->ahead, reading->index);
	if (digest && digest->is_sound && found && stream->at == at && !stream->is_cut &&
	    stream->packet.content == digest->packet.content) {
		reading->digest = digest;
		reading->at_event = reading->at_wanted = 0;
	} else {
		native_ahead_give_back(walk->ahead, digest);
	}
	return found;
}

bool native_begin_packet(struct native_walk *walk, struct native_reading *reading)
{
	const struct native_packet *packet = &reading->of->packet;
	uint64_t cpu = packet->value[HEAD_CPU];
	bool first = !reading->has_before;

	if (!native_is_before_begin(walk, reading))
		reading->of->skip_before = NSEC_MIN;
	if (!next_packet(walk, reading))
		return false;
	cpu = packet->value[HEAD_CPU];
	reading->cpu = packet->has[HEAD_CPU] && cpu <= INT32_MAX ? (int32_t)cpu : -1;
	reading->has_packet = true;
	if (first) {
		set_facts(walk, packet->stream);
		if (walk->visitor.begin)
			walk->visitor.begin(walk->visitor.context, packet->stream);
	}
	count_lost(walk, reading);
	walk->facts.is_partial |= reading->of->is_skipped;
	return true;
}

/*
 * A stamp holds some bits of the clock, the rest is that of the one before. So
 * after a garbled event all are too late by a turn of those bits, up to the end.
 */
void native_end_packet(struct native_walk *walk, struct native_reading *reading)
{
	const struct native_packet *packet = &reading->of->packet;
	struct native_cursor *cursor = &reading->of->cursor;
	uint64_t end = packet->value[HEAD_END];
	nsec_t end_ns;

	reading->has_packet = false;
	walk->packets++;
	/* Of a tracer that crashed: nobody has set the end. */
	if (packet->has[HEAD_END] && (end || !packet->value[HEAD_BEGIN]))
		cursor->clock = end;
	if (reading->began && packet->stream->has_ends &&
	    native_instant(&packet->stream->clock, cursor->clock, &end_ns) &&
	    end_ns < reading->last_ns)
		problem_add(&walk->problems, walk->path, "garbled", 1,
			    "stream %u has events after the end of their packet, the "
			    "%llu up to there may have wrong stamps",
			    reading->index, (unsigned long long)reading->events);
}

void native_break_packet(struct native_walk *walk, struct native_reading *reading)
{
	const struct native_cursor *cursor = &reading->of->cursor;
	bool is_told = reading->of->is_cut && cursor->is_beyond;

	if (!is_told && !reading->broken++)
		problem_add(&walk->problems, reading->of->path, "broken", 1,
			    "an event before byte %" PRIu64
			    " cannot be read, the rest of "
			    "its packet is left out: %s",
			    reading->of->at + cursor->at / 8, cursor->why);
	reading->of->cursor.at = reading->of->cursor.end;
}

void native_end_stream(struct native_walk *walk, const struct native_reading *reading)
{
	if (reading->broken > 1)
		problem_add(&walk->problems, reading->of->path, "broken",
			    reading->broken - 1,
			    "%" PRIu64 " more packets are left out from some event on",
			    reading->broken - 1);
}
