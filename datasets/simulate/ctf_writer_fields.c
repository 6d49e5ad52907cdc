/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/ctf_writer_fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/ctf_writer_packet.h"

enum { COMM_LONGEST = 15 }; /* and a zero */

/* How integers look; the others have 0 bits. */
static const struct shape {
	uint8_t bits;
	bool is_signed, is_hex;
} shapes[] = {
    [SIM_U8] = {8, false, false},     [SIM_U16] = {16, false, false},
    [SIM_U32] = {32, false, false},   [SIM_U64] = {64, false, false},
    [SIM_HEX64] = {64, false, true},  [SIM_S32] = {32, true, false},
    [SIM_S64] = {64, true, false},    [SIM_TEXT] = {0, false, false},
    [SIM_COMM] = {0, false, false},   [SIM_S32_LIST] = {32, true, false},
    [SIM_PACKET] = {0, false, false},
};

static bt_field_class *field_class(bt_trace_class *trace, const struct shape *shape)
{
	bt_field_class *class;

	if (!shape->bits)
		return bt_field_class_string_create(trace);
	class = shape->is_signed ? bt_field_class_integer_signed_create(trace)
				 : bt_field_class_integer_unsigned_create(trace);
	bt_field_class_integer_set_field_value_range(class, shape->bits);
	if (shape->is_hex)
		bt_field_class_integer_set_preferred_display_base(
		    class, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return class;
}

/* LTTng records a sequence as _NAME_length, of 8 bits, and NAME. */
static void append_list(bt_trace_class *trace, bt_field_class *payload, const char *name)
{
	bt_field_class *length = field_class(trace, &shapes[SIM_U8]);
	bt_field_class *item = field_class(trace, &shapes[SIM_S32]);
	bt_field_class *list = bt_field_class_array_dynamic_create(trace, item, length);
	char *length_name = mem_printf("_%s_length", name);

	bt_field_class_structure_append_member(payload, length_name, length);
	bt_field_class_structure_append_member(payload, name, list);
	free(length_name);
	bt_field_class_put_ref(length);
	bt_field_class_put_ref(item);
	bt_field_class_put_ref(list);
}

/* Calls of libbabeltrace2 here fail only when memory runs out: GLib ends then. */
bt_event_class *sim_ctf_class_new(bt_stream_class *stream, const struct sim_class *class,
				  uint64_t id)
{
	bt_trace_class *trace = bt_stream_class_borrow_trace_class(stream);
	bt_event_class *event_class = bt_event_class_create_with_id(stream, id);
	bt_field_class *payload = bt_field_class_structure_create(trace);

	for (size_t i = 0; i < class->fields; i++) {
		const struct sim_field *field = &class->field[i];
		bt_field_class *member;

		if (field->type == SIM_PACKET) {
			sim_ctf_packet_append(trace, payload);
			continue;
		}
		if (field->type == SIM_S32_LIST) {
			append_list(trace, payload, field->name);
			continue;
		}
		member = field_class(trace, &shapes[field->type]);
		bt_field_class_structure_append_member(payload, field->name, member);
		bt_field_class_put_ref(member);
	}
	bt_event_class_set_name(event_class, class->name);
	bt_event_class_set_payload_field_class(event_class, payload);
	bt_field_class_put_ref(payload);
	return event_class;
}

static void fill_field(bt_field *field, enum sim_type type, const union sim_value *value)
{
	const char *text = type == SIM_TEXT || type == SIM_COMM ? value->text : NULL;

	switch (type) {
	case SIM_S32:
		bt_field_integer_signed_set_value(field, (int32_t)value->i);
		break;
	case SIM_S64:
		bt_field_integer_signed_set_value(field, value->i);
		break;
	case SIM_TEXT:
		bt_field_string_set_value(field, text ? text : "");
		break;
	case SIM_COMM:
		bt_field_string_clear(field);
		if (text)
			bt_field_string_append_with_length(field, text,
							   strnlen(text, COMM_LONGEST));
		break;
	default:
		bt_field_integer_unsigned_set_value(
		    field, value->u & UINT64_MAX >> (64 - shapes[type].bits));
	}
}

/* One item, at the length's index and the one behind it. */
static void fill_list(bt_field *payload, uint64_t index, const union sim_value *value)
{
	bt_field *length =
	    bt_field_structure_borrow_member_field_by_index(payload, index);
	bt_field *list =
	    bt_field_structure_borrow_member_field_by_index(payload, index + 1);

	bt_field_integer_unsigned_set_value(length, 1);
	bt_field_array_dynamic_set_length(list, 1);
	fill_field(bt_field_array_borrow_element_field_by_index(list, 0), SIM_S32, value);
}

void sim_ctf_fill(bt_field *payload, const struct sim_event *event,
		  const struct sim_headers *headers)
{
	const struct sim_class *class = event->class;
	uint64_t index = 0;

	for (size_t i = 0; i < class->fields; i++) {
		enum sim_type type = class->field[i].type;

		if (type == SIM_PACKET) {
			sim_ctf_packet_fill(payload, index, headers);
			index += SIM_CTF_PACKET_FIELDS;
			continue;
		}
		if (type == SIM_S32_LIST) {
			fill_list(payload, index, &event->value[i]);
			index += 2;
			continue;
		}
		fill_field(
		    bt_field_structure_borrow_member_field_by_index(payload, index++),
		    type, &event->value[i]);
	}
}

static size_t field_bytes(enum sim_type type, const uint8_t *at, size_t room)
{
	if (type == SIM_S32_LIST)
		return room ? 1 + 4 * (size_t)*at : 0;
	if (type == SIM_PACKET)
		return sim_ctf_packet_bytes(at, room);
	if (shapes[type].bits)
		return shapes[type].bits / 8;
	return strnlen((const char *)at, room) + 1;
}

bool sim_ctf_payload_bytes(const struct sim_class *class, const uint8_t *at, size_t room,
			   size_t *bytes)
{
	size_t sum = 0;

	for (size_t i = 0; i < class->fields; i++) {
		size_t field = field_bytes(class->field[i].type, at + sum, room - sum);

		if (field == 0 || field > room - sum)
			return false;
		sum += field;
	}
	*bytes = sum;
	return true;
}
