/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "input/ctf/columns_private.h"

/* Values of one enumeration whose labels are remembered. */
enum { MOST_LABELS = 4096 };

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

static void set_array(struct node *node, const bt_field *field, struct cell *cell)
{
	uint64_t count = bt_field_array_get_length(field);
	char *byte;

	node->text.size = 0;
	byte = ctf_text_more(&node->text, count);
	for (uint64_t i = 0; i < count; i++) {
		const bt_field *item =
		    bt_field_array_borrow_element_field_by_index_const(field, i);

		byte[i] = (char)(node->kind == NODE_SIGNED_BYTES
				     ? (uint64_t)bt_field_integer_signed_get_value(item)
				     : bt_field_integer_unsigned_get_value(item));
	}
	cell_set_bytes(cell, CELL_BLOB, byte, count);
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
		ctf_text_add_json(&node->text, field);
		cell_set_bytes(cell, CELL_TEXT, node->text.data, node->text.size);
		break;
	}
}

static void fetch(struct node *node, const bt_field *field, struct cell *cell);

/* Of a variant or an option: null, but for what is selected. */
static void fetch_selected(struct node *node, const bt_field *field, struct cell *cell)
{
	uint64_t index = 0;

	for (size_t i = node->first; i < node->end; i++)
		cell[i].type = CELL_NULL;
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
		set_integer(&cell[node->first],
			    (int64_t)bt_field_integer_unsigned_get_value(field));
		break;
	case NODE_SIGNED:
		set_integer(&cell[node->first], bt_field_integer_signed_get_value(field));
		break;
	case NODE_STRING:
		/* In an empty one libbabeltrace2 2.0.4 leaves older text. */
		cell_set_text(&cell[node->first], bt_field_string_get_value(field),
			      bt_field_string_get_length(field));
		break;
	default:
		fetch_leaf(node, field, &cell[node->first]);
		break;
	}
}

const struct cell *ctf_columns_fetch(struct ctf_columns *columns, const bt_event *event)
{
	if (columns->has[0])
		fetch(&columns->part[0], bt_event_borrow_payload_field_const(event),
		      columns->cell);
	if (columns->has[1])
		fetch(&columns->part[1],
		      bt_event_borrow_specific_context_field_const(event), columns->cell);
	if (columns->has[2])
		fetch(&columns->part[2],
		      bt_event_borrow_common_context_field_const(event), columns->cell);
	return columns->cell;
}
