/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_RANGE_H
#define CT_EXPORT_PARQUET_RANGE_H

#include "base/bytes.h"
#include "export/parquet/value.h"

enum { PARQUET_PREFIX = 64 };

/* The first bytes of an array; `cut`: of a longer one. */
struct parquet_prefix {
	uint8_t byte[PARQUET_PREFIX];
	uint8_t size;
	bool cut;
};

/*
 * The least and the greatest of some values, by the order of the column's
 * type (Parquet format, ColumnOrder). Of byte arrays only a prefix is kept.
 * NaN has no place in that order, but has one for readers: to DuckDB it is
 * greater than any number, and not to be found where bounds leave it out. So
 * values with a NaN among them have no bounds.
 */
struct parquet_range {
	bool any, nan;
	int64_t least, most; /* of fixed types: keys that sort as the values do */
	struct parquet_prefix low, high;
};

void parquet_range_add(struct parquet_range *range, const struct parquet_column *column,
		       const struct parquet_value *value);

/* All of `more`, too. */
void parquet_range_join(struct parquet_range *range, const struct parquet_range *more);

/* A bound of values as statistics have it, PLAIN and without a length. */
struct parquet_bound {
	uint8_t byte[PARQUET_PREFIX];
	size_t size;
	bool exact; /* one of the values, not only a bound of them */
};

/* False where there is none: no value, a NaN, or nothing short is greater. */
bool parquet_range_least(const struct parquet_range *range,
			 const struct parquet_column *column,
			 struct parquet_bound *bound);
bool parquet_range_most(const struct parquet_range *range,
			const struct parquet_column *column, struct parquet_bound *bound);

/*
 * Which of the bounds that two ranges state comes first: below, at or above 0.
 * Both ranges state bounds.
 */
int parquet_range_compare_least(const struct parquet_range *a,
				const struct parquet_range *b,
				const struct parquet_column *column);
int parquet_range_compare_most(const struct parquet_range *a,
			       const struct parquet_range *b,
			       const struct parquet_column *column);

#endif
