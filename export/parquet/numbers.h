/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_NUMBERS_H
#define CT_EXPORT_PARQUET_NUMBERS_H

#include "export/parquet/dictionary.h"
#include "export/parquet/range.h"

/*
 * The numbers of a page, all at once: values of a fixed type, but no array, as PLAIN has
 * them, a byte each for BOOLEAN.
 */
struct parquet_numbers {
	const struct parquet_column *column;
	const uint8_t *plain;
	size_t count;
};

/* Add them to a range, as parquet_range_add does one by one. */
void parquet_numbers_range(const struct parquet_numbers *numbers,
			   struct parquet_range *range);

/*
 * Their numbers in the dictionary into `code`, which has room for all of them. `range`
 * is theirs; `direct` is memory of use meanwhile. False where the dictionary is full.
 */
bool parquet_numbers_code(const struct parquet_numbers *numbers,
			  const struct parquet_range *range,
			  struct parquet_dictionary *dictionary, struct bytes *direct,
			  uint32_t *code);

#endif
