/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/ctf/walk.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/ctf/error.h"
#include "input/ctf/files.h"
#include "input/ctf/graph.h"
#include "input/stream_heap.h"

/* Events a step: milliseconds of work. A merge holds a step of every source. */
#define STEP_EVENTS 2000

struct stream {
	struct stream_head head;
	bt_message_array_const message; /* the batch at hand, ours to put */
	uint64_t count, next;           /* of the batch */
	nsec_t last_ns;                 /* of the event before */
	uint64_t events;
	unsigned index;
	int32_t cpu;    /* of the packet at hand, or -1 */
	bool began;     /* last_ns is set */
	bool has_clock; /* its events have stamps */
	bool has_ends;  /* and its packets the stamp of their end */
};

struct ctf_walk {
	char *path, *mended;
	struct ctf_visitor visitor;
	struct reader_facts facts;
	struct problem_list problems;
	struct ctf_files files;
	uint64_t packets; /* read so far */
	struct ctf_graph graph;
	struct stream *stream;
	struct stream_heap heap;
	uint64_t stop_at;   /* events at which the step ends */
	bool priming;       /* only what comes before the first event is read */
	struct error error; /* of the graph's methods */
};

static void facts_from_stream(struct ctf_walk *walk, const bt_stream *stream)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	const bt_value *host =
	    bt_trace_borrow_environment_entry_value_by_name_const(trace, "hostname");
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(
	    bt_stream_borrow_class_const(stream));
	struct reader_facts *facts = &walk->facts;
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

static void begin_stream(struct ctf_walk *walk, struct stream *stream,
			 const bt_message *message)
{
	const bt_stream *of = bt_message_stream_beginning_borrow_stream_const(message);
	const bt_stream_class *class = bt_stream_borrow_class_const(of);

	facts_from_stream(walk, of);
	if (walk->visitor.begin)
		walk->visitor.begin(walk->visitor.context, of);
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

/*
 * A stamp holds some bits of the clock, the rest is that of the one before. So
 * after a garbled event all are too late by a turn of those bits, up to the end.
 */
static void end_packet(struct ctf_walk *walk, struct stream *stream,
		       const bt_message *message)
{
	nsec_t end;

	walk->packets++;
	if (stream->began && stream->has_ends &&
	    stamp_of(bt_message_packet_end_borrow_default_clock_snapshot_const(message),
		     &end) == 0 &&
	    end < stream->last_ns)
		problem_add(&walk->problems, walk->path, "garbled", 1,
			    "stream %u has events after the end of their packet, the "
			    "%llu up to there may have wrong stamps",
			    stream->index, (unsigned long long)stream->events);
}

static void note_stamp(struct ctf_walk *walk, struct stream *stream, nsec_t stamp)
{
	struct reader_facts *facts = &walk->facts;

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

static void handle_event(struct ctf_walk *walk, struct stream *stream,
			 const bt_message *message, nsec_t stamp)
{
	struct ctf_visit visit = {
	    .event = bt_message_event_borrow_event_const(message),
	    .local_ns = stamp,
	    .ordinal = stream->events,
	    .stream = stream->index,
	    .cpu = stream->cpu,
	};

	note_stamp(walk, stream, stamp);
	walk->visitor.event(walk->visitor.context, &visit);
}

static void handle_other(struct ctf_walk *walk, struct stream *stream,
			 const bt_message *message)
{
	uint64_t count;

	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		begin_stream(walk, stream, message);
		break;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		stream->cpu =
		    cpu_of(bt_message_packet_beginning_borrow_packet_const(message));
		break;
	case BT_MESSAGE_TYPE_PACKET_END:
		end_packet(walk, stream, message);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		/* Lost before the first packet: some, nobody knows how many. */
		if (bt_message_discarded_events_get_count(message, &count) !=
		    BT_PROPERTY_AVAILABILITY_AVAILABLE)
			count = 1;
		walk->facts.discarded_events += count;
		break;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		if (bt_message_discarded_packets_get_count(message, &count) !=
		    BT_PROPERTY_AVAILABILITY_AVAILABLE)
			count = 1;
		walk->facts.discarded_packets += count;
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
static bool refill(struct ctf_walk *walk, struct stream *stream)
{
	struct error cause = ERROR_INIT;

	stream->count = stream->next = 0;
	switch (bt_message_iterator_next(
	    (bt_message_iterator *)walk->graph.iterator[stream->index], &stream->message,
	    &stream->count)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return true;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		return false;
	default:
		ctf_error_take(&cause);
		problem_add(&walk->problems, walk->path, "broken", 1,
			    "stream %u breaks off after %llu events, which are used: %s",
			    stream->index, (unsigned long long)stream->events,
			    walk->mended ? "cut" : error_text(&cause));
		error_clear(&cause);
		return false;
	}
}

/*
 * Handle the messages of a stream up to its first event past `until`. False
 * at the stream's end.
 */
static bool run_stream(struct ctf_walk *walk, struct stream *stream, nsec_t until)
{
	while (walk->facts.events < walk->stop_at) {
		const bt_message *message;
		nsec_t stamp = 0;

		if (stream->next == stream->count && !refill(walk, stream))
			return false;
		if (stream->next == stream->count)
			return true;
		message = stream->message[stream->next];
		if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT) {
			handle_other(walk, stream, message);
		} else if (!stream->has_clock || event_stamp(message, &stamp)) {
			put_batch(stream);
			problem_add(&walk->problems, walk->path, "broken", 1,
				    "stream %u breaks off after %llu events, which are "
				    "used: %s",
				    stream->index, (unsigned long long)stream->events,
				    stream->has_clock
					? "want stamps between 1933 and 2070"
					: "it has no clock");
			return false;
		} else if (stamp > until) {
			stream->head.head_ns = stamp;
			return true;
		} else {
			handle_event(walk, stream, message, stamp);
		}
		bt_message_put_ref(message);
		stream->next++;
	}
	stream->head.head_ns = stream->began ? stream->last_ns : NSEC_MIN;
	return true;
}

static bool consume(void *context)
{
	struct ctf_walk *walk = context;
	struct stream_heap *heap = &walk->heap;

	if (!heap->count)
		return false;
	if (run_stream(walk, (struct stream *)heap->head[0],
		       walk->priming ? NSEC_MIN : stream_heap_second(heap)))
		stream_heap_settle(heap);
	else
		stream_heap_remove(heap);
	return true;
}

/* As it is, or where that is not sound or refused, without what is broken in it. */
static int open_graph(struct ctf_walk *walk, struct error *error)
{
	int status = -1;

	walk->graph.consume = consume;
	walk->graph.context = walk;
	if (walk->files.sound)
		status = ctf_graph_open(&walk->graph, walk->path, &walk->error);
	if (status && walk->files.known)
		walk->mended = ctf_mend(walk->path, &walk->problems, error);
	if (walk->mended)
		status = ctf_graph_open(&walk->graph, walk->mended, &walk->error);
	if (status && walk->error.text)
		error_set(error, "%s: %s", walk->path, error_text(&walk->error));
	return status;
}

static void begin_heap(struct ctf_walk *walk)
{
	size_t streams = walk->graph.streams;

	walk->stream = mem_zalloc(streams * sizeof(*walk->stream));
	stream_heap_init(&walk->heap, streams);
	for (size_t i = 0; i < streams; i++) {
		walk->stream[i].index = (unsigned)i;
		walk->stream[i].head.head_ns = NSEC_MIN;
		walk->stream[i].cpu = -1;
		stream_heap_add(&walk->heap, &walk->stream[i].head);
	}
}

/* Read up to the first event, so that clock and host are known from the start. */
static int prime(struct ctf_walk *walk, struct error *error)
{
	int status;

	walk->priming = true;
	walk->stop_at = UINT64_MAX;
	status = ctf_graph_run(&walk->graph, &walk->error);
	walk->priming = false;
	if (status >= 0)
		return 0;
	return error_set(error, "%s: %s", walk->path, error_text(&walk->error));
}

struct ctf_walk *ctf_walk_open(const char *path, const struct ctf_visitor *visitor,
			       struct error *error)
{
	struct ctf_walk *walk = mem_zalloc(sizeof(*walk));

	walk->path = mem_strdup(path);
	walk->visitor = *visitor;
	if (ctf_files_check(path, &walk->files, error) || open_graph(walk, error))
		goto failed;
	begin_heap(walk);
	if (prime(walk, error))
		goto failed;
	walk->facts.is_mapped = 1;
	walk->facts.total_bytes = walk->files.packets ? walk->files.bytes : 0;
	return walk;
failed:
	ctf_walk_free(walk);
	return NULL;
}

int ctf_walk_step(struct ctf_walk *walk, uint64_t most)
{
	int status;

	walk->stop_at = walk->facts.events + (most < STEP_EVENTS ? most : STEP_EVENTS);
	do
		status = ctf_graph_run(&walk->graph, &walk->error);
	while (status > 0 && walk->heap.count && walk->facts.events < walk->stop_at);
	if (walk->files.packets)
		walk->facts.bytes =
		    walk->files.bytes * walk->packets / walk->files.packets;
	if (status < 0)
		problem_add(&walk->problems, walk->path, "broken", 1,
			    "reading stopped after %llu events, which are used: %s",
			    (unsigned long long)walk->facts.events,
			    error_text(&walk->error));
	return status > 0 && walk->heap.count > 0;
}

struct reader_facts *ctf_walk_facts(struct ctf_walk *walk)
{
	return &walk->facts;
}

struct problem_list *ctf_walk_problems(struct ctf_walk *walk)
{
	return &walk->problems;
}

void ctf_walk_free(struct ctf_walk *walk)
{
	if (!walk)
		return;
	for (size_t i = 0; walk->stream && i < walk->graph.streams; i++)
		put_batch(&walk->stream[i]);
	ctf_graph_close(&walk->graph);
	if (walk->mended)
		ctf_mend_remove(walk->mended);
	problem_clear(&walk->problems);
	error_clear(&walk->error);
	free(walk->stream);
	stream_heap_clear(&walk->heap);
	free(walk->path);
	free(walk);
}
