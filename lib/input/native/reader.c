/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/native/value.h"
#include "input/native/walk.h"
#include "input/reader_private.h"

/* What is wanted of an event class: its fields, by the wish's order. */
struct wanted {
	const struct event_wish *wish;
	size_t index; /* of the wish */
	struct wanted *next;
	const struct field_class *field[]; /* NULL: the class has none */
};

struct native_reader {
	struct reader base;
	struct reader_wishes wishes;
	struct native_walk *walk;
	struct wanted *wanted; /* of all classes */
	struct value *value;
	struct native_text *text; /* one a value */
	uint64_t *wished;
	int *defined;
	event_fn *give;
	void *context;
};

/* The part of a path up to the next dot. */
static bool path_starts_with(const char *path, const char *name)
{
	size_t length = strcspn(path, ".");

	name = field_name(name);
	return strlen(name) == length && strncmp(path, name, length) == 0;
}

static struct field_class *find_field(struct field_class *class, const char *path)
{
	const char *rest = strchr(path, '.');

	for (size_t i = 0; class && i < class->members; i++) {
		struct field_class *member = class->member[i].class;

		if (path_starts_with(path, class->member[i].name))
			return rest ? find_field(member, rest + 1) : member;
	}
	return NULL;
}

static bool has_value(const struct field_class *class)
{
	return class->type != FIELD_STRUCTURE && class->type != FIELD_VARIANT;
}

static size_t prepare(void *context, const struct native_stream_class *stream,
		      struct native_class *class)
{
	struct native_reader *reader = context;
	const struct reader_wishes *wishes = &reader->wishes;
	struct wanted *wanted;
	size_t i = 0, fields;

	(void)stream;
	while (i < wishes->count && strcmp(wishes->wish[i].name, class->event->name) != 0)
		i++;
	class->is_passed = i == wishes->count;
	if (class->is_passed)
		return 0;
	fields = wishes->wish[i].fields;
	wanted = mem_zalloc(sizeof(*wanted) + fields * sizeof(wanted->field[0]));
	wanted->wish = &wishes->wish[i];
	wanted->index = i;
	wanted->next = reader->wanted;
	reader->wanted = class->data = wanted;
	for (size_t k = 0; k < fields; k++) {
		struct field_class *field =
		    find_field(class->event->fields, wanted->wish->field[k]);

		if (!field || !has_value(field))
			continue;
		/* One that is wished twice keeps one place. */
		if (field->place < 0)
			field->place = (int)k;
		wanted->field[k] = field;
	}
	return fields;
}

static void begin_stream(void *context, const struct native_stream_class *stream)
{
	struct native_reader *reader = context;

	for (size_t i = 0; i < stream->classes; i++) {
		const struct wanted *wanted = stream->class[i].data;

		if (wanted)
			reader->defined[wanted->index] = 1;
	}
}

static void handle_event(void *context, const struct native_visit *visit)
{
	struct native_reader *reader = context;
	const struct native_cursor *cursor = visit->cursor;
	const struct wanted *wanted = visit->class->data;
	struct event found;

	if (!wanted)
		return;
	reader->wished[wanted->index]++;
	for (size_t i = 0; i < wanted->wish->fields; i++) {
		const struct field_class *field = wanted->field[i];

		reader->value[i].type = VALUE_NONE;
		if (field && cursor->place[field->place].at != NATIVE_ABSENT)
			native_value_read(field, cursor->bytes,
					  cursor->place[field->place], &reader->text[i],
					  &reader->value[i]);
	}
	found.local_ns = visit->local_ns;
	found.tag = wanted->wish->tag;
	found.stream = visit->stream;
	found.ordinal = visit->ordinal;
	found.value = reader->value;
	reader->give(reader->context, &found);
}

static int native_step(struct reader *base, event_fn *give, void *context)
{
	struct native_reader *reader = (struct native_reader *)base;

	reader->give = give;
	reader->context = context;
	return native_walk_step(reader->walk, UINT64_MAX);
}

static const struct reader_facts *native_facts(const struct reader *base)
{
	return native_walk_facts(((const struct native_reader *)base)->walk);
}

static struct problem_list *native_problems(struct reader *base)
{
	return native_walk_problems(((struct native_reader *)base)->walk);
}

static bool native_help(struct reader *base)
{
	return native_walk_help(((struct native_reader *)base)->walk);
}

static void native_free(struct reader *base)
{
	struct native_reader *reader = (struct native_reader *)base;
	size_t most = reader_most_fields(&reader->wishes);

	native_walk_free(reader->walk);
	while (reader->wanted) {
		struct wanted *next = reader->wanted->next;

		free(reader->wanted);
		reader->wanted = next;
	}
	for (size_t i = 0; i < most; i++)
		free(reader->text[i].bytes);
	free(reader->text);
	free(reader->value);
	free(reader->wished);
	free(reader->defined);
	free(reader);
}

struct reader *native_reader_open(const char *path, const struct reader_wishes *wishes,
				  struct error *error)
{
	static const struct reader_ops ops = {native_step, native_facts, native_problems,
					      native_free, native_help};
	struct native_reader *reader = mem_zalloc(sizeof(*reader));
	struct native_visitor visitor = {prepare, begin_stream, handle_event, reader};
	size_t most = reader_most_fields(wishes);

	reader->base.ops = &ops;
	reader->wishes = *wishes;
	reader->value = mem_zalloc(most * sizeof(*reader->value));
	reader->text = mem_zalloc(most * sizeof(*reader->text));
	reader->wished = mem_zalloc(wishes->count * sizeof(*reader->wished));
	reader->defined = mem_zalloc(wishes->count * sizeof(*reader->defined));
	reader->walk = native_walk_open(path, &visitor, error);
	if (!reader->walk) {
		native_free(&reader->base);
		return NULL;
	}
	native_walk_allow_help(reader->walk);
	native_walk_facts(reader->walk)->wished = reader->wished;
	native_walk_facts(reader->walk)->defined = reader->defined;
	return &reader->base;
}
