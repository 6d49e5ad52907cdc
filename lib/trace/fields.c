/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "trace/reader_private.h"

static enum leaf_kind array_kind(const struct field_class *class, bool is_plain)
{
	const struct field_class *element = class->element;

	if (field_is_string(class))
		return LEAF_TEXT;
	if (element->type != FIELD_INTEGER || element->is_boolean ||
	    (element->is_label && !is_plain))
		return LEAF_JSON;
	if (is_plain)
		return element->size % 8 ? LEAF_JSON : LEAF_BYTES;
	return element->size == 8 ? LEAF_BYTES : LEAF_JSON;
}

static enum leaf_kind kind_of(const struct field_class *class, bool is_plain)
{
	switch (class->type) {
	case FIELD_INTEGER:
	case FIELD_LEB128:
		if (class->is_label && !is_plain)
			return LEAF_LABEL;
		return class->type == FIELD_INTEGER ? LEAF_FIXED : LEAF_NUMBER;
	case FIELD_REAL:
		return LEAF_REAL;
	case FIELD_STRING:
		return LEAF_TEXT;
	default:
		return array_kind(class, is_plain);
	}
}

static bool has_members(const struct field_class *class)
{
	return class->type == FIELD_STRUCTURE || class->type == FIELD_VARIANT;
}

static struct field_class *unwrap_optional(struct field_class *class)
{
	while (class->type == FIELD_OPTIONAL)
		class = class->member->class;
	return class;
}

static void add_leaf(struct trace_fields *fields, struct field_class *class,
		     bool is_plain)
{
	struct trace_leaf *leaf;

	leaf = MEM_NEXT(fields->leaf, fields->count, fields->capacity);
	*leaf = (struct trace_leaf){.class = class, .place = -1};
	if (!class)
		return;
	leaf->kind = kind_of(class, is_plain);
	leaf->number = ctf_number_of(class);
	/* A field that is selected twice has one place. */
	if (class->place < 0)
		class->place = (int)fields->count - 1;
	leaf->place = class->place;
}

static void add_column(struct trace_class *to, const struct field_class *class,
		       const char *name, bool is_context)
{
	static const enum cell_type cell_type[] = {
	    [LEAF_FIXED] = CELL_INTEGER, [LEAF_NUMBER] = CELL_INTEGER,
	    [LEAF_LABEL] = CELL_TEXT,    [LEAF_REAL] = CELL_REAL,
	    [LEAF_TEXT] = CELL_TEXT,     [LEAF_BYTES] = CELL_BLOB,
	    [LEAF_JSON] = CELL_TEXT,
	};

	trace_class_add_column(to, *name ? name : "field",
			       cell_type[kind_of(class, false)], is_context);
}

/* Add a leaf for each field in a class, or a column if `fields` is NULL. */
static void add_columns(struct trace_fields *fields, struct trace_class *to,
			struct field_class *class, const char *path, bool is_context)
{
	class = unwrap_optional(class);
	if (!has_members(class)) {
		if (fields)
			add_leaf(fields, class, false);
		else
			add_column(to, class, path, is_context);
		return;
	}
	for (size_t i = 0; i < class->members; i++) {
		const char *name = field_name(class->member[i].name);
		AUTOFREE char *longer =
		    mem_printf("%s%s%s", path, *path && *name ? "_" : "", name);

		add_columns(fields, to, class->member[i].class, longer, is_context);
	}
}

static void add_all(struct trace_fields *fields, struct trace_class *to,
		    struct field_class *const scope[SCOPES])
{
	for (int i = SCOPES; i-- > SCOPE_COMMON_CONTEXT;)
		if (scope[i])
			add_columns(fields, to, scope[i], "", i != SCOPE_PAYLOAD);
}

void trace_fields_columns(struct schema_event_class *class)
{
	add_all(NULL, &class->known, class->scope);
}

/*
 * Find the field of a path whose parts are joined by dots. Return NULL if there is none.
 */
static struct field_class *find_field(struct field_class *class, const char *path)
{
	const char *rest = strchr(path, '.');
	size_t length = strcspn(path, ".");

	class = class ? unwrap_optional(class) : NULL;
	for (size_t i = 0; class && has_members(class) && i < class->members; i++) {
		const char *name = field_name(class->member[i].name);
		struct field_class *member = unwrap_optional(class->member[i].class);

		if (strlen(name) != length || strncmp(path, name, length) != 0)
			continue;
		if (rest)
			return find_field(member, rest + 1);
		return has_members(member) ? NULL : member;
	}
	return NULL;
}

struct trace_fields *trace_fields_new(struct field_class *const scope[SCOPES],
				      const struct trace_selection *selection)
{
	struct trace_fields *fields = mem_zalloc(sizeof(*fields));

	if (selection->what == SELECT_COLUMNS)
		add_all(fields, NULL, scope);
	for (size_t i = 0; selection->what == SELECT_FIELDS && i < selection->fields; i++)
		add_leaf(fields, find_field(scope[SCOPE_PAYLOAD], selection->field[i]),
			 true);
	fields->cell = mem_zalloc(fields->count * sizeof(*fields->cell) + 1);
	fields->place = mem_alloc(fields->count * sizeof(*fields->place) + 1);
	for (size_t i = 0; i < fields->count; i++)
		fields->place[i].at = CTF_ABSENT;
	trace_fields_mark(fields, false);
	return fields;
}

void trace_fields_mark(const struct trace_fields *fields, bool is_wanted)
{
	for (size_t i = 0; fields && i < fields->count; i++)
		if (fields->leaf[i].class)
			fields->leaf[i].class->place =
			    is_wanted ? fields->leaf[i].place : -1;
}

/* Read an integer of fixed or variable size and move `at` past it. */
static uint64_t integer_at(const struct field_class *class, struct ctf_bytes bytes,
			   uint64_t *at)
{
	if (class->type == FIELD_LEB128)
		return ctf_leb128(class, bytes, at);
	*at += class->size;
	return ctf_number_at(ctf_number_of(class), bytes, *at - class->size);
}

static double half_real(unsigned bits)
{
	unsigned exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
	double size =
	    exponent ? ldexp(0x400 + fraction, (int)exponent - 25) : ldexp(fraction, -24);

	if (exponent == 0x1f)
		size = fraction ? NAN : INFINITY;
	return bits & 0x8000 ? -size : size;
}

static double real_at(const struct field_class *class, struct ctf_bytes bytes,
		      uint64_t *at)
{
	uint64_t bits = integer_at(class, bytes, at);
	uint32_t low = (uint32_t)bits;
	float single;
	double real;

	if (class->size == 16)
		return half_real(low);
	memcpy(&single, &low, sizeof(single));
	memcpy(&real, &bits, sizeof(real));
	return class->size == 32 ? (double)single : real;
}

/*
 * Read a number or real into a cell and move `at` past it. A value that has a label
 * becomes the label, unless `is_plain`.
 */
static void get_number(struct cell *cell, struct field_class *class, bool is_plain,
		       struct ctf_bytes bytes, uint64_t *at)
{
	const char *label = NULL;

	if (class->type == FIELD_REAL) {
		cell->type = CELL_REAL;
		cell->real = real_at(class, bytes, at);
		return;
	}
	cell->type = CELL_INTEGER;
	cell->integer = (int64_t)integer_at(class, bytes, at);
	if (class->is_label && !is_plain)
		label = field_label(class, (uint64_t)cell->integer);
	if (label)
		cell_set_text(cell, label, strlen(label));
}

/*
 * Set a cell to a string of at most `most` bytes. Return its size in bytes. Wide
 * characters become UTF-8 in `made`; if one of them is invalid, the whole string becomes
 * a blob.
 */
static size_t get_text(struct cell *cell, const struct field_class *class,
		       const char *begin, size_t most, struct bytes *made)
{
	int text = (class->element ? class->element : class)->text;
	unsigned unit = text_unit(text);
	size_t size = text_size(begin, most, unit);

	if (unit == 1) {
		cell_set_text(cell, begin, size);
		return size;
	}
	made->size = 0;
	if (utf8_add_wide(made, begin, size, unit, text < 0))
		cell_set_buffer(cell, CELL_TEXT, made);
	else
		cell_set_bytes(cell, CELL_BLOB, begin, size);
	return size;
}

/*
 * Set a cell to the bytes of an array of integers, each with its most significant byte
 * first.
 */
static void fetch_bytes(struct trace_leaf *leaf, const struct ctf_cursor *cursor,
			struct ctf_place place, struct cell *cell)
{
	const struct field_class *element = leaf->class->element;
	uint64_t stride = field_stride(element, element->size);
	const struct ctf_number number = ctf_number_of(element);
	unsigned each = element->size / 8;
	uint8_t *byte;

	if (place.at % 8 == 0 && stride == 8 && !element->is_reversed) {
		cell_set_bytes(cell, CELL_BLOB,
			       (const char *)cursor->bytes.byte + place.at / 8,
			       place.count);
		return;
	}
	leaf->text.size = 0;
	byte = bytes_extend(&leaf->text, place.count * each);
	for (uint64_t i = 0; i < place.count; i++) {
		uint64_t value =
		    ctf_number_at(number, cursor->bytes, place.at + i * stride);

		for (unsigned k = 0; k < each; k++)
			*byte++ = (uint8_t)(value >> 8 * (each - 1 - k));
	}
	cell_set_buffer(cell, CELL_BLOB, &leaf->text);
}

void field_json_add_value(struct bytes *text, const struct field_class *class,
			  const struct cell *cell)
{
	char number[32] = "null";

	if (cell->type == CELL_INTEGER)
		snprintf(number, sizeof(number),
			 class->is_signed ? "%" PRId64 : "%" PRIu64, cell->integer);
	else if (cell->type == CELL_REAL && isfinite(cell->real))
		snprintf(number, sizeof(number), "%.*g", class->size == 64 ? 17 : 9,
			 cell->real);
	if (cell->type == CELL_TEXT || cell->type == CELL_BLOB)
		json_add_text(text, cell->bytes, cell->size);
	else
		bytes_add(text, number, strlen(number));
}

void field_json_add_name(struct bytes *text, const struct field_class *class,
			 uint64_t index)
{
	const char *name =
	    has_members(class) ? field_name(class->member[index].name) : "";

	bytes_add(text, ",", index > 0);
	if (!has_members(class))
		return;
	json_add_text(text, name, strlen(name));
	bytes_add_byte(text, ':');
}

static void add_json(struct bytes *text, struct field_class *class,
		     struct ctf_cursor *cursor);

static void add_json_number(struct bytes *text, struct field_class *class,
			    struct ctf_cursor *cursor)
{
	uint64_t at = cursor->at;
	struct cell cell;

	get_number(&cell, class, false, cursor->bytes, &cursor->at);
	field_json_add_value(text, class, &cell);
	for (size_t i = 0; i < class->slots; i++)
		cursor->slot[class->slot[i]] = integer_at(class, cursor->bytes, &at);
}

/* Append a string of at most `most` bytes. Return its size in bytes. */
static size_t add_json_string(struct bytes *text, const struct field_class *class,
			      const struct ctf_cursor *cursor, uint64_t most)
{
	const char *begin = (const char *)cursor->bytes.byte + cursor->at / 8;
	struct bytes made = {NULL, 0, 0};
	struct cell cell;
	size_t size = get_text(&cell, class, begin, most, &made);

	/* Invalid wide characters become U+FFFD here. */
	if (made.size)
		cell_set_buffer(&cell, CELL_TEXT, &made);
	field_json_add_value(text, class, &cell);
	bytes_clear(&made);
	return size;
}

/* Append an array, or a structure with names. */
static void add_json_members(struct bytes *text, const struct field_class *class,
			     struct ctf_cursor *cursor)
{
	bool is_structure = class->type == FIELD_STRUCTURE;
	uint64_t count = is_structure       ? class->members
			 : class->from >= 0 ? cursor->slot[class->from]
					    : class->length;

	if (field_is_string(class)) {
		add_json_string(text, class, cursor, count);
		cursor->at += 8 * count;
		return;
	}
	bytes_add_byte(text, is_structure ? '{' : '[');
	for (uint64_t i = 0; i < count; i++) {
		field_json_add_name(text, class, i);
		add_json(text, is_structure ? class->member[i].class : class->element,
			 cursor);
	}
	bytes_add_byte(text, is_structure ? '}' : ']');
}

static void add_json_selected(struct bytes *text, const struct field_class *class,
			      struct ctf_cursor *cursor)
{
	struct field_class *option = field_option(class, cursor->slot[class->from]);

	if (option)
		add_json(text, option, cursor);
	else
		bytes_add(text, "null", 4);
}

/*
 * Append the field at the cursor as JSON: numbers, labels and strings, arrays, structures
 * as objects, and a variant as its selected option. JSON has no infinite numbers and no
 * invalid UTF-8: these become null and, for each invalid byte, U+FFFD. A program has
 * already read the field, so it is complete and its options are valid.
 */
static void add_json(struct bytes *text, struct field_class *class,
		     struct ctf_cursor *cursor)
{
	cursor->at += -cursor->at & (class->align - 1);
	switch (class->type) {
	case FIELD_INTEGER:
	case FIELD_LEB128:
	case FIELD_REAL:
		add_json_number(text, class, cursor);
		break;
	case FIELD_STRING:
		cursor->at += 8 * (add_json_string(text, class, cursor,
						   (cursor->end - cursor->at) / 8) +
				   text_unit(class->text));
		break;
	case FIELD_VARIANT:
	case FIELD_OPTIONAL:
		add_json_selected(text, class, cursor);
		break;
	case FIELD_STRUCTURE:
	case FIELD_ARRAY:
	case FIELD_SEQUENCE:
		add_json_members(text, class, cursor);
		break;
	}
}

static void fetch_json(struct trace_leaf *leaf, const struct ctf_cursor *cursor,
		       struct ctf_place place, struct cell *cell)
{
	struct ctf_cursor again = *cursor;

	again.at = place.at;
	leaf->text.size = 0;
	add_json(&leaf->text, leaf->class, &again);
	cell_set_buffer(cell, CELL_TEXT, &leaf->text);
}

static void fetch_cell(struct trace_leaf *leaf, const struct ctf_cursor *cursor,
		       struct ctf_place place, struct cell *cell)
{
	switch (leaf->kind) {
	case LEAF_FIXED:
		cell->type = CELL_INTEGER;
		cell->integer =
		    (int64_t)ctf_number_at(leaf->number, cursor->bytes, place.at);
		break;
	case LEAF_NUMBER:
	case LEAF_LABEL:
	case LEAF_REAL:
		get_number(cell, leaf->class, leaf->kind == LEAF_NUMBER, cursor->bytes,
			   &place.at);
		break;
	case LEAF_TEXT:
		get_text(cell, leaf->class,
			 (const char *)cursor->bytes.byte + place.at / 8, place.count,
			 &leaf->text);
		break;
	case LEAF_BYTES:
		fetch_bytes(leaf, cursor, place, cell);
		break;
	case LEAF_JSON:
		fetch_json(leaf, cursor, place, cell);
		break;
	}
}

const struct cell *trace_fields_fetch(struct trace_fields *fields,
				      const struct ctf_cursor *cursor,
				      const struct ctf_place *place, uint64_t begin)
{
	for (size_t i = 0; i < fields->count; i++) {
		int at = fields->leaf[i].place;

		if (at < 0 || place[at].at == CTF_ABSENT)
			fields->cell[i].type = CELL_NULL;
		else
			fetch_cell(
			    &fields->leaf[i], cursor,
			    (struct ctf_place){place[at].at + begin, place[at].count},
			    &fields->cell[i]);
	}
	return fields->cell;
}

void trace_fields_free(struct trace_fields *fields)
{
	if (!fields)
		return;
	for (size_t i = 0; i < fields->count; i++)
		bytes_clear(&fields->leaf[i].text);
	free(fields->leaf);
	free(fields->cell);
	free(fields->place);
	free(fields);
}
