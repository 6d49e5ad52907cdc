/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_FIELDS_H
#define CT_CTF_FIELDS_H

#include "ctf/reader.h"
#include "ctf/trace.h"

/* What is wanted of the fields of one event class, as cells. */
struct ctf_fields;

/* Compiles the class so that it notes where these fields stand. */
struct ctf_fields *ctf_fields_new(struct ctf_trace *trace, struct ctf_event_class *class,
				  const struct ctf_selection *selection);

/* Valid as long as the event, and until the next call. */
const struct cell *ctf_fields_fetch(struct ctf_fields *fields,
				    const struct ctf_cursor *cursor);

void ctf_fields_free(struct ctf_fields *fields);

/* Add the columns that all fields of a class are. */
void ctf_fields_columns(const struct ctf_event_class *of, struct ctf_class *class);

#endif
