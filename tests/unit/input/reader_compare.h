/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_READER_COMPARE_H
#define CT_TEST_READER_COMPARE_H

/*
 * One trace, read by both readers side by side: every event of every class with
 * every field that a wish can name, in one order, and the facts.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "input/reader.h"
#include "input/tsdl/tsdl.h"

/* Wishes for all there is. */
struct all_wishes {
	struct event_wish *wish;
	size_t count, room;
};

struct paths {
	const char **path;
	size_t count, room;
};

static inline void add_paths(struct paths *paths, const struct field_class *class,
			     const char *path)
{
	if (class->type != FIELD_STRUCTURE && class->type != FIELD_VARIANT) {
		paths->path = mem_grow(paths->path, paths->count, &paths->room,
				       sizeof(*paths->path));
		paths->path[paths->count++] = mem_strdup(path);
		return;
	}
	for (size_t i = 0; i < class->members; i++) {
		char *longer = mem_printf("%s%s%s", path, *path ? "." : "",
					  field_name(class->member[i].name));

		add_paths(paths, class->member[i].class, longer);
		free(longer);
	}
}

/* Of several event classes of one name the first says what fields are wished. */
static inline void add_wish(struct all_wishes *all, const struct tsdl_event *event)
{
	struct paths paths = {NULL, 0, 0};
	struct event_wish *wish;

	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->wish[i].name, event->name) == 0)
			return;
	if (event->fields)
		add_paths(&paths, event->fields, "");
	all->wish = mem_grow(all->wish, all->count, &all->room, sizeof(*all->wish));
	wish = &all->wish[all->count];
	wish->name = mem_strdup(event->name);
	wish->tag = (int)all->count++;
	wish->field = paths.path;
	wish->fields = paths.count;
}

static inline struct all_wishes all_wishes(const char *path)
{
	char *name = mem_printf("%s/metadata", path);
	struct all_wishes all = {NULL, 0, 0};
	struct error error = ERROR_INIT;
	size_t size;
	char *text = tsdl_read(name, &size, &error);
	struct tsdl *tsdl = text ? tsdl_parse(text, size, &error) : NULL;

	assert_string_equal(error_text(&error), "");
	for (size_t i = 0; i < tsdl->events; i++)
		add_wish(&all, &tsdl->event[i]);
	tsdl_free(tsdl);
	free(text);
	free(name);
	return all;
}

static inline void all_wishes_clear(struct all_wishes *all)
{
	for (size_t i = 0; i < all->count; i++) {
		for (size_t k = 0; k < all->wish[i].fields; k++)
			free((void *)all->wish[i].field[k]);
		free((void *)all->wish[i].field);
		free((void *)all->wish[i].name);
	}
	free(all->wish);
}

/* One reader and what it gave that the other one did not yet. */
struct side {
	struct reader *reader;
	const struct event_wish *wish;
	char *bytes;
	size_t size, room;
	bool more;
};

static inline void put(struct side *side, const void *bytes, size_t size)
{
	if (size > side->room - side->size) {
		side->room = 2 * (side->room + size);
		side->bytes = mem_realloc(side->bytes, side->room, 1);
	}
	memcpy(side->bytes + side->size, bytes, size);
	side->size += size;
}

static inline void put_value(struct side *side, const struct value *value)
{
	unsigned items =
	    value->count < VALUE_ARRAY_MOST ? value->count : VALUE_ARRAY_MOST;

	put(side, &value->type, sizeof(value->type));
	if (value->type == VALUE_TEXT)
		put(side, value->text, strlen(value->text) + 1);
	else if (value->type == VALUE_ARRAY)
		put(side, &value->count, sizeof(value->count));
	else if (value->type != VALUE_NONE)
		put(side, &value->u, sizeof(value->u));
	if (value->type == VALUE_ARRAY)
		put(side, value->item, items * sizeof(value->item[0]));
}

static inline void put_event(void *context, const struct event *event)
{
	struct side *side = context;
	size_t begin = side->size, size = 0;

	put(side, &size, sizeof(size));
	put(side, &event->local_ns, sizeof(event->local_ns));
	put(side, &event->tag, sizeof(event->tag));
	put(side, &event->stream, sizeof(event->stream));
	put(side, &event->ordinal, sizeof(event->ordinal));
	for (size_t i = 0; i < side->wish[event->tag].fields; i++)
		put_value(side, &event->value[i]);
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
	int tag;
	unsigned stream;
	uint64_t ordinal;

	memcpy(&stamp, bytes, sizeof(stamp));
	memcpy(&tag, bytes += sizeof(stamp), sizeof(tag));
	memcpy(&stream, bytes += sizeof(tag), sizeof(stream));
	memcpy(&ordinal, bytes + sizeof(stream), sizeof(ordinal));
	snprintf(text, EVENT_TEXT, "%s of stream %u.%" PRIu64 " at %" PRId64,
		 side->wish[tag].name, stream, ordinal, stamp);
	return text;
}

/* What both have must be the same; the rest waits for the other one. */
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

static inline void compare_facts(const struct reader_facts *one,
				 const struct reader_facts *other, size_t wishes)
{
	assert_int_equal(one->events, other->events);
	assert_int_equal(one->total_bytes, other->total_bytes);
	assert_int_equal(one->bytes, other->bytes);
	assert_int_equal(one->begin_ns, other->begin_ns);
	assert_int_equal(one->end_ns, other->end_ns);
	assert_int_equal(one->discarded_events, other->discarded_events);
	assert_int_equal(one->discarded_packets, other->discarded_packets);
	assert_int_equal(one->backward, other->backward);
	assert_string_equal(one->hostname, other->hostname);
	assert_int_equal(one->has_clock, other->has_clock);
	assert_int_equal(one->has_uuid, other->has_uuid);
	assert_memory_equal(one->clock_uuid, other->clock_uuid, sizeof(one->clock_uuid));
	assert_int_equal(one->clock_offset_ns, other->clock_offset_ns);
	assert_int_equal(one->clock_frequency, other->clock_frequency);
	for (size_t i = 0; i < wishes; i++) {
		assert_int_equal(one->wished[i], other->wished[i]);
		assert_int_equal(one->defined[i], other->defined[i]);
	}
}

static inline void print_problems(struct reader *reader)
{
	const struct problem_list *list = reader_problems(reader);

	for (size_t i = 0; i < list->count; i++)
		print_message("%s: %s: %s\n", list->item[i].place, list->item[i].kind,
			      list->item[i].text);
}

static inline void compare_problems(struct reader *one, struct reader *other)
{
	const struct problem_list *a = reader_problems(one), *b = reader_problems(other);

	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		assert_string_equal(a->item[i].kind, b->item[i].kind);
		assert_string_equal(a->item[i].place, b->item[i].place);
		assert_string_equal(a->item[i].text, b->item[i].text);
	}
}

static inline void open_side(struct side *side, const char *path, enum reader_kind kind,
			     const struct all_wishes *all)
{
	const struct reader_wishes wishes = {all->wish, all->count};
	struct error error = ERROR_INIT;

	memset(side, 0, sizeof(*side));
	side->wish = all->wish;
	side->reader = reader_open(path, kind, &wishes, &error);
	side->more = true;
	assert_string_equal(error_text(&error), "");
}

static inline uint64_t compare_wished(const char *path, const struct all_wishes *all)
{
	struct side one, other;
	uint64_t events;

	open_side(&one, path, READER_NATIVE, all);
	open_side(&other, path, READER_BABELTRACE2, all);
	while (one.more || other.more) {
		one.more = one.more && reader_step(one.reader, put_event, &one);
		other.more = other.more && reader_step(other.reader, put_event, &other);
		compare_bytes(&one, &other, path);
	}
	print_problems(one.reader);
	print_problems(other.reader);
	assert_int_equal(one.size, 0);
	assert_int_equal(other.size, 0);
	compare_facts(reader_facts(one.reader), reader_facts(other.reader), all->count);
	compare_problems(one.reader, other.reader);
	events = reader_facts(one.reader)->events;
	reader_free(one.reader);
	reader_free(other.reader);
	free(one.bytes);
	free(other.bytes);
	return events;
}

/* One wish in `every`, from the one of this number on; the rest is only gone over. */
static inline void compare_some(const char *path, const struct all_wishes *all,
				size_t every, size_t from)
{
	struct all_wishes some = {mem_zalloc(all->count * sizeof(*all->wish)), 0, 0};

	for (size_t i = from; i < all->count; i += every) {
		some.wish[some.count] = all->wish[i];
		some.wish[some.count].tag = (int)some.count;
		some.count++;
	}
	compare_wished(path, &some);
	free(some.wish);
}

/* Returns how many events there were. */
static inline uint64_t compare_readers(const char *path)
{
	struct all_wishes all = all_wishes(path);
	uint64_t events = compare_wished(path, &all);

	compare_some(path, &all, 2, 0);
	compare_some(path, &all, 2, 1);
	compare_some(path, &all, all.count + 1, all.count);
	all_wishes_clear(&all);
	return events;
}

#endif
