/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parquet/parquet_private.h"

#include <assert.h>
#include <string.h>

#include "base/version.h"

void thrift_begin(struct thrift *thrift, struct bytes *out)
{
	*thrift = (struct thrift){.out = out};
}

/* Write the header of a field: its type and its id, as a difference if that is short.
 * Items of a list have no header. */
static void add_field(struct thrift *thrift, int id, unsigned type)
{
	int step = id - thrift->last;

	if (id == THRIFT_ITEM)
		return;
	assert(step > 0);
	if (step <= 15) {
		bytes_add_byte(thrift->out, (uint8_t)((unsigned)step << 4 | type));
	} else {
		bytes_add_byte(thrift->out, (uint8_t)type);
		bytes_add_zigzag(thrift->out, id);
	}
	thrift->last = id;
}

void thrift_bool(struct thrift *thrift, int id, bool value)
{
	add_field(thrift, id, value ? 1 : 2); /* a bool's value is in its type */
}

void thrift_i32(struct thrift *thrift, int id, int32_t value)
{
	add_field(thrift, id, THRIFT_I32);
	bytes_add_zigzag(thrift->out, value);
}

void thrift_i64(struct thrift *thrift, int id, int64_t value)
{
	add_field(thrift, id, THRIFT_I64);
	bytes_add_zigzag(thrift->out, value);
}

static void thrift_binary(struct thrift *thrift, int id, const void *data, size_t size)
{
	add_field(thrift, id, THRIFT_BINARY);
	bytes_add_varint(thrift->out, size);
	bytes_add(thrift->out, data, size);
}

void thrift_text(struct thrift *thrift, int id, const char *text)
{
	thrift_binary(thrift, id, text, strlen(text));
}

void thrift_struct(struct thrift *thrift, int id)
{
	add_field(thrift, id, THRIFT_STRUCT);
	assert(thrift->depth < THRIFT_DEPTH);
	thrift->outer[thrift->depth++] = thrift->last;
	thrift->last = 0;
}

void thrift_list(struct thrift *thrift, int id, enum thrift_type item, size_t count)
{
	add_field(thrift, id, THRIFT_LIST);
	if (count < 15) {
		bytes_add_byte(thrift->out, (uint8_t)(count << 4 | item));
	} else {
		bytes_add_byte(thrift->out, (uint8_t)(0xf0 | item));
		bytes_add_varint(thrift->out, count);
	}
}

void thrift_end(struct thrift *thrift)
{
	bytes_add_byte(thrift->out, 0);
	thrift->last = thrift->depth ? thrift->outer[--thrift->depth] : 0;
}

enum { REQUIRED, OPTIONAL, REPEATED };

enum { NO_CONVERTED = -1, CONVERTED_LIST = 3 };

/* Members of the union LogicalType. */
enum { LOGICAL_STRING = 1, LOGICAL_LIST = 3, LOGICAL_TIMESTAMP = 8 };

struct logical {
	int converted; /* ConvertedType, for older readers */
	int member;
	int unit; /* member of the union TimeUnit, for a timestamp */
};

static const struct logical logical_types[] = {
    [PARQUET_STRING] = {0, LOGICAL_STRING, 0},
    [PARQUET_TIMESTAMP_MILLIS] = {9, LOGICAL_TIMESTAMP, 1},
    [PARQUET_TIMESTAMP_NANOS] = {NO_CONVERTED, LOGICAL_TIMESTAMP, 3},
};
static const struct logical list_type = {CONVERTED_LIST, LOGICAL_LIST, 0};

/* Write field 10 of SchemaElement. */
static void add_logical(struct thrift *thrift, const struct logical *logical)
{
	thrift_struct(thrift, 10);
	thrift_struct(thrift, logical->member);
	if (logical->member == LOGICAL_TIMESTAMP) {
		thrift_bool(thrift, 1, true); /* isAdjustedToUTC */
		thrift_struct(thrift, 2);
		thrift_struct(thrift, logical->unit);
		thrift_end(thrift);
		thrift_end(thrift);
	}
	thrift_end(thrift);
	thrift_end(thrift);
}

/* A SchemaElement: a leaf with a type, or a group of other elements. */
struct element {
	const char *name;
	int repetition; /* -1 for the root */
	enum parquet_type type;
	size_t children;               /* 0 for a leaf */
	const struct logical *logical; /* or NULL */
};

static void add_element(struct thrift *thrift, const struct element *element)
{
	const struct logical *logical = element->logical;

	thrift_struct(thrift, THRIFT_ITEM);
	if (!element->children)
		thrift_i32(thrift, 1, (int32_t)element->type);
	if (element->repetition >= 0)
		thrift_i32(thrift, 3, element->repetition);
	thrift_text(thrift, 4, element->name);
	if (element->children)
		thrift_i32(thrift, 5, (int32_t)element->children);
	if (logical) {
		if (logical->converted != NO_CONVERTED)
			thrift_i32(thrift, 6, logical->converted);
		add_logical(thrift, logical);
	}
	thrift_end(thrift);
}

static void add_schema(struct thrift *thrift, int id, const struct parquet_column *column,
		       size_t columns)
{
	size_t elements = 1 + columns;

	for (size_t i = 0; i < columns; i++)
		elements += column[i].list ? 2 : 0;
	thrift_list(thrift, id, THRIFT_STRUCT, elements);
	add_element(thrift, &(struct element){"schema", -1, 0, columns, NULL});
	for (size_t i = 0; i < columns; i++) {
		const enum parquet_logical kind = column[i].logical;
		struct element leaf = {column[i].name, column[i].optional, column[i].type,
				       0, kind ? &logical_types[kind] : NULL};

		if (column[i].list) {
			add_element(thrift, &(struct element){column[i].name, OPTIONAL, 0,
							      1, &list_type});
			add_element(thrift,
				    &(struct element){"list", REPEATED, 0, 1, NULL});
			leaf.name = "element";
			leaf.repetition = OPTIONAL;
		}
		add_element(thrift, &leaf);
	}
}

static void add_path(struct thrift *thrift, int id, const struct parquet_column *column)
{
	thrift_list(thrift, id, THRIFT_BINARY, column->list ? 3 : 1);
	thrift_text(thrift, THRIFT_ITEM, column->name);
	if (!column->list)
		return;
	thrift_text(thrift, THRIFT_ITEM, "list");
	thrift_text(thrift, THRIFT_ITEM, "element");
}

/* Write field 12 of ColumnMetaData. */
static void add_statistics(struct thrift *thrift, const struct parquet_chunk *chunk)
{
	struct parquet_bound low, high;

	thrift_struct(thrift, 12);
	thrift_i64(thrift, 3, (int64_t)chunk->nulls);
	if (parquet_range_bounds(&chunk->range, chunk->column, &low, &high)) {
		thrift_binary(thrift, 5, high.byte, high.size);
		thrift_binary(thrift, 6, low.byte, low.size);
		thrift_bool(thrift, 7, true); /* both bounds are values of the chunk */
		thrift_bool(thrift, 8, true);
	}
	thrift_end(thrift);
}

static void add_encodings(struct thrift *thrift, const struct parquet_chunk *chunk)
{
	bool dictionary = chunk->head.size > 0;
	bool used[FORMAT_ENCODINGS] = {
	    [FORMAT_RLE] = chunk->most_definition > 0, [FORMAT_PLAIN] = dictionary};
	size_t count = 0;

	for (int i = 0; i < FORMAT_ENCODINGS; i++) {
		used[i] |= chunk->pages_of[i] > 0;
		count += used[i];
	}
	thrift_list(thrift, 2, THRIFT_I32, count);
	for (int i = 0; i < FORMAT_ENCODINGS; i++)
		if (used[i])
			thrift_i32(thrift, THRIFT_ITEM, i);
}

static void add_page_count(struct thrift *thrift, int type, int encoding, uint32_t count)
{
	thrift_struct(thrift, THRIFT_ITEM);
	thrift_i32(thrift, 1, type);
	thrift_i32(thrift, 2, encoding);
	thrift_i32(thrift, 3, (int32_t)count);
	thrift_end(thrift);
}

/* Write field 13, from which readers see whether all values are in the dictionary. */
static void add_page_counts(struct thrift *thrift, const struct parquet_chunk *chunk)
{
	bool dictionary = chunk->head.size > 0;
	size_t count = dictionary;

	for (int i = 0; i < FORMAT_ENCODINGS; i++)
		count += chunk->pages_of[i] > 0;
	thrift_list(thrift, 13, THRIFT_STRUCT, count);
	if (dictionary)
		add_page_count(thrift, FORMAT_DICTIONARY_PAGE, FORMAT_PLAIN, 1);
	for (int i = 0; i < FORMAT_ENCODINGS; i++)
		if (chunk->pages_of[i])
			add_page_count(thrift, FORMAT_DATA_PAGE, i, chunk->pages_of[i]);
}

/* Write field 3 of ColumnChunk. */
static void add_metadata(struct thrift *thrift, const struct parquet_chunk *chunk,
			 uint64_t offset)
{
	size_t size = chunk->head.size + chunk->body.size;

	thrift_struct(thrift, 3);
	thrift_i32(thrift, 1, (int32_t)chunk->column->type);
	add_encodings(thrift, chunk);
	add_path(thrift, 3, chunk->column);
	thrift_i32(thrift, 4, parquet_codec_number(chunk->settings->codec));
	thrift_i64(thrift, 5, (int64_t)chunk->value_count);
	thrift_i64(thrift, 6, (int64_t)chunk->raw_size);
	thrift_i64(thrift, 7, (int64_t)size);
	thrift_i64(thrift, 9, (int64_t)(offset + chunk->head.size));
	if (chunk->head.size)
		thrift_i64(thrift, 11, (int64_t)offset);
	add_statistics(thrift, chunk);
	add_page_counts(thrift, chunk);
	thrift_end(thrift);
}

static void add_chunk(struct thrift *thrift, const struct parquet_chunk *chunk,
		      uint64_t offset)
{
	thrift_struct(thrift, THRIFT_ITEM);
	thrift_i64(thrift, 2, 0); /* the metadata is only here */
	add_metadata(thrift, chunk, offset);
	thrift_end(thrift);
}

void parquet_footer_add_group(struct parquet_footer *footer,
			      const struct parquet_chunk *chunk, size_t columns,
			      uint64_t rows, uint64_t offset)
{
	struct thrift thrift;
	uint64_t raw_size = 0, size = 0;

	footer->groups++;
	thrift_begin(&thrift, &footer->group);
	thrift_list(&thrift, 1, THRIFT_STRUCT, columns);
	for (size_t i = 0; i < columns; i++) {
		add_chunk(&thrift, &chunk[i], offset + size);
		raw_size += chunk[i].raw_size;
		size += chunk[i].head.size + chunk[i].body.size;
	}
	thrift_i64(&thrift, 2, (int64_t)raw_size);
	thrift_i64(&thrift, 3, (int64_t)rows);
	thrift_i64(&thrift, 5, (int64_t)offset);
	thrift_i64(&thrift, 6, (int64_t)size);
	thrift_end(&thrift);
}

void parquet_footer_add_pair(struct parquet_footer *footer, const char *key,
			     const char *value)
{
	struct thrift pair;

	footer->pairs++;
	thrift_begin(&pair, &footer->pair);
	thrift_text(&pair, 1, key);
	thrift_text(&pair, 2, value);
	thrift_end(&pair);
}

void parquet_footer_add(const struct parquet_footer *footer,
			const struct parquet_column *column, size_t columns,
			uint64_t rows, struct bytes *out)
{
	struct thrift thrift;

	thrift_begin(&thrift, out);
	thrift_i32(&thrift, 1, 2); /* version */
	add_schema(&thrift, 2, column, columns);
	thrift_i64(&thrift, 3, (int64_t)rows);
	thrift_list(&thrift, 4, THRIFT_STRUCT, footer->groups);
	bytes_add(out, footer->group.data, footer->group.size);
	if (footer->pairs) {
		thrift_list(&thrift, 5, THRIFT_STRUCT, footer->pairs);
		bytes_add(out, footer->pair.data, footer->pair.size);
	}
	thrift_text(&thrift, 6, "clustertrace version " CT_VERSION);
	/* Bounds are in the order of each column's type; without this list readers ignore
	 * them. */
	thrift_list(&thrift, 7, THRIFT_STRUCT, columns);
	for (size_t i = 0; i < columns; i++) {
		thrift_struct(&thrift, THRIFT_ITEM);
		thrift_struct(&thrift, 1);
		thrift_end(&thrift);
		thrift_end(&thrift);
	}
	thrift_end(&thrift);
}

void parquet_footer_clear(struct parquet_footer *footer)
{
	bytes_clear(&footer->pair);
	bytes_clear(&footer->group);
	*footer = (struct parquet_footer){0};
}
