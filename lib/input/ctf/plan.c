/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/ctf/plan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/ctf/members.h"

struct branch {
	uint64_t index; /* of a member or an option */
	struct ctf_plan *plan;
};

struct ctf_plan {
	bt_field_class_type type;
	size_t slot;           /* of a leaf: which value it fills */
	struct branch *branch; /* of a structure or variant */
	size_t branches, room;
};

/* The part of a path up to the next dot. */
static bool path_starts_with(const char *path, const char *name)
{
	size_t length = strcspn(path, ".");

	return strlen(name) == length && strncmp(path, name, length) == 0;
}

static struct ctf_plan *plan_alloc(const bt_field_class *class)
{
	struct ctf_plan *plan = mem_zalloc(sizeof(*plan));

	plan->type = bt_field_class_get_type(class);
	return plan;
}

static struct ctf_plan *plan_branch(struct ctf_plan *plan, uint64_t index,
				    const bt_field_class *class)
{
	for (size_t i = 0; i < plan->branches; i++)
		if (plan->branch[i].index == index)
			return plan->branch[i].plan;
	plan->branch =
	    mem_grow(plan->branch, plan->branches, &plan->room, sizeof(*plan->branch));
	plan->branch[plan->branches].index = index;
	plan->branch[plan->branches].plan = plan_alloc(class);
	return plan->branch[plan->branches++].plan;
}

/* Whether path leads somewhere from class. */
static bool path_exists(const bt_field_class *class, const char *path)
{
	const char *rest = strchr(path, '.');

	for (uint64_t i = 0; i < ctf_members(class); i++) {
		const char *name;
		const bt_field_class *next = ctf_member(class, i, &name);

		if (path_starts_with(path, name))
			return !rest || path_exists(next, rest + 1);
	}
	return false;
}

static void plan_add(struct ctf_plan *plan, const bt_field_class *class, const char *path,
		     size_t slot)
{
	const char *rest = strchr(path, '.');

	for (uint64_t i = 0; i < ctf_members(class); i++) {
		const char *name;
		const bt_field_class *next = ctf_member(class, i, &name);
		struct ctf_plan *branch;

		if (!path_starts_with(path, name))
			continue;
		branch = plan_branch(plan, i, next);
		if (rest)
			plan_add(branch, next, rest + 1, slot);
		else
			branch->slot = slot;
		return;
	}
}

struct ctf_plan *ctf_plan_new(const bt_field_class *payload,
			      const struct event_wish *wish)
{
	struct ctf_plan *plan = NULL;

	for (size_t i = 0; payload && i < wish->fields; i++) {
		if (!path_exists(payload, wish->field[i]))
			continue;
		if (!plan)
			plan = plan_alloc(payload);
		plan_add(plan, payload, wish->field[i], i);
	}
	return plan;
}

static void fetch_array(const bt_field *field, struct value *value)
{
	uint64_t count = bt_field_array_get_length(field);

	value->type = VALUE_ARRAY;
	value->count = (unsigned)count;
	for (uint64_t i = 0; i < count && i < VALUE_ARRAY_MOST; i++) {
		const bt_field *item =
		    bt_field_array_borrow_element_field_by_index_const(field, i);

		if (!bt_field_class_type_is(bt_field_get_class_type(item),
					    BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
			value->type = VALUE_NONE;
			return;
		}
		value->item[i] = bt_field_integer_unsigned_get_value(item);
	}
}

static void fetch_leaf(bt_field_class_type type, const bt_field *field,
		       struct value *value)
{
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
		value->type = VALUE_UNSIGNED;
		value->u = bt_field_integer_unsigned_get_value(field);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
		value->type = VALUE_SIGNED;
		value->i = bt_field_integer_signed_get_value(field);
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		value->type = VALUE_TEXT;
		/* libbabeltrace2 2.0.4 leaves older text in a string that is empty. */
		value->text = bt_field_string_get_length(field)
				  ? bt_field_string_get_value(field)
				  : "";
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		fetch_array(field, value);
	} else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		value->type = VALUE_REAL;
		value->real = bt_field_real_double_precision_get_value(field);
	}
}

static void fetch(const struct ctf_plan *plan, const bt_field *field, struct value *value)
{
	if (plan->type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		for (size_t i = 0; i < plan->branches; i++)
			fetch(plan->branch[i].plan,
			      bt_field_structure_borrow_member_field_by_index_const(
				  field, plan->branch[i].index),
			      value);
	} else if (bt_field_class_type_is(plan->type, BT_FIELD_CLASS_TYPE_VARIANT)) {
		uint64_t selected = bt_field_variant_get_selected_option_index(field);

		for (size_t i = 0; i < plan->branches; i++)
			if (plan->branch[i].index == selected)
				fetch(plan->branch[i].plan,
				      bt_field_variant_borrow_selected_option_field_const(
					  field),
				      value);
	} else {
		fetch_leaf(plan->type, field, &value[plan->slot]);
	}
}

void ctf_plan_fetch(const struct ctf_plan *plan, const bt_field *payload,
		    struct value *value, size_t count)
{
	for (size_t i = 0; i < count; i++)
		value[i].type = VALUE_NONE;
	if (plan)
		fetch(plan, payload, value);
}

void ctf_plan_free(struct ctf_plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->branches; i++)
		ctf_plan_free(plan->branch[i].plan);
	free(plan->branch);
	free(plan);
}
