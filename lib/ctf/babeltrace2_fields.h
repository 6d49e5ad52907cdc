/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_BABELTRACE2_FIELDS_H
#define CT_CTF_BABELTRACE2_FIELDS_H

#include <babeltrace2/babeltrace.h>

#include "ctf/fields.h"

/* What our own reader would know of an event class; those that are there, to be freed. */
void babeltrace2_parts(const bt_event_class *event, struct field_class *part[CTF_PARTS]);

/* As ctf_fields_fetch, of what was selected of these parts. */
const struct cell *babeltrace2_fetch(struct ctf_fields *fields,
				     struct field_class *const part[CTF_PARTS],
				     const bt_event *event);

#endif
