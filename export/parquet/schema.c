/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/schema.h"

#include <string.h>

#include "export/parquet/text.h"

enum { REQUIRED, OPTIONAL, REPEATED };

enum { NO_CONVERTED = -1, CONVERTED_LIST = 3 };

/* Members of the union LogicalType. */
enum {
	LOGICAL_STRING = 1,
	LOGICAL_LIST = 3,
	LOGICAL_TIMESTAMP = 8,
	LOGICAL_INTEGER = 10
};

struct logical {
	enum parquet_type type; /* that it is of */
	int converted;          /* ConvertedType, which older readers know */
	int member;
	int detail; /* bits, negative: signed; member of the union TimeUnit */
};

static const struct logical logical_types[] = {
    [PARQUET_STRING] = {PARQUET_BYTE_ARRAY, 0, LOGICAL_STRING, 0},
    [PARQUET_INT_8] = {PARQUET_INT32, 15, LOGICAL_INTEGER, -8},
    [PARQUET_INT_16] = {PARQUET_INT32, 16, LOGICAL_INTEGER, -16},
    [PARQUET_INT_32] = {PARQUET_INT32, 17, LOGICAL_INTEGER, -32},
    [PARQUET_UINT_8] = {PARQUET_INT32, 11, LOGICAL_INTEGER, 8},
    [PARQUET_UINT_16] = {PARQUET_INT32, 12, LOGICAL_INTEGER, 16},
    [PARQUET_UINT_32] = {PARQUET_INT32, 13, LOGICAL_INTEGER, 32},
    [PARQUET_INT_64] = {PARQUET_INT64, 18, LOGICAL_INTEGER, -64},
    [PARQUET_UINT_64] = {PARQUET_INT64, 14, LOGICAL_INTEGER, 64},
    [PARQUET_TIMESTAMP_MILLIS] = {PARQUET_INT64, 9, LOGICAL_TIMESTAMP, 1},
    [PARQUET_TIMESTAMP_MICROS] = {PARQUET_INT64, 10, LOGICAL_TIMESTAMP, 2},
    [PARQUET_TIMESTAMP_NANOS] = {PARQUET_INT64, NO_CONVERTED, LOGICAL_TIMESTAMP, 3},
};

static int check_column(const struct parquet_column *column, struct error *error)
{
	size_t logicals = sizeof(logical_types) / sizeof(logical_types[0]);
	bool fixed = column->type == PARQUET_FIXED_LEN_BYTE_ARRAY;
	bool integer = column->type == PARQUET_INT32 || column->type == PARQUET_INT64;

	if (column->type > PARQUET_FIXED_LEN_BYTE_ARRAY || (unsigned)column->type == 3)
		return error_set(error, "type %d, want one of enum parquet_type",
				 (int)column->type);
	if (column->logical >= logicals)
		return error_set(error,
				 "logical type %d, want one of enum "
				 "parquet_logical",
				 (int)column->logical);
	if (column->logical && logical_types[column->logical].type != column->type)
		return error_set(error, "logical type %d does not go with type %d",
				 (int)column->logical, (int)column->type);
	if (fixed ? column->length == 0 || column->length > PARQUET_LONGEST_VALUE
		  : column->length != 0)
		return error_set(error, "length %u, want %s", column->length,
				 fixed ? "1 to 2^29" : "0");
	if (column->encoding == PARQUET_DELTA && !integer)
		return error_set(error, "delta encoding, want integers for it");
	if (column->encoding == PARQUET_DICTIONARY && column->type == PARQUET_BOOLEAN)
		return error_set(error, "a dictionary, want none for booleans");
	if (column->encoding > PARQUET_DELTA)
		return error_set(error, "encoding %d, want one of enum parquet_encoding",
				 (int)column->encoding);
	if (column->optional_elements && !column->list)
		return error_set(error, "optional elements, want a list for them");
	return 0;
}

int parquet_schema_check(const struct parquet_column *column, size_t columns,
			 struct error *error)
{
	if (columns == 0)
		return error_set(error, "no column, want one at least");
	for (size_t i = 0; i < columns; i++) {
		const char *name = column[i].name;

		if (!name || !*name || !parquet_is_text(name, strlen(name)))
			return error_set(
			    error, "column %zu has no name, want one of UTF-8", i + 1);
		for (size_t j = 0; j < i; j++)
			if (strcmp(name, column[j].name) == 0)
				return error_set(error,
						 "columns %zu and %zu are both named %s",
						 j + 1, i + 1, name);
		if (check_column(&column[i], error))
			return error_prefix(error, "column %s", name);
	}
	return 0;
}

/* Field 10 of SchemaElement. */
static void add_logical(struct thrift *thrift, const struct logical *logical)
{
	thrift_struct(thrift, 10);
	thrift_struct(thrift, logical->member);
	if (logical->member == LOGICAL_TIMESTAMP) {
		thrift_bool(thrift, 1, true); /* of UTC */
		thrift_struct(thrift, 2);
		thrift_struct(thrift, logical->detail);
		thrift_end(thrift);
		thrift_end(thrift);
	} else if (logical->member == LOGICAL_INTEGER) {
		int bits = logical->detail;

		thrift_i8(thrift, 1, (int8_t)(bits < 0 ? -bits : bits));
		thrift_bool(thrift, 2, bits < 0);
	}
	thrift_end(thrift);
	thrift_end(thrift);
}

static void add_leaf(struct thrift *thrift, const struct parquet_column *column,
		     const char *name, int repetition)
{
	const struct logical *logical = &logical_types[column->logical];

	thrift_item_struct(thrift);
	thrift_i32(thrift, 1, (int32_t)column->type);
	if (column->type == PARQUET_FIXED_LEN_BYTE_ARRAY)
		thrift_i32(thrift, 2, (int32_t)column->length);
	thrift_i32(thrift, 3, repetition);
	thrift_text(thrift, 4, name);
	if (column->logical != PARQUET_NO_LOGICAL) {
		if (logical->converted != NO_CONVERTED)
			thrift_i32(thrift, 6, logical->converted);
		add_logical(thrift, logical);
	}
	thrift_end(thrift);
}

/* A group of one; `list`: the outer one of a list's two. */
static void add_group(struct thrift *thrift, const char *name, int repetition, bool list)
{
	static const struct logical logical = {.member = LOGICAL_LIST};

	thrift_item_struct(thrift);
	thrift_i32(thrift, 3, repetition);
	thrift_text(thrift, 4, name);
	thrift_i32(thrift, 5, 1);
	if (list) {
		thrift_i32(thrift, 6, CONVERTED_LIST);
		add_logical(thrift, &logical);
	}
	thrift_end(thrift);
}

void parquet_schema_add(struct thrift *thrift, int id,
			const struct parquet_column *column, size_t columns)
{
	size_t elements = 1 + columns;

	for (size_t i = 0; i < columns; i++)
		elements += column[i].list ? 2 : 0;
	thrift_list(thrift, id, THRIFT_STRUCT, elements);
	thrift_item_struct(thrift);
	thrift_text(thrift, 4, "schema");
	thrift_i32(thrift, 5, (int32_t)columns);
	thrift_end(thrift);
	for (size_t i = 0; i < columns; i++) {
		int repetition = column[i].optional ? OPTIONAL : REQUIRED;

		if (!column[i].list) {
			add_leaf(thrift, &column[i], column[i].name, repetition);
			continue;
		}
		add_group(thrift, column[i].name, repetition, true);
		add_group(thrift, "list", REPEATED, false);
		add_leaf(thrift, &column[i], "element",
			 column[i].optional_elements ? OPTIONAL : REQUIRED);
	}
}

void parquet_schema_add_path(struct thrift *thrift, int id,
			     const struct parquet_column *column)
{
	thrift_list(thrift, id, THRIFT_BINARY, column->list ? 3 : 1);
	thrift_item_text(thrift, column->name);
	if (!column->list)
		return;
	thrift_item_text(thrift, "list");
	thrift_item_text(thrift, "element");
}
