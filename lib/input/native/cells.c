/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/cells.h"

#include <stdlib.h>
#include <string.h>

#include "base/intmap.h"
#include "base/mem.h"
#include "input/native/value.h"
#include "input/record_private.h"

/* Values of one enumeration whose labels are remembered. */
enum { MOST_LABELS = 4096 };

enum leaf_kind { LEAF_NUMBER, LEAF_LABEL, LEAF_REAL, LEAF_TEXT, LEAF_BYTES, LEAF_JSON };

static const enum cell_type cell_type[] = {
    [LEAF_NUMBER] = CELL_INTEGER, [LEAF_LABEL] = CELL_TEXT, [LEAF_REAL] = CELL_REAL,
    [LEAF_TEXT] = CELL_TEXT,      [LEAF_BYTES] = CELL_BLOB, [LEAF_JSON] = CELL_TEXT,
};

/* One column, at the place of its number. */
struct leaf {
	enum leaf_kind kind;
	const struct field_class *class;
	char *path;
	bool context;
	struct intmap labels; /* value -> address of the label, or 0 */
	struct ctf_text text; /* of the cell */
};

struct native_cells {
	struct leaf *leaf;
	size_t count, room;
	struct cell *cell;
};

static enum leaf_kind kind_of(const struct field_class *class)
{
	const struct field_class *element = class->element;

	switch (class->type) {
	case FIELD_INTEGER:
		return class->is_label ? LEAF_LABEL : LEAF_NUMBER;
	case FIELD_REAL:
		return LEAF_REAL;
	case FIELD_STRING:
		return LEAF_TEXT;
	default:
		if (field_is_string(class))
			return LEAF_TEXT;
		return element->type == FIELD_INTEGER && !element->is_label &&
			       element->size == 8
			   ? LEAF_BYTES
			   : LEAF_JSON;
	}
}

static void grow(struct native_cells *cells, struct field_class *class, const char *path,
		 bool context)
{
	struct leaf *leaf;

	if (class->type != FIELD_STRUCTURE && class->type != FIELD_VARIANT) {
		cells->leaf = mem_grow(cells->leaf, cells->count, &cells->room,
				       sizeof(*cells->leaf));
		leaf = &cells->leaf[cells->count];
		memset(leaf, 0, sizeof(*leaf));
		leaf->kind = kind_of(class);
		leaf->class = class;
		leaf->path = mem_strdup(*path ? path : "field");
		leaf->context = context;
		class->place = (int)cells->count++;
		return;
	}
	for (size_t i = 0; i < class->members; i++) {
		char *longer = mem_printf("%s%s%s", path, *path ? "_" : "",
					  field_name(class->member[i].name));

		grow(cells, class->member[i].class, longer, context);
		free(longer);
	}
}

struct native_cells *native_cells_new(const struct tsdl_stream *stream,
				      const struct tsdl_event *event, size_t *places)
{
	struct native_cells *cells = mem_zalloc(sizeof(*cells));

	if (event->fields)
		grow(cells, event->fields, "", false);
	if (event->context)
		grow(cells, event->context, "", true);
	if (stream->event_context)
		grow(cells, stream->event_context, "", true);
	cells->cell = mem_zalloc(cells->count * sizeof(*cells->cell));
	*places = cells->count;
	return cells;
}

void native_cells_add_columns(const struct native_cells *cells,
			      struct record_class *class)
{
	for (size_t i = 0; i < cells->count; i++)
		record_class_add(class, cells->leaf[i].path,
				 cell_type[cells->leaf[i].kind], cells->leaf[i].context);
}

static const char *find_label(struct leaf *leaf, uint64_t value)
{
	const char *label;
	int64_t known;

	if (intmap_get(&leaf->labels, value, &known))
		return (const char *)(intptr_t)known;
	label = native_label(leaf->class, value);
	if (leaf->labels.count < MOST_LABELS)
		intmap_put(&leaf->labels, value, (intptr_t)label);
	return label;
}

static void fetch_number(struct leaf *leaf, const struct native_cursor *cursor,
			 uint64_t at, struct cell *cell)
{
	const struct field_class *class = leaf->class;
	uint64_t value =
	    native_bits(cursor->bytes, at, class->size, class->order == ORDER_BIG);
	const char *label = NULL;

	if (class->is_signed)
		value = native_sign(value, class->size);
	if (leaf->kind == LEAF_LABEL)
		label = find_label(leaf, value);
	cell->type = CELL_INTEGER;
	cell->integer = (int64_t)value;
	if (label)
		cell_set_text(cell, label, strlen(label));
}

static void fetch_bytes(struct leaf *leaf, const struct native_cursor *cursor,
			struct native_place place, struct cell *cell)
{
	const struct field_class *element = leaf->class->element;
	uint64_t stride = field_stride(element, element->size);
	char *byte;

	if (place.at % 8 == 0 && stride == 8) {
		cell_set_bytes(cell, CELL_BLOB,
			       (const char *)cursor->bytes.byte + place.at / 8,
			       place.count);
		return;
	}
	leaf->text.size = 0;
	byte = ctf_text_more(&leaf->text, place.count);
	for (uint64_t i = 0; i < place.count; i++)
		byte[i] = (char)native_bits(cursor->bytes, place.at + i * stride, 8,
					    element->order == ORDER_BIG);
	cell_set_bytes(cell, CELL_BLOB, byte, place.count);
}

static void fetch_json(struct leaf *leaf, const struct native_cursor *cursor,
		       struct native_place place, struct cell *cell)
{
	struct native_cursor again = *cursor;

	again.at = place.at;
	leaf->text.size = 0;
	native_json(&leaf->text, leaf->class, &again);
	cell_set_bytes(cell, CELL_TEXT, leaf->text.data, leaf->text.size);
}

static void fetch(struct leaf *leaf, const struct native_cursor *cursor,
		  struct native_place place, struct cell *cell)
{
	const char *begin = (const char *)cursor->bytes.byte + place.at / 8;

	switch (leaf->kind) {
	case LEAF_NUMBER:
	case LEAF_LABEL:
		fetch_number(leaf, cursor, place.at, cell);
		break;
	case LEAF_REAL:
		cell->type = CELL_REAL;
		cell->real = native_real(leaf->class, cursor->bytes, place.at);
		break;
	case LEAF_TEXT:
		cell_set_text(cell, begin, strnlen(begin, place.count));
		break;
	case LEAF_BYTES:
		fetch_bytes(leaf, cursor, place, cell);
		break;
	case LEAF_JSON:
		fetch_json(leaf, cursor, place, cell);
		break;
	}
}

const struct cell *native_cells_fetch(struct native_cells *cells,
				      const struct native_cursor *cursor)
{
	for (size_t i = 0; i < cells->count; i++) {
		if (cursor->place[i].at == NATIVE_ABSENT)
			cells->cell[i].type = CELL_NULL;
		else
			fetch(&cells->leaf[i], cursor, cursor->place[i], &cells->cell[i]);
	}
	return cells->cell;
}

void native_cells_free(struct native_cells *cells)
{
	if (!cells)
		return;
	for (size_t i = 0; i < cells->count; i++) {
		free(cells->leaf[i].path);
		intmap_clear(&cells->leaf[i].labels);
		ctf_text_clear(&cells->leaf[i].text);
	}
	free(cells->leaf);
	free(cells->cell);
	free(cells);
}
