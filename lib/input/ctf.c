/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/reader.h"

#include <babeltrace2/babeltrace.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/ctf_classes.h"
#include "input/ctf_error.h"
#include "input/ctf_files.h"

/*
 * One graph a trace: source.ctf.fs, its ports each connected straight to a
 * sink of ours. No muxer stands between, as that one stops with an error
 * where the packets of a stream overlap; the order across streams is made
 * here, by a heap of the streams' next stamps.
 */

#define STEP_EVENTS 20000 /* events a step, some milliseconds of work */

struct stream {
	const bt_message_iterator *iterator;
	bt_message_array_const message; /* the batch at hand, ours to put */
	uint64_t count, next;           /* of the batch */
	nsec_t head_ns;                 /* no event of this stream to come is before */
	nsec_t last_ns;                 /* of the event before */
	uint64_t events;
	unsigned index;
	bool began;     /* last_ns is set */
	bool has_clock; /* its events have stamps */
	bool has_ends;  /* and its packets the stamp of their end */
};

struct reader {
	char *path, *mended;
	const struct event_wish *wish;
	size_t wishes;
	struct reader_facts facts;
	struct problem_list problems;
	struct ctf_files files;
	uint64_t packets; /* read so far */
	struct value *value;
	struct ctf_classes classes;
	bt_graph *graph;
	const bt_component_source *source;
	struct stream *stream;
	size_t streams;
	struct stream **heap; /* streams still read, by head_ns */
	size_t alive;
	uint64_t stop_at; /* events at which the step ends */
	bool priming;     /* only what comes before the first event is read */
	event_fn *give;
	void *context;
	struct error error; /* of the graph's methods */
};

/* libbabeltrace2 loads and unloads plugins through globals of its own. */
static pthread_mutex_t graph_lock = PTHREAD_MUTEX_INITIALIZER;

static void facts_from_stream(struct reader *reader, const bt_stream *stream)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	const bt_value *host =
	    bt_trace_borrow_environment_entry_value_by_name_const(trace, "hostname");
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(
	    bt_stream_borrow_class_const(stream));
	struct reader_facts *facts = &reader->facts;
	int64_t seconds;
	uint64_t cycles;
	bt_uuid uuid;

	if (host && bt_value_is_string(host))
		strncpy(facts->hostname, bt_value_string_get(host),
			sizeof(facts->hostname) - 1);
	if (!clock || facts->has_clock)
		return;
	facts->has_clock = 1;
	facts->clock_frequency = bt_clock_class_get_frequency(clock);
	bt_clock_class_get_offset(clock, &seconds, &cycles);
	facts->clock_offset_ns =
	    nsec_round((double)cycles * 1e9 / (double)facts->clock_frequency);
	if (facts->clock_frequency == (uint64_t)NSEC_PER_SEC)
		facts->clock_offset_ns = (nsec_t)cycles;
	if (__builtin_mul_overflow(seconds, NSEC_PER_SEC, &seconds))
		seconds = 0;
	facts->clock_offset_ns = nsec_add(facts->clock_offset_ns, seconds);
	uuid = bt_clock_class_get_uuid(clock);
	facts->has_uuid = uuid != NULL;
	if (uuid)
		memcpy(facts->clock_uuid, uuid, sizeof(facts->clock_uuid));
}

static void begin_stream(struct reader *reader, struct stream *stream,
			 const bt_message *message)
{
	const bt_stream *of = bt_message_stream_beginning_borrow_stream_const(message);
	const bt_stream_class *class = bt_stream_borrow_class_const(of);

	facts_from_stream(reader, of);
	ctf_classes_define(&reader->classes, of, reader->facts.defined);
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

/*
 * A stamp holds some bits of the clock, the rest is that of the one before. So
 * after a garbled event all are too late by a turn of those bits, up to the end.
 */
static void end_packet(struct reader *reader, struct stream *stream,
		       const bt_message *message)
{
	nsec_t end;

	reader->packets++;
	if (stream->began && stream->has_ends &&
	    stamp_of(bt_message_packet_end_borrow_default_clock_snapshot_const(message),
		     &end) == 0 &&
	    end < stream->last_ns)
		problem_add(&reader->problems, reader->path, "garbled", 1,
			    "stream %u has events after the end of their packet, the "
			    "%llu up to there may have wrong stamps",
			    stream->index, (unsigned long long)stream->events);
}

static void note_stamp(struct reader *reader, struct stream *stream, nsec_t stamp)
{
	struct reader_facts *facts = &reader->facts;

	if (!facts->events || stamp < facts->begin_ns)
		facts->begin_ns = stamp;
	if (!facts->events || stamp > facts->end_ns)
		facts->end_ns = stamp;
	if (stream->began && stamp < stream->last_ns)
		facts->backward++;
	stream->last_ns = stamp;
	stream->began = true;
	stream->events++;
	facts->events++;
}

static void handle_event(struct reader *reader, struct stream *stream,
			 const bt_message *message, nsec_t stamp)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const struct ctf_class *class =
	    ctf_classes_find(&reader->classes, bt_event_borrow_class_const(event));
	struct event found;

	note_stamp(reader, stream, stamp);
	if (class->wish < 0)
		return;
	reader->facts.wished[class->wish]++;
	ctf_plan_fetch(class->plan, bt_event_borrow_payload_field_const(event),
		       reader->value, reader->wish[class->wish].fields);
	found.local_ns = stamp;
	found.tag = reader->wish[class->wish].tag;
	found.stream = stream->index;
	found.value = reader->value;
	reader->give(reader->context, &found);
}

static void handle_other(struct reader *reader, struct stream *stream,
			 const bt_message *message)
{
	uint64_t count = 1;

	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		begin_stream(reader, stream, message);
		break;
	case BT_MESSAGE_TYPE_PACKET_END:
		end_packet(reader, stream, message);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		bt_message_discarded_events_get_count(message, &count);
		reader->facts.discarded_events += count;
		break;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		bt_message_discarded_packets_get_count(message, &count);
		reader->facts.discarded_packets += count;
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
static bool refill(struct reader *reader, struct stream *stream)
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
		ctf_error_take(&cause);
		problem_add(&reader->problems, reader->path, "broken", 1,
			    "stream %u breaks off after %llu events, which are used: %s",
			    stream->index, (unsigned long long)stream->events,
			    reader->mended ? "cut" : error_text(&cause));
		error_clear(&cause);
		return false;
	}
}

/*
 * Handle the messages of a stream up to its first event past `until`. False
 * at the stream's end.
 */
static bool run_stream(struct reader *reader, struct stream *stream, nsec_t until)
{
	while (reader->facts.events < reader->stop_at) {
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
			problem_add(&reader->problems, reader->path, "clock", 1,
				    "stream %u breaks off after %llu events, which are "
				    "used: %s",
				    stream->index, (unsigned long long)stream->events,
				    stream->has_clock
					? "want stamps between 1933 and 2070"
					: "it has no clock");
			return false;
		} else if (stamp > until) {
			stream->head_ns = stamp;
			return true;
		} else {
			handle_event(reader, stream, message, stamp);
		}
		bt_message_put_ref(message);
		stream->next++;
	}
	stream->head_ns = stream->began ? stream->last_ns : NSEC_MIN;
	return true;
}

static void heap_down(struct reader *reader)
{
	struct stream **heap = reader->heap;
	size_t at = 0, child;

	while ((child = 2 * at + 1) < reader->alive) {
		struct stream *moved = heap[at];

		if (child + 1 < reader->alive &&
		    heap[child + 1]->head_ns < heap[child]->head_ns)
			child++;
		if (moved->head_ns <= heap[child]->head_ns)
			return;
		heap[at] = heap[child];
		heap[child] = moved;
		at = child;
	}
}

/* The head of every stream but the first, or the end of time. */
static nsec_t second_head(const struct reader *reader)
{
	nsec_t head = NSEC_MAX;

	for (size_t i = 1; i < reader->alive && i < 3; i++)
		if (reader->heap[i]->head_ns < head)
			head = reader->heap[i]->head_ns;
	return head;
}

static bt_component_class_sink_consume_method_status
sink_consume(bt_self_component_sink *self)
{
	struct reader *reader =
	    bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	if (!reader->alive)
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
	if (!run_stream(reader, reader->heap[0],
			reader->priming ? NSEC_MIN : second_head(reader)))
		reader->heap[0] = reader->heap[--reader->alive];
	heap_down(reader);
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}

static bt_component_class_initialize_method_status
sink_initialize(bt_self_component_sink *self,
		bt_self_component_sink_configuration *configuration,
		const bt_value *params, void *data)
{
	struct reader *reader = data;

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
	struct reader *reader =
	    bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	for (size_t i = 0; i < reader->streams; i++) {
		struct stream *stream = &reader->stream[i];
		bt_message_iterator *iterator;

		if (bt_message_iterator_create_from_sink_component(
			self, bt_self_component_sink_borrow_input_port_by_index(self, i),
			&iterator) !=
		    BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
			return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
		stream->iterator = iterator;
		stream->index = (unsigned)i;
		stream->head_ns = NSEC_MIN;
		reader->heap[reader->alive++] = stream;
	}
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

/* The iterators must be gone before the graph is. */
static void sink_finalize(bt_self_component_sink *self)
{
	struct reader *reader =
	    bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	for (size_t i = 0; i < reader->streams; i++) {
		put_batch(&reader->stream[i]);
		bt_message_iterator_put_ref(reader->stream[i].iterator);
		reader->stream[i].iterator = NULL;
	}
	reader->alive = 0;
}

static int add_source(struct reader *reader, const char *path)
{
	const bt_plugin *plugin = NULL;
	const bt_component_class_source *class;
	bt_value *params, *inputs;
	int status = -1;

	if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_TRUE,
			   &plugin) != BT_PLUGIN_FIND_STATUS_OK)
		return error_set(&reader->error,
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
		ctf_error_take(&reader->error);
	/* Its cause names a directory of ours, and nothing of what is broken. */
	if (status)
		error_set(&reader->error,
			  "libbabeltrace2 cannot make sense of its metadata "
			  "or packet headers");
	bt_value_put_ref(params);
	bt_plugin_put_ref(plugin);
	return status;
}

static int add_sink(struct reader *reader)
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
		ctf_error_take(&reader->error);
	return status;
}

static int make_graph(struct reader *reader, const char *path)
{
	reader->graph = bt_graph_create(0);
	if (add_source(reader, path) == 0) {
		reader->streams =
		    bt_component_source_get_output_port_count(reader->source);
		reader->stream = mem_zalloc(reader->streams * sizeof(*reader->stream));
		reader->heap = mem_zalloc(reader->streams * sizeof(struct stream *));
		if (add_sink(reader) == 0)
			return 0;
	}
	BT_GRAPH_PUT_REF_AND_RESET(reader->graph);
	free(reader->stream);
	free(reader->heap);
	reader->stream = NULL;
	reader->heap = NULL;
	reader->streams = 0;
	return -1;
}

/* As it is, or where that is not sound or refused, without what is broken in it. */
static int open_graph(struct reader *reader, struct error *error)
{
	int status = -1;

	pthread_mutex_lock(&graph_lock);
	bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
	if (reader->files.sound)
		status = make_graph(reader, reader->path);
	if (status && reader->files.known)
		reader->mended = ctf_mend(reader->path, &reader->problems, error);
	if (reader->mended)
		status = make_graph(reader, reader->mended);
	if (status && reader->error.text)
		error_set(error, "%s: %s", reader->path, error_text(&reader->error));
	pthread_mutex_unlock(&graph_lock);
	return status;
}

/* Read up to the first event, so that clock and host are known from the start. */
static int prime(struct reader *reader, struct error *error)
{
	bt_graph_run_once_status status;

	reader->priming = true;
	reader->stop_at = UINT64_MAX;
	status = bt_graph_run_once(reader->graph);
	reader->priming = false;
	if (status == BT_GRAPH_RUN_ONCE_STATUS_OK ||
	    status == BT_GRAPH_RUN_ONCE_STATUS_END)
		return 0;
	/* Left with the thread, it would abort the next call. */
	ctf_error_take(&reader->error);
	return error_set(error, "%s: %s", reader->path, error_text(&reader->error));
}

struct reader *ctf_reader_open(const char *path, const struct event_wish *wishes,
			       size_t count, struct error *error)
{
	struct reader *reader = mem_zalloc(sizeof(*reader));
	size_t most = 1;

	reader->path = mem_strdup(path);
	reader->wish = wishes;
	reader->wishes = count;
	reader->facts.wished = mem_zalloc(count * sizeof(uint64_t));
	reader->facts.defined = mem_zalloc(count * sizeof(int));
	for (size_t i = 0; i < count; i++)
		if (wishes[i].fields > most)
			most = wishes[i].fields;
	reader->value = mem_zalloc(most * sizeof(*reader->value));
	ctf_classes_init(&reader->classes, wishes, count);
	if (ctf_files_check(path, &reader->files, error) || open_graph(reader, error) ||
	    prime(reader, error)) {
		reader_free(reader);
		return NULL;
	}
	reader->facts.total_bytes = reader->files.packets ? reader->files.bytes : 0;
	return reader;
}

int reader_step(struct reader *reader, event_fn *give, void *context)
{
	bt_graph_run_once_status status;

	reader->give = give;
	reader->context = context;
	reader->stop_at = reader->facts.events + STEP_EVENTS;
	do
		status = bt_graph_run_once(reader->graph);
	while (status == BT_GRAPH_RUN_ONCE_STATUS_OK && reader->alive &&
	       reader->facts.events < reader->stop_at);
	if (reader->files.packets)
		reader->facts.bytes =
		    reader->files.bytes * reader->packets / reader->files.packets;
	if (status != BT_GRAPH_RUN_ONCE_STATUS_OK &&
	    status != BT_GRAPH_RUN_ONCE_STATUS_END) {
		ctf_error_take(&reader->error);
		problem_add(&reader->problems, reader->path, "broken", 1,
			    "reading stopped after %llu events, which are used: %s",
			    (unsigned long long)reader->facts.events,
			    error_text(&reader->error));
		return 0;
	}
	return status == BT_GRAPH_RUN_ONCE_STATUS_OK && reader->alive;
}

const struct reader_facts *reader_facts(const struct reader *reader)
{
	return &reader->facts;
}

struct problem_list *reader_problems(struct reader *reader)
{
	return &reader->problems;
}

void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	pthread_mutex_lock(&graph_lock);
	bt_graph_put_ref(reader->graph);
	pthread_mutex_unlock(&graph_lock);
	if (reader->mended)
		ctf_mend_remove(reader->mended);
	ctf_classes_clear(&reader->classes);
	problem_clear(&reader->problems);
	error_clear(&reader->error);
	free(reader->facts.wished);
	free(reader->facts.defined);
	free(reader->value);
	free(reader->stream);
	free(reader->heap);
	free(reader->path);
	free(reader);
}

char *ctf_library_version(void)
{
	return mem_printf("babeltrace2 %u.%u.%u", bt_version_get_major(),
			  bt_version_get_minor(), bt_version_get_patch());
}
