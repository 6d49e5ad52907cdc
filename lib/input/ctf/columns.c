/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/ctf/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/ctf/columns_private.h"
#include "input/ctf/members.h"
#include "input/record_private.h"

static bool is(bt_field_class_type type, bt_field_class_type wanted)
{
	return bt_field_class_type_is(type, wanted);
}

static enum node_kind integer_kind(bt_field_class_type type)
{
	bool is_signed = is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);

	if (is(type, BT_FIELD_CLASS_TYPE_ENUMERATION))
		return is_signed ? NODE_SIGNED_LABEL : NODE_UNSIGNED_LABEL;
	return is_signed ? NODE_SIGNED : NODE_UNSIGNED;
}

static enum node_kind array_kind(const bt_field_class *class)
{
	const bt_field_class *item =
	    bt_field_class_array_borrow_element_field_class_const(class);
	bt_field_class_type type = bt_field_class_get_type(item);

	if (!is(type, BT_FIELD_CLASS_TYPE_INTEGER) ||
	    is(type, BT_FIELD_CLASS_TYPE_ENUMERATION) ||
	    bt_field_class_integer_get_field_value_range(item) != 8)
		return NODE_JSON;
	return integer_kind(type) == NODE_SIGNED ? NODE_SIGNED_BYTES
						 : NODE_UNSIGNED_BYTES;
}

static enum node_kind kind_of(const bt_field_class *class)
{
	bt_field_class_type type = bt_field_class_get_type(class);

	if (is(type, BT_FIELD_CLASS_TYPE_INTEGER))
		return integer_kind(type);
	if (is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		return array_kind(class);
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

/* Where columns are added while the tree grows. */
struct growing {
	struct record_class *class;
	bool context;
};

static void grow(struct node *node, const bt_field_class *class, const char *path,
		 const struct growing *growing);

static void grow_members(struct node *node, const bt_field_class *class, const char *path,
			 const struct growing *growing)
{
	uint64_t count = ctf_members(class);

	node->child = mem_zalloc(count * sizeof(*node->child));
	for (uint64_t i = 0; i < count; i++) {
		struct node *child = &node->child[node->children];
		const char *name;
		const bt_field_class *of = ctf_member(class, i, &name);
		char *longer = mem_printf("%s%s%s", path, *path ? "_" : "", name);

		child->index = i;
		grow(child, of, longer, growing);
		free(longer);
		/* Padding, which has no cell, is not worth a visit. */
		if (child->end > child->first)
			node->children++;
		else
			node_clear(child);
	}
}

static void grow(struct node *node, const bt_field_class *class, const char *path,
		 const struct growing *growing)
{
	node->kind = kind_of(class);
	node->first = growing->class->columns;
	if (node->kind == NODE_STRUCTURE || node->kind == NODE_VARIANT) {
		grow_members(node, class, path, growing);
	} else if (node->kind == NODE_OPTION) {
		node->child = mem_zalloc(sizeof(*node->child));
		node->children = 1;
		grow(node->child, bt_field_class_option_borrow_field_class_const(class),
		     path, growing);
	} else {
		record_class_add(growing->class, *path ? path : "field",
				 cell_type_of(node->kind), growing->context);
	}
	node->end = growing->class->columns;
}

struct ctf_columns *ctf_columns_new(const bt_event_class *event,
				    struct record_class *class)
{
	struct ctf_columns *columns = mem_zalloc(sizeof(*columns));
	const bt_field_class *part[PARTS] = {
	    bt_event_class_borrow_payload_field_class_const(event),
	    bt_event_class_borrow_specific_context_field_class_const(event),
	    bt_stream_class_borrow_event_common_context_field_class_const(
		bt_event_class_borrow_stream_class_const(event)),
	};

	for (int i = 0; i < PARTS; i++) {
		struct growing growing = {class, i > 0};

		if (part[i])
			grow(&columns->part[i], part[i], "", &growing);
		columns->has[i] = columns->part[i].end > columns->part[i].first;
	}
	columns->cell = mem_zalloc(class->columns * sizeof(*columns->cell));
	return columns;
}

void ctf_columns_free(struct ctf_columns *columns)
{
	if (!columns)
		return;
	for (int i = 0; i < PARTS; i++)
		node_clear(&columns->part[i]);
	free(columns->cell);
	free(columns);
}
