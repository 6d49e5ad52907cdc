/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_BABELTRACE2_FIELDS_H
#define CT_CTF_BABELTRACE2_FIELDS_H

#include <babeltrace2/babeltrace.h>

#include "ctf/fields.h"

/*
 * As much of a class as tells what cells its fields become; of CTF 1.8, as 2.0 of the
 * library reads no other. NULL of NULL.
 */
struct field_class *babeltrace2_field_class(const bt_field_class *of);

/* As ctf_fields_fetch, of what was selected. */
const struct cell *babeltrace2_fetch(const struct ctf_event_class *class,
				     const bt_event *event);

#endif
