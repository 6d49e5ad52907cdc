/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/quick.h"

#include <string.h>

/* The stamp of an option that is nothing else, right behind an id of so many bits. */
static const struct field_class *find_stamp(const struct field_class *option,
					    unsigned id_size)
{
	const struct field_class *stamp =
	    option->type == FIELD_STRUCTURE && option->members == 1
		? option->member[0].class
		: NULL;

	if (!stamp || stamp->type != FIELD_INTEGER || !stamp->clock || stamp->is_id ||
	    stamp->slot >= 0 || stamp->order != ORDER_LITTLE || id_size % option->align ||
	    stamp->size + id_size > 56)
		return NULL;
	return stamp;
}

void native_quick_find(const struct field_class *header, struct native_quick *quick)
{
	const struct field_class *id = field_member(header, "id");
	const struct field_class *v = field_member(header, "v"), *stamp;

	memset(quick, 0, sizeof(*quick));
	if (header->members != 2 || header->align != 8 || !id || !v ||
	    header->member[0].class != id || id->type != FIELD_INTEGER || !id->is_id ||
	    !id->is_label || id->is_signed || id->clock || id->order != ORDER_LITTLE ||
	    id->size > 32 || v->type != FIELD_VARIANT || v->refers != id)
		return;
	/* The first label and the first option, so that no other one can be meant. */
	if (v->members == 0 || id->label[0].first != 0 ||
	    strcmp(id->label[0].name, v->member[0].name) != 0)
		return;
	stamp = find_stamp(v->member[0].class, id->size);
	if (!stamp)
		return;
	quick->id_size = id->size;
	quick->stamp_size = stamp->size;
	quick->last = id->label[0].last;
	quick->slot = id->slot;
}
