/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_BABELTRACE2_FIELDS_H
#define CT_CTF_BABELTRACE2_FIELDS_H

#include <babeltrace2/babeltrace.h>

#include "ctf/fields.h"

/* Set the scopes to what our own reader would know of an event class. */
void babeltrace2_parts(const bt_event_class *event, struct field_class *scope[SCOPES]);

/* As ctf_fields_fetch, of what was selected. */
const struct cell *babeltrace2_fetch(const struct ctf_event_class *class,
				     const bt_event *event);

#endif
