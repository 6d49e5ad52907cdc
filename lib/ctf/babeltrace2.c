/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <babeltrace2/babeltrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intmap.h"
#include "base/mem.h"
#include "ctf/babeltrace2_fields.h"
#include "ctf/reader_private.h"

/*
 * The reference: the events of all streams in the order of the clock, by libbabeltrace2.
 * One graph a trace: source.ctf.fs, its ports each connected straight to a sink of ours.
 * No muxer stands between, as that one stops with an error where the packets of a stream
 * overlap. What it refuses of a trace, and what it makes of broken ones, is as it is.
 */
enum { STEP_EVENTS = 2000 }; /* a merge holds a step of every source */

/* libbabeltrace2 loads and unloads plugins through globals of its own. */
static pthread_mutex_t graph_lock = PTHREAD_MUTEX_INITIALIZER;

struct stream {
	struct ctf_progress progress;
	bt_message_array_const message; /* the batch at hand, ours to put */
	uint64_t count, next;           /* of the batch */
	bool has_clock;                 /* its events have stamps */
	bool has_ends;                  /* and its packets the stamp of their end */
};

struct known_class {
	const bt_event_class *class;
	struct babeltrace2_fields *fields;
	bool is_given;
};

struct babeltrace2_reader {
	struct ctf_reader base;
	bt_graph *graph;
	const bt_component_source *source;
	const bt_message_iterator **iterator; /* one a stream */
	struct stream *stream;
	size_t streams;
	struct known_class *known;
	size_t knowns, room;
	struct intmap index; /* address of an event class -> its index */
	uint64_t stop_at;    /* events at which the step ends */
	bool priming;        /* only what comes before the first event is read */
	struct error error;  /* of the graph's methods */
};

/* Take the library's error of this thread, and say its first cause in one line. */
static void take_error(struct error *error)
{
	const bt_error *causes = bt_current_thread_take_error();
	const char *text = "libbabeltrace2 failed and gave no cause";

	if (causes && bt_error_get_cause_count(causes))
		text =
		    bt_error_cause_get_message(bt_error_borrow_cause_by_index(causes, 0));
	error_set(error, "%.*s", (int)strcspn(text, "\n"), text);
	if (causes)
		bt_error_release(causes);
}

static void set_facts(struct ctf_facts *facts, const bt_stream *stream)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	const bt_value *host =
	    bt_trace_borrow_environment_entry_value_by_name_const(trace, "hostname");
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(
	    bt_stream_borrow_class_const(stream));
	int64_t seconds;
	uint64_t cycles;
	bt_uuid uuid;

	if (host && bt_value_is_string(host))
		strncpy(facts->hostname, bt_value_string_get(host),
			sizeof(facts->hostname) - 1);
	if (!clock || facts->has_clock)
		return;
	facts->has_clock = true;
	facts->clock_frequency = bt_clock_class_get_frequency(clock);
	bt_clock_class_get_offset(clock, &seconds, &cycles);
	facts->clock_offset_ns =
	    nsec_round((double)cycles * 1e9 / (double)facts->clock_frequency);
	if (facts->clock_frequency == (uint64_t)NSEC_PER_SEC)
		facts->clock_offset_ns = (nsec_t)cycles;
	if (__builtin_mul_overflow(seconds, NSEC_PER_SEC, &seconds))
		seconds = 0;
	facts->clock_offset_ns = nsec_add(facts->clock_offset_ns, seconds);
	if (bt_clock_class_get_name(clock))
		strncpy(facts->clock_name, bt_clock_class_get_name(clock),
			sizeof(facts->clock_name) - 1);
	uuid = bt_clock_class_get_uuid(clock);
	facts->has_uuid = uuid != NULL;
	if (uuid)
		memcpy(facts->clock_uuid, uuid, sizeof(facts->clock_uuid));
}

/* All event classes of the trace that the first stream is of. */
static void add_classes(struct babeltrace2_reader *reader, const bt_stream *stream)
{
	const bt_trace_class *trace =
	    bt_trace_borrow_class_const(bt_stream_borrow_trace_const(stream));

	for (uint64_t i = 0; i < bt_trace_class_get_stream_class_count(trace); i++) {
		const bt_stream_class *of =
		    bt_trace_class_borrow_stream_class_by_index_const(trace, i);

		for (uint64_t k = 0; k < bt_stream_class_get_event_class_count(of); k++) {
			const bt_event_class *class =
			    bt_stream_class_borrow_event_class_by_index_const(of, k);
			const char *name = bt_event_class_get_name(class);

			intmap_put(&reader->index, (uintptr_t) class,
				   (int64_t)reader->knowns);
			reader->known = mem_grow(reader->known, reader->knowns,
						 &reader->room, sizeof(*reader->known));
			reader->known[reader->knowns++] =
			    (struct known_class){.class = class};
			ctf_reader_add_class(&reader->base, name ? name : "",
					     bt_event_class_get_id(class));
		}
	}
}

static void begin_stream(struct babeltrace2_reader *reader, struct stream *stream,
			 const bt_message *message)
{
	const bt_stream *of = bt_message_stream_beginning_borrow_stream_const(message);
	const bt_stream_class *class = bt_stream_borrow_class_const(of);

	set_facts(&reader->base.facts, of);
	if (!reader->knowns)
		add_classes(reader, of);
	for (size_t i = 0; i < reader->knowns; i++)
		if (bt_event_class_borrow_stream_class_const(reader->known[i].class) ==
		    class)
			reader->base.class[i]->is_present = true;
	stream->has_clock =
	    bt_stream_class_borrow_default_clock_class_const(class) != NULL;
	stream->has_ends = stream->has_clock &&
			   bt_stream_class_packets_have_end_default_clock_snapshot(class);
}

/* -1 where the stamp is none that can be. */
static int stamp_of(const bt_clock_snapshot *snapshot, nsec_t *stamp)
{
	if (bt_clock_snapshot_get_ns_from_origin(snapshot, stamp) !=
	    BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK) {
		/* Left with the thread, it would abort the next call. */
		bt_current_thread_clear_error();
		return -1;
	}
	return nsec_is_stamp(*stamp) ? 0 : -1;
}

static int event_stamp(const bt_message *message, nsec_t *stamp)
{
	return stamp_of(bt_message_event_borrow_default_clock_snapshot_const(message),
			stamp);
}

/* LTTng writes one stream a CPU, and in each packet which one it is. */
static int32_t cpu_of(const bt_packet *packet)
{
	const bt_field *context = bt_packet_borrow_context_field_const(packet);
	const bt_field *cpu =
	    context
		? bt_field_structure_borrow_member_field_by_name_const(context, "cpu_id")
		: NULL;
	uint64_t number;

	if (!cpu || !bt_field_class_type_is(bt_field_get_class_type(cpu),
					    BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return -1;
	number = bt_field_integer_unsigned_get_value(cpu);
	return number <= INT32_MAX ? (int32_t)number : -1;
}

static void end_packet(struct babeltrace2_reader *reader, const struct stream *stream,
		       const bt_message *message)
{
	nsec_t end;

	if (stream->progress.began && stream->has_ends &&
	    stamp_of(bt_message_packet_end_borrow_default_clock_snapshot_const(message),
		     &end) == 0 &&
	    end < stream->progress.last_ns)
		ctf_tell_garbled(&reader->base, &stream->progress);
}

static void handle_event(struct babeltrace2_reader *reader, struct stream *stream,
			 const bt_message *message, nsec_t stamp)
{
	const bt_event *of = bt_message_event_borrow_event_const(message);
	struct ctf_event event = {
	    .local_ns = stamp,
	    .stream = stream->progress.index,
	    .cpu = stream->progress.cpu,
	    .ordinal = stream->progress.events,
	};
	const struct known_class *known;
	int64_t index = 0;

	ctf_note_event(&reader->base, &stream->progress, stamp);
	intmap_get(&reader->index, (uintptr_t)bt_event_borrow_class_const(of), &index);
	event.class = (uint32_t)index;
	known = &reader->known[index];
	if (!known->is_given)
		return;
	if (known->fields)
		event.cell = babeltrace2_fields_fetch(known->fields, of);
	reader->base.give(reader->base.context, &event);
}

static void handle_other(struct babeltrace2_reader *reader, struct stream *stream,
			 const bt_message *message)
{
	uint64_t count;

	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		begin_stream(reader, stream, message);
		break;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		stream->progress.cpu =
		    cpu_of(bt_message_packet_beginning_borrow_packet_const(message));
		break;
	case BT_MESSAGE_TYPE_PACKET_END:
		end_packet(reader, stream, message);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		/* Lost before the first packet: some, nobody knows how many. */
		if (bt_message_discarded_events_get_count(message, &count) !=
		    BT_PROPERTY_AVAILABILITY_AVAILABLE)
			count = 1;
		reader->base.facts.discarded_events += count;
		break;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		if (bt_message_discarded_packets_get_count(message, &count) !=
		    BT_PROPERTY_AVAILABILITY_AVAILABLE)
			count = 1;
		reader->base.facts.discarded_packets += count;
		break;
	default:
		break;
	}
}

static void put_batch(struct stream *stream)
{
	while (stream->next < stream->count)
		bt_message_put_ref(stream->message[stream->next++]);
}

/* The next batch of a stream. False at its end, broken or not. */
static bool refill(struct babeltrace2_reader *reader, struct stream *stream)
{
	struct error cause = ERROR_INIT;

	stream->count = stream->next = 0;
	switch (bt_message_iterator_next(
	    (bt_message_iterator *)reader->iterator[stream->progress.index],
	    &stream->message, &stream->count)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return true;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		return false;
	default:
		take_error(&cause);
		problem_add(&reader->base.problems, reader->base.path, "broken", 1,
			    "stream %u breaks off after %llu events, which are used: %s",
			    stream->progress.index,
			    (unsigned long long)stream->progress.events,
			    error_text(&cause));
		error_clear(&cause);
		return false;
	}
}

/*
 * Handle the messages of a stream up to its first event past `until`. False
 * at the stream's end.
 */
static bool run_stream(struct babeltrace2_reader *reader, struct stream *stream,
		       nsec_t until)
{
	while (reader->base.facts.events < reader->stop_at) {
		const bt_message *message;
		nsec_t stamp = 0;

		if (stream->next == stream->count && !refill(reader, stream))
			return false;
		if (stream->next == stream->count)
			return true;
		message = stream->message[stream->next];
		if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT) {
			handle_other(reader, stream, message);
		} else if (!stream->has_clock || event_stamp(message, &stamp)) {
			put_batch(stream);
			problem_add(
			    &reader->base.problems, reader->base.path, "broken", 1,
			    "stream %u breaks off after %llu events, which are "
			    "used: %s",
			    stream->progress.index,
			    (unsigned long long)stream->progress.events,
			    stream->has_clock ? "want stamps between 1933 and 2070"
					      : "it has no clock");
			return false;
		} else if (stamp > until) {
			stream->progress.head.head_ns = stamp;
			return true;
		} else {
			handle_event(reader, stream, message, stamp);
		}
		bt_message_put_ref(message);
		stream->next++;
	}
	stream->progress.head.head_ns =
	    stream->progress.began ? stream->progress.last_ns : NSEC_MIN;
	return true;
}

static bool consume(struct babeltrace2_reader *reader)
{
	struct ctf_stream_heap *heap = &reader->base.heap;

	if (!heap->count)
		return false;
	if (run_stream(reader, (struct stream *)heap->head[0],
		       reader->priming ? NSEC_MIN : ctf_heap_second(heap)))
		ctf_heap_settle(heap);
	else
		ctf_heap_remove(heap);
	return true;
}

static struct babeltrace2_reader *reader_of(bt_self_component_sink *self)
{
	return bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
}

static bt_component_class_sink_consume_method_status
sink_consume(bt_self_component_sink *self)
{
	struct babeltrace2_reader *reader = reader_of(self);

	return consume(reader) ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK
			       : BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
}

static bt_component_class_initialize_method_status
sink_initialize(bt_self_component_sink *self,
		bt_self_component_sink_configuration *configuration,
		const bt_value *params, void *data)
{
	struct babeltrace2_reader *reader = data;

	(void)configuration;
	(void)params;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self),
				   reader);
	for (size_t i = 0; i < reader->streams; i++) {
		char name[24];

		snprintf(name, sizeof(name), "in%zu", i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL) !=
		    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
sink_configured(bt_self_component_sink *self)
{
	struct babeltrace2_reader *reader = reader_of(self);

	for (size_t i = 0; i < reader->streams; i++) {
		bt_message_iterator *iterator;

		if (bt_message_iterator_create_from_sink_component(
			self, bt_self_component_sink_borrow_input_port_by_index(self, i),
			&iterator) !=
		    BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
			return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
		reader->iterator[i] = iterator;
	}
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

/* The iterators must be gone before the graph is. */
static void sink_finalize(bt_self_component_sink *self)
{
	struct babeltrace2_reader *reader = reader_of(self);

	for (size_t i = 0; i < reader->streams; i++)
		BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(reader->iterator[i]);
}

static int add_source(struct babeltrace2_reader *reader, const char *path,
		      struct error *error)
{
	const bt_plugin *plugin = NULL;
	const bt_component_class_source *class;
	bt_value *params, *inputs;
	int status = -1;

	if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_TRUE,
			   &plugin) != BT_PLUGIN_FIND_STATUS_OK)
		return error_set(error,
				 "the ctf plugin of libbabeltrace2 is not installed");
	class = bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
	params = bt_value_map_create();
	bt_value_map_insert_empty_array_entry(params, "inputs", &inputs);
	bt_value_array_append_string_element(inputs, path);
	if (bt_graph_add_source_component(reader->graph, class, "source", params,
					  BT_LOGGING_LEVEL_NONE, &reader->source) ==
	    BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		status = 0;
	else
		take_error(error);
	bt_value_put_ref(params);
	bt_plugin_put_ref(plugin);
	return status;
}

static int add_sink(struct babeltrace2_reader *reader, struct error *error)
{
	bt_component_class_sink *class =
	    bt_component_class_sink_create("clustertrace", sink_consume);
	const bt_component_sink *sink;
	int status = 0;

	bt_component_class_sink_set_initialize_method(class, sink_initialize);
	bt_component_class_sink_set_graph_is_configured_method(class, sink_configured);
	bt_component_class_sink_set_finalize_method(class, sink_finalize);
	if (bt_graph_add_sink_component_with_initialize_method_data(
		reader->graph, class, "sink", NULL, reader, BT_LOGGING_LEVEL_NONE,
		&sink) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		status = -1;
	for (size_t i = 0; !status && i < reader->streams; i++)
		if (bt_graph_connect_ports(
			reader->graph,
			bt_component_source_borrow_output_port_by_index_const(
			    reader->source, i),
			bt_component_sink_borrow_input_port_by_index_const(sink, i),
			NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
			status = -1;
	bt_component_class_sink_put_ref(class);
	if (status)
		take_error(error);
	return status;
}

static int make_graph(struct babeltrace2_reader *reader, const char *path,
		      struct error *error)
{
	bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
	reader->graph = bt_graph_create(0);
	if (add_source(reader, path, error))
		return -1;
	reader->streams = bt_component_source_get_output_port_count(reader->source);
	reader->iterator = mem_zalloc(reader->streams * sizeof(*reader->iterator) + 1);
	return add_sink(reader, error);
}

/* Let the sink consume once. 1: there may be more; 0: the end; -1 with error. */
static int run_graph(struct babeltrace2_reader *reader)
{
	switch (bt_graph_run_once(reader->graph)) {
	case BT_GRAPH_RUN_ONCE_STATUS_OK:
		return 1;
	case BT_GRAPH_RUN_ONCE_STATUS_END:
		return 0;
	default:
		/* Left with the thread, it would abort the next call. */
		take_error(&reader->error);
		return -1;
	}
}

static void begin_heap(struct babeltrace2_reader *reader)
{
	reader->stream = mem_zalloc(reader->streams * sizeof(*reader->stream) + 1);
	ctf_heap_init(&reader->base.heap, reader->streams);
	for (size_t i = 0; i < reader->streams; i++) {
		struct ctf_progress *progress = &reader->stream[i].progress;

		progress->index = (uint32_t)i;
		progress->head.head_ns = NSEC_MIN;
		progress->cpu = -1;
		ctf_heap_add(&reader->base.heap, &progress->head);
	}
}

static bool babeltrace2_step(struct ctf_reader *base, uint64_t most)
{
	struct babeltrace2_reader *reader = (struct babeltrace2_reader *)base;
	int status;

	reader->stop_at = base->facts.events + (most < STEP_EVENTS ? most : STEP_EVENTS);
	do
		status = run_graph(reader);
	while (status > 0 && base->heap.count && base->facts.events < reader->stop_at);
	if (status < 0)
		problem_add(&base->problems, base->path, "broken", 1,
			    "reading stopped after %llu events, which are used: %s",
			    (unsigned long long)base->facts.events,
			    error_text(&reader->error));
	return status > 0 && base->heap.count > 0;
}

static void add_columns(struct ctf_reader *base, uint32_t index)
{
	babeltrace2_columns(((struct babeltrace2_reader *)base)->known[index].class,
			    base->class[index]);
}

static void babeltrace2_select(struct ctf_reader *base, uint32_t index,
			       const struct ctf_selection *selection)
{
	struct babeltrace2_reader *reader = (struct babeltrace2_reader *)base;
	struct known_class *known = &reader->known[index];

	babeltrace2_fields_free(known->fields);
	known->fields = NULL;
	known->is_given = selection->what != SELECT_NOTHING;
	if (selection->what >= SELECT_FIELDS)
		known->fields = babeltrace2_fields_new(known->class, selection);
}

static void babeltrace2_free(struct ctf_reader *base)
{
	struct babeltrace2_reader *reader = (struct babeltrace2_reader *)base;

	for (size_t i = 0; reader->stream && i < reader->streams; i++)
		put_batch(&reader->stream[i]);
	for (size_t i = 0; i < reader->knowns; i++)
		babeltrace2_fields_free(reader->known[i].fields);
	pthread_mutex_lock(&graph_lock);
	BT_GRAPH_PUT_REF_AND_RESET(reader->graph);
	pthread_mutex_unlock(&graph_lock);
	intmap_clear(&reader->index);
	error_clear(&reader->error);
	free(reader->iterator);
	free(reader->known);
	free(reader->stream);
	free(reader);
}

/* Up to the first event, so that clock, host and classes are known from the start. */
static int prime(struct babeltrace2_reader *reader)
{
	int status;

	begin_heap(reader);
	reader->priming = true;
	reader->stop_at = UINT64_MAX;
	status = run_graph(reader);
	reader->priming = false;
	return status < 0 ? -1 : 0;
}

struct ctf_reader *ctf_babeltrace2_open(const char *path, struct error *error)
{
	static const struct ctf_reader_ops ops = {add_columns, babeltrace2_select, NULL,
						  babeltrace2_step, babeltrace2_free};
	struct babeltrace2_reader *reader = mem_zalloc(sizeof(*reader));
	int status;

	ctf_reader_init(&reader->base, &ops, path);
	pthread_mutex_lock(&graph_lock);
	status = make_graph(reader, path, &reader->error);
	pthread_mutex_unlock(&graph_lock);
	if (!status)
		status = prime(reader);
	if (!status)
		return &reader->base;
	error_set(error, "%s: %s", path, error_text(&reader->error));
	ctf_reader_free(&reader->base);
	return NULL;
}

char *ctf_library_version(void)
{
	return mem_printf("babeltrace2 %u.%u.%u", bt_version_get_major(),
			  bt_version_get_minor(), bt_version_get_patch());
}
