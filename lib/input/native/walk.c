/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/walk.h"

#include <stdlib.h>

#include "base/mem.h"
#include "input/native/pass.h"
#include "input/native/walk_private.h"

#define STEP_EVENTS 20000 /* events a step, some milliseconds of work */

static void read_header(struct native_walk *walk, struct native_reading *reading)
{
	struct native_cursor *cursor = &reading->of->cursor;
	const struct native_stream_class *stream = reading->of->packet.stream;

	cursor->id = 0;
	cursor->is_beyond = false;
	if (!native_quick_read(&stream->quick, cursor) &&
	    !native_plan_run(stream->event_header, cursor)) {
		native_break_packet(walk, reading);
		return;
	}
	reading->class = native_find_class(stream, cursor->id);
	if (!reading->class) {
		cursor->why = "no event class has its id";
		native_break_packet(walk, reading);
		return;
	}
	reading->has_event =
	    native_instant(&stream->clock, cursor->clock, &reading->event_ns);
	if (!reading->has_event) {
		cursor->why = "want stamps between 1933 and 2070";
		native_break_packet(walk, reading);
	}
}

/* Go on to the header of the next event, or to a digest. False at the stream's end. */
static bool next_event(struct native_walk *walk, struct native_reading *reading)
{
	const struct native_cursor *cursor = &reading->of->cursor;

	while (!reading->has_event) {
		if (reading->has_packet && cursor->at == cursor->end)
			native_end_packet(walk, reading);
		if (!reading->has_packet && !native_begin_packet(walk, reading))
			return false;
		if (reading->digest)
			return true;
		if (cursor->at != cursor->end)
			read_header(walk, reading);
	}
	return true;
}

static void note_stamp(struct native_walk *walk, struct native_reading *reading)
{
	struct reader_facts *facts = &walk->facts;
	nsec_t stamp = reading->event_ns;

	if (!facts->events || stamp < facts->begin_ns)
		facts->begin_ns = stamp;
	if (!facts->events || stamp > facts->end_ns)
		facts->end_ns = stamp;
	if (reading->began && stamp < reading->last_ns)
		facts->backward++;
	reading->last_ns = stamp;
	reading->began = true;
	reading->has_reached |= stamp >= walk->pass_before;
	reading->events++;
	facts->events++;
}

static void handle_event(struct native_walk *walk, struct native_reading *reading)
{
	struct native_cursor *cursor = &reading->of->cursor;
	struct native_visit visit = {
	    .class = reading->class,
	    .cursor = cursor,
	    .local_ns = reading->event_ns,
	    .ordinal = reading->events,
	    .stream = reading->index,
	    .cpu = reading->cpu,
	};
	bool is_left_out = reading->class->is_passed &&
			   native_is_before_begin(walk, reading) &&
			   reading->event_ns < walk->pass_before;

	reading->has_event = false;
	for (size_t i = 0; i < reading->class->places; i++)
		cursor->place[i].at = NATIVE_ABSENT;
	if (!native_plan_run(reading->class->plan, cursor)) {
		native_break_packet(walk, reading);
		return;
	}
	note_stamp(walk, reading);
	if (!is_left_out)
		walk->visitor.event(walk->visitor.context, &visit);
}

/* Go over the events that nobody wants. */
static void pass_events(struct native_walk *walk, struct native_reading *reading,
			nsec_t until)
{
	struct reader_facts *facts = &walk->facts;
	struct native_pass pass = {
	    .until = until < walk->pass_before ? until : walk->pass_before - 1,
	    .most = walk->stop_at - facts->events,
	    .last_ns = reading->began ? reading->last_ns : NSEC_MIN,
	};

	native_pass_run(reading->of->packet.stream, &reading->of->cursor, &pass);
	if (!pass.events)
		return;
	if (!facts->events || pass.least_ns < facts->begin_ns)
		facts->begin_ns = pass.least_ns;
	if (!facts->events || pass.most_ns > facts->end_ns)
		facts->end_ns = pass.most_ns;
	facts->backward += pass.backward;
	facts->events += pass.events;
	reading->events += pass.events;
	reading->last_ns = pass.last_ns;
	reading->began = true;
}

/* The wanted event at which the digest stands; its plans were run before. */
static void handle_wanted(struct native_walk *walk, struct native_reading *reading)
{
	const struct native_digest *digest = reading->digest;
	const struct native_wanted *wanted = &digest->wanted[reading->at_wanted++];

	reading->of->cursor.at = wanted->at;
	reading->of->cursor.clock = wanted->clock;
	read_header(walk, reading);
	if (reading->has_event)
		handle_event(walk, reading);
}

static void end_digest(struct native_walk *walk, struct native_reading *reading)
{
	struct native_cursor *cursor = &reading->of->cursor;

	cursor->at = cursor->end;
	cursor->clock = reading->digest->cursor.clock;
	native_ahead_give_back(walk->ahead, reading->digest);
	reading->digest = NULL;
}

/* Go over a digest. True at an event past `until`. */
static bool run_digest(struct native_walk *walk, struct native_reading *reading,
		       nsec_t until)
{
	const struct native_digest *digest = reading->digest;

	for (; reading->at_event < digest->events; reading->at_event++) {
		if (walk->facts.events >= walk->stop_at)
			return false;
		reading->event_ns = digest->stamp[reading->at_event];
		if (reading->event_ns > until)
			return true;
		if (reading->at_wanted < digest->wants &&
		    digest->wanted[reading->at_wanted].event == reading->at_event)
			handle_wanted(walk, reading);
		else
			note_stamp(walk, reading);
	}
	end_digest(walk, reading);
	return false;
}

/* There is an event past the time that was asked for. */
static bool stop_before(struct native_reading *reading)
{
	reading->head.head_ns = reading->event_ns;
	return true;
}

/* Handle the events of a stream up to the first past `until`. False at its end. */
static bool run_stream(struct native_walk *walk, struct native_reading *reading,
		       nsec_t until)
{
	while (walk->facts.events < walk->stop_at) {
		if (reading->digest) {
			if (run_digest(walk, reading, until))
				return stop_before(reading);
			continue;
		}
		if (!reading->has_event && reading->has_packet &&
		    native_is_before_begin(walk, reading))
			pass_events(walk, reading, until);
		if (walk->facts.events == walk->stop_at)
			break;
		if (!reading->has_event && !next_event(walk, reading)) {
			native_end_stream(walk, reading);
			return false;
		}
		if (reading->digest)
			continue;
		if (reading->event_ns > until)
			return stop_before(reading);
		handle_event(walk, reading);
	}
	reading->head.head_ns = reading->began ? reading->last_ns : NSEC_MIN;
	return true;
}

static void consume(struct native_walk *walk, nsec_t until)
{
	struct stream_heap *heap = &walk->heap;

	if (!heap->count)
		return;
	if (run_stream(walk, (struct native_reading *)heap->head[0], until))
		stream_heap_settle(heap);
	else
		stream_heap_remove(heap);
}

static void begin_heap(struct native_walk *walk)
{
	size_t streams = walk->streams.count;

	walk->reading = mem_zalloc(streams * sizeof(*walk->reading) + 1);
	stream_heap_init(&walk->heap, streams);
	for (size_t i = 0; i < streams; i++) {
		walk->reading[i].of = &walk->streams.stream[i];
		walk->reading[i].index = (unsigned)i;
		walk->reading[i].head.head_ns = NSEC_MIN;
		walk->reading[i].cpu = -1;
		stream_heap_add(&walk->heap, &walk->reading[i].head);
	}
}

struct native_walk *native_walk_open(const char *path,
				     const struct native_visitor *visitor,
				     struct error *error)
{
	struct native_walk *walk = mem_zalloc(sizeof(*walk));

	walk->path = mem_strdup(path);
	walk->visitor = *visitor;
	walk->pass_before = NSEC_MAX;
	if (ctf_files_sum(path, &walk->files, error))
		goto failed;
	walk->trace = native_trace_open(path, visitor->prepare, visitor->context, error);
	if (!walk->trace || native_streams_open(&walk->streams, walk->trace, path,
						&walk->problems, error))
		goto failed;
	begin_heap(walk);
	walk->facts.total_bytes = walk->files.packets ? walk->files.bytes : 0;
	/* Up to the first event, so that clock and host are known from the start. */
	walk->stop_at = UINT64_MAX;
	consume(walk, NSEC_MIN);
	return walk;
failed:
	native_walk_free(walk);
	return NULL;
}

int native_walk_step(struct native_walk *walk, uint64_t most)
{
	walk->stop_at = walk->facts.events + (most < STEP_EVENTS ? most : STEP_EVENTS);
	do
		consume(walk, stream_heap_second(&walk->heap));
	while (walk->heap.count && walk->facts.events < walk->stop_at);
	if (walk->files.packets)
		walk->facts.bytes =
		    walk->files.bytes * walk->packets / walk->files.packets;
	return walk->heap.count > 0;
}

void native_walk_begin(struct native_walk *walk, nsec_t local_ns)
{
	walk->pass_before = local_ns;
	for (size_t i = 0; i < walk->trace->tsdl->streams; i++)
		native_pass_prepare(&walk->trace->stream[i]);
	for (size_t i = 0; i < walk->streams.count; i++)
		walk->streams.stream[i].skip_before = local_ns;
}

struct native_trace *native_walk_trace(struct native_walk *walk)
{
	return walk->trace;
}

void native_walk_allow_help(struct native_walk *walk)
{
	walk->ahead = native_ahead_new(walk->trace, &walk->streams);
	for (size_t i = 0; i < walk->streams.count; i++)
		native_ahead_follow(walk->ahead, i);
}

bool native_walk_help(struct native_walk *walk)
{
	return walk->ahead && native_ahead_help(walk->ahead);
}

struct reader_facts *native_walk_facts(struct native_walk *walk)
{
	return &walk->facts;
}

struct problem_list *native_walk_problems(struct native_walk *walk)
{
	return &walk->problems;
}

void native_walk_free(struct native_walk *walk)
{
	if (!walk)
		return;
	for (size_t i = 0; walk->reading && i < walk->streams.count; i++)
		native_digest_free(walk->reading[i].digest);
	native_ahead_free(walk->ahead);
	native_streams_clear(&walk->streams);
	native_trace_free(walk->trace);
	problem_clear(&walk->problems);
	free(walk->reading);
	stream_heap_clear(&walk->heap);
	free(walk->path);
	free(walk);
}
