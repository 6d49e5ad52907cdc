/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parquet_draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../bench/random.h"

uint64_t draw_below(uint64_t *state, uint64_t most)
{
	return random_next(state) % most;
}

static enum parquet_logical draw_logical(uint64_t *state, enum parquet_type type)
{
	static const enum parquet_logical of_integers[] = {
	    PARQUET_NO_LOGICAL, PARQUET_TIMESTAMP_MILLIS, PARQUET_TIMESTAMP_NANOS};

	if (type == PARQUET_INT64)
		return of_integers[draw_below(state, 3)];
	return type == PARQUET_BYTE_ARRAY && draw_below(state, 3) ? PARQUET_STRING
								  : PARQUET_NO_LOGICAL;
}

void draw_column(uint64_t *state, struct draw_column *column, size_t number)
{
	static const enum parquet_type types[] = {PARQUET_BOOLEAN,    PARQUET_INT32,
						  PARQUET_INT64,      PARQUET_DOUBLE,
						  PARQUET_BYTE_ARRAY, PARQUET_INT64};
	enum parquet_type type = types[draw_below(state, 6)];

	snprintf(column->name, sizeof(column->name), "c%zu %s", number,
		 number % 3 ? "\xe2\x82\xac" : "\"quoted'");
	column->column = (struct parquet_column){
	    .name = column->name,
	    .type = type,
	    .logical = draw_logical(state, type),
	    .list = draw_below(state, 4) == 0,
	};
	column->column.optional =
	    type == PARQUET_BOOLEAN || column->column.list || draw_below(state, 2);
	column->habit = (enum draw_habit)draw_below(state, DRAW_HABITS);
	column->last = random_next(state);
	column->nulls = draw_below(state, 3) ? (unsigned)draw_below(state, 900) : 1;
}

/* 64 bits, of which the value is made. */
static uint64_t draw_bits(uint64_t *state, struct draw_column *column)
{
	switch (column->habit) {
	case DRAW_CONSTANT:
	case DRAW_NULLS:
	case DRAW_HABITS:
		break;
	case DRAW_FEW:
		return draw_below(state, 20) * UINT64_C(0x9e3779b97f4a7c15);
	case DRAW_UNIFORM:
		column->last = random_next(state);
		break;
	case DRAW_WALK:
		column->last += draw_below(state, 1000);
		break;
	case DRAW_RUNS:
		if (draw_below(state, 30) == 0)
			column->last = random_next(state);
		break;
	case DRAW_EXTREMES:
		return (draw_below(state, 2) ? UINT64_MAX >> 1 : UINT64_MAX << 63) +
		       draw_below(state, 3) - 1;
	}
	return column->last;
}

static int64_t integer_of(const struct parquet_column *column, uint64_t bits)
{
	/* Readers can hold instants up to about the year 2040. */
	unsigned width = column->type == PARQUET_INT32                 ? 32
			 : column->logical == PARQUET_TIMESTAMP_MILLIS ? 42
			 : column->logical == PARQUET_TIMESTAMP_NANOS  ? 62
								       : 64;

	return (int64_t)(bits << (64 - width)) >> (64 - width);
}

static double real_of(uint64_t bits)
{
	static const double special[] = {NAN,  INFINITY, -INFINITY, 0.0,
					 -0.0, 1e-310,   1.5,       -2.25};

	if (bits % 5 == 0)
		return special[(bits >> 40) % 8];
	return (double)(int64_t)bits * 1e-7;
}

/* Characters of one to four bytes, and some that other formats would escape. */
static uint32_t text_of(uint64_t bits, uint32_t size, char *text)
{
	static const char *const character[] = {
	    "a",
	    "b",
	    "Z",
	    " ",
	    "\"",
	    "\\",
	    "\xc3\xa9",
	    "\xdf\xbf",
	    "\xe2\x82\xac",
	    "\xed\x9f\xbf",
	    "\xef\xbf\xbf",
	    "\xf0\x9f\x98\x80",
	    "\xf4\x8f\xbf\xbf",
	    "\n",
	    "\x7f",
	    "0",
	};
	uint32_t used = 0;

	while (used + 4 <= size) {
		const char *next = character[bits % 16];

		memcpy(text + used, next, strlen(next));
		used += (uint32_t)strlen(next);
		bits = (bits >> 4 | bits << 60) * 5;
	}
	if (used > 0 && bits % 7 == 0)
		text[0] = used > 1 && !(text[0] & 0x80) ? '\0' : text[0];
	return used;
}

static struct cell bytes_of(struct draw_column *column, uint64_t bits, char *text)
{
	/* Mostly short; many alike in their first hundred bytes; few are huge. */
	uint64_t kind = bits >> 50 & 127;
	bool huge = kind == 0 && column->huge++ < 3;
	uint32_t size = huge        ? 200000 + (uint32_t)(bits % 90000)
			: kind < 8  ? 0
			: kind < 24 ? 100 + (uint32_t)(bits % 40)
				    : (uint32_t)(bits % 24);
	struct cell cell = {.type = CELL_BLOB, .bytes = text};

	if (column->column.logical == PARQUET_STRING) {
		cell.type = CELL_TEXT;
		cell.size = text_of(kind >= 8 && kind < 24 ? 77 : bits, size, text);
		return cell;
	}
	cell.size = size;
	memset(text, kind & 1 ? 0xff : 0x41, size);
	for (uint32_t i = kind < 24 && size > 99 ? 99 : 0; i < size; i++)
		text[i] = (char)(bits >> i % 57);
	return cell;
}

struct cell draw_cell(uint64_t *state, struct draw_column *column, bool optional,
		      char *text)
{
	struct cell cell = {.type = CELL_NULL};
	uint64_t bits;

	if (column->column.type == PARQUET_BOOLEAN ||
	    (optional &&
	     (column->habit == DRAW_NULLS || draw_below(state, 1000) < column->nulls)))
		return cell;
	bits = draw_bits(state, column);
	switch (column->column.type) {
	case PARQUET_INT32:
	case PARQUET_INT64:
		cell.type = CELL_INTEGER;
		cell.integer = integer_of(&column->column, bits);
		return cell;
	case PARQUET_DOUBLE:
		cell.type = CELL_REAL;
		cell.real = real_of(bits);
		return cell;
	default:
		break;
	}
	return bytes_of(column, bits, text);
}
