/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/recorded.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "problem/problem.h"
#include "trace/ctf/packet.h"
#include "trace/ctf/resolve.h"
#include "trace/ctf/stream.h"

struct scan {
	const struct schema *schema;
	struct trace_recorded *recorded;
	struct ctf_window window;
	struct ctf_cursor cursor;
	nsec_t until_ns;

	/* The state of the current stream. */
	struct trace_period *last; /* the last packet's period; NULL before the first */
	struct trace_loss *open;   /* a loss whose packet has no end recorded, or NULL */
	bool is_cut; /* the last packet extends beyond the end of its file */
};

/* Set a packet's start and end; if they are not recorded, NSEC_MIN and NSEC_MAX. */
static void find_times(const struct ctf_packet *packet, bool is_whole,
		       struct trace_period *period)
{
	const struct schema_clock *clock = packet->stream->clock;
	uint64_t begin = packet->value[ROLE_BEGIN], end = packet->value[ROLE_END];
	bool has_begin = packet_has(packet, ROLE_BEGIN);

	if (!has_begin || !schema_clock_instant(clock, begin, &period->begin_ns))
		period->begin_ns = NSEC_MIN;
	/* If the tracer crashed, the packet's end timestamp was never set. */
	if (!packet_has(packet, ROLE_END) || !packet_has(packet, ROLE_END_STAMP) ||
	    !is_whole || (has_begin && end < begin) ||
	    !schema_clock_instant(clock, end, &period->end_ns))
		period->end_ns = NSEC_MAX;
}

/*
 * Return the timestamp of a packet's first event, or NSEC_MAX if there is no event or
 * some bits of the timestamp are unknown.
 */
static nsec_t first_event(struct ctf_cursor *cursor, const struct ctf_packet *packet)
{
	const struct schema_stream *stream = packet->stream;
	nsec_t event_ns;

	if (cursor->end > 8 * cursor->bytes.count)
		cursor->end = 8 * cursor->bytes.count;
	return cursor->at < cursor->end &&
		       (packet_has(packet, ROLE_BEGIN) || stream->stamp_size == 64) &&
		       ctf_program_run(stream->header_program, cursor) &&
		       schema_clock_instant(stream->clock, cursor->clock, &event_ns)
		   ? event_ns
		   : NSEC_MAX;
}

static bool follows_without_gap(const struct trace_period *last,
				const struct trace_period *next)
{
	uint64_t growth;

	if (last->sequence_size) {
		growth = counter_growth(last->sequence_size, last->last_sequence,
					next->first_sequence);
		if (growth)
			return growth == 1;
	}
	return next->begin_ns <= last->end_ns;
}

static void add_loss(struct scan *scan, const struct trace_period *packet,
		     nsec_t begin_ns)
{
	struct trace_recorded *recorded = scan->recorded;
	struct trace_loss *loss =
	    MEM_NEXT(recorded->loss, recorded->losses, recorded->loss_capacity);

	*loss =
	    (struct trace_loss){begin_ns, packet->end_ns, packet->channel, packet->cpu};
	scan->open = packet->end_ns == NSEC_MAX ? loss : NULL;
}

/*
 * If the counter of discarded events grew, add a loss: from the end of the previous
 * packet, if this one follows it without a gap, or else from the start of
 * this packet, to its end.
 */
static void find_loss(struct scan *scan, const struct trace_period *packet,
		      bool is_following)
{
	const struct trace_period *last = scan->last;
	nsec_t begin_ns = packet->begin_ns;

	if (scan->open)
		scan->open->end_ns = begin_ns;
	scan->open = NULL;
	if (!last || !packet->discarded_size ||
	    !counter_growth(packet->discarded_size, last->last_discarded,
			    packet->first_discarded))
		return;
	if (is_following && last->end_ns < begin_ns)
		begin_ns = last->end_ns;
	add_loss(scan, packet, begin_ns);
}

static void note_packet(struct scan *scan, const struct ctf_packet *packet, bool is_whole)
{
	struct trace_recorded *recorded = scan->recorded;
	const struct schema_stream *stream = packet->stream;
	uint64_t cpu = packet->value[ROLE_CPU];
	bool has_instance = packet_has(packet, ROLE_INSTANCE);
	struct trace_period period = {
	    .has_last_events = packet->content > scan->cursor.at,
	    .channel = (uint32_t)stream->id,
	    .cpu = packet_has(packet, ROLE_CPU) && cpu <= INT32_MAX ? (int32_t)cpu : -1,
	    .instance = has_instance ? packet->value[ROLE_INSTANCE] : cpu,
	    .sequence_size =
		packet_has(packet, ROLE_SEQUENCE) ? stream->sequence_size : 0,
	    .discarded_size =
		packet_has(packet, ROLE_DISCARDED) ? stream->discarded_size : 0,
	    .first_sequence = packet->value[ROLE_SEQUENCE],
	    .last_sequence = packet->value[ROLE_SEQUENCE],
	    .first_discarded = packet->value[ROLE_DISCARDED],
	    .last_discarded = packet->value[ROLE_DISCARDED],
	};
	bool is_following;

	find_times(packet, is_whole, &period);
	is_following =
	    scan->last && !scan->is_cut && follows_without_gap(scan->last, &period);
	scan->is_cut = !is_whole;
	if (!is_following) {
		period.first_end_ns = period.end_ns;
		period.first_event_ns = first_event(&scan->cursor, packet);
		if (scan->last && period.begin_ns == NSEC_MIN &&
		    period.first_event_ns < NSEC_MAX)
			period.begin_ns = period.first_event_ns;
	}
	if (scan->last && scan->last->first_end_ns == NSEC_MAX &&
	    period.begin_ns > NSEC_MIN)
		scan->last->first_end_ns = period.begin_ns;
	find_loss(scan, &period, is_following);
	if (!is_following) {
		*MEM_NEXT(recorded->period, recorded->periods,
			  recorded->period_capacity) = period;
		scan->last = &recorded->period[recorded->periods - 1];
		return;
	}
	if (period.end_ns > scan->last->end_ns || scan->last->end_ns == NSEC_MAX)
		scan->last->end_ns = period.end_ns;
	scan->last->has_last_events = period.has_last_events;
	scan->last->last_sequence = period.last_sequence;
	scan->last->last_discarded = period.last_discarded;
}

/*
 * Read the packets of a part of a stream. Return false once one starts after `until_ns`.
 */
static bool scan_part(struct scan *scan, const struct ctf_stream *stream,
		      const struct ctf_part *part)
{
	enum { SMALL = 1 << 16 }; /* bytes; several such packets are read at once */
	struct ctf_window *window = &scan->window;
	struct ctf_packet packet;
	uint64_t at = part->from;
	nsec_t begin_ns;

	ctf_window_open(window, &stream->file[part->file]);
	while (at < window->size && at < part->to) {
		enum packet_found found =
		    ctf_packet_at(window, &scan->cursor, at, &packet);

		if (found == PACKET_GARBLED) {
			at = ctf_packet_seek(window, &scan->cursor, at + 1);
			continue;
		}
		if (packet_has(&packet, ROLE_BEGIN) &&
		    schema_clock_instant(packet.stream->clock, packet.value[ROLE_BEGIN],
					 &begin_ns) &&
		    begin_ns > scan->until_ns)
			return false;
		note_packet(scan, &packet, found == PACKET_WHOLE);
		if (found != PACKET_WHOLE)
			break;
		window->is_scattered = packet.size / 8 > SMALL;
		at += packet.size / 8;
	}
	ctf_window_report(window, stream->problems);
	return true;
}

void ctf_streams_recorded(const struct ctf_streams *streams, const struct schema *schema,
			  nsec_t until_ns, struct trace_recorded *recorded)
{
	struct scan scan = {
	    .schema = schema,
	    .recorded = recorded,
	    .window = {.schema = schema, .is_scattered = true},
	    .cursor = {.slot = mem_zalloc((size_t)schema->slots * sizeof(uint64_t) + 1)},
	    .until_ns = until_ns,
	};

	memset(recorded, 0, sizeof(*recorded));
	if (schema->has_uuid)
		memcpy(recorded->uuid, schema->uuid, sizeof(recorded->uuid));
	for (size_t i = 0; i < streams->count; i++) {
		const struct ctf_stream *stream = &streams->stream[i];
		bool is_wanted = true;

		scan.last = NULL;
		scan.open = NULL;
		scan.is_cut = false;
		for (size_t k = 0; k < stream->parts && is_wanted; k++)
			is_wanted = scan_part(&scan, stream, &stream->part[k]);
	}
	ctf_window_clear(&scan.window);
	free(scan.cursor.slot);
}

void trace_recorded_clear(struct trace_recorded *recorded)
{
	free(recorded->period);
	free(recorded->loss);
	memset(recorded, 0, sizeof(*recorded));
}

static int compare_periods(const struct trace_period *a, const struct trace_period *b)
{
	return COMPARE(a->channel, b->channel) ?:
	       COMPARE(a->instance, b->instance) ?:
	       COMPARE(a->cpu, b->cpu);
}

struct trace_piece trace_piece_of(const struct trace_recorded *recorded, size_t period,
				  uint32_t host, uint32_t trace)
{
	const struct trace_period *of = &recorded->period[period];
	bool has_begin = of->begin_ns > NSEC_MIN || of->first_event_ns == NSEC_MAX;

	return (struct trace_piece){
	    .of = of,
	    .uuid = recorded->uuid,
	    .host = host,
	    .trace = trace,
	    .order_ns = has_begin ? of->begin_ns : of->first_event_ns,
	    .is_later = period && compare_periods(of, of - 1) == 0,
	};
}

int trace_piece_compare_streams(const struct trace_piece *a, const struct trace_piece *b)
{
	return COMPARE(a->host, b->host) ?:
	       memcmp(a->uuid, b->uuid, sizeof(((struct trace_recorded *)0)->uuid)) ?:
	       compare_periods(a->of, b->of);
}

int trace_piece_compare(const void *a, const void *b)
{
	const struct trace_piece *p = a, *q = b;

	return trace_piece_compare_streams(p, q) ?:
	       COMPARE(p->order_ns, q->order_ns) ?:
	       COMPARE(p->of->first_sequence, q->of->first_sequence) ?:
	       COMPARE(p->trace, q->trace);
}

/*
 * Return how much a stream's counter of lost events grew up to the first packet of
 * `next`. A counter that began anew starts with its own value, but it did not if the
 * traces overlap.
 */
static uint64_t lost_between(const struct trace_period *last,
			     const struct trace_period *next, bool overlap)
{
	unsigned size = next->discarded_size, width = next->sequence_size;
	uint64_t before = last->last_discarded, first = next->first_discarded;
	uint64_t growth = size ? counter_growth(size, before, first) : 0;
	bool is_anew = width && !next->first_sequence &&
		       counter_growth(width, last->last_sequence, 0) == 0;

	if (size && !overlap && (is_anew || (!growth && first != before)))
		return counter_growth(size, 0, first);
	return growth;
}

struct trace_junction trace_pieces_join(const struct trace_piece *last_piece,
					nsec_t last_end_ns,
					const struct trace_piece *next_piece,
					nsec_t next_begin_ns)
{
	const struct trace_period *last = last_piece->of, *next = next_piece->of;
	unsigned size = next->sequence_size;
	uint64_t first = last->first_sequence;
	bool overlap = next_begin_ns < last_end_ns;
	struct trace_junction join = {
	    .repeats = last_piece->trace != next_piece->trace && size && overlap &&
		       counter_growth(size, first, next->first_sequence) <=
			   counter_growth(size, first, last->last_sequence),
	    .is_following = next_begin_ns <= last_end_ns,
	};
	uint64_t growth =
	    size ? counter_growth(size, last->last_sequence, next->first_sequence) : 0;

	if (growth) {
		join.is_following = growth == 1;
		join.packets = growth - 1;
	}
	join.events = lost_between(
	    last, next, overlap && next_begin_ns > NSEC_MIN && last_end_ns < NSEC_MAX);
	return join;
}

void trace_report_missing(const char *path, uint64_t packets, uint64_t events,
			  struct problem_list *problems)
{
	if (packets)
		problem_add(problems, path, PROBLEM_DISCARDED, packets,
			    "%" PRIu64 " packets of events are missing between the trace "
			    "before and this one",
			    packets);
	if (events)
		problem_add(problems, path, PROBLEM_DISCARDED, events,
			    "the tracer discarded %" PRIu64 " events between the trace "
			    "before and this one",
			    events);
}
