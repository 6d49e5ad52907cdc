/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input/native/cells.h"
#include "input/native/value.h"

enum { NUMBER_TEXT = 32 };

static bool is_in(const struct field_class *class, const struct field_label *label,
		  uint64_t value)
{
	if (class->is_signed)
		return (int64_t)value >= (int64_t)label->first &&
		       (int64_t)value <= (int64_t)label->last;
	return value >= label->first && value <= label->last;
}

/* Ranges of one label are one: the label that came first is the one that counts. */
const char *native_label(const struct field_class *class, uint64_t value)
{
	size_t best = class->labels;

	for (size_t i = 0; i < class->labels; i++) {
		size_t first = 0;

		if (!is_in(class, &class->label[i], value))
			continue;
		while (strcmp(class->label[first].name, class->label[i].name) != 0)
			first++;
		if (first < best)
			best = first;
	}
	return best < class->labels ? class->label[best].name : NULL;
}

const struct field_class *native_option(const struct field_class *class, uint64_t tag)
{
	const struct field_class *refers = class->refers;

	for (size_t i = 0; i < class->members; i++)
		for (size_t k = 0; k < refers->labels; k++)
			if (strcmp(refers->label[k].name, class->member[i].name) == 0 &&
			    is_in(refers, &refers->label[k], tag))
				return class->member[i].class;
	return NULL;
}

static void add_number(struct ctf_text *text, const struct field_class *class,
		       struct native_cursor *cursor)
{
	uint64_t value = native_bits(cursor->bytes, cursor->at, class->size,
				     class->order == ORDER_BIG);
	const char *label = NULL;
	char number[NUMBER_TEXT];

	if (class->is_signed)
		value = native_sign(value, class->size);
	if (class->slot >= 0)
		cursor->slot[class->slot] = value;
	if (class->is_label)
		label = native_label(class, value);
	if (label) {
		ctf_text_add_string(text, label, strlen(label));
		return;
	}
	snprintf(number, sizeof(number), class->is_signed ? "%" PRId64 : "%" PRIu64,
		 value);
	ctf_text_add(text, number, strlen(number));
}

static void add_string(struct ctf_text *text, struct native_cursor *cursor)
{
	const char *begin = (const char *)cursor->bytes.byte + cursor->at / 8;
	size_t size = strnlen(begin, (size_t)(cursor->end - cursor->at) / 8);

	ctf_text_add_string(text, begin, size);
	cursor->at += 8 * (size + 1);
}

static void add_array(struct ctf_text *text, const struct field_class *class,
		      struct native_cursor *cursor)
{
	uint64_t count =
	    class->refers ? cursor->slot[class->refers->slot] : class->length;
	const char *begin = (const char *)cursor->bytes.byte + cursor->at / 8;

	if (field_is_string(class)) {
		ctf_text_add_string(text, begin, strnlen(begin, count));
		cursor->at += 8 * count;
		return;
	}
	ctf_text_add(text, "[", 1);
	for (uint64_t i = 0; i < count; i++) {
		if (i)
			ctf_text_add(text, ",", 1);
		native_json(text, class->element, cursor);
	}
	ctf_text_add(text, "]", 1);
}

static void add_structure(struct ctf_text *text, const struct field_class *class,
			  struct native_cursor *cursor)
{
	ctf_text_add(text, "{", 1);
	for (size_t i = 0; i < class->members; i++) {
		const char *name = field_name(class->member[i].name);

		if (i)
			ctf_text_add(text, ",", 1);
		ctf_text_add_string(text, name, strlen(name));
		ctf_text_add(text, ":", 1);
		native_json(text, class->member[i].class, cursor);
	}
	ctf_text_add(text, "}", 1);
}

/* A plan has walked all of it already, so it is there, and options fit their tags. */
void native_json(struct ctf_text *text, const struct field_class *class,
		 struct native_cursor *cursor)
{
	const struct field_class *option;

	cursor->at += -cursor->at & (class->align - 1);
	switch (class->type) {
	case FIELD_INTEGER:
		add_number(text, class, cursor);
		cursor->at += class->size;
		break;
	case FIELD_REAL:
		ctf_text_add_real(text, native_real(class, cursor->bytes, cursor->at),
				  class->size == 32 ? 9 : 17);
		cursor->at += class->size;
		break;
	case FIELD_STRING:
		add_string(text, cursor);
		break;
	case FIELD_STRUCTURE:
		add_structure(text, class, cursor);
		break;
	case FIELD_VARIANT:
		option = native_option(class, cursor->slot[class->refers->slot]);
		if (option)
			native_json(text, option, cursor);
		break;
	case FIELD_ARRAY:
	case FIELD_SEQUENCE:
		add_array(text, class, cursor);
		break;
	}
}
