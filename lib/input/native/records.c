/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/records.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "input/native/cells.h"
#include "input/record_private.h"
#include "input/trace_facts.h"

/* An event class of the trace; several may be one class of the source. */
struct known_class {
	struct native_cells *cells;
	uint32_t class;
	bool has_class; /* an event of it was seen */
	bool is_chosen; /* its cells are wanted */
	struct known_class *next;
};

struct native_records {
	struct record_source base;
	struct native_walk *walk;
	struct known_class *known; /* of all classes */
	bool ended;
	record_fn *give;
	void *context;
};

static size_t prepare(void *context, const struct native_stream_class *stream,
		      struct native_class *class)
{
	struct native_records *records = context;
	struct known_class *known = mem_zalloc(sizeof(*known));
	size_t places;

	known->cells = native_cells_new(stream->of, class->event, &places);
	known->next = records->known;
	records->known = class->data = known;
	return places;
}

static void add_class(struct native_records *records, const struct tsdl_event *event,
		      struct known_class *known)
{
	char *unnamed = mem_printf("event_%" PRIu64, event->id);

	native_cells_add_columns(
	    known->cells,
	    record_source_add(&records->base, *event->name ? event->name : unnamed));
	known->class = record_source_merge(&records->base);
	known->has_class = true;
	known->is_chosen =
	    record_source_wants(&records->base, records->base.class[known->class]);
	free(unnamed);
}

static void handle_event(void *context, const struct native_visit *visit)
{
	struct native_records *records = context;
	struct known_class *known = visit->class->data;
	struct record record;

	if (!known->has_class)
		add_class(records, visit->class->event, known);
	record.local_ns = visit->local_ns;
	record.class = known->class;
	record.stream = visit->stream;
	record.cpu = visit->cpu;
	record.ordinal = visit->ordinal;
	record.cell =
	    known->is_chosen ? native_cells_fetch(known->cells, visit->cursor) : NULL;
	records->give(records->context, &record);
}

static enum step native_step(struct record_source *source, record_fn *give, void *context)
{
	struct native_records *records = (struct native_records *)source;

	if (records->ended)
		return STEP_END;
	records->give = give;
	records->context = context;
	records->ended = !native_walk_step(records->walk, source->pace);
	return record_source_stepped(source, !records->ended,
				     native_walk_facts(records->walk),
				     native_walk_problems(records->walk));
}

static enum record_use use_of(const struct native_class *class, record_use_fn *use,
			      void *context)
{
	struct record_class *columns = mem_zalloc(sizeof(*columns));
	const struct known_class *known = class->data;
	enum record_use found;

	columns->name = mem_strdup(class->event->name);
	native_cells_add_columns(known->cells, columns);
	found = use(context, columns);
	record_class_free(columns);
	return found;
}

static void native_begin(struct record_source *source, nsec_t local_ns,
			 record_use_fn *use, void *context)
{
	struct native_records *records = (struct native_records *)source;
	struct native_trace *trace = native_walk_trace(records->walk);

	for (size_t i = 0; i < trace->tsdl->streams; i++) {
		struct native_stream_class *stream = &trace->stream[i];

		stream->can_skip = true;
		for (size_t k = 0; k < stream->classes; k++) {
			enum record_use of = use_of(&stream->class[k], use, context);

			stream->class[k].is_passed = of != RECORD_NEEDED;
			stream->can_skip &= of == RECORD_UNUSED;
		}
	}
	native_walk_begin(records->walk, local_ns);
}

static void native_free(struct record_source *source)
{
	struct native_records *records = (struct native_records *)source;

	native_walk_free(records->walk);
	while (records->known) {
		struct known_class *next = records->known->next;

		native_cells_free(records->known->cells);
		free(records->known);
		records->known = next;
	}
	record_source_release(source);
	free(records);
}

struct record_source *native_records_open(const char *path, struct error *error)
{
	static const struct record_source_ops ops = {native_step, native_free,
						     native_begin};
	struct native_records *records = mem_zalloc(sizeof(*records));
	struct native_visitor visitor = {
	    .prepare = prepare, .event = handle_event, .context = records};

	record_source_init(&records->base, &ops, path);
	records->walk = native_walk_open(path, &visitor, error);
	if (!records->walk) {
		native_free(&records->base);
		return NULL;
	}
	native_walk_begin(records->walk, NSEC_MIN);
	trace_facts_copy(&records->base.facts, native_walk_facts(records->walk));
	return &records->base;
}
