/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_READERS_PARQUET_DRAW_H
#define CT_TESTS_READERS_PARQUET_DRAW_H

#include "parquet/parquet.h"

/*
 * Columns and values by chance. All follows from the state, which is not 0.
 */
enum { DRAW_COLUMNS = 12, DRAW_TEXT = 300000 };

/* Kinds of sequences of a column's values. */
enum draw_habit {
	DRAW_CONSTANT,
	DRAW_FEW,
	DRAW_UNIFORM,
	DRAW_WALK,
	DRAW_RUNS,
	DRAW_EXTREMES,
	DRAW_NULLS, /* where they may be */
	DRAW_HABITS,
};

struct draw_column {
	struct parquet_column column;
	char name[32];
	enum draw_habit habit;
	uint64_t last;
	unsigned nulls; /* in 1000 */
	unsigned huge;  /* values that it has had */
};

/* From 0 to below `most`. */
uint64_t draw_below(uint64_t *state, uint64_t most);

void draw_column(uint64_t *state, struct draw_column *column, size_t number);

/* The next value or element. Bytes are put into `text`, of DRAW_TEXT bytes. */
struct cell draw_cell(uint64_t *state, struct draw_column *column, bool optional,
		      char *text);

#endif
