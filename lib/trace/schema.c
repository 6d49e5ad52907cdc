/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/schema.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/fields.h"

struct field_class *field_new(enum field_type type)
{
	struct field_class *class = mem_zalloc(sizeof(*class));

	class->type = type;
	class->align = type == FIELD_STRING || type == FIELD_LEB128 ? 8 : 1;
	class->from = -1;
	class->place = -1;
	return class;
}

/*
 * Make space for one more item; a capacity is a power of two, and doubles when it is
 * full.
 */
static void *grow_array(void *items, size_t count, size_t size)
{
	bool is_full = (count & (count - 1)) == 0;

	return is_full ? mem_realloc(items, count ? 2 * count : 1, size) : items;
}

struct field_member *field_add_member(struct field_class *class, const char *name,
				      struct field_class *member)
{
	class->member = grow_array(class->member, class->members, sizeof(*class->member));
	class->member[class->members] =
	    (struct field_member){mem_strdup(name), member, NULL, 0};
	return &class->member[class->members++];
}

void field_add_range(struct field_member *member, uint64_t first, uint64_t last)
{
	member->range = grow_array(member->range, member->ranges, sizeof(*member->range));
	member->range[member->ranges++] = (struct field_range){first, last};
}

void field_add_slot(struct field_class *class, int slot)
{
	class->slot = grow_array(class->slot, class->slots, sizeof(*class->slot));
	class->slot[class->slots++] = slot;
}

void field_add_step(struct field_location *location, const char *step)
{
	location->step =
	    grow_array(location->step, location->steps, sizeof(*location->step));
	location->step[location->steps++] = step ? mem_strdup(step) : NULL;
}

static void free_location(struct field_location *location)
{
	for (size_t i = 0; location && i < location->steps; i++)
		free(location->step[i]);
	if (location)
		free(location->step);
	free(location);
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

size_t text_size(const char *bytes, size_t most, unsigned unit)
{
	size_t size = 0;

	if (unit == 1)
		return strnlen(bytes, most);
	while (size + unit <= most && memcmp(bytes + size, "\0\0\0", unit) != 0)
		size += unit;
	return size;
}

bool field_is_string(const struct field_class *class)
{
	const struct field_class *element = class->element;

	return element && element->type == FIELD_INTEGER && element->text &&
	       element->size == 8 && element->align == 8;
}

/*
 * Find the first member that has the value, compared as signed or unsigned, or NULL.
 */
static const struct field_member *find_value(const struct field_class *class,
					     uint64_t value, bool is_signed)
{
	uint64_t flip = is_signed ? (uint64_t)1 << 63 : 0;

	for (size_t i = 0; i < class->members; i++)
		for (size_t k = 0; k < class->member[i].ranges; k++) {
			const struct field_range *range = &class->member[i].range[k];

			if ((value ^ flip) >= (range->first ^ flip) &&
			    (value ^ flip) <= (range->last ^ flip))
				return &class->member[i];
		}
	return NULL;
}

const char *field_label(const struct field_class *class, uint64_t value)
{
	const struct field_member *member = find_value(class, value, class->is_signed);

	/*
	 * In CTF 1.8 a label cannot be a keyword, so LTTng puts an underscore before
	 * each.
	 */
	return member ? field_name(member->name) : NULL;
}

struct field_class *field_option(const struct field_class *class, uint64_t selector)
{
	const struct field_member *option =
	    find_value(class, selector, class->is_from_signed);

	return option ? option->class : NULL;
}

void field_free(struct field_class *class)
{
	if (!class)
		return;
	for (size_t i = 0; i < class->members; i++) {
		free(class->member[i].name);
		free(class->member[i].range);
		field_free(class->member[i].class);
	}
	field_free(class->element);
	free(class->member);
	free(class->clock);
	free(class->slot);
	free_location(class->location);
	free(class);
}

void schema_event_class_clear(struct schema_event_class *class)
{
	for (size_t i = 0; i < class->known.columns; i++)
		free(class->known.column[i].name);
	free(class->known.column);
	free(class->known.name);
	field_free(class->scope[SCOPE_SPECIFIC_CONTEXT]);
	field_free(class->scope[SCOPE_PAYLOAD]);
	trace_fields_free(class->fields);
	ctf_program_free(class->program);
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
		struct schema_stream *stream = &schema->stream[i];

		for (int k = 0; k < SCOPES; k++)
			field_free(stream->scope[k]);
		ctf_program_free(stream->packet_program);
		ctf_program_free(stream->header_program);
		free(stream->by_id);
	}
	for (size_t i = 0; i < schema->events; i++)
		schema_event_class_clear(&schema->event[i]);
	field_free(schema->packet_header);
	ctf_program_free(schema->packet_program);
	free(schema->clock);
	free(schema->stream);
	free(schema->event);
	free(schema->hostname);
	free(schema->ignored_name);
	free(schema);
}
