/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf/babeltrace2_fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctf/reader_private.h"
#include "ctf/schema.h"
#include "ctf/text.h"

/*
 * A leaf is a field that is a column, counted through all parts of an event class,
 * selected or not. Only what CTF 1.8 has: 2.0 of the library reads no other.
 */
struct babeltrace2_fields {
	bool is_plain;           /* the cells are selected fields */
	size_t leaves, *cell_of; /* one a leaf: its cell, or SIZE_MAX */
	size_t cells;
	struct cell *cell;
	struct ctf_text *text; /* one a cell */
};

static bool is(const bt_field_class *class, bt_field_class_type wanted)
{
	return bt_field_class_type_is(bt_field_class_get_type(class), wanted);
}

static bool is_structure(const bt_field_class *class)
{
	return is(class, BT_FIELD_CLASS_TYPE_STRUCTURE);
}

static bool is_variant(const bt_field_class *class)
{
	return is(class, BT_FIELD_CLASS_TYPE_VARIANT);
}

static uint64_t count_members(const bt_field_class *class)
{
	if (is_structure(class))
		return bt_field_class_structure_get_member_count(class);
	return is_variant(class) ? bt_field_class_variant_get_option_count(class) : 0;
}

static const bt_field_class *member_of(const bt_field_class *class, uint64_t index,
				       const char **name)
{
	const bt_field_class_structure_member *member;
	const bt_field_class_variant_option *option;
	const bt_field_class *of;

	if (is_structure(class)) {
		member =
		    bt_field_class_structure_borrow_member_by_index_const(class, index);
		*name = bt_field_class_structure_member_get_name(member);
		of = bt_field_class_structure_member_borrow_field_class_const(member);
	} else {
		option =
		    bt_field_class_variant_borrow_option_by_index_const(class, index);
		*name = bt_field_class_variant_option_get_name(option);
		of = bt_field_class_variant_option_borrow_field_class_const(option);
	}
	/* One underscore the library takes away itself. */
	*name = *name ? *name + ((*name)[0] == '_' && (*name)[1]) : "";
	return of;
}

/* Bytes of an array's integers where they are bytes of a cell, or 0. */
static unsigned bytes_each(const bt_field_class *class, bool is_plain)
{
	const bt_field_class *item =
	    bt_field_class_array_borrow_element_field_class_const(class);
	uint64_t bits;

	if (!is(item, BT_FIELD_CLASS_TYPE_INTEGER) ||
	    (is(item, BT_FIELD_CLASS_TYPE_ENUMERATION) && !is_plain))
		return 0;
	bits = bt_field_class_integer_get_field_value_range(item);
	return (is_plain ? bits % 8 == 0 : bits == 8) ? (unsigned)bits / 8 : 0;
}

static enum cell_type cell_type_of(const bt_field_class *class)
{
	if (is(class, BT_FIELD_CLASS_TYPE_INTEGER))
		return is(class, BT_FIELD_CLASS_TYPE_ENUMERATION) ? CELL_TEXT
								  : CELL_INTEGER;
	if (is(class, BT_FIELD_CLASS_TYPE_REAL))
		return CELL_REAL;
	if (is(class, BT_FIELD_CLASS_TYPE_ARRAY) && bytes_each(class, false))
		return CELL_BLOB;
	return CELL_TEXT;
}

/* Called with every leaf, its names joined. */
typedef void leaf_fn(void *context, const bt_field_class *class, const char *path,
		     bool is_context);

struct visitor {
	leaf_fn *visit;
	void *context;
	const char *separator;
	bool is_context;
};

static void visit_class(const struct visitor *visitor, const bt_field_class *class,
			const char *path)
{
	if (!is_structure(class) && !is_variant(class)) {
		visitor->visit(visitor->context, class, path, visitor->is_context);
		return;
	}
	for (uint64_t i = 0; i < count_members(class); i++) {
		const char *name;
		const bt_field_class *of = member_of(class, i, &name);
		char *longer =
		    mem_printf("%s%s%s", path, *path ? visitor->separator : "", name);

		visit_class(visitor, of, longer);
		free(longer);
	}
}

enum { PARTS = 3 }; /* payload, specific and common context */

static void borrow_parts(const bt_event_class *event, const bt_field_class *part[PARTS])
{
	part[0] = bt_event_class_borrow_payload_field_class_const(event);
	part[1] = bt_event_class_borrow_specific_context_field_class_const(event);
	part[2] = bt_stream_class_borrow_event_common_context_field_class_const(
	    bt_event_class_borrow_stream_class_const(event));
}

static void visit_event(struct visitor visitor, const bt_event_class *event)
{
	const bt_field_class *part[PARTS];

	borrow_parts(event, part);
	for (int i = 0; i < PARTS; i++) {
		visitor.is_context = i > 0;
		if (part[i])
			visit_class(&visitor, part[i], "");
	}
}

static void add_column(void *context, const bt_field_class *class, const char *path,
		       bool is_context)
{
	ctf_class_add_column(context, *path ? path : "field", cell_type_of(class),
			     is_context);
}

void babeltrace2_columns(const bt_event_class *event, struct ctf_class *class)
{
	visit_event((struct visitor){add_column, class, "_", false}, event);
}

struct selecting {
	struct babeltrace2_fields *fields;
	const struct ctf_selection *selection;
};

static void select_leaf(void *context, const bt_field_class *class, const char *path,
			bool is_context)
{
	const struct selecting *selecting = context;
	struct babeltrace2_fields *fields = selecting->fields;
	size_t cell = 0;

	(void)class;
	fields->cell_of =
	    mem_realloc(fields->cell_of, fields->leaves + 1, sizeof(*fields->cell_of));
	while (fields->is_plain && cell < fields->cells &&
	       (is_context || strcmp(selecting->selection->field[cell], path) != 0))
		cell++;
	if (!fields->is_plain)
		cell = fields->cells++;
	fields->cell_of[fields->leaves++] = cell < fields->cells ? cell : SIZE_MAX;
}

struct babeltrace2_fields *babeltrace2_fields_new(const bt_event_class *event,
						  const struct ctf_selection *selection)
{
	struct babeltrace2_fields *fields = mem_zalloc(sizeof(*fields));
	struct selecting selecting = {fields, selection};

	fields->is_plain = selection->what == SELECT_FIELDS;
	fields->cells = fields->is_plain ? selection->fields : 0;
	visit_event((struct visitor){select_leaf, &selecting, ".", false}, event);
	fields->cell = mem_zalloc(fields->cells * sizeof(*fields->cell) + 1);
	fields->text = mem_zalloc(fields->cells * sizeof(*fields->text) + 1);
	return fields;
}

static uint64_t integer_of(const bt_field *field)
{
	return bt_field_class_type_is(bt_field_get_class_type(field),
				      BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)
		   ? (uint64_t)bt_field_integer_signed_get_value(field)
		   : bt_field_integer_unsigned_get_value(field);
}

/* Of an enumeration, or NULL. */
static const char *label_of(const bt_field *field)
{
	bt_field_class_enumeration_mapping_label_array label;
	bt_field_class_type type = bt_field_get_class_type(field);
	uint64_t labels = 0;

	if (type == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION)
		bt_field_enumeration_signed_get_mapping_labels(field, &label, &labels);
	else if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION)
		bt_field_enumeration_unsigned_get_mapping_labels(field, &label, &labels);
	return labels ? field_name(label[0]) : NULL;
}

static double real_of(const bt_field *field)
{
	return bt_field_get_class_type(field) == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL
		   ? (double)bt_field_real_single_precision_get_value(field)
		   : bt_field_real_double_precision_get_value(field);
}

/* As add_json of fields.c. */
static void add_json(struct ctf_text *text, const bt_field *field)
{
	const bt_field_class *class = bt_field_borrow_class_const(field);

	if (is(class, BT_FIELD_CLASS_TYPE_INTEGER)) {
		const char *label = label_of(field);

		if (label)
			ctf_text_add_string(text, label, strlen(label));
		else
			ctf_text_add_integer(
			    text, integer_of(field),
			    is(class, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER));
	} else if (is(class, BT_FIELD_CLASS_TYPE_REAL)) {
		ctf_text_add_real(
		    text, real_of(field),
		    is(class, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) ? 9 : 17);
	} else if (is(class, BT_FIELD_CLASS_TYPE_STRING)) {
		ctf_text_add_string(text, bt_field_string_get_value(field),
				    bt_field_string_get_length(field));
	} else if (is(class, BT_FIELD_CLASS_TYPE_ARRAY)) {
		ctf_text_add(text, "[", 1);
		for (uint64_t i = 0; i < bt_field_array_get_length(field); i++) {
			ctf_text_add(text, ",", i > 0);
			add_json(text, bt_field_array_borrow_element_field_by_index_const(
					   field, i));
		}
		ctf_text_add(text, "]", 1);
	} else if (is_structure(class)) {
		ctf_text_add(text, "{", 1);
		for (uint64_t i = 0; i < count_members(class); i++) {
			const char *name;

			member_of(class, i, &name);
			ctf_text_add(text, ",", i > 0);
			ctf_text_add_string(text, name, strlen(name));
			ctf_text_add(text, ":", 1);
			add_json(text,
				 bt_field_structure_borrow_member_field_by_index_const(
				     field, i));
		}
		ctf_text_add(text, "}", 1);
	} else if (is_variant(class)) {
		add_json(text,
			 bt_field_variant_borrow_selected_option_field_const(field));
	}
}

/* An integer's bytes one after the other, the most significant first. */
static void add_bytes(struct ctf_text *text, const bt_field *field, unsigned each)
{
	uint64_t count = bt_field_array_get_length(field);
	char *byte = ctf_text_more(text, count * each);

	for (uint64_t i = 0; i < count; i++) {
		uint64_t value = integer_of(
		    bt_field_array_borrow_element_field_by_index_const(field, i));

		for (unsigned k = each; k-- > 0;)
			*byte++ = (char)(value >> 8 * k);
	}
}

static void set_cell(struct cell *cell, struct ctf_text *text, const bt_field *field,
		     bool is_plain)
{
	const bt_field_class *class = bt_field_borrow_class_const(field);
	const char *label = is_plain ? NULL : label_of(field);
	unsigned each =
	    is(class, BT_FIELD_CLASS_TYPE_ARRAY) ? bytes_each(class, is_plain) : 0;

	text->size = 0;
	if (label) {
		cell_set_text(cell, label, strlen(label));
	} else if (is(class, BT_FIELD_CLASS_TYPE_INTEGER)) {
		cell->type = CELL_INTEGER;
		cell->integer = (int64_t)integer_of(field);
	} else if (is(class, BT_FIELD_CLASS_TYPE_REAL)) {
		cell->type = CELL_REAL;
		cell->real = real_of(field);
	} else if (is(class, BT_FIELD_CLASS_TYPE_STRING)) {
		/* In an empty one libbabeltrace2 2.0.4 leaves older text. */
		cell_set_text(cell, bt_field_string_get_value(field),
			      bt_field_string_get_length(field));
	} else if (each) {
		add_bytes(text, field, each);
		cell_set_bytes(cell, CELL_BLOB, text->data, text->size);
	} else {
		add_json(text, field);
		cell_set_bytes(cell, CELL_TEXT, text->data, text->size);
	}
}

/* All leaves of a class, of which the event lacks those of a field that is NULL. */
static void fetch(struct babeltrace2_fields *fields, const bt_field_class *class,
		  const bt_field *field, size_t *leaf)
{
	uint64_t selected = 0;
	size_t cell;

	if (!is_structure(class) && !is_variant(class)) {
		cell = fields->cell_of[(*leaf)++];
		if (field && cell != SIZE_MAX)
			set_cell(&fields->cell[cell], &fields->text[cell], field,
				 fields->is_plain);
		return;
	}
	if (field && is_variant(class))
		selected = bt_field_variant_get_selected_option_index(field);
	for (uint64_t i = 0; i < count_members(class); i++) {
		const bt_field *member = NULL;
		const char *name;

		if (field && is_structure(class))
			member = bt_field_structure_borrow_member_field_by_index_const(
			    field, i);
		else if (field && i == selected)
			member =
			    bt_field_variant_borrow_selected_option_field_const(field);
		fetch(fields, member_of(class, i, &name), member, leaf);
	}
}

const struct cell *babeltrace2_fields_fetch(struct babeltrace2_fields *fields,
					    const bt_event *event)
{
	const bt_field *field[PARTS] = {
	    bt_event_borrow_payload_field_const(event),
	    bt_event_borrow_specific_context_field_const(event),
	    bt_event_borrow_common_context_field_const(event),
	};
	const bt_field_class *part[PARTS];
	size_t leaf = 0;

	borrow_parts(bt_event_borrow_class_const(event), part);
	for (size_t i = 0; i < fields->cells; i++)
		fields->cell[i].type = CELL_NULL;
	for (int i = 0; i < PARTS; i++)
		if (part[i])
			fetch(fields, part[i], field[i], &leaf);
	return fields->cell;
}

void babeltrace2_fields_free(struct babeltrace2_fields *fields)
{
	if (!fields)
		return;
	for (size_t i = 0; i < fields->cells; i++)
		ctf_text_clear(&fields->text[i]);
	free(fields->text);
	free(fields->cell);
	free(fields->cell_of);
	free(fields);
}
