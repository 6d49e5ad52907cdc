/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_FIELDS_H
#define CT_TRACE_FIELDS_H

#include "base/bytes.h"
#include "trace/ctf/program.h"

enum leaf_kind {
	LEAF_FIXED, /* a number of fixed size, the most frequent kind */
	LEAF_NUMBER,
	LEAF_LABEL,
	LEAF_REAL,
	LEAF_TEXT,
	LEAF_BYTES,
	LEAF_JSON,
};

/* A field that becomes a cell. */
struct trace_leaf {
	enum leaf_kind kind;
	struct field_class *class;
	struct ctf_number number; /* for LEAF_FIXED */
	int place;                /* -1 if the class has no such field */
	struct bytes text;        /* buffer for the cell's content */
};

/* The fields of an event class that are delivered as cells. */
struct trace_fields {
	struct trace_leaf *leaf;
	size_t count, capacity;
	struct cell *cell; /* one for each leaf */
	/* Places relative to the aligned start of the event's fields, by their numbers;
	 * for events without fields of variable size. */
	struct ctf_place *place;
};

struct trace_fields *trace_fields_new(struct field_class *const scope[SCOPES],
				      const struct trace_selection *selection);

/*
 * Set `place` of the selected field classes, counting from 0, or reset it to -1, because
 * event classes share their contexts. `fields` may be NULL.
 */
void trace_fields_mark(const struct trace_fields *fields, bool is_wanted);

/*
 * Return the cells of the event under the cursor. `place` is relative to `begin`. The
 * cells are valid until the next event or call.
 */
const struct cell *trace_fields_fetch(struct trace_fields *fields,
				      const struct ctf_cursor *cursor,
				      const struct ctf_place *place, uint64_t begin);

void trace_fields_free(struct trace_fields *fields);

/* Add a column for each field of an event class. */
void trace_fields_columns(struct schema_event_class *class);

/* Set a cell to the content of a buffer, which may be empty. */
static inline void cell_set_buffer(struct cell *cell, enum cell_type type,
				   const struct bytes *made)
{
	cell_set_bytes(cell, type, made->size ? (const char *)made->data : "",
		       made->size);
}

/*
 * Append JSON: a cell's value; or what precedes a member or element, that is, a comma
 * except before the first, and the member's name.
 */
void field_json_add_value(struct bytes *text, const struct field_class *class,
			  const struct cell *cell);
void field_json_add_name(struct bytes *text, const struct field_class *class,
			 uint64_t index);

#endif
