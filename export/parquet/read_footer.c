/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/parquet/codec_read.h"
#include "export/parquet/read_private.h"
#include "export/parquet/thrift_read.h"

/* Members of the union LogicalType, and of the union TimeUnit. */
enum { LOGICAL_STRING = 1, LOGICAL_LIST = 3, LOGICAL_TIMESTAMP = 8, UNIT_MILLIS = 1 };

enum { CONVERTED_UTF8 = 0, CONVERTED_LIST = 3, CONVERTED_TIMESTAMP_MILLIS = 9 };

/* Row groups may have no bytes at all; so there is a limit of their own. */
enum { MOST_GROUPS = 1 << 20 };

static void read_timestamp(struct thrift_reader *in, struct parquet_read_element *element)
{
	struct thrift_field field, unit;

	while (thrift_next(in, &field)) {
		if (field.id != 2) {
			thrift_skip(in, &field);
			continue;
		}
		thrift_read_struct(in, &field);
		while (thrift_next(in, &unit)) {
			element->timestamp_milli = unit.id == UNIT_MILLIS;
			thrift_skip(in, &unit);
		}
	}
}

static void read_logical(struct thrift_reader *in, struct parquet_read_element *element)
{
	struct thrift_field field;

	while (thrift_next(in, &field)) {
		element->string |= field.id == LOGICAL_STRING;
		element->list |= field.id == LOGICAL_LIST;
		if (field.id == LOGICAL_TIMESTAMP) {
			thrift_read_struct(in, &field);
			read_timestamp(in, element);
		} else {
			thrift_skip(in, &field);
		}
	}
}

static void read_element(struct thrift_reader *in, struct parquet_read_element *element)
{
	struct thrift_field field;

	*element =
	    (struct parquet_read_element){.type = -1, .converted = PARQUET_UNANNOTATED};
	while (thrift_next(in, &field)) {
		switch (field.id) {
		case 1:
			element->type = thrift_read_i32(in, &field);
			break;
		case 2:
			element->length = thrift_read_i32(in, &field);
			break;
		case 3:
			element->repetition = thrift_read_i32(in, &field);
			break;
		case 4:
			element->name =
			    thrift_read_binary(in, &field, &element->name_size);
			break;
		case 5:
			element->children = thrift_read_i32(in, &field);
			break;
		case 6:
			element->converted = thrift_read_i32(in, &field);
			break;
		case 10:
			thrift_read_struct(in, &field);
			read_logical(in, element);
			break;
		default:
			thrift_skip(in, &field);
		}
	}
	element->string |= element->converted == CONVERTED_UTF8;
	element->list |= element->converted == CONVERTED_LIST;
	element->timestamp_milli |= element->converted == CONVERTED_TIMESTAMP_MILLIS;
}

static int read_schema(struct parquet_reader *reader, struct thrift_reader *in,
		       const struct thrift_field *field, struct error *error)
{
	size_t count = thrift_read_list(in, field, THRIFT_STRUCT);
	struct parquet_read_element *element = mem_zalloc((count + 1) * sizeof(*element));
	int status;

	for (size_t i = 0; i < count && !in->failed; i++) {
		thrift_read_item_struct(in);
		read_element(in, &element[i]);
	}
	status = in->failed ? error_set(error, "the schema is broken")
			    : parquet_read_tree(reader, element, count, error);
	free(element);
	return status;
}

/* ColumnMetaData, before it is checked. */
struct metadata {
	int32_t type, codec;
	int64_t values, size, data, dictionary;
};

static void read_metadata(struct thrift_reader *in, struct metadata *metadata)
{
	struct thrift_field field;

	while (thrift_next(in, &field)) {
		switch (field.id) {
		case 1:
			metadata->type = thrift_read_i32(in, &field);
			break;
		case 4:
			metadata->codec = thrift_read_i32(in, &field);
			break;
		case 5:
			metadata->values = thrift_read_i64(in, &field);
			break;
		case 7:
			metadata->size = thrift_read_i64(in, &field);
			break;
		case 9:
			metadata->data = thrift_read_i64(in, &field);
			break;
		case 11:
			metadata->dictionary = thrift_read_i64(in, &field);
			break;
		default:
			thrift_skip(in, &field);
		}
	}
}

static int add_chunk(struct parquet_reader *reader, const struct metadata *metadata,
		     const struct parquet_leaf *leaf, struct error *error)
{
	int64_t begin = metadata->data, size = metadata->size;

	if (metadata->dictionary > 0 && metadata->dictionary < begin)
		begin = metadata->dictionary;
	if (metadata->type != leaf->type)
		return error_set(error, "type %d, and %d in the schema",
				 (int)metadata->type, leaf->type);
	if (begin < 0 || size < 0 || metadata->values < 0 ||
	    (uint64_t)begin > reader->size ||
	    (uint64_t)size > reader->size - (uint64_t)begin)
		return error_set(error,
				 "%lld bytes at %lld, which the file does not have",
				 (long long)size, (long long)begin);
	if (parquet_codec_check(metadata->codec, error))
		return -1;
	reader->chunk = mem_grow(reader->chunk, reader->chunks, &reader->chunk_room,
				 sizeof(*reader->chunk));
	reader->chunk[reader->chunks++] = (struct parquet_read_chunk){
	    .codec = metadata->codec,
	    .begin = (uint64_t)begin,
	    .end = (uint64_t)begin + (uint64_t)size,
	    .values = (uint64_t)metadata->values,
	};
	return 0;
}

static int read_chunk(struct parquet_reader *reader, struct thrift_reader *in,
		      const struct parquet_leaf *leaf, struct error *error)
{
	struct metadata metadata = {.type = -1, .data = -1};
	struct thrift_field field;
	bool elsewhere = false;

	while (thrift_next(in, &field)) {
		if (field.id == 3) {
			thrift_read_struct(in, &field);
			read_metadata(in, &metadata);
			continue;
		}
		elsewhere |= field.id == 1;
		thrift_skip(in, &field);
	}
	if (in->failed)
		return error_set(error, "its metadata is broken");
	if (elsewhere)
		return error_set(error, "its values are in another file");
	return add_chunk(reader, &metadata, leaf, error);
}

static int read_chunks(struct parquet_reader *reader, struct thrift_reader *in,
		       const struct thrift_field *field, struct error *error)
{
	size_t count = thrift_read_list(in, field, THRIFT_STRUCT);

	if (count != reader->leaves || in->failed)
		return error_set(error, "%zu columns, and %zu in the schema", count,
				 reader->leaves);
	for (size_t i = 0; i < count; i++) {
		thrift_read_item_struct(in);
		if (read_chunk(reader, in, &reader->leaf[i], error))
			return error_prefix(error, "column %s", reader->leaf[i].path);
	}
	return 0;
}

static int read_group(struct parquet_reader *reader, struct thrift_reader *in,
		      struct error *error)
{
	struct parquet_read_group group = {.chunk = reader->chunks};
	size_t wanted = reader->chunks + reader->leaves;
	struct thrift_field field;
	int64_t rows = -1;

	while (thrift_next(in, &field)) {
		if (field.id == 1 && reader->chunks == group.chunk) {
			if (read_chunks(reader, in, &field, error))
				return -1;
		} else if (field.id == 3) {
			rows = thrift_read_i64(in, &field);
		} else {
			thrift_skip(in, &field);
		}
	}
	if (in->failed || rows < 0 || reader->chunks != wanted)
		return error_set(error, "its metadata is broken");
	group.rows = (uint64_t)rows;
	reader->group = mem_grow(reader->group, reader->groups, &reader->group_room,
				 sizeof(*reader->group));
	reader->group[reader->groups++] = group;
	return 0;
}

static int read_groups(struct parquet_reader *reader, struct thrift_reader *in,
		       const struct thrift_field *field, struct error *error)
{
	size_t count = thrift_read_list(in, field, THRIFT_STRUCT);

	if (!reader->leaves)
		return error_set(error, "no schema ahead of the row groups");
	if (count > MOST_GROUPS)
		return error_set(error, "%zu row groups, want %d at most", count,
				 MOST_GROUPS);
	for (size_t i = 0; i < count; i++) {
		thrift_read_item_struct(in);
		if (read_group(reader, in, error))
			return error_prefix(error, "row group %zu", i + 1);
	}
	return 0;
}

static char *copy_text(const uint8_t *bytes, size_t size)
{
	return mem_strndup(bytes ? (const char *)bytes : "", size);
}

static void read_pairs(struct parquet_reader *reader, struct thrift_reader *in,
		       const struct thrift_field *field)
{
	size_t count = thrift_read_list(in, field, THRIFT_STRUCT);
	struct thrift_field member;

	for (size_t i = 0; i < count && !in->failed; i++) {
		const uint8_t *text[2] = {NULL, NULL};
		size_t size[2] = {0, 0};

		thrift_read_item_struct(in);
		while (thrift_next(in, &member))
			if (member.id == 1 || member.id == 2)
				text[member.id - 1] =
				    thrift_read_binary(in, &member, &size[member.id - 1]);
			else
				thrift_skip(in, &member);
		reader->pair = mem_grow(reader->pair, reader->pairs, &reader->pair_room,
					sizeof(*reader->pair));
		reader->pair[reader->pairs++] = (struct parquet_read_pair){
		    copy_text(text[0], size[0]), copy_text(text[1], size[1])};
	}
}

static int check_rows(const struct parquet_reader *reader, int64_t rows,
		      struct error *error)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < reader->groups; i++)
		if (__builtin_add_overflow(sum, reader->group[i].rows, &sum))
			sum = UINT64_MAX;
	if (rows < 0 || sum != (uint64_t)rows)
		return error_set(error, "%lld rows, and %llu in its row groups",
				 (long long)rows, (unsigned long long)sum);
	return 0;
}

int parquet_read_footer(struct parquet_reader *reader, const uint8_t *data, size_t size,
			struct error *error)
{
	struct thrift_reader in;
	struct thrift_field field;
	int64_t rows = -1;

	thrift_read_begin(&in, data, size);
	while (thrift_next(&in, &field)) {
		if (field.id == 2 && !reader->leaves) {
			if (read_schema(reader, &in, &field, error))
				return -1;
		} else if (field.id == 3) {
			rows = thrift_read_i64(&in, &field);
		} else if (field.id == 4 && !reader->groups) {
			if (read_groups(reader, &in, &field, error))
				return -1;
		} else if (field.id == 5) {
			read_pairs(reader, &in, &field);
		} else {
			thrift_skip(&in, &field);
		}
	}
	if (in.failed)
		return error_set(error, "the footer is broken");
	if (!reader->leaves)
		return error_set(error, "the footer has no schema");
	if (check_rows(reader, rows, error))
		return -1;
	reader->rows = (uint64_t)rows;
	return 0;
}
