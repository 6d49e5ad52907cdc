/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "trace/ctf/resolve.h"
#include "trace/fields.h"
#include "trace/ftrace/ftrace.h"
#include "trace/ftrace/trace_dat.h"
#include "trace/reader_private.h"

enum { STEP_EVENTS = 20000 }; /* some milliseconds of work */

bool is_trace_path(const char *path)
{
	AUTOFREE char *metadata = mem_printf("%s/metadata", path);
	struct stat status;
	int failed = stat(metadata, &status);

	/* A failed read says nothing about the file; it need not fail again. */
	if (failed && errno == EIO)
		failed = stat(metadata, &status);
	/* Let the reader report metadata that exists but cannot be accessed. */
	if (failed)
		return errno == EIO || errno == ELOOP || trace_dat_probe(path);
	return S_ISREG(status.st_mode) || trace_dat_probe(path);
}

int parse_uuid(const char *text, unsigned char uuid[16])
{
	for (int i = 0; i < 16; i++, text += 2) {
		char pair[3] = "";

		text += strspn(text, "-");
		if (strspn(text, "0123456789abcdefABCDEF") < 2)
			return -1;
		memcpy(pair, text, 2);
		uuid[i] = (unsigned char)strtoul(pair, NULL, 16);
	}
	return *text ? -1 : 0;
}

struct trace_reader *trace_reader_open(const char *path, struct error *error)
{
	return trace_dat_probe(path) ? ftrace_open(path, error)
				     : ctf_trace_open(path, error);
}

void trace_reader_init(struct trace_reader *reader, const char *path,
		       bool (*step)(struct trace_reader *reader, uint64_t most),
		       void (*free)(struct trace_reader *reader))
{
	reader->path = mem_strdup(path);
	reader->step = step;
	reader->free = free;
	reader->begin_ns = NSEC_MAX;
}

const struct trace_class *trace_reader_class(const struct trace_reader *reader,
					     uint32_t index)
{
	return index < reader->classes ? &reader->class[index]->known : NULL;
}

const struct trace_class *trace_reader_columns(struct trace_reader *reader,
					       uint32_t index)
{
	if (index < reader->classes && !reader->class[index] -> known.columns)
		trace_fields_columns(reader->class[index]);
	return trace_reader_class(reader, index);
}

void trace_reader_select(struct trace_reader *reader, uint32_t index,
			 const struct trace_selection *selection)
{
	struct schema_event_class *class = reader->class[index];

	trace_fields_free(class->fields);
	class->fields = NULL;
	class->before = selection->before;
	class->selected = selection->what;
	if (selection->what >= SELECT_FIELDS)
		class->fields = trace_fields_new(class->scope, selection);
}

void trace_reader_begin(struct trace_reader *reader, nsec_t local_ns)
{
	reader->begin_ns = local_ns;
}

bool trace_reader_recorded(struct trace_reader *reader, nsec_t until_ns,
			   struct trace_recorded *recorded)
{
	memset(recorded, 0, sizeof(*recorded));
	if (reader->recorded)
		reader->recorded(reader, until_ns, recorded);
	return recorded->periods > 0;
}

void trace_reader_continue(struct trace_reader *reader, const struct trace_period *period)
{
	if (reader->go_on)
		reader->go_on(reader, period, NULL);
}

void trace_reader_repeats(struct trace_reader *reader, const struct trace_period *period,
			  uint64_t sequence)
{
	if (reader->go_on)
		reader->go_on(reader, period, &sequence);
}

void trace_reader_set_origin(struct trace_reader *reader,
			     const struct clock_origin *origin)
{
	struct trace_facts *facts = &reader->facts;

	if (facts->counts_from_boot && origin->is_boot_monotonic &&
	    strcmp(facts->clock_name, "boot") == 0)
		strcpy(facts->clock_name, "monotonic");
	if (!facts->counts_from_boot || strcmp(facts->clock_name, "monotonic"))
		return;
	facts->clock_offset_ns = origin->offset_ns;
	facts->has_uuid = origin->has_boot_id;
	memcpy(facts->clock_uuid, origin->boot_id, sizeof(facts->clock_uuid));
}

/* Add the problems of lost events and of timestamps that go backwards. */
static void report_losses(struct trace_reader *reader)
{
	const struct trace_facts *facts = &reader->facts;
	struct problem_list *problems = &reader->problems;

	if (facts->discarded_events && !reader->reports_losses)
		problem_add(problems, reader->path, PROBLEM_DISCARDED,
			    facts->discarded_events, "the tracer discarded %llu events",
			    (unsigned long long)facts->discarded_events);
	if (facts->discarded_packets)
		problem_add(problems, reader->path, PROBLEM_DISCARDED,
			    facts->discarded_packets,
			    "the tracer discarded %llu packets of events",
			    (unsigned long long)facts->discarded_packets);
	if (facts->backward)
		problem_add(problems, reader->path, PROBLEM_BACKWARD, facts->backward,
			    "%llu timestamps go backwards in their stream",
			    (unsigned long long)facts->backward);
}

bool trace_reader_step(struct trace_reader *reader, uint64_t most,
		       trace_event_fn *on_event, void *context)
{
	if (reader->has_ended)
		return false;
	reader->on_event = on_event;
	reader->context = context;
	reader->has_ended = !reader->step(reader, most ? most : 1);
	if (reader->has_ended)
		report_losses(reader);
	return !reader->has_ended;
}

const struct trace_facts *trace_reader_facts(const struct trace_reader *reader)
{
	return &reader->facts;
}

struct problem_list *trace_reader_problems(struct trace_reader *reader)
{
	return &reader->problems;
}

void trace_reader_free(struct trace_reader *reader)
{
	if (!reader)
		return;
	reader->free(reader);
	for (size_t i = 0; i < reader->classes; i++) {
		schema_event_class_clear(reader->class[i]);
		free(reader->class[i]);
	}
	free(reader->class);
	problem_clear(&reader->problems);
	heap_clear(&reader->heads);
	free(reader->stream);
	free(reader->path);
	free(reader);
}

struct schema_event_class *trace_reader_add_class(struct trace_reader *reader,
						  const char *name)
{
	struct schema_event_class *class = mem_zalloc(sizeof(*class));

	class->known.name = mem_strdup(name);
	*MEM_NEXT(reader->class, reader->classes, reader->class_capacity) = class;
	return class;
}

void trace_class_add_column(struct trace_class *class, const char *name,
			    enum cell_type type, bool context)
{
	class->column =
	    mem_realloc(class->column, class->columns + 1, sizeof(*class->column));
	class->column[class->columns++] =
	    (struct trace_column){mem_strdup(name), type, context};
}

void trace_reader_set_clock(struct trace_reader *reader, const char *host,
			    const struct schema_clock *clock)
{
	struct trace_facts *facts = &reader->facts;

	if (host)
		strncpy(facts->hostname, host, sizeof(facts->hostname) - 1);
	if (!clock || facts->has_clock)
		return;
	facts->has_clock = true;
	facts->clock_frequency = clock->frequency;
	if (!schema_clock_base(clock, &facts->clock_offset_ns))
		facts->clock_offset_ns = 0;
	facts->has_uuid = clock->has_uuid;
	memcpy(facts->clock_uuid, clock->uuid, sizeof(facts->clock_uuid));
	if (clock->identity)
		strncpy(facts->clock_name, clock->identity,
			sizeof(facts->clock_name) - 1);
}

void trace_reader_add_stream(struct trace_reader *reader, struct trace_progress *stream)
{
	stream->index = (uint32_t)reader->streams;
	stream->tally = (struct trace_tally){0, 0, NSEC_MAX, NSEC_MIN, NSEC_MIN};
	stream->cpu = -1;
	reader->stream =
	    mem_grow(reader->stream, reader->streams, &reader->stream_capacity,
		     sizeof(struct trace_progress *));
	reader->stream[reader->streams++] = stream;
	heap_push(&reader->heads, NSEC_MIN, stream->index);
}

/*
 * Return the time up to which the first stream can be read: the head of the next one. At
 * equal times, events of the stream with the lower index come first, however they were
 * read.
 */
static nsec_t until_next(const struct heap *heads)
{
	const struct heap_item *first = heads->item, *next = NULL;

	for (size_t i = 1; i < heads->count && i < 3; i++)
		if (!next || first[i].key < next->key ||
		    (first[i].key == next->key && first[i].item < next->item))
			next = &first[i];
	if (!next)
		return NSEC_MAX;
	return next->item < first->item && next->key > NSEC_MIN ? next->key - 1
								: next->key;
}

/* Read up to `most` events of the first stream, and update the facts. */
static void run_first(struct trace_reader *reader, trace_run_fn *run, nsec_t until,
		      uint64_t most)
{
	struct trace_progress *stream = reader->stream[reader->heads.item->item];
	const struct trace_tally before = stream->tally, *now = &stream->tally;
	struct trace_facts *facts = &reader->facts;

	stream->stop_at = before.events + most;
	if (run(reader, stream, until))
		heap_replace(&reader->heads, stream->head_ns);
	else
		heap_pop(&reader->heads);
	if (now->events == before.events)
		return;
	if (!facts->events || now->least_ns < facts->begin_ns)
		facts->begin_ns = now->least_ns;
	if (!facts->events || now->most_ns > facts->end_ns)
		facts->end_ns = now->most_ns;
	facts->events += now->events - before.events;
	facts->backward += now->backward - before.backward;
}

bool trace_reader_merge(struct trace_reader *reader, uint64_t most, trace_run_fn *run)
{
	uint64_t stop_at =
	    reader->facts.events + (most < STEP_EVENTS ? most : STEP_EVENTS);

	while (reader->heads.count && reader->facts.events < stop_at)
		run_first(reader, run, until_next(&reader->heads),
			  stop_at - reader->facts.events);
	return reader->heads.count > 0;
}

void trace_reader_prime(struct trace_reader *reader, trace_run_fn *run)
{
	if (reader->heads.count)
		run_first(reader, run, NSEC_MIN, 1);
}
