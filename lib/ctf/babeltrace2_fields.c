/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf/babeltrace2_fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/intmap.h"
#include "base/mem.h"
#include "ctf/reader_private.h"
#include "ctf/text.h"

/* Values of one enumeration whose labels are remembered. */
enum { MOST_LABELS = 4096 };

enum node_kind {
	NODE_STRUCTURE,
	NODE_VARIANT,
	NODE_OPTION,
	NODE_UNSIGNED,
	NODE_SIGNED,
	NODE_UNSIGNED_LABEL,
	NODE_SIGNED_LABEL,
	NODE_BOOL,
	NODE_BITS,
	NODE_SINGLE,
	NODE_DOUBLE,
	NODE_STRING,
	NODE_UNSIGNED_BYTES,
	NODE_SIGNED_BYTES,
	NODE_JSON,
};

/* The fields of an event class, as far as they are wanted. */
struct node {
	enum node_kind kind;
	uint64_t index; /* among the members of the node above */
	size_t cell;    /* of a leaf */
	unsigned each;  /* bytes of an array's element */
	struct node *child;
	size_t children;
	struct intmap labels; /* value -> address of the label, or 0 */
	struct ctf_text text; /* of the cell */
};

enum { PARTS = 3 }; /* payload, specific and common context */

struct babeltrace2_fields {
	struct node part[PARTS];
	bool has[PARTS];
	const struct ctf_selection *selection; /* while it grows */
	struct cell *cell;
	size_t cells;
	size_t *same; /* one a cell: the first of the same path, itself most often */
};

static bool is_structure(const bt_field_class *class)
{
	return bt_field_class_get_type(class) == BT_FIELD_CLASS_TYPE_STRUCTURE;
}

static bool is_variant(const bt_field_class *class)
{
	return bt_field_class_type_is(bt_field_class_get_type(class),
				      BT_FIELD_CLASS_TYPE_VARIANT);
}

static uint64_t count_members(const bt_field_class *class)
{
	if (is_structure(class))
		return bt_field_class_structure_get_member_count(class);
	return is_variant(class) ? bt_field_class_variant_get_option_count(class) : 0;
}

static const char *without_underscore(const char *name)
{
	if (!name)
		return "";
	return name[0] == '_' && name[1] ? name + 1 : name;
}

static const bt_field_class *member_of(const bt_field_class *class, uint64_t index,
				       const char **name)
{
	if (is_structure(class)) {
		const bt_field_class_structure_member *member =
		    bt_field_class_structure_borrow_member_by_index_const(class, index);

		*name =
		    without_underscore(bt_field_class_structure_member_get_name(member));
		return bt_field_class_structure_member_borrow_field_class_const(member);
	}
	const bt_field_class_variant_option *option =
	    bt_field_class_variant_borrow_option_by_index_const(class, index);

	*name = without_underscore(bt_field_class_variant_option_get_name(option));
	return bt_field_class_variant_option_borrow_field_class_const(option);
}

static bool is(bt_field_class_type type, bt_field_class_type wanted)
{
	return bt_field_class_type_is(type, wanted);
}

static enum node_kind integer_kind(bt_field_class_type type, bool is_plain)
{
	bool is_signed = is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);

	if (!is_plain && is(type, BT_FIELD_CLASS_TYPE_ENUMERATION))
		return is_signed ? NODE_SIGNED_LABEL : NODE_UNSIGNED_LABEL;
	return is_signed ? NODE_SIGNED : NODE_UNSIGNED;
}

static enum node_kind array_kind(const bt_field_class *class, bool is_plain,
				 unsigned *each)
{
	const bt_field_class *item =
	    bt_field_class_array_borrow_element_field_class_const(class);
	bt_field_class_type type = bt_field_class_get_type(item);
	uint64_t bits;

	if (!is(type, BT_FIELD_CLASS_TYPE_INTEGER) ||
	    (is(type, BT_FIELD_CLASS_TYPE_ENUMERATION) && !is_plain))
		return NODE_JSON;
	bits = bt_field_class_integer_get_field_value_range(item);
	*each = (unsigned)bits / 8;
	if (is_plain ? bits % 8 != 0 : bits != 8)
		return NODE_JSON;
	return is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) ? NODE_SIGNED_BYTES
							    : NODE_UNSIGNED_BYTES;
}

static enum node_kind kind_of(const bt_field_class *class, bool is_plain, unsigned *each)
{
	bt_field_class_type type = bt_field_class_get_type(class);

	if (is(type, BT_FIELD_CLASS_TYPE_INTEGER))
		return integer_kind(type, is_plain);
	if (is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		return array_kind(class, is_plain, each);
	if (is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		return NODE_VARIANT;
	if (is(type, BT_FIELD_CLASS_TYPE_OPTION))
		return NODE_OPTION;
	switch (type) {
	case BT_FIELD_CLASS_TYPE_STRUCTURE:
		return NODE_STRUCTURE;
	case BT_FIELD_CLASS_TYPE_STRING:
		return NODE_STRING;
	case BT_FIELD_CLASS_TYPE_BOOL:
		return NODE_BOOL;
	case BT_FIELD_CLASS_TYPE_BIT_ARRAY:
		return NODE_BITS;
	case BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL:
		return NODE_SINGLE;
	case BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL:
		return NODE_DOUBLE;
	default:
		return NODE_JSON;
	}
}

static enum cell_type cell_type_of(enum node_kind kind)
{
	switch (kind) {
	case NODE_UNSIGNED_LABEL:
	case NODE_SIGNED_LABEL:
	case NODE_STRING:
	case NODE_JSON:
		return CELL_TEXT;
	case NODE_SINGLE:
	case NODE_DOUBLE:
		return CELL_REAL;
	case NODE_UNSIGNED_BYTES:
	case NODE_SIGNED_BYTES:
		return CELL_BLOB;
	default:
		return CELL_INTEGER;
	}
}

static void node_clear(struct node *node)
{
	for (size_t i = 0; i < node->children; i++)
		node_clear(&node->child[i]);
	free(node->child);
	intmap_clear(&node->labels);
	ctf_text_clear(&node->text);
	memset(node, 0, sizeof(*node));
}

/* What is made of a leaf of this path, or nothing. */
typedef bool leaf_fn(void *context, struct node *node, const char *path, bool is_context);

struct growing {
	leaf_fn *add;
	void *context;
	const char *separator;
	bool is_plain, is_context;
};

/* False where nothing of it is wanted. */
static bool grow(struct node *node, const bt_field_class *class, const char *path,
		 const struct growing *growing);

static bool grow_members(struct node *node, const bt_field_class *class, const char *path,
			 const struct growing *growing)
{
	uint64_t count = count_members(class);

	node->child = mem_zalloc(count * sizeof(*node->child));
	for (uint64_t i = 0; i < count; i++) {
		struct node *child = &node->child[node->children];
		const char *name;
		const bt_field_class *of = member_of(class, i, &name);
		char *longer =
		    mem_printf("%s%s%s", path, *path ? growing->separator : "", name);

		child->index = i;
		if (grow(child, of, longer, growing))
			node->children++;
		else
			node_clear(child);
		free(longer);
	}
	return node->children > 0;
}

static bool grow(struct node *node, const bt_field_class *class, const char *path,
		 const struct growing *growing)
{
	node->kind = kind_of(class, growing->is_plain, &node->each);
	if (node->kind == NODE_STRUCTURE || node->kind == NODE_VARIANT)
		return grow_members(node, class, path, growing);
	if (node->kind != NODE_OPTION)
		return growing->add(growing->context, node, path, growing->is_context);
	node->child = mem_zalloc(sizeof(*node->child));
	node->children = 1;
	return grow(node->child, bt_field_class_option_borrow_field_class_const(class),
		    path, growing);
}

static void borrow_parts(const bt_event_class *event, const bt_field_class *part[PARTS])
{
	part[0] = bt_event_class_borrow_payload_field_class_const(event);
	part[1] = bt_event_class_borrow_specific_context_field_class_const(event);
	part[2] = bt_stream_class_borrow_event_common_context_field_class_const(
	    bt_event_class_borrow_stream_class_const(event));
}

static bool add_column(void *context, struct node *node, const char *path,
		       bool is_context)
{
	ctf_class_add_column(context, *path ? path : "field", cell_type_of(node->kind),
			     is_context);
	return true;
}

void babeltrace2_columns(const bt_event_class *event, struct ctf_class *class)
{
	struct growing growing = {add_column, class, "_", false, false};
	const bt_field_class *part[PARTS];

	borrow_parts(event, part);
	for (int i = 0; i < PARTS; i++) {
		struct node node = {.index = 0};

		growing.is_context = i > 0;
		if (part[i])
			grow(&node, part[i], "", &growing);
		node_clear(&node);
	}
}

static bool add_next(void *context, struct node *node, const char *path, bool is_context)
{
	struct babeltrace2_fields *fields = context;

	(void)path;
	(void)is_context;
	node->cell = fields->cells++;
	return true;
}

static bool add_selected(void *context, struct node *node, const char *path,
			 bool is_context)
{
	const struct babeltrace2_fields *fields = context;

	(void)is_context;
	for (size_t i = 0; i < fields->cells; i++)
		if (strcmp(fields->selection->field[i], path) == 0) {
			node->cell = i;
			return true;
		}
	return false;
}

struct babeltrace2_fields *babeltrace2_fields_new(const bt_event_class *event,
						  const struct ctf_selection *selection)
{
	struct babeltrace2_fields *fields = mem_zalloc(sizeof(*fields));
	bool is_plain = selection->what == SELECT_FIELDS;
	const struct growing growing = {is_plain ? add_selected : add_next, fields,
					is_plain ? "." : "_", is_plain, false};
	const bt_field_class *part[PARTS];

	borrow_parts(event, part);
	fields->selection = selection;
	fields->cells = is_plain ? selection->fields : 0;
	for (int i = 0; i < (is_plain ? 1 : PARTS); i++)
		fields->has[i] = part[i] && grow(&fields->part[i], part[i], "", &growing);
	fields->cell = mem_zalloc(fields->cells * sizeof(*fields->cell) + 1);
	fields->same = mem_zalloc(fields->cells * sizeof(*fields->same) + 1);
	for (size_t i = 0; i < fields->cells; i++)
		for (fields->same[i] = is_plain ? 0 : i;
		     is_plain &&
		     strcmp(selection->field[fields->same[i]], selection->field[i]) != 0;)
			fields->same[i]++;
	fields->selection = NULL;
	return fields;
}

static void add_json(struct ctf_text *text, const bt_field *field);

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

	if (!bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ENUMERATION) ||
	    !add_label(text, field, is_signed))
		ctf_text_add_integer(
		    text,
		    is_signed ? (uint64_t)bt_field_integer_signed_get_value(field)
			      : bt_field_integer_unsigned_get_value(field),
		    is_signed);
}

static void add_array(struct ctf_text *text, const bt_field *field)
{
	uint64_t count = bt_field_array_get_length(field);

	ctf_text_add(text, "[", 1);
	for (uint64_t i = 0; i < count; i++) {
		if (i)
			ctf_text_add(text, ",", 1);
		add_json(text,
			 bt_field_array_borrow_element_field_by_index_const(field, i));
	}
	ctf_text_add(text, "]", 1);
}

static void add_structure(struct ctf_text *text, const bt_field *field)
{
	const bt_field_class *class = bt_field_borrow_class_const(field);
	uint64_t count = count_members(class);

	ctf_text_add(text, "{", 1);
	for (uint64_t i = 0; i < count; i++) {
		const char *name;

		member_of(class, i, &name);
		if (i)
			ctf_text_add(text, ",", 1);
		ctf_text_add_string(text, name, strlen(name));
		ctf_text_add(text, ":", 1);
		add_json(text,
			 bt_field_structure_borrow_member_field_by_index_const(field, i));
	}
	ctf_text_add(text, "}", 1);
}

static void add_json(struct ctf_text *text, const bt_field *field)
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
		add_json(text,
			 bt_field_variant_borrow_selected_option_field_const(field));
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
		add_json(text, bt_field_option_borrow_field_const(field));
	else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)
		ctf_text_add_real(text, bt_field_real_single_precision_get_value(field),
				  9);
	else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)
		ctf_text_add_real(text, bt_field_real_double_precision_get_value(field),
				  17);
	else if (type == BT_FIELD_CLASS_TYPE_BOOL)
		ctf_text_add(text, bt_field_bool_get_value(field) ? "1" : "0", 1);
	else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY)
		ctf_text_add_integer(text, bt_field_bit_array_get_value_as_integer(field),
				     false);
	else
		ctf_text_add(text, "null", 4);
}

static void set_integer(struct cell *cell, int64_t integer)
{
	cell->type = CELL_INTEGER;
	cell->integer = integer;
}

/* libbabeltrace2 looks through all mappings for it, so it is remembered. */
static const char *find_label(struct node *node, const bt_field *field, uint64_t value)
{
	bt_field_class_enumeration_mapping_label_array label;
	uint64_t labels = 0;
	int64_t known;

	if (intmap_get(&node->labels, value, &known))
		return (const char *)(intptr_t)known;
	if (node->kind == NODE_SIGNED_LABEL)
		bt_field_enumeration_signed_get_mapping_labels(field, &label, &labels);
	else
		bt_field_enumeration_unsigned_get_mapping_labels(field, &label, &labels);
	if (node->labels.count < MOST_LABELS)
		intmap_put(&node->labels, value, labels ? (intptr_t)label[0] : 0);
	return labels ? label[0] : NULL;
}

static void set_label(struct node *node, const bt_field *field, uint64_t value,
		      struct cell *cell)
{
	const char *label = find_label(node, field, value);

	if (label)
		cell_set_text(cell, label, strlen(label));
	else
		set_integer(cell, (int64_t)value);
}

/* An integer's bytes one after the other, the most significant first. */
static void set_array(struct node *node, const bt_field *field, struct cell *cell)
{
	uint64_t count = bt_field_array_get_length(field);
	char *byte;

	node->text.size = 0;
	byte = ctf_text_more(&node->text, count * node->each);
	for (uint64_t i = 0; i < count; i++) {
		const bt_field *item =
		    bt_field_array_borrow_element_field_by_index_const(field, i);
		uint64_t value = node->kind == NODE_SIGNED_BYTES
				     ? (uint64_t)bt_field_integer_signed_get_value(item)
				     : bt_field_integer_unsigned_get_value(item);

		for (unsigned k = node->each; k-- > 0;)
			*byte++ = (char)(value >> 8 * k);
	}
	cell_set_bytes(cell, CELL_BLOB, node->text.data, node->text.size);
}

static void fetch_leaf(struct node *node, const bt_field *field, struct cell *cell)
{
	switch (node->kind) {
	case NODE_UNSIGNED_LABEL:
		set_label(node, field, bt_field_integer_unsigned_get_value(field), cell);
		break;
	case NODE_SIGNED_LABEL:
		set_label(node, field, (uint64_t)bt_field_integer_signed_get_value(field),
			  cell);
		break;
	case NODE_BOOL:
		set_integer(cell, bt_field_bool_get_value(field) != BT_FALSE);
		break;
	case NODE_BITS:
		set_integer(cell,
			    (int64_t)bt_field_bit_array_get_value_as_integer(field));
		break;
	case NODE_SINGLE:
		cell->type = CELL_REAL;
		cell->real = (double)bt_field_real_single_precision_get_value(field);
		break;
	case NODE_DOUBLE:
		cell->type = CELL_REAL;
		cell->real = bt_field_real_double_precision_get_value(field);
		break;
	case NODE_UNSIGNED_BYTES:
	case NODE_SIGNED_BYTES:
		set_array(node, field, cell);
		break;
	default:
		node->text.size = 0;
		add_json(&node->text, field);
		cell_set_bytes(cell, CELL_TEXT, node->text.data, node->text.size);
		break;
	}
}

static void fetch(struct node *node, const bt_field *field, struct cell *cell);

/* Of a variant or an option: what is selected. */
static void fetch_selected(struct node *node, const bt_field *field, struct cell *cell)
{
	uint64_t index = 0;

	if (node->kind == NODE_VARIANT) {
		index = bt_field_variant_get_selected_option_index(field);
		field = bt_field_variant_borrow_selected_option_field_const(field);
	} else {
		field = bt_field_option_borrow_field_const(field);
	}
	for (size_t i = 0; field && i < node->children; i++)
		if (node->child[i].index == index)
			fetch(&node->child[i], field, cell);
}

static void fetch(struct node *node, const bt_field *field, struct cell *cell)
{
	switch (node->kind) {
	case NODE_STRUCTURE:
		for (size_t i = 0; i < node->children; i++)
			fetch(&node->child[i],
			      bt_field_structure_borrow_member_field_by_index_const(
				  field, node->child[i].index),
			      cell);
		break;
	case NODE_VARIANT:
	case NODE_OPTION:
		fetch_selected(node, field, cell);
		break;
	case NODE_UNSIGNED:
		set_integer(&cell[node->cell],
			    (int64_t)bt_field_integer_unsigned_get_value(field));
		break;
	case NODE_SIGNED:
		set_integer(&cell[node->cell], bt_field_integer_signed_get_value(field));
		break;
	case NODE_STRING:
		/* In an empty one libbabeltrace2 2.0.4 leaves older text. */
		cell_set_text(&cell[node->cell], bt_field_string_get_value(field),
			      bt_field_string_get_length(field));
		break;
	default:
		fetch_leaf(node, field, &cell[node->cell]);
		break;
	}
}

const struct cell *babeltrace2_fields_fetch(struct babeltrace2_fields *fields,
					    const bt_event *event)
{
	for (size_t i = 0; i < fields->cells; i++)
		fields->cell[i].type = CELL_NULL;
	if (fields->has[0])
		fetch(&fields->part[0], bt_event_borrow_payload_field_const(event),
		      fields->cell);
	if (fields->has[1])
		fetch(&fields->part[1],
		      bt_event_borrow_specific_context_field_const(event), fields->cell);
	if (fields->has[2])
		fetch(&fields->part[2], bt_event_borrow_common_context_field_const(event),
		      fields->cell);
	for (size_t i = 0; i < fields->cells; i++)
		fields->cell[i] = fields->cell[fields->same[i]];
	return fields->cell;
}

void babeltrace2_fields_free(struct babeltrace2_fields *fields)
{
	if (!fields)
		return;
	for (int i = 0; i < PARTS; i++)
		node_clear(&fields->part[i]);
	free(fields->cell);
	free(fields->same);
	free(fields);
}
