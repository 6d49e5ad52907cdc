/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/quick.h"

#include <string.h>

static bool is_little_unsigned(const struct field_class *class)
{
	return class->type == FIELD_INTEGER && !class->is_signed &&
	       class->order == ORDER_LITTLE;
}

/* Where a field begins behind so many bits, the first of which begins a byte. */
static unsigned behind(unsigned bits, const struct field_class *class)
{
	return (bits + class->align - 1) / class->align * class->align;
}

/* Nothing but a stamp, which one word can hold behind an id of so many bits. */
static bool is_stamp(const struct field_class *class, unsigned id_size)
{
	return is_little_unsigned(class) && class->clock && !class->is_id &&
	       class->slot < 0 && class->align <= 8 &&
	       behind(id_size, class) % 8 + class->size <= 64;
}

/* The stamp of an option that is nothing else. */
static const struct field_class *find_stamp(const struct field_class *option,
					    unsigned id_size)
{
	if (option->type != FIELD_STRUCTURE || option->members != 1 ||
	    id_size % option->align)
		return NULL;
	option = option->member[0].class;
	return is_stamp(option, id_size) ? option : NULL;
}

/* The first label and the first option, so that no other one can be meant. */
static const struct field_class *find_short(const struct field_class *id,
					    const struct field_class *v)
{
	if (!id->is_label || v->refers != id || v->members == 0 ||
	    id->label[0].first != 0 || strcmp(id->label[0].name, v->member[0].name) != 0)
		return NULL;
	return find_stamp(v->member[0].class, id->size);
}

void native_quick_find(const struct field_class *header, struct native_quick *quick)
{
	const struct field_class *id, *next, *stamp;

	memset(quick, 0, sizeof(*quick));
	if (header->type != FIELD_STRUCTURE || header->members != 2 || header->align != 8)
		return;
	id = header->member[0].class;
	next = header->member[1].class;
	if (!is_little_unsigned(id) || !id->is_id || id->clock)
		return;
	if (next->type == FIELD_VARIANT)
		stamp = find_short(id, next);
	else
		stamp = is_stamp(next, id->size) ? next : NULL;
	if (!stamp)
		return;
	quick->id_size = id->size;
	quick->stamp_size = stamp->size;
	quick->stamp_at = behind(id->size, stamp);
	quick->size = quick->stamp_at + stamp->size;
	quick->last = next == stamp ? UINT64_MAX : id->label[0].last;
	quick->slot = id->slot;
}
