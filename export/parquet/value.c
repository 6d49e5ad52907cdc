/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/value.h"

#include <inttypes.h>
#include <string.h>

#include "export/parquet/text.h"

#define refuse(error, ...) (error_set(error, __VA_ARGS__), PARQUET_REFUSED)

static const char *const cell_name[] = {
    [CELL_NULL] = "null", [CELL_INTEGER] = "an integer", [CELL_REAL] = "a real",
    [CELL_TEXT] = "text", [CELL_BLOB] = "a blob",
};

struct span {
	int64_t least, most;
};

/* Of a column of integers. */
static struct span span_of(const struct parquet_column *column)
{
	switch (column->logical) {
	case PARQUET_INT_8:
		return (struct span){INT8_MIN, INT8_MAX};
	case PARQUET_INT_16:
		return (struct span){INT16_MIN, INT16_MAX};
	case PARQUET_UINT_8:
		return (struct span){0, UINT8_MAX};
	case PARQUET_UINT_16:
		return (struct span){0, UINT16_MAX};
	case PARQUET_UINT_32:
		return (struct span){0, UINT32_MAX};
	default:
		break;
	}
	if (column->type == PARQUET_BOOLEAN)
		return (struct span){0, 1};
	if (column->type == PARQUET_INT32)
		return (struct span){INT32_MIN, INT32_MAX};
	return (struct span){INT64_MIN, INT64_MAX};
}

static int integer_value(const struct parquet_column *column, const struct cell *cell,
			 struct parquet_value *value, struct error *error)
{
	struct span span = span_of(column);

	if (cell->type != CELL_INTEGER)
		return refuse(error, "%s, want an integer", cell_name[cell->type]);
	if (cell->integer < span.least || cell->integer > span.most)
		return refuse(error, "%" PRId64 ", want %" PRId64 " to %" PRId64,
			      cell->integer, span.least, span.most);
	value->bits = (uint64_t)cell->integer;
	return 0;
}

/* A real, or an integer that is one exactly. */
static int real_value(const struct parquet_column *column, const struct cell *cell,
		      struct parquet_value *value, struct error *error)
{
	int64_t exact = column->type == PARQUET_FLOAT ? 1 << 24 : INT64_C(1) << 53;
	double real = cell->type == CELL_REAL ? cell->real : (double)cell->integer;
	float narrow = (float)real;
	uint32_t bits;

	if (cell->type != CELL_REAL && cell->type != CELL_INTEGER)
		return refuse(error, "%s, want a number", cell_name[cell->type]);
	if (cell->type == CELL_INTEGER &&
	    (cell->integer < -exact || cell->integer > exact))
		return refuse(error, "%" PRId64 ", want an integer up to 2^%d",
			      cell->integer, column->type == PARQUET_FLOAT ? 24 : 53);
	if (column->type == PARQUET_DOUBLE) {
		memcpy(&value->bits, &real, sizeof(real));
		return 0;
	}
	memcpy(&bits, &narrow, sizeof(bits));
	value->bits = bits;
	return 0;
}

static int array_value(const struct parquet_column *column, const struct cell *cell,
		       struct parquet_value *value, struct error *error)
{
	if (cell->type != CELL_TEXT && cell->type != CELL_BLOB)
		return refuse(error, "%s, want text or a blob", cell_name[cell->type]);
	value->bytes = cell->size ? cell->bytes : "";
	value->size = cell->size;
	if (column->type == PARQUET_FIXED_LEN_BYTE_ARRAY && cell->size != column->length)
		return refuse(error, "%" PRIu32 " bytes, want %" PRIu32, cell->size,
			      column->length);
	if (cell->size > PARQUET_LONGEST_VALUE)
		return refuse(error, "%" PRIu32 " bytes, want up to %d", cell->size,
			      PARQUET_LONGEST_VALUE);
	if (column->logical == PARQUET_STRING &&
	    !parquet_is_text(cell->bytes, cell->size))
		return refuse(error, "no UTF-8, want text");
	return 0;
}

int parquet_value_of(const struct parquet_column *column, bool optional,
		     const struct cell *cell, struct parquet_value *value,
		     struct error *error)
{
	*value = (struct parquet_value){.null = cell->type == CELL_NULL,
					.size = parquet_width(column)};
	/* By far the most: any 64 bits will do. */
	if (cell->type == CELL_INTEGER && column->type == PARQUET_INT64) {
		value->bits = (uint64_t)cell->integer;
		return 0;
	}
	if (value->null && !optional)
		return refuse(error, "null, want a value");
	if (value->null)
		return 0;
	switch (column->type) {
	case PARQUET_BOOLEAN:
	case PARQUET_INT32:
	case PARQUET_INT64:
		return integer_value(column, cell, value, error);
	case PARQUET_FLOAT:
	case PARQUET_DOUBLE:
		return real_value(column, cell, value, error);
	case PARQUET_BYTE_ARRAY:
	case PARQUET_FIXED_LEN_BYTE_ARRAY:
		break;
	}
	return array_value(column, cell, value, error);
}
