/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CTF_PLAN_H
#define CT_INPUT_CTF_PLAN_H

#include <babeltrace2/babeltrace.h>

#include "input/reader.h"

/*
 * How the wished fields of one event class are fetched: a tree along the
 * class's structures and variants with a value's place at each leaf, made
 * once a class, so that no name is compared an event.
 */
struct ctf_plan;

/* NULL when the class has none of the fields. */
struct ctf_plan *ctf_plan_new(const bt_field_class *payload,
			      const struct event_wish *wish);

/* Fill the values of one event; those that it lacks become VALUE_NONE. */
void ctf_plan_fetch(const struct ctf_plan *plan, const bt_field *payload,
		    struct value *value, size_t count);

void ctf_plan_free(struct ctf_plan *plan);

#endif
