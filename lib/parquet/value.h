/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_PARQUET_VALUE_H
#define CT_PARQUET_VALUE_H

#include "parquet/parquet.h"

/* One value as its column has it. */
struct parquet_value {
	bool null;
	uint32_t size;     /* in bytes */
	uint64_t bits;     /* of fixed types: the value's, lowest first */
	const void *bytes; /* of byte arrays, else NULL; borrowed from the cell */
};

/* Bytes of each value of a column, 0: they differ. 1 for BOOLEAN. */
static inline unsigned parquet_width(const struct parquet_column *column)
{
	switch (column->type) {
	case PARQUET_BOOLEAN:
		return 1;
	case PARQUET_INT32:
		return 4;
	case PARQUET_INT64:
	case PARQUET_DOUBLE:
		return 8;
	case PARQUET_BYTE_ARRAY:
		break;
	}
	return 0;
}

#endif
