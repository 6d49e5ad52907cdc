/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf/schema.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MOST_BITS ((uint64_t)1 << 48)

struct field_class *field_new(enum field_type type)
{
	struct field_class *class = mem_zalloc(sizeof(*class));

	class->type = type;
	class->align = type == FIELD_STRING || type == FIELD_LEB128 ? 8 : 1;
	class->slot = class->from = -1;
	class->place = -1;
	return class;
}

static void copy_ranges(struct field_range **to, size_t *count,
			const struct field_range *from, size_t ranges)
{
	for (size_t i = 0; i < ranges; i++)
		field_add_range(to, count, from[i].first, from[i].last);
}

static void copy_location(struct field_class *to, const struct field_location *from)
{
	struct field_location location = *from;

	location.step = mem_zalloc(from->steps * sizeof(*location.step) + 1);
	for (size_t i = 0; i < from->steps; i++)
		if (from->step[i])
			location.step[i] = mem_strdup(from->step[i]);
	field_set_location(to, location);
}

static bool copy_members(struct field_class *to, const struct field_class *from,
			 size_t *count, size_t most)
{
	for (size_t i = 0; i < from->members; i++) {
		struct field_class *member =
		    field_copy(from->member[i].class, count, most);

		struct field_member *added;

		if (!member)
			return false;
		added = field_add_member(to, from->member[i].name, member);
		copy_ranges(&added->range, &added->ranges, from->member[i].range,
			    from->member[i].ranges);
	}
	return true;
}

struct field_class *field_copy(const struct field_class *from, size_t *count, size_t most)
{
	struct field_class *to;

	*count += 1 + from->labels;
	if (*count > most)
		return NULL;
	to = mem_alloc(sizeof(*to));
	*to = *from;
	to->label = NULL;
	to->member = NULL;
	to->range = NULL;
	to->element = NULL;
	to->location = NULL;
	to->labels = to->label_room = to->members = to->member_room = to->ranges = 0;
	to->clock = from->clock ? mem_strdup(from->clock) : NULL;
	copy_ranges(&to->range, &to->ranges, from->range, from->ranges);
	if (from->location)
		copy_location(to, from->location);
	for (size_t i = 0; i < from->labels; i++)
		field_add_label(to, from->label[i].name, from->label[i].first,
				from->label[i].last);
	if (from->element)
		to->element = field_copy(from->element, count, most);
	if (copy_members(to, from, count, most) && !from->element == !to->element)
		return to;
	field_free(to);
	return NULL;
}

void field_add_label(struct field_class *class, const char *name, uint64_t first,
		     uint64_t last)
{
	class->label = mem_grow(class->label, class->labels, &class->label_room,
				sizeof(*class->label));
	class->label[class->labels++] =
	    (struct field_label){mem_strdup(name), first, last};
}

struct field_member *field_add_member(struct field_class *class, const char *name,
				      struct field_class *member)
{
	class->member = mem_grow(class->member, class->members, &class->member_room,
				 sizeof(*class->member));
	class->member[class->members++] =
	    (struct field_member){mem_strdup(name), member, NULL, 0};
	return &class->member[class->members - 1];
}

void field_add_range(struct field_range **range, size_t *ranges, uint64_t first,
		     uint64_t last)
{
	/* Capacities are powers of two: a full one is doubled. */
	if ((*ranges & (*ranges - 1)) == 0)
		*range = mem_realloc(*range, *ranges ? 2 * *ranges : 1, sizeof(**range));
	(*range)[(*ranges)++] = (struct field_range){first, last};
}

static void free_location(struct field_location *location)
{
	for (size_t i = 0; location && i < location->steps; i++)
		free(location->step[i]);
	if (location)
		free(location->step);
	free(location);
}

void field_set_location(struct field_class *class, struct field_location location)
{
	free_location(class->location);
	class->location = mem_alloc(sizeof(location));
	*class->location = location;
}

void field_set_name(struct field_class *class, const char *path)
{
	struct field_location location = {-1, true, mem_alloc(sizeof(char *)), 1};

	location.step[0] = mem_strdup(path);
	field_set_location(class, location);
}

const struct field_class *field_member(const struct field_class *class, const char *name)
{
	for (size_t i = 0; class && i < class->members; i++)
		if (strcmp(class->member[i].name, name) == 0)
			return class->member[i].class;
	return NULL;
}

const char *field_name(const char *name)
{
	name += name[0] == '_';
	return name + (name[0] == '_' && name[1]);
}

bool field_is_string(const struct field_class *class)
{
	const struct field_class *element = class->element;

	return element && class->type != FIELD_OPTIONAL &&
	       element->type == FIELD_INTEGER && element->text && element->size == 8 &&
	       element->align == 8;
}

/* Ranges of one label are one: the label that came first is the one that counts. */
const char *field_label(const struct field_class *class, uint64_t value)
{
	size_t best = class->labels;

	for (size_t i = 0; i < class->labels; i++) {
		size_t first = 0;

		if (!field_is_within(value, class->label[i].first, class->label[i].last,
				     class->is_signed))
			continue;
		while (strcmp(class->label[first].name, class->label[i].name) != 0)
			first++;
		if (first < best)
			best = first;
	}
	if (best == class->labels)
		return NULL;
	/* CTF 1.8 knows no label that is a keyword, so LTTng puts an underscore before.
	 */
	return field_name(class->label[best].name);
}

static bool is_selected(const struct field_range *range, size_t ranges, uint64_t selector,
			bool is_signed)
{
	for (size_t i = 0; i < ranges; i++)
		if (field_is_within(selector, range[i].first, range[i].last, is_signed))
			return true;
	return false;
}

const struct field_class *field_option(const struct field_class *class, uint64_t selector)
{
	if (class->type == FIELD_OPTIONAL)
		return is_selected(class->range, class->ranges, selector,
				   class->is_from_signed)
			   ? class->element
			   : NULL;
	for (size_t i = 0; i < class->members; i++)
		if (is_selected(class->member[i].range, class->member[i].ranges, selector,
				class->is_from_signed))
			return class->member[i].class;
	return NULL;
}

uint64_t field_stride(const struct field_class *element, uint64_t bits)
{
	return (bits + element->align - 1) & ~(uint64_t)(element->align - 1);
}

static bool is_constant_array(const struct field_class *class, uint64_t *bits)
{
	uint64_t size, stride;

	*bits = 0;
	if (!field_is_constant(class->element, &size))
		return false;
	stride = field_stride(class->element, size);
	return class->length == 0 ||
	       (stride && !__builtin_mul_overflow(class->length - 1, stride, bits) &&
		!__builtin_add_overflow(*bits, size, bits));
}

bool field_is_constant(const struct field_class *class, uint64_t *bits)
{
	uint64_t size;

	*bits = 0;
	switch (class->type) {
	case FIELD_INTEGER:
	case FIELD_REAL:
		*bits = class->size;
		return true;
	case FIELD_ARRAY:
		return is_constant_array(class, bits) && *bits <= MOST_BITS;
	case FIELD_STRUCTURE:
		for (size_t i = 0; i < class->members; i++) {
			const struct field_class *member = class->member[i].class;

			if (!field_is_constant(member, &size))
				return false;
			*bits = field_stride(member, *bits) + size;
			if (*bits > MOST_BITS)
				return false;
		}
		return true;
	default:
		return false;
	}
}

void field_free(struct field_class *class)
{
	if (!class)
		return;
	for (size_t i = 0; i < class->labels; i++)
		free(class->label[i].name);
	for (size_t i = 0; i < class->members; i++) {
		free(class->member[i].name);
		free(class->member[i].range);
		field_free(class->member[i].class);
	}
	field_free(class->element);
	free(class->label);
	free(class->member);
	free(class->clock);
	free(class->range);
	free_location(class->location);
	free(class);
}

void schema_free(struct schema *schema)
{
	if (!schema)
		return;
	for (size_t i = 0; i < schema->clocks; i++) {
		free(schema->clock[i].name);
		free(schema->clock[i].identity);
	}
	for (size_t i = 0; i < schema->streams; i++) {
		field_free(schema->stream[i].packet_context);
		field_free(schema->stream[i].event_header);
		field_free(schema->stream[i].event_context);
	}
	for (size_t i = 0; i < schema->events; i++) {
		free(schema->event[i].name);
		field_free(schema->event[i].context);
		field_free(schema->event[i].fields);
	}
	field_free(schema->packet_header);
	free(schema->clock);
	free(schema->stream);
	free(schema->event);
	free(schema->hostname);
	free(schema->tracer);
	free(schema);
}

int schema_read_uuid(const char *text, unsigned char uuid[16])
{
	size_t digits = 0;

	for (; *text; text++) {
		static const char hexadecimal[] = "0123456789abcdef0123456789ABCDEF";
		const char *digit = strchr(hexadecimal, *text);

		if (*text == '-')
			continue;
		if (!digit || digits == 32)
			return -1;
		uuid[digits / 2] =
		    (unsigned char)(uuid[digits / 2] << 4 | ((digit - hexadecimal) & 15));
		digits++;
	}
	return digits == 32 ? 0 : -1;
}
