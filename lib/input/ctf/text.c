/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/ctf/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "input/ctf/members.h"

enum { NUMBER_TEXT = 32 };

char *ctf_text_more(struct ctf_text *text, size_t size)
{
	if (!text->data || size > text->room - text->size) {
		text->room = 2 * (text->size + size);
		text->data = mem_realloc(text->data, text->room, 1);
	}
	text->size += size;
	return text->data + text->size - size;
}

void ctf_text_add(struct ctf_text *text, const char *bytes, size_t size)
{
	if (size)
		memcpy(ctf_text_more(text, size), bytes, size);
}

static void add_char(struct ctf_text *text, char c)
{
	*ctf_text_more(text, 1) = c;
}

void ctf_text_add_string(struct ctf_text *text, const char *bytes, size_t size)
{
	add_char(text, '"');
	for (size_t i = 0, step; i < size; i += step) {
		unsigned char c = (unsigned char)bytes[i];
		char escape[8];

		step = utf8_length_within(bytes + i, size - i);
		if (!step) {
			step = 1;
			ctf_text_add(text, UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT));
		} else if (c < 0x20) {
			snprintf(escape, sizeof(escape), "\\u%04x", c);
			ctf_text_add(text, escape, 6);
		} else {
			if (c == '"' || c == '\\')
				add_char(text, '\\');
			ctf_text_add(text, bytes + i, step);
		}
	}
	add_char(text, '"');
}

void ctf_text_add_real(struct ctf_text *text, double real, int digits)
{
	char number[NUMBER_TEXT] = "null";

	if (isfinite(real))
		snprintf(number, sizeof(number), "%.*g", digits, real);
	ctf_text_add(text, number, strlen(number));
}

/* The label, or false where the value has none. */
static bool add_label(struct ctf_text *text, const bt_field *field, bool is_signed)
{
	bt_field_class_enumeration_mapping_label_array label;
	uint64_t labels;

	if (is_signed
		? bt_field_enumeration_signed_get_mapping_labels(field, &label, &labels)
		: bt_field_enumeration_unsigned_get_mapping_labels(field, &label,
								   &labels))
		return false;
	if (labels)
		ctf_text_add_string(text, label[0], strlen(label[0]));
	return labels > 0;
}

static void add_integer(struct ctf_text *text, const bt_field *field,
			bt_field_class_type type)
{
	bool is_signed = bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	char number[NUMBER_TEXT];

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ENUMERATION) &&
	    add_label(text, field, is_signed))
		return;
	if (is_signed)
		snprintf(number, sizeof(number), "%" PRId64,
			 bt_field_integer_signed_get_value(field));
	else
		snprintf(number, sizeof(number), "%" PRIu64,
			 bt_field_integer_unsigned_get_value(field));
	ctf_text_add(text, number, strlen(number));
}

static void add_bits(struct ctf_text *text, const bt_field *field)
{
	char number[NUMBER_TEXT];

	snprintf(number, sizeof(number), "%" PRIu64,
		 bt_field_bit_array_get_value_as_integer(field));
	ctf_text_add(text, number, strlen(number));
}

static void add_array(struct ctf_text *text, const bt_field *field)
{
	uint64_t count = bt_field_array_get_length(field);

	add_char(text, '[');
	for (uint64_t i = 0; i < count; i++) {
		if (i)
			add_char(text, ',');
		ctf_text_add_json(
		    text, bt_field_array_borrow_element_field_by_index_const(field, i));
	}
	add_char(text, ']');
}

static void add_structure(struct ctf_text *text, const bt_field *field)
{
	const bt_field_class *class = bt_field_borrow_class_const(field);
	uint64_t count = ctf_members(class);

	add_char(text, '{');
	for (uint64_t i = 0; i < count; i++) {
		const char *name;

		ctf_member(class, i, &name);
		if (i)
			add_char(text, ',');
		ctf_text_add_string(text, name, strlen(name));
		add_char(text, ':');
		ctf_text_add_json(
		    text,
		    bt_field_structure_borrow_member_field_by_index_const(field, i));
	}
	add_char(text, '}');
}

void ctf_text_add_json(struct ctf_text *text, const bt_field *field)
{
	bt_field_class_type type = field ? bt_field_get_class_type(field) : 0;

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_INTEGER))
		add_integer(text, field, type);
	else if (type == BT_FIELD_CLASS_TYPE_STRING)
		ctf_text_add_string(text, bt_field_string_get_value(field),
				    bt_field_string_get_length(field));
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		add_array(text, field);
	else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE)
		add_structure(text, field);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		ctf_text_add_json(
		    text, bt_field_variant_borrow_selected_option_field_const(field));
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
		ctf_text_add_json(text, bt_field_option_borrow_field_const(field));
	else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)
		ctf_text_add_real(text, bt_field_real_single_precision_get_value(field),
				  9);
	else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)
		ctf_text_add_real(text, bt_field_real_double_precision_get_value(field),
				  17);
	else if (type == BT_FIELD_CLASS_TYPE_BOOL)
		ctf_text_add(text, bt_field_bool_get_value(field) ? "1" : "0", 1);
	else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY)
		add_bits(text, field);
	else
		ctf_text_add(text, "null", 4);
}

void ctf_text_clear(struct ctf_text *text)
{
	free(text->data);
	text->data = NULL;
	text->size = text->room = 0;
}
