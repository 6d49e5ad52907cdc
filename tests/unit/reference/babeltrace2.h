/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_BABELTRACE2_H
#define CT_TEST_BABELTRACE2_H

#include <babeltrace2/babeltrace.h>

#include "trace/fields.h"
#include "trace/reader_private.h"

/*
 * The reference that our reader of CTF 1.8 is compared with: a trace_reader by
 * libbabeltrace2. It refuses truncated traces.
 */
struct trace_reader *babeltrace2_open(const char *path, struct error *error);

/*
 * Make the field class of libbabeltrace2's `of`, with as much as determines the cells of
 * its fields. Return NULL if `of` is NULL.
 */
struct field_class *babeltrace2_field_class(const bt_field_class *of);
const struct cell *babeltrace2_fetch(const struct schema_event_class *class,
				     const bt_event *event);

#endif
