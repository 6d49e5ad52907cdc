/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/native/clock.h"
#include "input/native/pass.h"

enum { MOST_IDS = 1 << 20 }; /* up to the greatest one, of all streams together */

/* While a trace is made ready. */
struct setting_up {
	struct native_trace *trace;
	native_prepare_fn *prepare;
	void *context;
	struct error *error;
};

static const char *const head_name[HEADS] = {
    "magic",           "uuid",
    "stream_id",       "stream_instance_id",
    "timestamp_begin", "timestamp_end",
    "content_size",    "packet_size",
    "packet_seq_num",  "events_discarded",
    "cpu_id",
};

/* The CPU is no matter of the format, so its name may have an underscore before it. */
static bool is_head(enum native_head head, const char *name)
{
	name += head == HEAD_CPU && name[0] == '_';
	return strcmp(head_name[head], name) == 0;
}

/* The known fields of one scope, which get their place. */
static int find_heads(struct field_class *scope, const struct field_class **head,
		      enum native_head from, enum native_head to, struct error *error)
{
	for (size_t i = 0; scope && i < scope->members; i++) {
		struct field_class *field = scope->member[i].class;
		enum native_head at = from;

		while (at < to && !is_head(at, scope->member[i].name))
			at++;
		if (at == to)
			continue;
		if (at == HEAD_CPU && (field->type != FIELD_INTEGER || field->is_signed))
			continue;
		if (at == HEAD_UUID
			? !field->element || field->length != 16 ||
			      field->element->type != FIELD_INTEGER ||
			      field->element->size != 8 || field->element->align != 8
			: field->type != FIELD_INTEGER || field->is_signed)
			return error_set(error, "%s is of no known kind", head_name[at]);
		field->place = (int)at;
		head[at] = field;
	}
	return 0;
}

/* The integer `id` of a header, and those in the options of its variant `v`. */
static int mark_ids(struct field_class *header)
{
	int found = 0;

	for (size_t i = 0; i < header->members; i++) {
		struct field_class *field = header->member[i].class;
		const char *name = header->member[i].name;

		if (strcmp(name, "id") == 0 && field->type == FIELD_INTEGER &&
		    !field->is_signed)
			found += field->is_id = true;
		if (strcmp(name, "v") != 0 || field->type != FIELD_VARIANT)
			continue;
		for (size_t k = 0; k < field->members; k++)
			if (field->member[k].class->type == FIELD_STRUCTURE)
				found += mark_ids(field->member[k].class);
	}
	return found;
}

/* libbabeltrace2 mends what these are known to write wrong; we leave that to it. */
static int check_tracer(const struct tsdl *tsdl, struct error *error)
{
	uint64_t version = 10000 * tsdl->major + 100 * tsdl->minor + tsdl->patch;
	const char *name = tsdl->tracer ? tsdl->tracer : "";
	bool odd = strcmp(name, "barectf") == 0;

	if (strcmp(name, "lttng-ust") == 0)
		odd = version < 21100;
	if (strcmp(name, "lttng-modules") == 0)
		odd = version < 20913 || (version >= 21000 && version < 21010);
	/* 2.11.0's release candidates count, too. */
	if (strcmp(name, "lttng-modules") == 0 && version == 21100)
		odd = true;
	return odd ? error_set(error, "a tracer with known faults, %s", name) : 0;
}

static int set_up_class(const struct setting_up *up, struct native_stream_class *stream,
			const struct tsdl_event *event)
{
	struct native_class *class = &stream->class[stream->classes++];
	struct field_class *const tree[] = {stream->of->event_context, event->context,
					    event->fields};

	class->event = event;
	if (stream->by_id[event->id])
		return error_set(up->error, "two events of one id");
	stream->by_id[event->id] = (uint32_t)stream->classes;
	for (size_t i = 0; i < 3; i++)
		if (native_want_no_stamp(tree[i], up->error))
			return -1;
	class->places = up->prepare(up->context, stream, class);
	if (class->places > up->trace->places)
		up->trace->places = class->places;
	class->plan = native_plan_new(tree, 3, up->trace->slots.mixed, up->error);
	return class->plan ? 0 : -1;
}

static int set_up_classes(const struct setting_up *up, struct native_stream_class *stream)
{
	const struct tsdl *tsdl = up->trace->tsdl;
	size_t classes = 0;

	for (size_t i = 0; i < tsdl->events; i++) {
		if (tsdl->event[i].stream != stream->of->id)
			continue;
		classes++;
		if (tsdl->event[i].id >= MOST_IDS)
			return error_set(up->error, "event %s: want an id below %d",
					 tsdl->event[i].name, MOST_IDS);
		if (tsdl->event[i].id >= stream->ids)
			stream->ids = tsdl->event[i].id + 1;
	}
	up->trace->ids += stream->ids;
	if (up->trace->ids > MOST_IDS)
		return error_set(up->error, "want events of smaller ids");
	stream->class = mem_zalloc(classes * sizeof(*stream->class) + 1);
	stream->by_id = mem_zalloc(stream->ids * sizeof(*stream->by_id) + 1);
	for (size_t i = 0; i < tsdl->events; i++)
		if (tsdl->event[i].stream == stream->of->id &&
		    set_up_class(up, stream, &tsdl->event[i]))
			return error_prefix(up->error, "event %s", tsdl->event[i].name);
	return 0;
}

static int set_up_stream(const struct setting_up *up, struct native_stream_class *stream,
			 const struct field_class *const *head)
{
	bool mixed = up->trace->slots.mixed;
	struct field_class *end;

	memcpy(stream->head, head, sizeof(stream->head));
	if (native_find_clock(&stream->clock, up->trace->tsdl, stream->of, up->error) ||
	    find_heads(stream->of->packet_context, stream->head, HEAD_BEGIN, HEADS,
		       up->error))
		return -1;
	/* A packet's end is not a time to count on from. */
	end = (struct field_class *)stream->head[HEAD_END];
	stream->has_ends = end && end->clock;
	if (end) {
		free(end->clock);
		end->clock = NULL;
	}
	if (!mark_ids(stream->of->event_header))
		return error_set(up->error, "no id in the headers of events");
	stream->packet_context =
	    native_plan_new(&stream->of->packet_context, 1, mixed, up->error);
	if (!stream->packet_context)
		return -1;
	stream->event_header =
	    native_plan_new(&stream->of->event_header, 1, mixed, up->error);
	native_quick_find(stream->of->event_header, &stream->quick);
	if (!stream->event_header || set_up_classes(up, stream))
		return -1;
	native_pass_prepare(stream);
	return 0;
}

static int set_up(const struct setting_up *up)
{
	struct native_trace *trace = up->trace;
	const struct field_class *head[HEADS] = {NULL};
	size_t events = 0;

	if (check_tracer(trace->tsdl, up->error) ||
	    field_resolve(trace->tsdl, &trace->slots, up->error) ||
	    native_want_no_stamp(trace->tsdl->packet_header, up->error) ||
	    find_heads(trace->tsdl->packet_header, head, HEAD_MAGIC, HEAD_BEGIN,
		       up->error))
		return -1;
	trace->places = HEADS;
	trace->packet_header = native_plan_new(&trace->tsdl->packet_header, 1,
					       trace->slots.mixed, up->error);
	if (!trace->packet_header)
		return -1;
	if (!head[HEAD_STREAM] && trace->tsdl->streams != 1)
		return error_set(up->error, "packets do not say their stream");
	trace->stream = mem_zalloc(trace->tsdl->streams * sizeof(*trace->stream) + 1);
	for (size_t i = 0; i < trace->tsdl->streams; i++) {
		trace->stream[i].of = &trace->tsdl->stream[i];
		for (size_t k = 0; k < i; k++)
			if (trace->stream[k].of->id == trace->stream[i].of->id)
				return error_set(up->error, "two streams of one id");
		if (set_up_stream(up, &trace->stream[i], head))
			return -1;
		events += trace->stream[i].classes;
	}
	if (events != trace->tsdl->events)
		return error_set(up->error, "events of a stream that is not there");
	return 0;
}

struct native_trace *native_trace_open(const char *path, native_prepare_fn *prepare,
				       void *context, struct error *error)
{
	struct native_trace *trace = mem_zalloc(sizeof(*trace));
	const struct setting_up up = {trace, prepare, context, error};
	char *name = mem_printf("%s/metadata", path);
	size_t size;
	char *text = tsdl_read(name, &size, error);
	bool ready;

	trace->tsdl = text ? tsdl_parse(text, size, error) : NULL;
	ready = trace->tsdl && !set_up(&up);
	if (text && !ready)
		error_prefix(error, "%s", name);
	free(text);
	free(name);
	if (ready)
		return trace;
	native_trace_free(trace);
	return NULL;
}

const struct native_class *native_find_class(const struct native_stream_class *stream,
					     uint64_t id)
{
	uint32_t index = id < stream->ids ? stream->by_id[id] : 0;

	return index ? &stream->class[index - 1] : NULL;
}

static void free_stream(struct native_stream_class *stream)
{
	native_plan_free(stream->packet_context);
	native_plan_free(stream->event_header);
	for (size_t i = 0; i < stream->classes; i++)
		native_plan_free(stream->class[i].plan);
	free(stream->class);
	free(stream->by_id);
	free(stream->skip);
}

void native_trace_free(struct native_trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; trace->stream && i < trace->tsdl->streams; i++)
		free_stream(&trace->stream[i]);
	free(trace->stream);
	native_plan_free(trace->packet_header);
	tsdl_free(trace->tsdl);
	free(trace);
}
