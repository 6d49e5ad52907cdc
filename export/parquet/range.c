/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/range.h"

#include "export/parquet/text.h"

static bool is_array(const struct parquet_column *column)
{
	return column->type == PARQUET_BYTE_ARRAY ||
	       column->type == PARQUET_FIXED_LEN_BYTE_ARRAY;
}

static bool is_unsigned(const struct parquet_column *column)
{
	return column->logical == PARQUET_UINT_8 || column->logical == PARQUET_UINT_16 ||
	       column->logical == PARQUET_UINT_32 || column->logical == PARQUET_UINT_64;
}

static bool is_nan(const struct parquet_column *column, uint64_t bits)
{
	if (column->type == PARQUET_FLOAT)
		return (bits & 0x7fffffff) > 0x7f800000;
	return column->type == PARQUET_DOUBLE &&
	       (bits & (UINT64_MAX >> 1)) > UINT64_C(0x7ff0000000000000);
}

/*
 * Bits to a key whose order is that of the values, and back: it is its own
 * inverse. The bits of negative reals sort backwards.
 */
static int64_t turn(const struct parquet_column *column, int64_t key)
{
	if (column->type == PARQUET_DOUBLE || column->type == PARQUET_FLOAT)
		return key < 0 ? key ^ INT64_MAX : key;
	if (column->logical == PARQUET_UINT_64)
		return key ^ INT64_MIN;
	return key;
}

static int64_t key_of(const struct parquet_column *column, uint64_t bits)
{
	if (parquet_width(column) == 4 && !is_unsigned(column))
		return turn(column, (int32_t)bits);
	return turn(column, (int64_t)bits);
}

static struct parquet_prefix prefix_of(const struct parquet_value *value)
{
	struct parquet_prefix prefix;

	prefix.cut = value->size > PARQUET_PREFIX;
	prefix.size = (uint8_t)(prefix.cut ? PARQUET_PREFIX : value->size);
	memcpy(prefix.byte, value->bytes, prefix.size);
	return prefix;
}

static int compare(const struct parquet_prefix *a, const struct parquet_prefix *b)
{
	int order = memcmp(a->byte, b->byte, a->size < b->size ? a->size : b->size);

	return order ? order : a->size - b->size;
}

/* Of two arrays with one prefix the least is the one that ends there, if any. */
static void lower(struct parquet_prefix *low, const struct parquet_prefix *other)
{
	int order = compare(other, low);

	if (order < 0)
		*low = *other;
	else if (order == 0)
		low->cut &= other->cut;
}

static void raise(struct parquet_prefix *high, const struct parquet_prefix *other)
{
	int order = compare(other, high);

	if (order > 0)
		*high = *other;
	else if (order == 0)
		high->cut |= other->cut;
}

void parquet_range_add(struct parquet_range *range, const struct parquet_column *column,
		       const struct parquet_value *value)
{
	if (is_array(column)) {
		struct parquet_prefix prefix = prefix_of(value);

		if (!range->any)
			range->low = range->high = prefix;
		lower(&range->low, &prefix);
		raise(&range->high, &prefix);
	} else {
		int64_t key = key_of(column, value->bits);

		range->nan |= is_nan(column, value->bits);
		if (!range->any || key < range->least)
			range->least = key;
		if (!range->any || key > range->most)
			range->most = key;
	}
	range->any = true;
}

void parquet_range_join(struct parquet_range *range, const struct parquet_range *more)
{
	if (!more->any)
		return;
	if (!range->any) {
		*range = *more;
		return;
	}
	range->nan |= more->nan;
	range->least = more->least < range->least ? more->least : range->least;
	range->most = more->most > range->most ? more->most : range->most;
	lower(&range->low, &more->low);
	raise(&range->high, &more->high);
}

/*
 * A key's bytes. The format wants the least of zeros to be -0.0 and the
 * greatest 0.0, as the two are one value to readers.
 */
static void fixed_bound(const struct parquet_column *column, int64_t key, bool least,
			struct parquet_bound *bound)
{
	bool real = column->type == PARQUET_DOUBLE || column->type == PARQUET_FLOAT;
	unsigned width = parquet_width(column);
	uint64_t bits = (uint64_t)turn(column, key), sign = UINT64_C(1)
							    << (8 * width - 1);

	if (real && (bits & (sign - 1)) == 0)
		bits = least ? sign : 0;
	bound->size = width;
	bound->exact = true;
	for (unsigned i = 0; i < width; i++)
		bound->byte[i] = (uint8_t)(bits >> 8 * i);
}

static void copy_prefix(const struct parquet_prefix *prefix, struct parquet_bound *bound)
{
	memcpy(bound->byte, prefix->byte, prefix->size);
	bound->size = prefix->size;
	bound->exact = !prefix->cut;
}

bool parquet_range_least(const struct parquet_range *range,
			 const struct parquet_column *column, struct parquet_bound *bound)
{
	if (!range->any || range->nan)
		return false;
	if (!is_array(column)) {
		fixed_bound(column, range->least, true, bound);
		return true;
	}
	copy_prefix(&range->low, bound);
	if (range->low.cut && column->logical == PARQUET_STRING)
		bound->size = parquet_whole_characters(bound->byte, bound->size);
	/* Of arrays of one length, readers want bounds of that length. */
	return !range->low.cut || column->type == PARQUET_BYTE_ARRAY;
}

bool parquet_range_most(const struct parquet_range *range,
			const struct parquet_column *column, struct parquet_bound *bound)
{
	if (!range->any || range->nan)
		return false;
	if (!is_array(column)) {
		fixed_bound(column, range->most, false, bound);
		return true;
	}
	copy_prefix(&range->high, bound);
	if (!range->high.cut)
		return true;
	if (column->type != PARQUET_BYTE_ARRAY)
		return false;
	if (column->logical == PARQUET_STRING) {
		bound->size = parquet_whole_characters(bound->byte, bound->size);
		bound->size = parquet_next_text(bound->byte, bound->size);
	} else {
		bound->size = parquet_next_bytes(bound->byte, bound->size);
	}
	return bound->size > 0;
}

static int compare_bounds(const struct parquet_bound *a, const struct parquet_bound *b)
{
	int order = memcmp(a->byte, b->byte, a->size < b->size ? a->size : b->size);

	return order ? order : (a->size > b->size) - (a->size < b->size);
}

int parquet_range_compare_least(const struct parquet_range *a,
				const struct parquet_range *b,
				const struct parquet_column *column)
{
	struct parquet_bound first, second;

	if (!is_array(column))
		return (a->least > b->least) - (a->least < b->least);
	parquet_range_least(a, column, &first);
	parquet_range_least(b, column, &second);
	return compare_bounds(&first, &second);
}

int parquet_range_compare_most(const struct parquet_range *a,
			       const struct parquet_range *b,
			       const struct parquet_column *column)
{
	struct parquet_bound first, second;

	if (!is_array(column))
		return (a->most > b->most) - (a->most < b->most);
	parquet_range_most(a, column, &first);
	parquet_range_most(b, column, &second);
	return compare_bounds(&first, &second);
}
