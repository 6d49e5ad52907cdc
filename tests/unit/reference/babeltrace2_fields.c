/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "babeltrace2.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool is(bt_field_class_type type, bt_field_class_type wanted)
{
	return bt_field_class_type_is(type, wanted);
}

/* Add a member; the library has already removed one underscore from its name. */
static void add_member(struct field_class *class, const char *name,
		       const bt_field_class *of)
{
	AUTOFREE char *whole = mem_printf("_%s", name ? name : "");

	field_add_member(class, whole, babeltrace2_field_class(of));
}

static void add_members(struct field_class *class, const bt_field_class *of)
{
	for (uint64_t i = 0; i < bt_field_class_structure_get_member_count(of); i++) {
		const bt_field_class_structure_member *member =
		    bt_field_class_structure_borrow_member_by_index_const(of, i);

		add_member(
		    class, bt_field_class_structure_member_get_name(member),
		    bt_field_class_structure_member_borrow_field_class_const(member));
	}
}

static void add_options(struct field_class *class, const bt_field_class *of)
{
	for (uint64_t i = 0; i < bt_field_class_variant_get_option_count(of); i++) {
		const bt_field_class_variant_option *option =
		    bt_field_class_variant_borrow_option_by_index_const(of, i);

		add_member(
		    class, bt_field_class_variant_option_get_name(option),
		    bt_field_class_variant_option_borrow_field_class_const(option));
	}
}

struct field_class *babeltrace2_field_class(const bt_field_class *of)
{
	struct field_class *class = of ? field_new(FIELD_STRING) : NULL;
	bt_field_class_type type;

	if (!of)
		return NULL;
	type = bt_field_class_get_type(of);
	if (is(type, BT_FIELD_CLASS_TYPE_INTEGER)) {
		class->type = FIELD_INTEGER;
		class->size = (unsigned)bt_field_class_integer_get_field_value_range(of);
		class->is_signed = is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
		class->is_label = is(type, BT_FIELD_CLASS_TYPE_ENUMERATION);
	} else if (is(type, BT_FIELD_CLASS_TYPE_REAL)) {
		class->type = FIELD_REAL;
		class->size =
		    is(type, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) ? 32 : 64;
	} else if (is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		class->type = FIELD_ARRAY;
		class->element = babeltrace2_field_class(
		    bt_field_class_array_borrow_element_field_class_const(of));
	} else if (is(type, BT_FIELD_CLASS_TYPE_STRUCTURE)) {
		class->type = FIELD_STRUCTURE;
		add_members(class, of);
	} else if (is(type, BT_FIELD_CLASS_TYPE_VARIANT)) {
		class->type = FIELD_VARIANT;
		add_options(class, of);
	}
	return class;
}

static uint64_t integer_of(const bt_field *field)
{
	return is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)
		   ? (uint64_t)bt_field_integer_signed_get_value(field)
		   : bt_field_integer_unsigned_get_value(field);
}

/*
 * Return the label of an enumeration's value, or NULL. Of several the first by name:
 * libbabeltrace2 2.1 does not give them in the order of their declaration.
 */
static const char *label_of(const struct field_class *class, const bt_field *field)
{
	bt_field_class_enumeration_mapping_label_array label;
	const char *first = NULL;
	uint64_t labels = 0;

	if (class->is_label && class->is_signed)
		bt_field_enumeration_signed_get_mapping_labels(field, &label, &labels);
	else if (class->is_label)
		bt_field_enumeration_unsigned_get_mapping_labels(field, &label, &labels);
	for (uint64_t i = 0; i < labels; i++)
		if (!first || strcmp(label[i], first) < 0)
			first = label[i];
	return first ? field_name(first) : NULL;
}

static const struct field_class *selected(const struct field_class *class,
					  const bt_field *field)
{
	return class->member[bt_field_variant_get_selected_option_index(field)].class;
}

/* Set a cell to the value of a number, a string or a boolean. */
static void set_value(struct cell *cell, const struct field_class *class, bool is_label,
		      const bt_field *field)
{
	const char *label = is_label ? label_of(class, field) : NULL;

	if (label) {
		cell_set_text(cell, label, strlen(label));
	} else if (class->type == FIELD_INTEGER) {
		cell->type = CELL_INTEGER;
		cell->integer = (int64_t)integer_of(field);
	} else if (class->type == FIELD_REAL) {
		cell->type = CELL_REAL;
		cell->real = class->size == 32
				 ? (double)bt_field_real_single_precision_get_value(field)
				 : bt_field_real_double_precision_get_value(field);
	} else {
		/* libbabeltrace2 2.0.4 leaves earlier content in an empty string. */
		cell_set_text(cell, bt_field_string_get_value(field),
			      bt_field_string_get_length(field));
	}
}

/* Append a field as JSON, like add_json() of fields.c. */
static void add_json(struct bytes *text, const struct field_class *class,
		     const bt_field *field)
{
	bool is_array = class->type == FIELD_ARRAY;
	uint64_t count = is_array ? bt_field_array_get_length(field) : class->members;
	struct cell cell;

	if (class->type <= FIELD_STRING) {
		set_value(&cell, class, class->is_label, field);
		field_json_add_value(text, class, &cell);
		return;
	}
	if (class->type == FIELD_VARIANT) {
		add_json(text, selected(class, field),
			 bt_field_variant_borrow_selected_option_field_const(field));
		return;
	}
	bytes_add_byte(text, is_array ? '[' : '{');
	for (uint64_t i = 0; i < count; i++) {
		field_json_add_name(text, class, i);
		add_json(text, is_array ? class->element : class->member[i].class,
			 is_array ? bt_field_array_borrow_element_field_by_index_const(
					field, i)
				  : bt_field_structure_borrow_member_field_by_index_const(
					field, i));
	}
	bytes_add_byte(text, is_array ? ']' : '}');
}

/* Append an array of integers as bytes, each with its most significant byte first. */
static void add_bytes(struct bytes *text, const bt_field *field, unsigned each)
{
	uint64_t count = bt_field_array_get_length(field);
	uint8_t *byte = bytes_extend(text, count * each);

	for (uint64_t i = 0; i < count; i++) {
		uint64_t value = integer_of(
		    bt_field_array_borrow_element_field_by_index_const(field, i));

		for (unsigned k = each; k-- > 0;)
			*byte++ = (uint8_t)(value >> 8 * k);
	}
}

static void set_cell(struct trace_leaf *leaf, struct cell *cell, const bt_field *field)
{
	const struct field_class *class = leaf->class;
	bool is_json = leaf->kind == LEAF_JSON;

	leaf->text.size = 0;
	if (!is_json && leaf->kind != LEAF_BYTES) {
		set_value(cell, class, leaf->kind == LEAF_LABEL, field);
		return;
	}
	if (is_json)
		add_json(&leaf->text, class, field);
	else
		add_bytes(&leaf->text, field, class->element->size / 8);
	cell_set_buffer(cell, is_json ? CELL_TEXT : CELL_BLOB, &leaf->text);
}

/* Set the cells of all selected fields within a field. */
static void set_cells(struct trace_fields *fields, const struct field_class *class,
		      const bt_field *field)
{
	if (class->type == FIELD_STRUCTURE)
		for (uint64_t i = 0; i < class->members; i++)
			set_cells(fields, class->member[i].class,
				  bt_field_structure_borrow_member_field_by_index_const(
				      field, i));
	else if (class->type == FIELD_VARIANT)
		set_cells(fields, selected(class, field),
			  bt_field_variant_borrow_selected_option_field_const(field));
	else if (class->place >= 0)
		set_cell(&fields->leaf[class->place], &fields->cell[class->place], field);
}

const struct cell *babeltrace2_fetch(const struct schema_event_class *class,
				     const bt_event *event)
{
	struct trace_fields *fields = class->fields;
	const bt_field *field[SCOPES] = {
	    [SCOPE_COMMON_CONTEXT] = bt_event_borrow_common_context_field_const(event),
	    [SCOPE_SPECIFIC_CONTEXT] =
		bt_event_borrow_specific_context_field_const(event),
	    [SCOPE_PAYLOAD] = bt_event_borrow_payload_field_const(event),
	};

	for (size_t i = 0; i < fields->count; i++)
		fields->cell[i].type = CELL_NULL;
	for (int i = 0; i < SCOPES; i++)
		if (class->scope[i])
			set_cells(fields, class->scope[i], field[i]);
	/* A field that is selected twice was set once. */
	for (size_t i = 0; i < fields->count; i++)
		if (fields->leaf[i].place >= 0)
			fields->cell[i] = fields->cell[fields->leaf[i].place];
	return fields->cell;
}
