/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/ctf/members.h"

bool ctf_is_structure(const bt_field_class *class)
{
	return bt_field_class_get_type(class) == BT_FIELD_CLASS_TYPE_STRUCTURE;
}

bool ctf_is_variant(const bt_field_class *class)
{
	return bt_field_class_type_is(bt_field_class_get_type(class),
				      BT_FIELD_CLASS_TYPE_VARIANT);
}

uint64_t ctf_members(const bt_field_class *class)
{
	if (ctf_is_structure(class))
		return bt_field_class_structure_get_member_count(class);
	return ctf_is_variant(class) ? bt_field_class_variant_get_option_count(class) : 0;
}

static const char *without_underscore(const char *name)
{
	if (!name)
		return "";
	return name[0] == '_' && name[1] ? name + 1 : name;
}

const bt_field_class *ctf_member(const bt_field_class *class, uint64_t index,
				 const char **name)
{
	if (ctf_is_structure(class)) {
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
