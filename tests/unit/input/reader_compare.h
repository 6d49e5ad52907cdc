/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_READER_COMPARE_H
#define CT_TEST_READER_COMPARE_H

/*
 * One trace, read by both readers side by side: every event of every class with
 * every field that can be selected, in one order, and the facts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/ctf/metadata.h"
#include "trace/reader.h"
#include "trace/schema.h"

#include "../reference/babeltrace2.h"
#include "../select.h"
#include "../test.h"

/* An event class, and the paths of all its fields. */
struct wanted {
	char *name;
	const char **path;
	size_t count, capacity;
};

/* All that there is, a name each: of classes of one name the fields of the first. */
struct selected_fields {
	struct wanted *wanted;
	size_t count, capacity;
};

static inline void add_paths(struct wanted *wanted, const struct field_class *class,
			     const char *path)
{
	while (class->type == FIELD_OPTIONAL)
		class = class->member->class;
	if (class->type != FIELD_STRUCTURE && class->type != FIELD_VARIANT) {
		wanted->path = mem_grow(wanted->path, wanted->count, &wanted->capacity,
					sizeof(*wanted->path));
		wanted->path[wanted->count++] = mem_strdup(path);
		return;
	}
	for (size_t i = 0; i < class->members; i++) {
		char *longer = mem_printf("%s%s%s", path, *path ? "." : "",
					  field_name(class->member[i].name));

		add_paths(wanted, class->member[i].class, longer);
		free(longer);
	}
}

static inline void add_selected(struct selected_fields *all,
				const struct schema_event_class *event)
{
	struct wanted *wanted;

	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->wanted[i].name, event->known.name) == 0)
			return;
	all->wanted =
	    mem_grow(all->wanted, all->count, &all->capacity, sizeof(*all->wanted));
	wanted = &all->wanted[all->count++];
	memset(wanted, 0, sizeof(*wanted));
	wanted->name = mem_strdup(event->known.name);
	if (event->scope[SCOPE_PAYLOAD])
		add_paths(wanted, event->scope[SCOPE_PAYLOAD], "");
}

static inline struct selected_fields select_all(const char *path)
{
	char *name = mem_printf("%s/metadata", path);
	struct selected_fields all = {NULL, 0, 0};
	struct error error = ERROR_INIT;
	struct schema *schema = schema_read(name, &error);

	assert_string_equal(error_text(&error), "");
	for (size_t i = 0; i < schema->events; i++)
		add_selected(&all, &schema->event[i]);
	schema_free(schema);
	free(name);
	return all;
}

static inline void selected_fields_clear(struct selected_fields *all)
{
	for (size_t i = 0; i < all->count; i++) {
		for (size_t k = 0; k < all->wanted[i].count; k++)
			free((void *)all->wanted[i].path[k]);
		free(all->wanted[i].path);
		free(all->wanted[i].name);
	}
	free(all->wanted);
}

/* One reader and what it gave that the other one did not yet. */
struct side {
	struct trace_reader *reader;
	const struct selected_fields *all;
	char *bytes;
	size_t size, capacity;
	bool more;
};

static inline void put(struct side *side, const void *bytes, size_t size)
{
	if (size > side->capacity - side->size) {
		side->capacity = 2 * (side->capacity + size);
		side->bytes = mem_realloc(side->bytes, side->capacity, 1);
	}
	memcpy(side->bytes + side->size, bytes, size);
	side->size += size;
}

static inline void put_cell(struct side *side, const struct cell *cell)
{
	put(side, &cell->type, sizeof(cell->type));
	if (cell->type == CELL_TEXT || cell->type == CELL_BLOB) {
		put(side, &cell->size, sizeof(cell->size));
		if (cell->size)
			put(side, cell->bytes, cell->size);
	} else if (cell->type != CELL_NULL) {
		put(side, &cell->integer, sizeof(cell->integer));
	}
}

static inline uint32_t find_selected(const struct side *side, const char *name)
{
	uint32_t wanted = 0;

	while (wanted < side->all->count &&
	       strcmp(side->all->wanted[wanted].name, name) != 0)
		wanted++;
	return wanted;
}

static inline void put_event(void *context, const struct trace_event *event)
{
	struct side *side = context;
	const struct trace_class *class = trace_reader_class(side->reader, event->class);
	uint32_t wanted = find_selected(side, class->name);
	size_t begin = side->size, size = 0;

	assert_true(wanted < side->all->count);
	put(side, &size, sizeof(size));
	put(side, &event->local_ns, sizeof(event->local_ns));
	put(side, &wanted, sizeof(wanted));
	put(side, &event->stream, sizeof(event->stream));
	put(side, &event->ordinal, sizeof(event->ordinal));
	put(side, &event->cpu, sizeof(event->cpu));
	for (size_t i = 0; i < side->all->wanted[wanted].count; i++)
		put_cell(side, &event->cell[i]);
	size = side->size - begin;
	memcpy(side->bytes + begin, &size, sizeof(size));
}

static inline void drop(struct side *side, size_t size)
{
	side->size -= size;
	if (size)
		memmove(side->bytes, side->bytes + size, side->size);
}

enum { EVENT_TEXT = 200 };

/* As put_event wrote its begin. */
static inline const char *event_text(char text[EVENT_TEXT], const struct side *side,
				     size_t at)
{
	const char *bytes = side->bytes + at + sizeof(size_t);
	nsec_t stamp;
	uint32_t tag;
	unsigned stream;
	uint64_t ordinal;

	memcpy(&stamp, bytes, sizeof(stamp));
	memcpy(&tag, bytes += sizeof(stamp), sizeof(tag));
	memcpy(&stream, bytes += sizeof(tag), sizeof(stream));
	memcpy(&ordinal, bytes + sizeof(stream), sizeof(ordinal));
	snprintf(text, EVENT_TEXT, "%s of stream %u.%" PRIu64 " at %" PRId64,
		 side->all->wanted[tag].name, stream, ordinal, stamp);
	return text;
}

/* The bytes that both have must be equal; the rest waits for the other one. */
static inline void compare_bytes(struct side *one, struct side *other, const char *path)
{
	size_t both = one->size < other->size ? one->size : other->size, at = 0, size;
	char text[2][EVENT_TEXT];

	if (both && memcmp(one->bytes, other->bytes, both) != 0) {
		while (memcpy(&size, one->bytes + at, sizeof(size)),
		       at + size <= both &&
			   memcmp(one->bytes + at, other->bytes + at, size) == 0)
			at += size;
		fail_msg("%s: %s, the other reader gives %s", path,
			 event_text(text[0], one, at), event_text(text[1], other, at));
	}
	drop(one, both);
	drop(other, both);
}

static inline void compare_facts(const struct trace_facts *one,
				 const struct trace_facts *other)
{
	assert_int_equal(one->events, other->events);
	assert_int_equal(one->begin_ns, other->begin_ns);
	assert_int_equal(one->end_ns, other->end_ns);
	assert_int_equal(one->discarded_events, other->discarded_events);
	assert_int_equal(one->discarded_packets, other->discarded_packets);
	assert_int_equal(one->backward, other->backward);
	assert_string_equal(one->hostname, other->hostname);
	assert_int_equal(one->has_clock, other->has_clock);
	assert_int_equal(one->has_uuid, other->has_uuid);
	assert_memory_equal(one->clock_uuid, other->clock_uuid, sizeof(one->clock_uuid));
	assert_string_equal(one->clock_name, other->clock_name);
	assert_int_equal(one->clock_offset_ns, other->clock_offset_ns);
	assert_int_equal(one->clock_frequency, other->clock_frequency);
}

static inline void print_problems(struct trace_reader *reader)
{
	const struct problem_list *list = trace_reader_problems(reader);

	for (size_t i = 0; i < list->count; i++)
		print_message("%s: %s: %s\n", list->item[i].place,
			      problem_kind_word(list->item[i].kind), list->item[i].text);
}

static inline void compare_problems(struct trace_reader *one, struct trace_reader *other)
{
	const struct problem_list *a = trace_reader_problems(one),
				  *b = trace_reader_problems(other);

	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		assert_int_equal(a->item[i].kind, b->item[i].kind);
		assert_string_equal(a->item[i].place, b->item[i].place);
		assert_string_equal(a->item[i].text, b->item[i].text);
	}
}

static inline void open_side(struct side *side, const char *path,
			     struct trace_reader *(*open)(const char *, struct error *),
			     const struct selected_fields *all)
{
	struct error error = ERROR_INIT;

	memset(side, 0, sizeof(*side));
	side->all = all;
	side->reader = open(path, &error);
	assert_string_equal(error_text(&error), "");
	side->more = true;
	for (size_t i = 0; i < all->count; i++)
		select_fields(side->reader, all->wanted[i].name, all->wanted[i].path,
			      all->wanted[i].count);
}

static inline void step_side(struct side *side)
{
	side->more =
	    side->more && trace_reader_step(side->reader, UINT64_MAX, put_event, side);
}

static inline uint64_t compare_selected(const char *path,
					const struct selected_fields *all)
{
	struct side one, other;
	uint64_t events;

	open_side(&one, path, trace_reader_open, all);
	open_side(&other, path, babeltrace2_open, all);
	while (one.more || other.more) {
		step_side(&one);
		step_side(&other);
		compare_bytes(&one, &other, path);
	}
	print_problems(one.reader);
	print_problems(other.reader);
	assert_int_equal(one.size, 0);
	assert_int_equal(other.size, 0);
	compare_facts(trace_reader_facts(one.reader), trace_reader_facts(other.reader));
	compare_problems(one.reader, other.reader);
	events = trace_reader_facts(one.reader)->events;
	trace_reader_free(one.reader);
	trace_reader_free(other.reader);
	free(one.bytes);
	free(other.bytes);
	return events;
}

/* One selection in `every`, from the one of this number on; the rest is only gone over.
 */
static inline void compare_some(const char *path, const struct selected_fields *all,
				size_t every, size_t from)
{
	struct selected_fields some = {mem_zalloc(all->count * sizeof(*all->wanted)), 0,
				       0};

	for (size_t i = from; i < all->count; i += every) {
		some.wanted[some.count] = all->wanted[i];
		some.count++;
	}
	compare_selected(path, &some);
	free(some.wanted);
}

/* Returns how many events there were. */
static inline uint64_t compare_readers(const char *path)
{
	struct selected_fields all = select_all(path);
	uint64_t events = compare_selected(path, &all);

	compare_some(path, &all, 2, 0);
	compare_some(path, &all, 2, 1);
	compare_some(path, &all, all.count + 1, all.count);
	selected_fields_clear(&all);
	return events;
}

#endif
