/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctf/fields.h"
#include "ctf/reader_private.h"
#include "ctf/stream.h"

/*
 * The events of all streams in the order of the clock, by our own reading of the files. A
 * packet with an event that cannot be read is left from there on, told of, and the next
 * one goes on.
 */
/* An event class, and what is wanted of it. */
struct known_class {
	struct ctf_stream_class *stream;
	struct ctf_event_class *class;
	struct ctf_fields *fields; /* NULL: no cells */
	enum ctf_use before;
};

/* What is known of a stream besides its files. */
struct reading {
	struct ctf_progress progress;
	struct ctf_stream *of;
	const struct ctf_event_class *class; /* of the event under the cursor */
	nsec_t event_ns;                     /* its stamp */
	bool has_reached; /* an event does not lie before the reader's begin */
	bool has_event;   /* the cursor is behind the header of an event */
	bool has_packet;  /* and within a packet */
	bool has_before;  /* sequence and discarded are those of the packet before */
	uint64_t sequence, discarded;
	uint64_t broken; /* packets */
};

struct own_reader {
	struct ctf_reader base;
	struct ctf_trace *trace;
	struct ctf_streams streams;
	struct known_class
	    *known; /* by the index of the class, first those of stream 0 */
	struct reading *reading;
	nsec_t pass_before; /* classes that are passed are, up to there in each stream */
	bool has_begun;     /* selecting is over */
};

static void set_facts(struct own_reader *reader, const struct ctf_stream_class *stream)
{
	for (size_t i = 0; i < reader->trace->classes; i++)
		reader->base.class[i]->is_present |= reader->known[i].stream == stream;
	ctf_reader_set_clock(&reader->base, reader->trace->schema->hostname,
			     stream->clock.of);
}

/*
 * What was lost before this packet. The counters are of the whole stream; lost
 * before its first packet, events are counted as one, as nobody knows when.
 */
static void count_lost(struct ctf_facts *facts, struct reading *reading)
{
	const struct ctf_packet *packet = &reading->of->packet;
	uint64_t sequence = packet->value[ROLE_SEQUENCE];
	uint64_t discarded = packet->value[ROLE_DISCARDED];

	if (packet_has(packet, ROLE_DISCARDED) && !reading->has_before)
		facts->discarded_events += discarded != 0;
	else if (packet_has(packet, ROLE_DISCARDED))
		facts->discarded_events += discarded - reading->discarded;
	if (packet_has(packet, ROLE_SEQUENCE) && reading->has_before &&
	    sequence - reading->sequence > 1)
		facts->discarded_packets += sequence - reading->sequence - 1;
	reading->has_before = true;
	reading->sequence = sequence;
	reading->discarded = discarded;
}

/* Whether the stream still stands before what all events are wanted of. */
static bool is_before_begin(const struct own_reader *reader,
			    const struct reading *reading)
{
	return !reading->has_reached && reader->pass_before > NSEC_MIN;
}

/*
 * barectf before 2.3.1 stamps a packet's begin when it has its first event already. Count
 * from half a turn of the event's stamp before, so that it may lie on either side.
 */
static void step_back(struct reading *reading)
{
	unsigned size = reading->of->packet.stream->stamp_size;

	if (size && size < 64 && packet_has(&reading->of->packet, ROLE_BEGIN))
		reading->of->cursor.clock -= (uint64_t)1 << (size - 1);
}

/* Go on to the next packet, with the facts that its head tells. False at the end. */
static bool begin_packet(struct own_reader *reader, struct reading *reading)
{
	struct ctf_stream *stream = reading->of;
	const struct ctf_packet *packet = &stream->packet;
	bool is_first = !reading->has_before;
	uint64_t cpu;

	if (!is_before_begin(reader, reading))
		stream->skip_before = NSEC_MIN;
	if (!ctf_stream_next(stream, reader->trace, &reader->base.problems))
		return false;
	cpu = packet->value[ROLE_CPU];
	reading->progress.cpu =
	    packet_has(packet, ROLE_CPU) && cpu <= INT32_MAX ? (int32_t)cpu : -1;
	reading->has_packet = true;
	if (is_first)
		set_facts(reader, packet->stream);
	if (reader->trace->has_early_events)
		step_back(reading);
	count_lost(&reader->base.facts, reading);
	reader->base.facts.is_partial |= stream->is_skipped;
	return true;
}

/*
 * The packet's content is used up. A stamp holds some bits of the clock, the rest is that
 * of the one before. So after a garbled event all are too late by a turn of those bits,
 * up to the end.
 */
static void end_packet(struct own_reader *reader, struct reading *reading)
{
	const struct ctf_packet *packet = &reading->of->packet;
	struct ctf_cursor *cursor = &reading->of->cursor;
	uint64_t end = packet->value[ROLE_END];
	nsec_t end_ns;

	reading->has_packet = false;
	reader->base.facts.bytes += packet->size / 8;
	if (reader->trace->has_late_events && end < cursor->clock)
		return;
	/* Of a tracer that crashed: nobody has set the end. */
	if (packet_has(packet, ROLE_END) && (end || !packet->value[ROLE_BEGIN]))
		cursor->clock = end;
	if (reading->progress.began && packet_has(packet, ROLE_END_STAMP) &&
	    ctf_instant(&packet->stream->clock, cursor->clock, &end_ns) &&
	    end_ns < reading->progress.last_ns)
		ctf_tell_garbled(&reader->base, &reading->progress);
}

/* The rest of the packet cannot be understood. */
static void break_packet(struct own_reader *reader, struct reading *reading,
			 const char *why)
{
	struct ctf_cursor *cursor = &reading->of->cursor;
	bool is_told = reading->of->is_cut && cursor->is_beyond;

	if (!is_told && !reading->broken++)
		problem_add(&reader->base.problems, reading->of->path, "broken", 1,
			    "an event before byte %" PRIu64
			    " cannot be read, the rest of "
			    "its packet is left out: %s",
			    reading->of->at + cursor->at / 8, why);
	cursor->at = cursor->end;
}

/* Tell what there is to tell when a stream has no more packets. */
static void end_stream(struct own_reader *reader, const struct reading *reading)
{
	if (reading->broken > 1)
		problem_add(&reader->base.problems, reading->of->path, "broken",
			    reading->broken - 1,
			    "%" PRIu64 " more packets are left out from some event on",
			    reading->broken - 1);
}

static void read_header(struct own_reader *reader, struct reading *reading)
{
	struct ctf_cursor *cursor = &reading->of->cursor;
	const struct ctf_stream_class *stream = reading->of->packet.stream;

	cursor->id = 0;
	cursor->is_beyond = false;
	if (!ctf_short_header_read(&stream->quick, cursor) &&
	    !ctf_program_run(stream->event_header, cursor)) {
		break_packet(reader, reading, cursor->why);
		return;
	}
	reading->class = ctf_find_class(stream, cursor->id);
	reading->has_event = reading->class && ctf_instant(&stream->clock, cursor->clock,
							   &reading->event_ns);
	if (!reading->has_event)
		break_packet(reader, reading,
			     reading->class ? "want stamps between 1933 and 2070"
					    : "no event class has its id");
}

/* Go on to the header of the next event. False at the stream's end. */
static bool next_event(struct own_reader *reader, struct reading *reading)
{
	const struct ctf_cursor *cursor = &reading->of->cursor;

	while (!reading->has_event) {
		if (reading->has_packet && cursor->at == cursor->end)
			end_packet(reader, reading);
		if (!reading->has_packet && !begin_packet(reader, reading))
			return false;
		if (cursor->at != cursor->end)
			read_header(reader, reading);
	}
	return true;
}

static void give_event(struct own_reader *reader, struct reading *reading,
		       uint64_t ordinal)
{
	struct ctf_event event = {
	    .local_ns = reading->event_ns,
	    .class = reading->class->index,
	    .stream = reading->progress.index,
	    .cpu = reading->progress.cpu,
	    .ordinal = ordinal,
	};
	struct ctf_fields *fields = reader->known[event.class].fields;

	if (fields)
		event.cell = ctf_fields_fetch(fields, &reading->of->cursor);
	reader->base.give(reader->base.context, &event);
}

static void handle_event(struct own_reader *reader, struct reading *reading)
{
	struct ctf_cursor *cursor = &reading->of->cursor;
	uint64_t ordinal = reading->progress.events;
	bool is_left_out =
	    !reading->class->is_given ||
	    (reading->class->is_passed && is_before_begin(reader, reading) &&
	     reading->event_ns < reader->pass_before);

	reading->has_event = false;
	for (size_t i = 0; i < reading->class->places; i++)
		cursor->place[i].at = CTF_ABSENT;
	if (!ctf_program_run(reading->class->program, cursor)) {
		break_packet(reader, reading, cursor->why);
		return;
	}
	ctf_note_event(&reader->base, &reading->progress, reading->event_ns);
	reading->has_reached |= reading->event_ns >= reader->pass_before;
	if (!is_left_out)
		give_event(reader, reading, ordinal);
}

/* Go over the events that nobody wants. */
static void pass_events(struct own_reader *reader, struct reading *reading, nsec_t until)
{
	struct ctf_facts *facts = &reader->base.facts;
	struct ctf_progress *progress = &reading->progress;
	struct ctf_pass pass = {
	    .until = until < reader->pass_before ? until : reader->pass_before - 1,
	    .most = reader->base.stop_at - facts->events,
	    .last_ns = progress->began ? progress->last_ns : NSEC_MIN,
	};

	ctf_pass_run(reading->of->packet.stream, &reading->of->cursor, &pass);
	if (!pass.events)
		return;
	if (!facts->events || pass.least_ns < facts->begin_ns)
		facts->begin_ns = pass.least_ns;
	if (!facts->events || pass.most_ns > facts->end_ns)
		facts->end_ns = pass.most_ns;
	facts->backward += pass.backward;
	facts->events += pass.events;
	progress->events += pass.events;
	progress->last_ns = pass.last_ns;
	progress->began = true;
}

static bool run_stream(struct ctf_reader *base, struct ctf_progress *progress,
		       nsec_t until)
{
	struct own_reader *reader = (struct own_reader *)base;
	struct reading *reading = (struct reading *)progress;

	while (base->facts.events < base->stop_at) {
		if (!reading->has_event && reading->has_packet &&
		    is_before_begin(reader, reading))
			pass_events(reader, reading, until);
		if (base->facts.events == base->stop_at)
			break;
		if (!reading->has_event && !next_event(reader, reading)) {
			end_stream(reader, reading);
			return false;
		}
		if (reading->event_ns > until) {
			progress->head_ns = reading->event_ns;
			return true;
		}
		handle_event(reader, reading);
	}
	progress->head_ns = progress->began ? progress->last_ns : NSEC_MIN;
	return true;
}

/* Selecting is over: what events nobody wants is known. */
static void begin(struct own_reader *reader)
{
	reader->has_begun = true;
	for (size_t i = 0; i < reader->trace->schema->streams; i++)
		reader->trace->stream[i].can_skip = reader->pass_before < NSEC_MAX;
	for (size_t i = 0; i < reader->trace->classes; i++) {
		struct known_class *known = &reader->known[i];
		struct ctf_event_class *class = known->class;

		class->is_passed = !class->is_given || known->before != CTF_NEEDED;
		class->skip.can = class->is_passed &&
				  ctf_program_skips(class->program, &class->skip.of);
		known->stream->can_skip &=
		    !class->is_given || known->before == CTF_UNUSED;
	}
	for (size_t i = 0; i < reader->streams.count; i++) {
		struct ctf_stream *stream = &reader->streams.stream[i];

		stream->skip_before = reader->pass_before;
		stream->cursor.place =
		    mem_zalloc(reader->trace->places * sizeof(*stream->cursor.place) + 1);
	}
}

static bool own_step(struct ctf_reader *base, uint64_t most)
{
	struct own_reader *reader = (struct own_reader *)base;
	bool more;

	if (!reader->has_begun)
		begin(reader);
	more = ctf_reader_merge(base, most, run_stream);
	if (!more)
		base->facts.bytes = base->facts.total_bytes;
	return more;
}

static void own_columns(struct ctf_reader *base, uint32_t index)
{
	ctf_fields_columns(((struct own_reader *)base)->known[index].class->part,
			   base->class[index]);
}

static void own_select(struct ctf_reader *base, uint32_t index,
		       const struct ctf_selection *selection)
{
	struct own_reader *reader = (struct own_reader *)base;
	struct known_class *known = &reader->known[index];

	assert(!reader->has_begun);
	ctf_fields_free(known->fields);
	known->fields = NULL;
	known->before = selection->before;
	known->class->is_given = selection->what != SELECT_NOTHING;
	if (selection->what < SELECT_FIELDS)
		return;
	known->fields = ctf_fields_new(known->class->part, selection);
	ctf_trace_compile(reader->trace, known->class, known->fields->count);
	ctf_fields_forget_places(known->fields);
}

static void own_begin(struct ctf_reader *base, nsec_t local_ns)
{
	((struct own_reader *)base)->pass_before = local_ns;
}

static void own_free(struct ctf_reader *base)
{
	struct own_reader *reader = (struct own_reader *)base;

	for (size_t i = 0; reader->known && i < reader->trace->classes; i++)
		ctf_fields_free(reader->known[i].fields);
	free(reader->known);
	ctf_streams_clear(&reader->streams);
	ctf_trace_free(reader->trace);
	free(reader->reading);
	free(reader);
}

static void add_classes(struct own_reader *reader)
{
	uint32_t index = 0;

	reader->known = mem_zalloc(reader->trace->classes * sizeof(*reader->known) + 1);
	for (size_t i = 0; i < reader->trace->schema->streams; i++)
		for (size_t k = 0; k < reader->trace->stream[i].classes; k++) {
			struct ctf_stream_class *stream = &reader->trace->stream[i];
			struct ctf_event_class *class = &stream->class[k];

			class->index = index;
			reader->known[index++] =
			    (struct known_class){.stream = stream, .class = class};
			ctf_reader_add_class(&reader->base, class->event->name,
					     class->event->id);
		}
}

struct ctf_reader *ctf_own_open(const char *path, struct error *error)
{
	static const struct ctf_reader_ops ops = {own_columns, own_select, own_begin,
						  own_step, own_free};
	struct own_reader *reader = mem_zalloc(sizeof(*reader));

	ctf_reader_init(&reader->base, &ops, path);
	reader->pass_before = NSEC_MAX;
	reader->trace = ctf_trace_open(path, &reader->base.problems, error);
	if (!reader->trace || ctf_streams_open(&reader->streams, reader->trace, path,
					       &reader->base.problems, error)) {
		ctf_reader_free(&reader->base);
		return NULL;
	}
	add_classes(reader);
	reader->reading =
	    mem_zalloc(reader->streams.count * sizeof(*reader->reading) + 1);
	for (size_t i = 0; i < reader->streams.count; i++) {
		reader->reading[i].of = &reader->streams.stream[i];
		ctf_reader_add_stream(&reader->base, &reader->reading[i].progress);
	}
	reader->base.facts.total_bytes = reader->streams.bytes;
	ctf_reader_prime(&reader->base, run_stream);
	return &reader->base;
}
