/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_FIELDS_H
#define CT_CTF_FIELDS_H

#include "base/intmap.h"
#include "ctf/program.h"
#include "ctf/reader.h"
#include "ctf/text.h"

/* The parts of an event that hold fields, in their order in streams; any may be NULL. */
enum { PART_STREAM_CONTEXT, PART_CONTEXT, PART_PAYLOAD, CTF_PARTS };

enum leaf_kind { LEAF_NUMBER, LEAF_LABEL, LEAF_REAL, LEAF_TEXT, LEAF_BYTES, LEAF_JSON };

/* One field, which becomes one cell. */
struct ctf_leaf {
	enum leaf_kind kind;
	struct field_class *class;
	int place;            /* -1: the class has no such field */
	struct intmap labels; /* value -> address of the label, or 0 */
	struct ctf_text text; /* of the cell */
};

/* What is wanted of the fields of one event class, as cells. */
struct ctf_fields {
	struct ctf_leaf *leaf;
	size_t count, room;
	struct cell *cell; /* one a leaf */
};

/* Sets `place` of the field classes that are wanted, from 0 up. */
struct ctf_fields *ctf_fields_new(struct field_class *const part[CTF_PARTS],
				  const struct ctf_selection *selection);

/* Contexts are other classes', too: after compiling, their places are forgotten. */
void ctf_fields_forget_places(struct ctf_fields *fields);

/* Valid as long as the event, and until the next call. */
const struct cell *ctf_fields_fetch(struct ctf_fields *fields,
				    const struct ctf_cursor *cursor);

void ctf_fields_free(struct ctf_fields *fields);

/* Add the columns that all fields of a class are. */
void ctf_fields_columns(struct field_class *const part[CTF_PARTS],
			struct ctf_class *class);

#endif
