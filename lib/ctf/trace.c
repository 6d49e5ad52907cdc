/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctf/schema.h"

enum { MOST_IDS = 1 << 20 }; /* up to the greatest one, of all streams together */

#define GIGAHERTZ 1000000000u

/* In doubles where it is not nanoseconds already, as libbabeltrace2 has it. */
static bool to_nanoseconds(uint64_t value, uint64_t frequency, int64_t *ns)
{
	double real = 1e9 * (double)value / (double)frequency;

	if (frequency != GIGAHERTZ && real >= 9.2e18)
		return false;
	*ns = (int64_t)(frequency == GIGAHERTZ ? value : (uint64_t)real);
	return *ns >= 0;
}

bool ctf_instant_slow(const struct ctf_clock *clock, uint64_t value, nsec_t *instant)
{
	int64_t ns;

	return to_nanoseconds(value, clock->of->frequency, &ns) &&
	       !__builtin_add_overflow(clock->base_ns, ns, instant) &&
	       nsec_is_stamp(*instant);
}

uint64_t ctf_clock_ns(const struct ctf_clock *clock, uint64_t value)
{
	double real = 1e9 * (double)value / (double)clock->of->frequency;

	if (clock->of->frequency == GIGAHERTZ)
		return value;
	return real < 1.8e19 ? (uint64_t)real : UINT64_MAX;
}

/* An offset's whole seconds count apart, as its cycles would round otherwise. */
static bool split_offset(const struct schema_clock *clock, nsec_t *seconds,
			 uint64_t *cycles)
{
	uint64_t whole = clock->offset / clock->frequency;

	*cycles = clock->offset % clock->frequency;
	return whole <= INT64_MAX &&
	       !__builtin_add_overflow(clock->offset_s, (int64_t)whole, seconds) &&
	       !__builtin_mul_overflow(*seconds, NSEC_PER_SEC, seconds);
}

nsec_t ctf_offset_ns(const struct schema_clock *clock)
{
	uint64_t cycles;
	nsec_t seconds;

	if (!split_offset(clock, &seconds, &cycles))
		seconds = 0;
	return nsec_add(nsec_round((double)cycles * 1e9 / (double)clock->frequency),
			seconds);
}

/* Where an instant is one addition. */
static void set_range(struct ctf_clock *clock)
{
	nsec_t least, most;

	clock->least = 1;
	clock->most = 0;
	if (clock->of->frequency != GIGAHERTZ ||
	    __builtin_sub_overflow(NSEC_STAMP_LEAST, clock->base_ns, &least) ||
	    __builtin_sub_overflow(NSEC_STAMP_MOST, clock->base_ns, &most) || most < 0)
		return;
	clock->least = least < 0 ? 0 : (uint64_t)least;
	clock->most = (uint64_t)most;
}

static int set_clock(struct ctf_clock *clock, const struct schema *schema,
		     const struct schema_stream *stream, struct error *error)
{
	uint64_t cycles;
	nsec_t seconds;
	int64_t rest;

	/* Events without stamps have no place among others. */
	if (!stream->clock || !(schema->is_ctf2 || stream->has_stamps))
		return 0;
	for (size_t i = 0; i < schema->clocks; i++)
		if (strcmp(schema->clock[i].name, stream->clock) == 0)
			clock->of = &schema->clock[i];
	if (!clock->of)
		return error_set(error, "no clock %s", stream->clock);
	if (!split_offset(clock->of, &seconds, &cycles) ||
	    !to_nanoseconds(cycles, clock->of->frequency, &rest) ||
	    __builtin_add_overflow(seconds, rest, &clock->base_ns))
		return error_set(error, "clock %s begins too far from the epoch",
				 stream->clock);
	set_range(clock);
	return 0;
}

/* As libbabeltrace2 does, which corrects the same. */
static void find_quirks(struct ctf_trace *trace)
{
	const struct schema *schema = trace->schema;
	uint64_t version = 10000 * schema->major + 100 * schema->minor + schema->patch;
	const char *name = schema->tracer ? schema->tracer : "";

	if (strcmp(name, "lttng-ust") == 0)
		trace->has_late_events = version < 21100;
	/* 2.11.0's release candidates count, too. */
	if (strcmp(name, "lttng-modules") == 0)
		trace->has_late_events = version < 20913 ||
					 (version >= 21000 && version < 21010) ||
					 version == 21100;
	if (strcmp(name, "barectf") == 0)
		trace->has_early_events = version < 20301;
}

void ctf_trace_compile(struct ctf_trace *trace, struct ctf_event_class *class,
		       size_t places)
{
	ctf_program_free(class->program);
	class->program = ctf_program_new(class->part, CTF_PARTS, trace->schema->mixed);
	class->places = places;
	if (places > trace->places)
		trace->places = places;
}

static int set_up_class(struct ctf_trace *trace, struct ctf_stream_class *stream,
			const struct schema_event *event, struct error *error)
{
	struct ctf_event_class *class = &trace->class[trace->classes];

	class->index = (uint32_t)trace->classes++;
	class->stream = stream;
	class->event = event;
	class->part[PART_STREAM_CONTEXT] = stream->of->event_context;
	class->part[PART_CONTEXT] = event->context;
	class->part[PART_PAYLOAD] = event->fields;
	if (stream->by_id[event->id])
		return error_set(error, "two events of one id");
	stream->by_id[event->id] = class;
	ctf_trace_compile(trace, class, 0);
	return 0;
}

static int set_up_classes(struct ctf_trace *trace, struct ctf_stream_class *stream,
			  struct error *error)
{
	const struct schema *schema = trace->schema;

	for (size_t i = 0; i < schema->events; i++) {
		if (schema->event[i].stream != stream->of->id)
			continue;
		if (schema->event[i].id >= MOST_IDS)
			return error_set(error, "event %s: want an id below %d",
					 schema->event[i].name, MOST_IDS);
		if (schema->event[i].id >= stream->ids)
			stream->ids = schema->event[i].id + 1;
	}
	trace->ids += stream->ids;
	if (trace->ids > MOST_IDS)
		return error_set(error, "want events of smaller ids");
	stream->by_id = mem_zalloc(stream->ids * sizeof(*stream->by_id) + 1);
	for (size_t i = 0; i < schema->events; i++)
		if (schema->event[i].stream == stream->of->id &&
		    set_up_class(trace, stream, &schema->event[i], error))
			return error_prefix(error, "event %s", schema->event[i].name);
	return 0;
}

static bool is_little_unsigned(const struct field_class *class)
{
	return class->type == FIELD_INTEGER && !class->is_signed &&
	       class->order == ORDER_LITTLE && !class->is_reversed &&
	       !class->is_boolean && !class->roles;
}

/* Where a field begins behind so many bits, the first of which begins a byte. */
static unsigned behind(unsigned bits, const struct field_class *class)
{
	return (bits + class->align - 1) / class->align * class->align;
}

/* Nothing but a stamp, which one word can hold behind an id of so many bits. */
static bool is_stamp(const struct field_class *class, unsigned id_size)
{
	return is_little_unsigned(class) && class->clock && !class->is_id &&
	       !class->slots && class->align <= 8 &&
	       behind(id_size, class) % 8 + class->size <= 64;
}

static void find_short_header(const struct field_class *header,
			      struct ctf_short_header *quick)
{
	const struct field_class *id, *stamp, *v;

	if (header->type != FIELD_STRUCTURE || header->members != 2 || header->align != 8)
		return;
	id = header->member[0].class;
	stamp = v = header->member[1].class;
	quick->last = UINT64_MAX;
	if (v->type == FIELD_VARIANT) {
		/* The first option, so that no other one can be meant. */
		const struct field_member *option = v->member;

		if (id->slots != 1 || v->from != id->slot[0] || option->ranges != 1 ||
		    option->range[0].first != 0 ||
		    option->class->type != FIELD_STRUCTURE ||
		    option->class->members != 1 || id->size % option->class->align)
			return;
		quick->last = option->range[0].last;
		stamp = option->class->member[0].class;
	}
	if (!is_little_unsigned(id) || !id->is_id || id->clock || id->slots > 1 ||
	    !is_stamp(stamp, id->size))
		return;
	quick->id_size = id->size;
	quick->stamp_size = stamp->size;
	quick->stamp_at = behind(id->size, stamp);
	quick->size = quick->stamp_at + stamp->size;
	quick->slot = id->slots ? id->slot[0] : -1;
}

static int set_up_stream(struct ctf_trace *trace, struct ctf_stream_class *stream,
			 struct error *error)
{
	const struct schema_stream *of = stream->of;
	bool mixed = trace->schema->mixed;

	if (set_clock(&stream->clock, trace->schema, of, error))
		return -1;
	if (!of->has_id && !trace->schema->is_ctf2)
		return error_set(error, "no id in the headers of events");
	stream->packet_context = ctf_program_new(&of->packet_context, 1, mixed);
	stream->event_header = ctf_program_new(&of->event_header, 1, mixed);
	if (of->event_header)
		find_short_header(of->event_header, &stream->short_header);
	return set_up_classes(trace, stream, error);
}

/* Packets are looked for by the magic number, if it is the first of them. */
static void find_magic(struct ctf_trace *trace)
{
	const struct field_class *header = trace->schema->packet_header;
	const struct field_class *field =
	    header && header->members ? header->member[0].class : NULL;

	trace->has_magic = field && field->roles & 1u << ROLE_MAGIC && field->size == 32;
	trace->is_magic_big = trace->has_magic && field->order == ORDER_BIG;
}

static int set_up(struct ctf_trace *trace, struct error *error)
{
	const struct schema *schema = trace->schema;
	size_t streams = schema->streams;

	find_quirks(trace);
	find_magic(trace);
	trace->packet_header = ctf_program_new(&schema->packet_header, 1, schema->mixed);
	if (!(schema->header_roles & 1u << ROLE_STREAM) && streams != 1)
		return error_set(error, "packets do not say their stream");
	trace->stream = mem_zalloc(streams * sizeof(*trace->stream) + 1);
	trace->class = mem_zalloc(schema->events * sizeof(*trace->class) + 1);
	for (size_t i = 0; i < streams; i++) {
		trace->stream[i].of = &schema->stream[i];
		for (size_t k = 0; k < i; k++)
			if (trace->stream[k].of->id == trace->stream[i].of->id)
				return error_set(error, "two streams of one id");
		if (set_up_stream(trace, &trace->stream[i], error))
			return -1;
	}
	if (trace->classes != schema->events)
		return error_set(error, "events of a stream that is not there");
	return 0;
}

struct ctf_trace *ctf_trace_open(const char *path, struct problem_list *problems,
				 struct error *error)
{
	struct ctf_trace *trace = mem_zalloc(sizeof(*trace));
	char *name = mem_printf("%s/metadata", path);

	trace->schema = schema_read(name, problems, error);
	if (trace->schema && !set_up(trace, error)) {
		free(name);
		return trace;
	}
	if (trace->schema)
		error_prefix(error, "%s", name);
	free(name);
	ctf_trace_free(trace);
	return NULL;
}

void ctf_trace_free(struct ctf_trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; trace->stream && i < trace->schema->streams; i++) {
		ctf_program_free(trace->stream[i].packet_context);
		ctf_program_free(trace->stream[i].event_header);
		free(trace->stream[i].by_id);
	}
	for (size_t i = 0; i < trace->classes; i++) {
		ctf_program_free(trace->class[i].program);
		ctf_fields_free(trace->class[i].fields);
	}
	free(trace->stream);
	free(trace->class);
	ctf_program_free(trace->packet_header);
	schema_free(trace->schema);
	free(trace);
}
