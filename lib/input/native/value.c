/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/value.h"

#include "base/mem.h"

static uint64_t number(const struct field_class *class, struct native_bytes bytes,
		       uint64_t at)
{
	uint64_t value = native_bits(bytes, at, class->size, class->order == ORDER_BIG);

	return class->is_signed ? native_sign(value, class->size) : value;
}

double native_real(const struct field_class *class, struct native_bytes bytes,
		   uint64_t at)
{
	uint64_t bits = number(class, bytes, at);
	uint32_t half = (uint32_t)bits;
	float single;
	double real;

	memcpy(&single, &half, sizeof(single));
	memcpy(&real, &bits, sizeof(real));
	return class->size == 32 ? (double)single : real;
}

static const char *text_of(const char *bytes, size_t count, struct native_text *text)
{
	if (memchr(bytes, '\0', count))
		return bytes;
	if (count >= text->room) {
		text->room = 2 * count + 1;
		text->bytes = mem_realloc(text->bytes, text->room, 1);
	}
	memcpy(text->bytes, bytes, count);
	text->bytes[count] = '\0';
	return text->bytes;
}

static void read_array(const struct field_class *class, struct native_bytes bytes,
		       struct native_place place, struct value *value)
{
	const struct field_class *element = class->element;
	uint64_t stride = field_stride(element, element->size);

	value->type = VALUE_ARRAY;
	value->count = (unsigned)place.count;
	if (place.count && (element->type != FIELD_INTEGER || element->is_signed)) {
		value->type = VALUE_NONE;
		return;
	}
	for (uint64_t i = 0; i < place.count && i < VALUE_ARRAY_MOST; i++)
		value->item[i] = number(element, bytes, place.at + i * stride);
}

void native_value_read(const struct field_class *class, struct native_bytes bytes,
		       struct native_place place, struct native_text *text,
		       struct value *value)
{
	const char *begin = (const char *)bytes.byte + place.at / 8;

	if (class->type == FIELD_INTEGER && class->is_signed) {
		value->type = VALUE_SIGNED;
		value->i = (int64_t)number(class, bytes, place.at);
	} else if (class->type == FIELD_INTEGER) {
		value->type = VALUE_UNSIGNED;
		value->u = number(class, bytes, place.at);
	} else if (class->type == FIELD_STRING) {
		value->type = VALUE_TEXT;
		value->text = begin;
	} else if (field_is_string(class)) {
		value->type = VALUE_TEXT;
		value->text = text_of(begin, place.count, text);
	} else if (class->element) {
		read_array(class, bytes, place, value);
	} else if (class->type == FIELD_REAL && class->size == 64) {
		value->type = VALUE_REAL;
		value->real = native_real(class, bytes, place.at);
	}
}
