/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CTF_MEMBERS_H
#define CT_INPUT_CTF_MEMBERS_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

/* Members of structures and options of variants, alike. */
bool ctf_is_structure(const bt_field_class *class);
bool ctf_is_variant(const bt_field_class *class);

/* 0 of a class that is neither. */
uint64_t ctf_members(const bt_field_class *class);

/* A member's class, and its name without the underscore that LTTng puts before it. */
const bt_field_class *ctf_member(const bt_field_class *class, uint64_t index,
				 const char **name);

#endif
