/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_FIELDS_H
#define CT_TRACE_FIELDS_H

#include "base/bytes.h"
#include "trace/ctf/program.h"

enum leaf_kind {
	LEAF_FIXED, /* a number of a fixed size, most often */
	LEAF_NUMBER,
	LEAF_LABEL,
	LEAF_REAL,
	LEAF_TEXT,
	LEAF_BYTES,
	LEAF_JSON,
};

/* One field, which becomes one cell. */
struct trace_leaf {
	enum leaf_kind kind;
	struct field_class *class;
	struct ctf_number number; /* of LEAF_FIXED */
	int place;                /* -1: the class has no such field */
	struct bytes text;        /* of the cell */
};

/* What is wanted of the fields of one event class, as cells. */
struct trace_fields {
	struct trace_leaf *leaf;
	size_t count, capacity;
	struct cell *cell; /* one a leaf */
};

struct trace_fields *trace_fields_new(struct field_class *const scope[SCOPES],
				      const struct trace_selection *selection);

/*
 * Set `place` of the field classes that are wanted, from 0 up, or forget it: contexts are
 * other event classes', too. Of NULL nothing.
 */
void trace_fields_mark(const struct trace_fields *fields, bool is_wanted);

/* Valid as long as the event, and until the next call. */
const struct cell *trace_fields_fetch(struct trace_fields *fields,
				      const struct ctf_cursor *cursor);

void trace_fields_free(struct trace_fields *fields);

/* Add the columns that all fields of a class are. */
void trace_fields_columns(struct schema_event_class *class);

/* The text or bytes that were made, of any size. */
static inline void cell_set_buffer(struct cell *cell, enum cell_type type,
				   const struct bytes *made)
{
	cell_set_bytes(cell, type, made->size ? (const char *)made->data : "",
		       made->size);
}

/*
 * Append as JSON: a cell, and what stands before a member or element: a comma, and the
 * name of those that have one.
 */
void field_json_add_value(struct bytes *text, const struct field_class *class,
			  const struct cell *cell);
void field_json_add_name(struct bytes *text, const struct field_class *class,
			 uint64_t index);

/*
 * Of libbabeltrace2: as much of a class as tells what cells its fields become; of
 * CTF 1.8, as 2.0 of the library reads no other. NULL of NULL. And as trace_fields_fetch.
 */
struct bt_field_class;
struct bt_event;
struct field_class *babeltrace2_field_class(const struct bt_field_class *of);
const struct cell *babeltrace2_fetch(const struct schema_event_class *class,
				     const struct bt_event *event);

#endif
