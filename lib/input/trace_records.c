/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/record_private.h"
#include "input/trace_facts.h"

/*
 * An event class of the trace. Several may be one class of the source: every
 * channel of LTTng has event classes of its own, alike but for the channel.
 */
struct known_class {
	uint32_t class; /* of the source, */
	bool has_class; /* once an event was seen */
};

struct trace_records {
	struct record_source base;
	struct ctf_reader *reader;
	struct known_class *known; /* one an event class of the trace */
	size_t knowns, room;
	nsec_t begin_ns;
	record_use_fn *use; /* NULL: all is needed */
	void *use_context;
	bool has_begun, ended;
	record_fn *give;
	void *context;
};

/* The class of the source that has the columns of this one. */
static void copy_columns(struct record_class *to, const struct ctf_class *from)
{
	for (size_t i = 0; i < from->columns; i++)
		record_class_add(to, from->column[i].name, from->column[i].type,
				 from->column[i].context);
}

static void handle_event(void *context, const struct ctf_event *event)
{
	struct trace_records *records = context;
	struct known_class *known = &records->known[event->class];
	struct record record = {
	    .local_ns = event->local_ns,
	    .stream = event->stream,
	    .cpu = event->cpu,
	    .ordinal = event->ordinal,
	    .cell = event->cell,
	};

	if (!known->has_class) {
		const struct ctf_class *class =
		    ctf_reader_columns(records->reader, event->class);

		copy_columns(record_source_add(&records->base, class->name), class);
		known->class = record_source_merge(&records->base);
		known->has_class = true;
	}
	record.class = known->class;
	records->give(records->context, &record);
}

/* What of every class is wanted, now that all have been told. */
static void select_classes(struct trace_records *records)
{
	static const enum ctf_use by_use[] = {
	    [RECORD_NEEDED] = CTF_NEEDED,
	    [RECORD_COUNTED] = CTF_COUNTED,
	    [RECORD_UNUSED] = CTF_UNUSED,
	};
	const struct ctf_class *class;

	for (uint32_t i = 0; (class = ctf_reader_columns(records->reader, i)); i++) {
		struct record_class *columns = mem_zalloc(sizeof(*columns));
		struct ctf_selection selection = {.what = SELECT_EVENTS};

		columns->name = mem_strdup(class->name);
		copy_columns(columns, class);
		if (record_source_wants(&records->base, columns))
			selection.what = SELECT_COLUMNS;
		if (records->use)
			selection.before =
			    by_use[records->use(records->use_context, columns)];
		record_class_free(columns);
		ctf_reader_select(records->reader, i, &selection);
		records->known = mem_grow(records->known, records->knowns, &records->room,
					  sizeof(*records->known));
		records->known[records->knowns++] = (struct known_class){0, false};
	}
	if (records->use)
		ctf_reader_begin(records->reader, records->begin_ns);
	records->has_begun = true;
}

static enum step trace_step(struct record_source *source, record_fn *give, void *context)
{
	struct trace_records *records = (struct trace_records *)source;

	if (records->ended)
		return STEP_END;
	if (!records->has_begun)
		select_classes(records);
	records->give = give;
	records->context = context;
	records->ended =
	    !ctf_reader_step(records->reader, source->pace, handle_event, records);
	return record_source_stepped(source, !records->ended,
				     ctf_reader_facts(records->reader),
				     ctf_reader_problems(records->reader));
}

static void trace_begin(struct record_source *source, nsec_t local_ns, record_use_fn *use,
			void *context)
{
	struct trace_records *records = (struct trace_records *)source;

	records->begin_ns = local_ns;
	records->use = use;
	records->use_context = context;
}

static void trace_free(struct record_source *source)
{
	struct trace_records *records = (struct trace_records *)source;

	ctf_reader_free(records->reader);
	free(records->known);
	record_source_release(source);
	free(records);
}

struct record_source *trace_records_open(const char *path, enum ctf_reader_kind reader,
					 struct error *error)
{
	static const struct record_source_ops ops = {trace_step, trace_free, trace_begin};
	struct trace_records *records = mem_zalloc(sizeof(*records));

	record_source_init(&records->base, &ops, path);
	records->reader = ctf_reader_open(path, reader, error);
	if (!records->reader) {
		trace_free(&records->base);
		return NULL;
	}
	trace_facts_copy(&records->base.facts, ctf_reader_facts(records->reader));
	return &records->base;
}
