/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_CELLS_H
#define CT_INPUT_NATIVE_CELLS_H

#include "input/ctf/text.h"
#include "input/native/trace.h"
#include "input/record.h"

/*
 * The fields of one event class as the cells of a row, for our own reader: what
 * ctf/columns.h is for libbabeltrace2, and the same columns and cells.
 */
struct native_cells;

/* Gives every leaf of the class its place; *places is how many there are. */
struct native_cells *native_cells_new(const struct tsdl_stream *stream,
				      const struct tsdl_event *event, size_t *places);

void native_cells_add_columns(const struct native_cells *cells,
			      struct record_class *class);

/* Valid as long as the event, and until the next call. */
const struct cell *native_cells_fetch(struct native_cells *cells,
				      const struct native_cursor *cursor);

void native_cells_free(struct native_cells *cells);

/* Append the field that begins there as JSON, as ctf_text_add_json does. */
void native_json(struct ctf_text *text, const struct field_class *class,
		 struct native_cursor *cursor);

/* The label of an enumeration's value, or NULL. */
const char *native_label(const struct field_class *class, uint64_t value);

/* The option of a variant for its tag, or NULL. */
const struct field_class *native_option(const struct field_class *class, uint64_t tag);

#endif
