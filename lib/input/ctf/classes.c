/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/ctf/classes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FIRST_SLOTS = 256 };

void ctf_classes_init(struct ctf_classes *classes, const struct event_wish *wish,
		      size_t wishes)
{
	classes->wish = wish;
	classes->wishes = wishes;
	classes->slots = FIRST_SLOTS;
	classes->used = 0;
	classes->slot = mem_zalloc(classes->slots * sizeof(*classes->slot));
}

static int wish_index(const struct ctf_classes *classes, const bt_event_class *class)
{
	const char *name = bt_event_class_get_name(class);

	for (size_t i = 0; name && i < classes->wishes; i++)
		if (strcmp(classes->wish[i].name, name) == 0)
			return (int)i;
	return -1;
}

void ctf_classes_define(const struct ctf_classes *classes, const bt_stream *stream,
			int *defined)
{
	const bt_stream_class *of = bt_stream_borrow_class_const(stream);

	for (uint64_t i = 0; i < bt_stream_class_get_event_class_count(of); i++) {
		int wish = wish_index(
		    classes, bt_stream_class_borrow_event_class_by_index_const(of, i));

		if (wish >= 0)
			defined[wish] = 1;
	}
}

/* Where a class stands or would stand. */
static struct ctf_class *probe(const struct ctf_classes *classes,
			       const bt_event_class *class)
{
	size_t at = ((uintptr_t) class >> 4) * 0x9e3779b1u & (classes->slots - 1);

	while (classes->slot[at].class && classes->slot[at].class != class)
		at = (at + 1) & (classes->slots - 1);
	return &classes->slot[at];
}

static void grow(struct ctf_classes *classes)
{
	struct ctf_class *old = classes->slot;
	size_t slots = classes->slots;

	classes->slots *= 2;
	classes->slot = mem_zalloc(classes->slots * sizeof(*classes->slot));
	for (size_t i = 0; i < slots; i++)
		if (old[i].class)
			*probe(classes, old[i].class) = old[i];
	free(old);
}

const struct ctf_class *ctf_classes_find(struct ctf_classes *classes,
					 const bt_event_class *class)
{
	struct ctf_class *found = probe(classes, class);

	if (found->class)
		return found;
	if (2 * ++classes->used > classes->slots) {
		grow(classes);
		found = probe(classes, class);
	}
	found->class = class;
	found->wish = wish_index(classes, class);
	if (found->wish >= 0)
		found->plan =
		    ctf_plan_new(bt_event_class_borrow_payload_field_class_const(class),
				 &classes->wish[found->wish]);
	return found;
}

void ctf_classes_clear(struct ctf_classes *classes)
{
	for (size_t i = 0; i < classes->slots; i++)
		ctf_plan_free(classes->slot[i].plan);
	free(classes->slot);
	classes->slot = NULL;
	classes->slots = 0;
}
