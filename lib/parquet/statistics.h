/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_PARQUET_STATISTICS_H
#define CT_PARQUET_STATISTICS_H

#include "parquet/value.h"

/*
 * The least and the greatest of the values of a column chunk, by the order of the
 * column's type (Parquet format, ColumnOrder). Values with a NaN among them, for which
 * readers have no order in common, or with more bytes than this, have no bounds.
 */
enum { PARQUET_LONGEST_BOUND = 64 };

struct parquet_bound {
	uint8_t byte[PARQUET_LONGEST_BOUND]; /* PLAIN, and without a length */
	uint8_t size;
};

struct parquet_range {
	bool any, boundless;
	int64_t least, most; /* of fixed types: keys that sort as the values do */
	struct parquet_bound low, high; /* of byte arrays */
};

void parquet_range_add(struct parquet_range *range, const struct parquet_column *column,
		       const struct parquet_value *value);

/* Numbers of a column of INT64, of which these are the least and the greatest. */
void parquet_range_add_integers(struct parquet_range *range, int64_t least, int64_t most);

/* Both bounds as statistics have them; false where there are none. */
bool parquet_range_bounds(const struct parquet_range *range,
			  const struct parquet_column *column, struct parquet_bound *low,
			  struct parquet_bound *high);

#endif
