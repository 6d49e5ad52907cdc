/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/ctf/metadata.h"
#include "trace/ctf/resolve.h"
#include "trace/ctf/stream.h"
#include "trace/fields.h"
#include "trace/recorded.h"

/*
 * The reader of CTF: the events of all streams, in the order of the clock. If an event
 * cannot be read, the rest of its packet is skipped with a problem.
 */
struct own_reader {
	struct trace_reader base;
	struct schema *schema;
	struct ctf_streams streams;
	bool has_begun; /* selecting is over */
	bool can_pass;  /* some class's events can be skipped without their program */
};

/* Return true if another trace contains this packet, too. */
static bool is_repeated(const struct ctf_stream *stream)
{
	const struct ctf_packet *packet = &stream->packet;

	return stream->has_repeats &&
	       counter_growth(packet->stream->sequence_size, packet->value[ROLE_SEQUENCE],
			      stream->repeats_before);
}

/*
 * Count the losses before this packet. The counters cover the whole stream and start at
 * 0, so losses before the first packet here count only if no packet preceded it.
 */
static void count_lost(struct trace_facts *facts, struct ctf_stream *stream)
{
	const struct ctf_packet *packet = &stream->packet;
	const struct schema_stream *of = packet->stream;
	uint64_t sequence = packet->value[ROLE_SEQUENCE];
	uint64_t discarded = packet->value[ROLE_DISCARDED], count_skipped_bits, lost;

	if (packet_has(packet, ROLE_DISCARDED) && !is_repeated(stream) &&
	    (stream->has_before || !sequence)) {
		lost = counter_growth(of->discarded_size, stream->discarded, discarded);
		facts->discarded_events += lost;
		if (!stream->has_before)
			stream->first_lost = lost;
	}
	if (packet_has(packet, ROLE_SEQUENCE) && stream->has_before &&
	    !is_repeated(stream)) {
		count_skipped_bits =
		    counter_growth(of->sequence_size, stream->sequence, sequence);
		facts->discarded_packets +=
		    count_skipped_bits ? count_skipped_bits - 1 : 0;
	}
	stream->has_before = true;
	stream->sequence = sequence;
	stream->discarded = discarded;
}

/* Return true while the stream has not reached the reader's start. */
static bool is_before_begin(const struct own_reader *reader,
			    const struct ctf_stream *stream)
{
	return !stream->has_reached && reader->base.begin_ns > NSEC_MIN;
}

/*
 * barectf before 2.3.1 sets a packet's start after the timestamp of its first event. Set
 * the clock back by half the range of an event's timestamp, so that the first event can
 * be on either side of the packet's start.
 */
static void set_clock_back(struct ctf_stream *stream)
{
	unsigned size = stream->packet.stream->stamp_size;

	if (size && size < 64 && packet_has(&stream->packet, ROLE_BEGIN))
		stream->cursor.clock -= (uint64_t)1 << (size - 1);
}

/*
 * Go on to the next packet and update the facts from its header. Return false at the end.
 */
static bool begin_packet(struct own_reader *reader, struct ctf_stream *stream)
{
	const struct ctf_packet *packet = &stream->packet;
	bool is_first = !stream->has_before;
	uint64_t cpu;

	if (!is_before_begin(reader, stream))
		stream->skip_before = NSEC_MIN;
	if (!ctf_stream_next(stream))
		return false;
	cpu = packet->value[ROLE_CPU];
	stream->progress.cpu =
	    packet_has(packet, ROLE_CPU) && cpu <= INT32_MAX ? (int32_t)cpu : -1;
	stream->has_packet = true;
	if (is_first)
		trace_reader_set_clock(&reader->base, reader->schema->hostname,
				       packet->stream->clock);
	if (reader->schema->has_early_events)
		set_clock_back(stream);
	count_lost(&reader->base.facts, stream);
	return true;
}

/*
 * A timestamp holds only the low bits of the clock; the others are those of the previous
 * event. So after a garbled event all later ones in the packet can be late by a multiple
 * of the range of those bits (with LTTng, at least 27). LTTng before 2.9.13 writes events
 * some microseconds past the end of their packet; a lateness below this is taken for
 * that.
 */
#define LATEST_NS (100 * NSEC_PER_MSEC)

/* Finish a packet, and check its last event against its end. */
static void end_packet(struct own_reader *reader, struct ctf_stream *stream)
{
	const struct ctf_packet *packet = &stream->packet;
	uint64_t end = packet->value[ROLE_END];
	nsec_t end_ns, late_ns = 0;

	stream->has_packet = false;
	reader->base.facts.bytes += packet->size / 8;
	/* If the tracer crashed, the packet's end timestamp was never set. */
	if (!packet_has(packet, ROLE_END) || (!end && packet->value[ROLE_BEGIN]))
		return;
	if (stream->progress.tally.events && packet_has(packet, ROLE_END_STAMP) &&
	    schema_clock_instant(packet->stream->clock, end, &end_ns))
		late_ns = nsec_sub(stream->progress.tally.last_ns, end_ns);
	if (late_ns > 0 && late_ns < LATEST_NS)
		return;
	stream->cursor.clock = end;
	if (late_ns > 0)
		problem_add(&reader->base.problems, reader->base.path, PROBLEM_GARBLED, 1,
			    "stream %u has events after the end of their packet; the "
			    "%" PRIu64 " up to there may have wrong timestamps",
			    stream->progress.index, stream->progress.tally.events);
}

/* Skip the rest of a packet that cannot be decoded. */
static void break_packet(struct own_reader *reader, struct ctf_stream *stream,
			 const char *why)
{
	struct ctf_cursor *cursor = &stream->cursor;
	bool is_told = stream->is_cut && cursor->is_beyond;

	if (!is_told && !stream->broken++)
		problem_add(&reader->base.problems, stream->window.file->path,
			    PROBLEM_BROKEN, 1,
			    "cannot read an event before byte %" PRIu64 ", rest of its "
			    "packet skipped: %s",
			    stream->at + stream->from + cursor->at / 8, why);
	cursor->at = cursor->end;
	stream->rest = 0;
}

/* Report the stream's further broken packets, when it has no more packets. */
static void end_stream(struct own_reader *reader, const struct ctf_stream *stream)
{
	if (stream->broken > 1)
		problem_add(&reader->base.problems, stream->window.file->path,
			    PROBLEM_BROKEN, stream->broken - 1,
			    "rest of %" PRIu64
			    " more packets skipped after an unreadable event",
			    stream->broken - 1);
}

static inline const struct schema_event_class *find_class(const struct schema_stream *of,
							  uint64_t id)
{
	return id < of->ids ? of->by_id[id] : NULL;
}

/* A position among a packet's events: the members of struct ctf_cursor that change. */
struct position {
	uint64_t at, clock, id;
};

enum { SHORT_HEADER_BYTES = 16 }; /* a short header reads at most these */

/*
 * Read a short header and move past it. Return false, changing nothing, if the header
 * needs its program.
 */
static inline bool read_short(const struct short_header *header,
			      const struct ctf_cursor *cursor, struct position *position)
{
	uint64_t byte = (position->at + 7) / 8, id, stamp;
	const unsigned char *first = cursor->bytes.byte + byte;

	if (!header->stamp_size || cursor->end - position->at < header->size + 7 ||
	    byte + SHORT_HEADER_BYTES > cursor->bytes.count)
		return false;
	memcpy(&id, first, sizeof(id));
	id = le64toh(id) & (UINT64_MAX >> (64 - header->id_size));
	if (id > header->last)
		return false;
	memcpy(&stamp, first + header->stamp_at / 8, sizeof(stamp));
	stamp = le64toh(stamp) >> header->stamp_at % 8 &
		(UINT64_MAX >> (64 - header->stamp_size));
	position->id = id;
	position->clock = ctf_clock_after(position->clock, stamp, header->stamp_size);
	position->at = 8 * byte + header->size;
	return true;
}

/* Move the cursor to a position after an event with a short header. */
static inline void set_position(struct ctf_cursor *cursor,
				const struct position *position,
				const struct short_header *header)
{
	cursor->at = position->at;
	cursor->clock = position->clock;
	cursor->slot[ROLE_ID] = position->id;
	if (header->slot >= 0)
		cursor->slot[header->slot] = position->id;
}

/*
 * Run a program. If the slice ends within what it reads, load more and run it again from
 * the start.
 */
static bool run_program(struct ctf_stream *stream, const struct ctf_program *program)
{
	struct ctf_cursor *cursor = &stream->cursor;
	uint64_t at = cursor->at, clock = cursor->clock, budget = cursor->budget;

	cursor->is_beyond = false;
	while (!ctf_program_run(program, cursor)) {
		if (!cursor->is_beyond || !stream->rest)
			return false;
		cursor->at = at;
		cursor->clock = clock;
		cursor->budget = budget;
		cursor->is_beyond = false;
		if (!ctf_stream_more(stream))
			return false;
		at = cursor->at;
	}
	return true;
}

static void read_header(struct own_reader *reader, struct ctf_stream *stream)
{
	struct ctf_cursor *cursor = &stream->cursor;
	const struct schema_stream *of = stream->packet.stream;
	struct position position = {cursor->at, cursor->clock, 0};

	cursor->slot[ROLE_ID] = 0;
	if (read_short(&of->short_header, cursor, &position)) {
		set_position(cursor, &position, &of->short_header);
	} else if (!run_program(stream, of->header_program)) {
		break_packet(reader, stream, cursor->why);
		return;
	}
	stream->class = find_class(of, cursor->slot[ROLE_ID]);
	stream->has_event =
	    stream->class &&
	    schema_clock_instant(of->clock, cursor->clock, &stream->event_ns);
	if (!stream->has_event)
		break_packet(reader, stream,
			     stream->class ? "timestamp outside 1967 to 2111"
					   : "unknown event class id");
}

/* Go on to the header of the next event. Return false at the stream's end. */
static bool next_event(struct own_reader *reader, struct ctf_stream *stream)
{
	const struct ctf_cursor *cursor = &stream->cursor;

	while (!stream->has_event) {
		if (stream->has_packet && cursor->at == cursor->end && !stream->rest)
			end_packet(reader, stream);
		if (!stream->has_packet && !begin_packet(reader, stream))
			return false;
		if (cursor->at != cursor->end || stream->rest)
			read_header(reader, stream);
	}
	return true;
}

static bool is_wanted(const struct own_reader *reader, const struct ctf_stream *stream)
{
	return stream->class->selected != SELECT_NOTHING &&
	       !(stream->has_repeats && is_repeated(stream)) &&
	       (stream->class->before == TRACE_NEEDED ||
		!is_before_begin(reader, stream) ||
		stream->event_ns >= reader->base.begin_ns);
}

/* Deliver an event whose fields have these places, relative to `begin`. */
static void deliver_event(struct own_reader *reader, struct ctf_stream *stream,
			  const struct ctf_place *place, uint64_t begin)
{
	struct trace_fields *fields = stream->class->fields;
	struct trace_event event = {
	    .local_ns = stream->event_ns,
	    .class = stream->class->index,
	    .stream = stream->progress.index,
	    .cpu = stream->progress.cpu,
	    .ordinal = stream->progress.tally.events - 1,
	};

	if (fields)
		event.cell = trace_fields_fetch(fields, &stream->cursor, place, begin);
	reader->base.on_event(reader->base.context, &event);
}

/* Move past fields at constant places, and return where they start. Return CTF_ABSENT if
 * they need their program; for most of a kernel's events it takes three times as long. */
static inline uint64_t skip_constant(struct ctf_cursor *cursor,
				     const struct schema_event_class *class)
{
	uint64_t begin = cursor->at + (-cursor->at & (class->skip.align - 1));

	if (!class->is_constant || begin + class->skip.bits > cursor->end)
		return CTF_ABSENT;
	cursor->at = begin + class->skip.bits;
	return begin;
}

static void handle_event(struct own_reader *reader, struct ctf_stream *stream)
{
	struct ctf_cursor *cursor = &stream->cursor;
	const struct trace_fields *fields = stream->class->fields;
	const struct ctf_place *place = fields ? fields->place : NULL;
	bool wanted = is_wanted(reader, stream);
	uint64_t begin = skip_constant(cursor, stream->class);

	stream->has_event = false;
	if (begin == CTF_ABSENT) {
		begin = 0;
		place = cursor->place;
		for (size_t i = 0; fields && i < fields->count; i++)
			cursor->place[i].at = CTF_ABSENT;
		if (!run_program(stream, stream->class->program)) {
			break_packet(reader, stream, cursor->why);
			return;
		}
	}
	trace_tally_add(&stream->progress.tally, stream->event_ns);
	stream->has_reached |= stream->event_ns >= reader->base.begin_ns;
	if (wanted)
		deliver_event(reader, stream, place, begin);
}

static inline bool skip_bits(struct position *position, uint64_t end, uint64_t bits)
{
	if (bits > end - position->at)
		return false;
	position->at += bits;
	return true;
}

/* Skip a byte-aligned string. */
static inline bool skip_string(struct position *position, const struct ctf_cursor *cursor)
{
	const unsigned char *first = cursor->bytes.byte + position->at / 8;
	size_t most = (size_t)(cursor->end - position->at) / 8;
	const unsigned char *zero = memchr(first, 0, most);

	return zero && skip_bits(position, cursor->end, 8 * (uint64_t)(zero - first + 1));
}

/* Skip the fields of an unselected event. Return false if its class needs its program. */
static inline bool skip_fields(struct position *position, const struct ctf_cursor *cursor,
			       const struct schema_event_class *class)
{
	const struct ctf_stretches *skip = &class->skip;

	if (!class->can_pass ||
	    !skip_bits(position, cursor->end, -position->at & (skip->align - 1)) ||
	    !skip_bits(position, cursor->end, skip->bits))
		return false;
	for (uint32_t i = 0; i < skip->strings; i++)
		if (!skip_string(position, cursor) ||
		    !skip_bits(position, cursor->end, skip->behind[i]))
			return false;
	return true;
}

/*
 * Skip the unselected events at the cursor; for ctsync they are most of a trace. This
 * needs short headers and fields of constant size with at most a few strings. Each event
 * costs a table lookup, two additions and a search for the end of each string. The first
 * event that needs more is left to the programs.
 */
static __attribute__((noinline)) void skip_events(struct own_reader *reader,
						  struct ctf_stream *stream, nsec_t until)
{
	/* Copies, so that the compiler knows that nothing else changes them. */
	const struct schema_stream *of = stream->packet.stream;
	const struct short_header header = of->short_header;
	const struct clock_range range = of->clock->range;
	struct schema_event_class *const *by_id = of->by_id;
	const size_t ids = of->ids;
	const struct ctf_cursor cursor = stream->cursor;
	struct position position = {cursor.at, cursor.clock, 0};
	struct trace_tally tally = stream->progress.tally;

	if (until >= reader->base.begin_ns)
		until = reader->base.begin_ns - 1;
	while (tally.events < stream->progress.stop_at) {
		struct position next = position;
		const struct schema_event_class *class;
		nsec_t stamp;

		if (!read_short(&header, &cursor, &next))
			break;
		class = next.id < ids ? by_id[next.id] : NULL;
		if (!class || !skip_fields(&next, &cursor, class) ||
		    !(clock_range_instant(&range, next.clock, &stamp) ||
		      schema_clock_instant_slow(of->clock, next.clock, &stamp)) ||
		    stamp > until)
			break;
		trace_tally_add(&tally, stamp);
		position = next;
	}
	if (position.at == cursor.at)
		return;
	stream->progress.tally = tally;
	set_position(&stream->cursor, &position, &header);
}

static bool run_stream(struct trace_reader *base, struct trace_progress *progress,
		       nsec_t until)
{
	struct own_reader *reader = (struct own_reader *)base;
	struct ctf_stream *stream = (struct ctf_stream *)progress;

	while (progress->tally.events < progress->stop_at) {
		if (!stream->has_event && stream->has_packet && reader->can_pass &&
		    is_before_begin(reader, stream))
			skip_events(reader, stream, until);
		if (progress->tally.events == progress->stop_at)
			break;
		if (!stream->has_event && !next_event(reader, stream)) {
			end_stream(reader, stream);
			return false;
		}
		if (stream->event_ns > until) {
			progress->head_ns = stream->event_ns;
			return true;
		}
		handle_event(reader, stream);
	}
	progress->head_ns = progress->tally.last_ns;
	return true;
}

/* Return the number of bits that the next ops skip, and move `op` past them. Store the
 * places of fields that are selected. */
static uint64_t count_skipped_bits(const struct ctf_op **op, struct ctf_place *place)
{
	uint64_t bits = 0;

	for (; (*op)->kind == OP_SKIP || (*op)->kind == OP_PLACE; (*op)++)
		if ((*op)->kind == OP_SKIP)
			bits += (*op)->bits;
		else
			place[(*op)->index] =
			    (struct ctf_place){bits - (*op)->bits, (*op)->count};
	return bits;
}

/* Return true if the program of a class only skips, and store what it skips. */
static bool program_skips(struct schema_event_class *class)
{
	const struct ctf_op *op = class->program->op;
	struct ctf_place *place = class->fields ? class->fields->place : NULL;
	struct ctf_stretches *of = &class->skip;

	of->align = 1;
	if (op->kind == OP_ALIGN)
		of->align = (uint32_t)(op++)->bits;
	of->bits = count_skipped_bits(&op, place);
	while (op->kind == OP_STRING && op->number.size == 1 &&
	       of->strings < CTF_STRINGS) {
		op++;
		of->behind[of->strings++] = count_skipped_bits(&op, place);
	}
	return op->kind == OP_END;
}

/* Compile an event class's program, and determine whether its events can be skipped or
 * read without it. */
static void compile_event_class(struct schema_event_class *class)
{
	bool is_selected = class->selected != SELECT_NOTHING, skips;

	trace_fields_mark(class->fields, true);
	class->program = ctf_program_new(&class->scope[SCOPE_COMMON_CONTEXT],
					 SCOPES - SCOPE_COMMON_CONTEXT);
	trace_fields_mark(class->fields, false);
	skips = program_skips(class);
	class->can_pass = skips && (!is_selected || class->before != TRACE_NEEDED);
	/* So that no sum overflows. */
	class->is_constant =
	    skips && !class->skip.strings && class->skip.bits <= UINT32_MAX;
	class->stream->can_skip &= !is_selected || class->before == TRACE_UNUSED;
	if (is_selected)
		return;
	/*
	 * The program holds everything that is needed of these; they are most of a
	 * kernel's metadata.
	 */
	for (int i = SCOPE_SPECIFIC_CONTEXT; i < SCOPES; i++) {
		field_free(class->scope[i]);
		class->scope[i] = NULL;
	}
}

/* Compile all event programs, once selecting is over. */
static void compile_event_programs(struct own_reader *reader)
{
	struct schema *schema = reader->schema;
	size_t places = 0;

	reader->has_begun = true;
	for (size_t i = 0; i < schema->streams; i++)
		schema->stream[i].can_skip = reader->base.begin_ns < NSEC_MAX;
	for (size_t i = 0; i < schema->events; i++) {
		compile_event_class(&schema->event[i]);
		reader->can_pass |= schema->event[i].can_pass;
		if (schema->event[i].fields && schema->event[i].fields->count > places)
			places = schema->event[i].fields->count;
	}
	for (size_t i = 0; i < reader->streams.count; i++) {
		struct ctf_stream *stream = &reader->streams.stream[i];

		stream->skip_before = reader->base.begin_ns;
		stream->cursor.place =
		    mem_zalloc(places * sizeof(*stream->cursor.place) + 1);
	}
}

static bool own_step(struct trace_reader *base, uint64_t most)
{
	struct own_reader *reader = (struct own_reader *)base;
	bool more;

	if (!reader->has_begun)
		compile_event_programs(reader);
	more = trace_reader_merge(base, most, run_stream);
	if (!more)
		base->facts.bytes = base->facts.total_bytes;
	return more;
}

/* The classes belong to the schema. */
static void own_free(struct trace_reader *base)
{
	struct own_reader *reader = (struct own_reader *)base;

	ctf_streams_clear(&reader->streams);
	schema_free(reader->schema);
	base->classes = 0;
}

static void own_recorded(const struct trace_reader *base, nsec_t until_ns,
			 struct trace_recorded *recorded)
{
	const struct own_reader *reader = (const struct own_reader *)base;

	ctf_streams_recorded(&reader->streams, reader->schema, until_ns, recorded);
}

static void own_go_on(struct trace_reader *base, const struct trace_period *period,
		      const uint64_t *repeated)
{
	struct own_reader *reader = (struct own_reader *)base;

	for (size_t i = 0; i < reader->streams.count; i++) {
		struct ctf_stream *stream = &reader->streams.stream[i];
		const struct ctf_packet *first = &stream->file[0].first;
		enum field_role role =
		    packet_has(first, ROLE_INSTANCE) ? ROLE_INSTANCE : ROLE_CPU;

		if ((uint32_t)first->stream->id != period->channel ||
		    first->value[role] != period->instance)
			continue;
		base->facts.discarded_events -= stream->first_lost;
		stream->first_lost = 0;
		stream->has_repeats = repeated != NULL;
		stream->repeats_before = repeated ? *repeated : 0;
	}
}

static void add_classes(struct trace_reader *base, struct schema *schema)
{
	base->class = mem_alloc(schema->events * sizeof(*base->class) + 1);
	for (size_t i = 0; i < schema->events; i++) {
		schema->event[i].index = (uint32_t)i;
		schema->event[i].known.channel = (uint32_t)schema->event[i].stream->id;
		base->class[base->classes++] = &schema->event[i];
	}
}

static void report_ignored(const struct schema *schema, const char *metadata,
			   struct problem_list *problems)
{
	AUTOFREE char *more = schema->ignored > 1
				  ? mem_printf(" and %zu more", schema->ignored - 1)
				  : mem_strdup("");

	if (schema->ignored)
		problem_add(problems, metadata, PROBLEM_MALFORMED, schema->ignored,
			    "unknown attributes ignored: %s%s", schema->ignored_name,
			    more);
}

struct trace_reader *ctf_trace_open(const char *path, struct error *error)
{
	struct own_reader *reader = mem_zalloc(sizeof(*reader));
	struct trace_reader *base = &reader->base;
	AUTOFREE char *metadata = mem_printf("%s/metadata", path);
	struct schema *schema;

	trace_reader_init(base, path, own_step, own_free);
	schema = reader->schema = schema_read(metadata, error);
	if (!schema ||
	    ctf_streams_open(&reader->streams, schema, path, &base->problems, error)) {
		trace_reader_free(base);
		return NULL;
	}
	report_ignored(schema, metadata, &base->problems);
	base->recorded = own_recorded;
	base->go_on = own_go_on;
	add_classes(base, schema);
	for (size_t i = 0; i < reader->streams.count; i++)
		trace_reader_add_stream(base, &reader->streams.stream[i].progress);
	base->facts.total_bytes = reader->streams.bytes;
	/* The trace is a chunk in which nothing was recorded. */
	if (!reader->streams.count && schema->clocks == 1)
		trace_reader_set_clock(base, schema->hostname, &schema->clock[0]);
	trace_reader_prime(base, run_stream);
	return base;
}
