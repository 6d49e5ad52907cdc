/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parquet/statistics.h"

#include <string.h>

static bool is_nan(const struct parquet_column *column, uint64_t bits)
{
	return column->type == PARQUET_DOUBLE &&
	       (bits & (UINT64_MAX >> 1)) > UINT64_C(0x7ff0000000000000);
}

/*
 * Bits to a key whose order is that of the values, and back: it is its own inverse. The
 * bits of negative reals sort backwards.
 */
static int64_t turn(const struct parquet_column *column, int64_t key)
{
	return column->type == PARQUET_DOUBLE && key < 0 ? key ^ INT64_MAX : key;
}

static int compare(const struct parquet_bound *a, const struct parquet_bound *b)
{
	int order = memcmp(a->byte, b->byte, a->size < b->size ? a->size : b->size);

	return order ? order : a->size - b->size;
}

static void add_array(struct parquet_range *range, const struct parquet_value *value)
{
	struct parquet_bound bound = {.size = (uint8_t)value->size};

	if (range->boundless || value->size > PARQUET_LONGEST_BOUND) {
		range->boundless = true;
		return;
	}
	memcpy(bound.byte, value->bytes, value->size);
	if (!range->any || compare(&bound, &range->low) < 0)
		range->low = bound;
	if (!range->any || compare(&bound, &range->high) > 0)
		range->high = bound;
	range->any = true;
}

void parquet_range_add_integers(struct parquet_range *range, int64_t least, int64_t most)
{
	range->least = range->any && range->least < least ? range->least : least;
	range->most = range->any && range->most > most ? range->most : most;
	range->any = true;
}

void parquet_range_add(struct parquet_range *range, const struct parquet_column *column,
		       const struct parquet_value *value)
{
	int64_t key;

	if (column->type == PARQUET_BYTE_ARRAY) {
		add_array(range, value);
		return;
	}
	key = turn(column, column->type == PARQUET_INT32 ? (int32_t)value->bits
							 : (int64_t)value->bits);
	range->boundless |= is_nan(column, value->bits);
	parquet_range_add_integers(range, key, key);
}

/*
 * A key's bytes. The format wants the least of zeros to be -0.0 and the greatest 0.0, as
 * the two are one value to readers.
 */
static void set_bound(struct parquet_bound *bound, const struct parquet_column *column,
		      int64_t key, bool least)
{
	uint64_t bits = (uint64_t)turn(column, key);

	if (column->type == PARQUET_DOUBLE && (bits & (UINT64_MAX >> 1)) == 0)
		bits = least ? UINT64_C(1) << 63 : 0;
	bound->size = (uint8_t)parquet_width(column);
	for (unsigned i = 0; i < bound->size; i++)
		bound->byte[i] = (uint8_t)(bits >> 8 * i);
}

bool parquet_range_bounds(const struct parquet_range *range,
			  const struct parquet_column *column, struct parquet_bound *low,
			  struct parquet_bound *high)
{
	if (!range->any || range->boundless)
		return false;
	*low = range->low;
	*high = range->high;
	if (column->type != PARQUET_BYTE_ARRAY) {
		set_bound(low, column, range->least, true);
		set_bound(high, column, range->most, false);
	}
	return true;
}
