/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CTF_COLUMNS_H
#define CT_INPUT_CTF_COLUMNS_H

#include <babeltrace2/babeltrace.h>

#include "input/record.h"

/*
 * How the fields of one event class become the cells of a row: a tree along
 * the class's structures and variants with a cell's place at each leaf, made
 * once a class, so that an event is one walk over it. Text that is not UTF-8
 * becomes a blob of the same bytes.
 */
struct ctf_columns;

/* Adds the columns to the class: payload, then specific and common context. */
struct ctf_columns *ctf_columns_new(const bt_event_class *event,
				    struct record_class *class);

/*
 * The cells of an event of that class, one a column; they are valid as long as
 * the event, and until the next call.
 */
const struct cell *ctf_columns_fetch(struct ctf_columns *columns, const bt_event *event);

void ctf_columns_free(struct ctf_columns *columns);

#endif
