/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <stdlib.h>

#include "base/mem.h"
#include "input/ctf/classes.h"
#include "input/ctf/walk.h"
#include "input/reader_private.h"

struct ctf_reader {
	struct reader base;
	const struct event_wish *wish;
	struct ctf_walk *walk;
	struct ctf_classes classes;
	struct value *value;
	uint64_t *wished;
	int *defined;
	event_fn *give;
	void *context;
};

static void begin_stream(void *context, const bt_stream *stream)
{
	struct ctf_reader *reader = context;

	ctf_classes_define(&reader->classes, stream, reader->defined);
}

static void handle_event(void *context, const struct ctf_visit *visit)
{
	struct ctf_reader *reader = context;
	const struct ctf_class *class =
	    ctf_classes_find(&reader->classes, bt_event_borrow_class_const(visit->event));
	struct event found;

	if (class->wish < 0)
		return;
	reader->wished[class->wish]++;
	ctf_plan_fetch(class->plan, bt_event_borrow_payload_field_const(visit->event),
		       reader->value, reader->wish[class->wish].fields);
	found.local_ns = visit->local_ns;
	found.tag = reader->wish[class->wish].tag;
	found.stream = visit->stream;
	found.ordinal = visit->ordinal;
	found.value = reader->value;
	reader->give(reader->context, &found);
}

static int ctf_step(struct reader *base, event_fn *give, void *context)
{
	struct ctf_reader *reader = (struct ctf_reader *)base;

	reader->give = give;
	reader->context = context;
	return ctf_walk_step(reader->walk, UINT64_MAX);
}

static const struct reader_facts *ctf_facts(const struct reader *base)
{
	return ctf_walk_facts(((const struct ctf_reader *)base)->walk);
}

static struct problem_list *ctf_problems(struct reader *base)
{
	return ctf_walk_problems(((struct ctf_reader *)base)->walk);
}

static void ctf_free(struct reader *base)
{
	struct ctf_reader *reader = (struct ctf_reader *)base;

	ctf_walk_free(reader->walk);
	ctf_classes_clear(&reader->classes);
	free(reader->wished);
	free(reader->defined);
	free(reader->value);
	free(reader);
}

struct reader *babeltrace2_reader_open(const char *path,
				       const struct reader_wishes *wishes,
				       struct error *error)
{
	static const struct reader_ops ops = {ctf_step, ctf_facts, ctf_problems, ctf_free,
					      NULL};
	struct ctf_reader *reader = mem_zalloc(sizeof(*reader));
	struct ctf_visitor visitor = {begin_stream, handle_event, reader};

	reader->base.ops = &ops;
	reader->wish = wishes->wish;
	reader->wished = mem_zalloc(wishes->count * sizeof(*reader->wished));
	reader->defined = mem_zalloc(wishes->count * sizeof(*reader->defined));
	reader->value = mem_zalloc(reader_most_fields(wishes) * sizeof(*reader->value));
	ctf_classes_init(&reader->classes, wishes->wish, wishes->count);
	reader->walk = ctf_walk_open(path, &visitor, error);
	if (!reader->walk) {
		ctf_free(&reader->base);
		return NULL;
	}
	ctf_walk_facts(reader->walk)->wished = reader->wished;
	ctf_walk_facts(reader->walk)->defined = reader->defined;
	return &reader->base;
}

char *ctf_library_version(void)
{
	return mem_printf("babeltrace2 %u.%u.%u", bt_version_get_major(),
			  bt_version_get_minor(), bt_version_get_patch());
}
