/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_VALUE_H
#define CT_EXPORT_PARQUET_VALUE_H

#include "export/parquet/parquet.h"

/* One value as its column has it. */
struct parquet_value {
	bool null;
	uint32_t size;     /* in bytes */
	uint64_t bits;     /* of fixed types: the value's, lowest first */
	const void *bytes; /* of byte arrays, else NULL; borrowed from the cell */
};

/*
 * What a cell is in a column. `optional` says whether it may be null. 0, or
 * PARQUET_REFUSED with an error that tells what was wanted, without the place.
 */
int parquet_value_of(const struct parquet_column *column, bool optional,
		     const struct cell *cell, struct parquet_value *value,
		     struct error *error);

/* Bytes of each value of a column, 0: they differ. 1 for BOOLEAN. */
static inline unsigned parquet_width(const struct parquet_column *column)
{
	switch (column->type) {
	case PARQUET_BOOLEAN:
		return 1;
	case PARQUET_INT32:
	case PARQUET_FLOAT:
		return 4;
	case PARQUET_INT64:
	case PARQUET_DOUBLE:
		return 8;
	case PARQUET_BYTE_ARRAY:
		return 0;
	case PARQUET_FIXED_LEN_BYTE_ARRAY:
		break;
	}
	return column->length;
}

#endif
