/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/record.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/intmap.h"
#include "base/mem.h"
#include "input/ctf/columns.h"
#include "input/ctf/walk.h"
#include "input/native/records.h"
#include "input/record_private.h"
#include "input/trace_facts.h"

/*
 * An event class of the trace. Several may be one class of the source: every
 * channel of LTTng has event classes of its own, alike but for the channel.
 */
struct known_class {
	struct ctf_columns *columns;
	uint32_t class;
	bool is_chosen;
};

struct trace_records {
	struct record_source base;
	struct ctf_walk *walk;
	struct intmap index; /* address of the event class -> index of known */
	struct known_class *known;
	size_t knowns, room;
	bool ended;
	record_fn *give;
	void *context;
};

static int64_t add_class(struct trace_records *records, const bt_event_class *event)
{
	const char *name = bt_event_class_get_name(event);
	char *unnamed = mem_printf("event_%" PRIu64, bt_event_class_get_id(event));
	struct record_class *class =
	    record_source_add(&records->base, name && *name ? name : unnamed);
	struct known_class *known;

	free(unnamed);
	records->known = mem_grow(records->known, records->knowns, &records->room,
				  sizeof(*records->known));
	known = &records->known[records->knowns];
	known->columns = ctf_columns_new(event, class);
	known->class = record_source_merge(&records->base);
	known->is_chosen =
	    record_source_wants(&records->base, records->base.class[known->class]);
	intmap_put(&records->index, (uintptr_t)event, (int64_t)records->knowns);
	return (int64_t)records->knowns++;
}

static void handle_event(void *context, const struct ctf_visit *visit)
{
	struct trace_records *records = context;
	const bt_event_class *class = bt_event_borrow_class_const(visit->event);
	const struct known_class *known;
	struct record record;
	int64_t index;

	if (!intmap_get(&records->index, (uintptr_t) class, &index))
		index = add_class(records, class);
	known = &records->known[index];
	record.local_ns = visit->local_ns;
	record.class = known->class;
	record.stream = visit->stream;
	record.cpu = visit->cpu;
	record.ordinal = visit->ordinal;
	record.cell =
	    known->is_chosen ? ctf_columns_fetch(known->columns, visit->event) : NULL;
	records->give(records->context, &record);
}

static enum step trace_step(struct record_source *source, record_fn *give, void *context)
{
	struct trace_records *records = (struct trace_records *)source;

	if (records->ended)
		return STEP_END;
	records->give = give;
	records->context = context;
	records->ended = !ctf_walk_step(records->walk, source->pace);
	return record_source_stepped(source, !records->ended,
				     ctf_walk_facts(records->walk),
				     ctf_walk_problems(records->walk));
}

static void trace_free(struct record_source *source)
{
	struct trace_records *records = (struct trace_records *)source;

	ctf_walk_free(records->walk);
	for (size_t i = 0; i < records->knowns; i++)
		ctf_columns_free(records->known[i].columns);
	free(records->known);
	intmap_clear(&records->index);
	record_source_release(source);
	free(records);
}

struct record_source *babeltrace2_records_open(const char *path, struct error *error)
{
	static const struct record_source_ops ops = {.step = trace_step,
						     .free = trace_free};
	struct trace_records *records = mem_zalloc(sizeof(*records));
	struct ctf_visitor visitor = {.event = handle_event, .context = records};

	record_source_init(&records->base, &ops, path);
	records->walk = ctf_walk_open(path, &visitor, error);
	if (!records->walk) {
		trace_free(&records->base);
		return NULL;
	}
	trace_facts_copy(&records->base.facts, ctf_walk_facts(records->walk));
	return &records->base;
}
