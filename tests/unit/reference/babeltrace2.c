/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "babeltrace2.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/*
 * The reference reader: the events of all streams in the order of the clock, by
 * libbabeltrace2.
 *
 * Each trace has a graph with source.ctf.fs, whose ports are each connected to a sink, of
 * which only the iterator is used. There is no muxer, because a muxer stops with an error
 * if packets of a stream overlap. The library decides which traces it rejects and what it
 * reads from damaged ones.
 */

/* libbabeltrace2 loads and unloads plugins through globals. */
static pthread_mutex_t graph_lock = PTHREAD_MUTEX_INITIALIZER;

struct stream {
	struct trace_progress progress;
	const bt_message_iterator *iterator;
	bt_message_array_const message; /* current batch; each message must be put */
	uint64_t count, next;           /* index and number of messages in the batch */
	bool has_clock;                 /* its events have timestamps */
};

struct babeltrace2_reader {
	struct trace_reader base;
	bt_graph *graph;
	const bt_component_source *source;
	struct stream *stream;
	size_t streams;
	struct intmap index; /* address of an event class -> its index */
};

/* Set `error` to the first cause of the library's error of this thread, as one line. */
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

static void set_facts(struct trace_reader *reader, const bt_stream *stream)
{
	const bt_value *host = bt_trace_borrow_environment_entry_value_by_name_const(
	    bt_stream_borrow_trace_const(stream), "hostname");
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(
	    bt_stream_borrow_class_const(stream));
	struct schema_clock of = {.frequency = 1};
	bt_uuid uuid = clock ? bt_clock_class_get_uuid(clock) : NULL;

	if (clock) {
		of.frequency = bt_clock_class_get_frequency(clock);
		of.identity = (char *)(uintptr_t)bt_clock_class_get_name(clock);
		bt_clock_class_get_offset(clock, &of.offset_s, &of.offset);
	}
	of.has_uuid = uuid != NULL;
	if (uuid)
		memcpy(of.uuid, uuid, sizeof(of.uuid));
	trace_reader_set_clock(
	    reader, host && bt_value_is_string(host) ? bt_value_string_get(host) : NULL,
	    clock ? &of : NULL);
}

static void add_class(struct babeltrace2_reader *reader, const bt_event_class *of,
		      const bt_stream_class *stream)
{
	const char *name = bt_event_class_get_name(of);
	AUTOFREE char *unnamed = mem_printf("event_%" PRIu64, bt_event_class_get_id(of));
	struct schema_event_class *class;

	intmap_put(&reader->index, (uintptr_t)of, (int64_t)reader->base.classes);
	class = trace_reader_add_class(&reader->base, name && *name ? name : unnamed);
	class->scope[SCOPE_PAYLOAD] =
	    babeltrace2_field_class(bt_event_class_borrow_payload_field_class_const(of));
	class->scope[SCOPE_SPECIFIC_CONTEXT] = babeltrace2_field_class(
	    bt_event_class_borrow_specific_context_field_class_const(of));
	class->scope[SCOPE_COMMON_CONTEXT] = babeltrace2_field_class(
	    bt_stream_class_borrow_event_common_context_field_class_const(stream));
}

/* Add all event classes of the trace that contains a stream. */
static void add_classes(struct babeltrace2_reader *reader, const bt_stream *stream)
{
	const bt_trace_class *trace =
	    bt_trace_borrow_class_const(bt_stream_borrow_trace_const(stream));

	for (uint64_t i = 0; i < bt_trace_class_get_stream_class_count(trace); i++) {
		const bt_stream_class *of =
		    bt_trace_class_borrow_stream_class_by_index_const(trace, i);

		for (uint64_t k = 0; k < bt_stream_class_get_event_class_count(of); k++)
			add_class(
			    reader,
			    bt_stream_class_borrow_event_class_by_index_const(of, k), of);
	}
}

static void begin_stream(struct babeltrace2_reader *reader, struct stream *stream,
			 const bt_message *message)
{
	const bt_stream *of = bt_message_stream_beginning_borrow_stream_const(message);

	set_facts(&reader->base, of);
	if (!reader->base.classes)
		add_classes(reader, of);
	stream->has_clock = bt_stream_class_borrow_default_clock_class_const(
				bt_stream_borrow_class_const(of)) != NULL;
}

/* Return 0, or -1 if the timestamp is not valid. */
static int convert_snapshot(const bt_clock_snapshot *snapshot, nsec_t *stamp)
{
	if (bt_clock_snapshot_get_ns_from_origin(snapshot, stamp) !=
	    BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK) {
		/* If it stayed set, the next call would abort. */
		bt_current_thread_clear_error();
		return -1;
	}
	return nsec_is_stamp(*stamp) ? 0 : -1;
}

/* Return the CPU that a packet's context names; LTTng writes one stream for each CPU. */
static int32_t find_packet_cpu(const bt_packet *packet)
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

static void handle_event(struct babeltrace2_reader *reader, struct stream *stream,
			 const bt_message *message, nsec_t stamp)
{
	const bt_event *of = bt_message_event_borrow_event_const(message);
	struct trace_event event = {
	    .local_ns = stamp,
	    .stream = stream->progress.index,
	    .cpu = stream->progress.cpu,
	    .ordinal = stream->progress.tally.events,
	};
	const struct schema_event_class *class;
	int64_t index = 0;

	intmap_get(&reader->index, (uintptr_t)bt_event_borrow_class_const(of), &index);
	event.class = (uint32_t)index;
	class = reader->base.class[index];
	trace_tally_add(&stream->progress.tally, stamp);
	if (class->selected == SELECT_NOTHING)
		return;
	if (class->fields)
		event.cell = babeltrace2_fetch(class, of);
	reader->base.on_event(reader->base.context, &event);
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
		stream->progress.cpu = find_packet_cpu(
		    bt_message_packet_beginning_borrow_packet_const(message));
		break;
	/*
	 * The number of events lost before the first packet is unknown; count at least
	 * one.
	 */
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
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

static bool break_off(struct babeltrace2_reader *reader, const struct stream *stream,
		      const char *why)
{
	problem_add(&reader->base.problems, reader->base.path, PROBLEM_BROKEN, 1,
		    "stream %u breaks off after %llu events, which are used: %s",
		    stream->progress.index,
		    (unsigned long long)stream->progress.tally.events, why);
	return false;
}

/* Read the next batch of a stream. Return false at its end or if it is damaged. */
static bool refill(struct babeltrace2_reader *reader, struct stream *stream)
{
	struct error cause = ERROR_INIT;

	stream->count = stream->next = 0;
	switch (bt_message_iterator_next((bt_message_iterator *)stream->iterator,
					 &stream->message, &stream->count)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return true;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		return false;
	default:
		take_error(&cause);
		break_off(reader, stream, error_text(&cause));
		error_clear(&cause);
		return false;
	}
}

static bool run_stream(struct trace_reader *base, struct trace_progress *progress,
		       nsec_t until)
{
	struct babeltrace2_reader *reader = (struct babeltrace2_reader *)base;
	struct stream *stream = (struct stream *)progress;

	while (progress->tally.events < progress->stop_at) {
		const bt_message *message;
		nsec_t stamp = 0;

		if (stream->next == stream->count && !refill(reader, stream))
			return false;
		if (stream->next == stream->count)
			return true;
		message = stream->message[stream->next];
		if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT) {
			handle_other(reader, stream, message);
		} else if (!stream->has_clock) {
			return break_off(reader, stream, "it has no clock");
		} else if (convert_snapshot(
			       bt_message_event_borrow_default_clock_snapshot_const(
				   message),
			       &stamp)) {
			return break_off(reader, stream,
					 "timestamp outside 1967 to 2111");
		} else if (stamp > until) {
			progress->head_ns = stamp;
			return true;
		} else {
			handle_event(reader, stream, message, stamp);
		}
		bt_message_put_ref(message);
		stream->next++;
	}
	progress->head_ns = progress->tally.last_ns;
	return true;
}

static bt_graph_simple_sink_component_initialize_func_status
note_iterator(bt_message_iterator *iterator, void *data)
{
	((struct stream *)data)->iterator = iterator;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

/* The graph runs only once, to be configured. */
static bt_graph_simple_sink_component_consume_func_status
consume_nothing(bt_message_iterator *iterator, void *data)
{
	(void)iterator;
	(void)data;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
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

/* Connect a sink to one port of the source. */
static int add_sink(struct babeltrace2_reader *reader, uint64_t port)
{
	const bt_component_sink *sink;
	char name[32];

	snprintf(name, sizeof(name), "sink%" PRIu64, port);
	return bt_graph_add_simple_sink_component(
		   reader->graph, name, note_iterator, consume_nothing, NULL,
		   &reader->stream[port], &sink) != BT_GRAPH_ADD_COMPONENT_STATUS_OK ||
		       bt_graph_connect_ports(
			   reader->graph,
			   bt_component_source_borrow_output_port_by_index_const(
			       reader->source, port),
			   bt_component_sink_borrow_input_port_by_index_const(sink, 0),
			   NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK
		   ? -1
		   : 0;
}

static int make_graph(struct babeltrace2_reader *reader, const char *path,
		      struct error *error)
{
	int status = 0;

	bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
	reader->graph = bt_graph_create(0);
	if (add_source(reader, path, error))
		return -1;
	reader->streams = bt_component_source_get_output_port_count(reader->source);
	reader->stream = mem_zalloc(reader->streams * sizeof(*reader->stream) + 1);
	for (size_t i = 0; !status && i < reader->streams; i++) {
		trace_reader_add_stream(&reader->base, &reader->stream[i].progress);
		status = add_sink(reader, i);
	}
	if (!status && reader->streams &&
	    bt_graph_run_once(reader->graph) != BT_GRAPH_RUN_ONCE_STATUS_OK)
		status = -1;
	if (status)
		take_error(error);
	return status;
}

static bool babeltrace2_step(struct trace_reader *base, uint64_t most)
{
	for (size_t i = 0; i < base->classes; i++)
		trace_fields_mark(base->class[i] -> fields, true);
	return trace_reader_merge(base, most, run_stream);
}

static void babeltrace2_free(struct trace_reader *base)
{
	struct babeltrace2_reader *reader = (struct babeltrace2_reader *)base;

	for (size_t i = 0; i < reader->streams; i++)
		put_batch(&reader->stream[i]);
	for (size_t i = 0; i < base->classes; i++)
		field_free(base->class[i] -> scope[SCOPE_COMMON_CONTEXT]);
	pthread_mutex_lock(&graph_lock);
	BT_GRAPH_PUT_REF_AND_RESET(reader->graph);
	pthread_mutex_unlock(&graph_lock);
	intmap_clear(&reader->index);
	free(reader->stream);
}

struct trace_reader *babeltrace2_open(const char *path, struct error *error)
{
	struct babeltrace2_reader *reader = mem_zalloc(sizeof(*reader));
	int status;

	trace_reader_init(&reader->base, path, babeltrace2_step, babeltrace2_free);
	pthread_mutex_lock(&graph_lock);
	status = make_graph(reader, path, error);
	pthread_mutex_unlock(&graph_lock);
	if (!status) {
		trace_reader_prime(&reader->base, run_stream);
		return &reader->base;
	}
	error_prefix(error, "%s", path);
	trace_reader_free(&reader->base);
	return NULL;
}
