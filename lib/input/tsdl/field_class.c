/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/tsdl/field_class.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MOST_BITS ((uint64_t)1 << 48)

struct field_class *field_new(enum field_type type)
{
	struct field_class *class = mem_zalloc(sizeof(*class));

	class->type = type;
	class->align = type == FIELD_STRING ? 8 : 1;
	class->slot = -1;
	class->place = -1;
	return class;
}

static bool copy_members(struct field_class *to, const struct field_class *from,
			 size_t *count, size_t most)
{
	for (size_t i = 0; i < from->members; i++) {
		struct field_class *member =
		    field_copy(from->member[i].class, count, most);

		if (!member)
			return false;
		field_add_member(to, from->member[i].name, member);
	}
	return true;
}

struct field_class *field_copy(const struct field_class *from, size_t *count, size_t most)
{
	struct field_class *to;

	*count += 1 + from->labels;
	if (*count > most)
		return NULL;
	to = field_new(from->type);
	to->order = from->order;
	to->size = from->size;
	to->align = from->align;
	to->is_signed = from->is_signed;
	to->is_label = from->is_label;
	to->is_text = from->is_text;
	to->length = from->length;
	to->clock = from->clock ? mem_strdup(from->clock) : NULL;
	to->path = from->path ? mem_strdup(from->path) : NULL;
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

void field_add_member(struct field_class *class, const char *name,
		      struct field_class *member)
{
	class->member = mem_grow(class->member, class->members, &class->member_room,
				 sizeof(*class->member));
	class->member[class->members++] = (struct field_member){mem_strdup(name), member};
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

	return element && element->type == FIELD_INTEGER && element->is_text &&
	       element->size == 8 && element->align == 8;
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
		field_free(class->member[i].class);
	}
	field_free(class->element);
	free(class->label);
	free(class->member);
	free(class->clock);
	free(class->path);
	free(class);
}
