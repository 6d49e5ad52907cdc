/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_BABELTRACE2_FIELDS_H
#define CT_CTF_BABELTRACE2_FIELDS_H

#include <babeltrace2/babeltrace.h>

#include "ctf/reader.h"

/* What is wanted of the fields of one event class, as cells: fields.h by libbabeltrace2.
 */
struct babeltrace2_fields;

struct babeltrace2_fields *babeltrace2_fields_new(const bt_event_class *event,
						  const struct ctf_selection *selection);

/* Valid as long as the event, and until the next call. */
const struct cell *babeltrace2_fields_fetch(struct babeltrace2_fields *fields,
					    const bt_event *event);

void babeltrace2_fields_free(struct babeltrace2_fields *fields);

/* Add the columns that all fields of a class are. */
void babeltrace2_columns(const bt_event_class *event, struct ctf_class *class);

#endif
