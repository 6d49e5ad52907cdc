/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parquet/parquet_private.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The most groups whose header is one byte, so that it can be filled in later. */
enum { MOST_GROUPS = 63 };

unsigned parquet_bits(uint64_t most)
{
	return most ? 64 - (unsigned)__builtin_clzll(most) : 0;
}

/* Append eight numbers of `width` bits, packed into `width` bytes. */
static void add_group(struct bytes *out, unsigned width, const uint32_t value[8])
{
	uint64_t bits = 0;
	unsigned filled = 0;

	if (width <= 8) {
		for (unsigned i = 0; i < 8; i++)
			bits |= (uint64_t)value[i] << i * width;
		bytes_add_le(out, bits, 8);
		out->size -= 8 - width;
		return;
	}
	for (unsigned i = 0; i < 8; i++) {
		bits |= (uint64_t)value[i] << filled;
		filled += width;
		if (filled < 32)
			continue;
		bytes_add_le(out, bits, 4);
		bits >>= 32;
		filled -= 32;
	}
	bytes_add_le(out, bits, filled / 8);
}

/* Return how many numbers at the start are equal. */
static size_t run_length(const uint32_t *value, size_t count)
{
	size_t run = 1;

	while (run < count && value[run] == value[0])
		run++;
	return run;
}

void parquet_hybrid_add(struct bytes *out, unsigned width, const uint32_t *value,
			size_t count)
{
	size_t header = 0;
	unsigned groups = 0; /* that share the header */

	for (size_t i = 0, step; i < count; i += step) {
		size_t left = count - i;
		uint32_t padded[8] = {0};

		step = run_length(value + i, left);
		if (step >= 8 || step == left) {
			bytes_add_varint(out, step << 1);
			bytes_add_le(out, value[i], (width + 7) / 8);
			groups = 0;
			continue;
		}
		step = left < 8 ? left : 8;
		if (!groups) {
			header = out->size;
			bytes_add_byte(out, 0);
		}
		add_group(out, width, memcpy(padded, value + i, step * sizeof(*value)));
		out->data[header] = (uint8_t)(++groups << 1 | 1);
		groups %= MOST_GROUPS;
	}
}

enum { BLOCK = 128, MINIBLOCKS = 4, MINIBLOCK = BLOCK / MINIBLOCKS };

/* Append 32 numbers of `bits` bits, packed into 4 * bits bytes. */
static void pack_miniblock(struct bytes *out, const uint64_t *number, unsigned bits)
{
	uint64_t packed = 0;
	unsigned filled = 0;
	uint8_t *at;

	/* Write eight bytes at a time, so the last ones may be beyond the end. */
	bytes_reserve(out, MINIBLOCK * 8 + 8);
	at = out->data + out->size;
	out->size += (size_t)4 * bits;
	for (unsigned i = 0; i < MINIBLOCK && bits > 0; i++) {
		packed |= number[i] << filled;
		filled += bits;
		if (filled < 64)
			continue;
		packed = htole64(packed);
		memcpy(at, &packed, 8);
		at += 8;
		filled -= 64;
		packed = filled ? number[i] >> (bits - filled) : 0;
	}
	packed = htole64(packed);
	memcpy(at, &packed, 8);
}

/* Append a block of `count` differences. The rest of the last miniblock is filled with 0.
 */
static void add_block(struct bytes *out, const int64_t *delta, unsigned count)
{
	uint64_t number[BLOCK];
	unsigned bits[MINIBLOCKS];
	int64_t least = delta[0];

	for (unsigned i = 1; i < count; i++)
		least = delta[i] < least ? delta[i] : least;
	bytes_add_zigzag(out, least);
	for (unsigned i = 0; i < count; i++)
		number[i] = (uint64_t)delta[i] - (uint64_t)least;
	for (unsigned i = count; i < BLOCK; i++)
		number[i] = 0;
	for (unsigned i = 0; i < MINIBLOCKS; i++) {
		uint64_t any = 0;

		for (unsigned j = 0; j < MINIBLOCK; j++)
			any |= number[i * MINIBLOCK + j];
		bits[i] = parquet_bits(any);
		bytes_add_byte(out, (uint8_t)bits[i]);
	}
	/* A miniblock without numbers must be omitted; with 0 bits it has no bytes. */
	for (unsigned i = 0; i < MINIBLOCKS; i++)
		pack_miniblock(out, number + i * MINIBLOCK, bits[i]);
}

void parquet_delta_add(struct bytes *out, const uint8_t *plain, size_t count)
{
	int64_t delta[BLOCK];

	bytes_add_varint(out, BLOCK);
	bytes_add_varint(out, MINIBLOCKS);
	bytes_add_varint(out, count);
	bytes_add_zigzag(out, count ? (int64_t)bytes_le(plain, 8) : 0);
	for (size_t i = 1; i < count; i += BLOCK) {
		unsigned n = count - i < BLOCK ? (unsigned)(count - i) : BLOCK;
		const uint8_t *at = plain + i * 8;

		for (unsigned j = 0; j < n; j++, at += 8)
			delta[j] = (int64_t)(bytes_le(at, 8) - bytes_le(at - 8, 8));
		add_block(out, delta, n);
	}
}

/* Approximate bytes of memory for a value in addition to its own: slots and an entry. */
enum { HELD_VALUE = 80 };

/* Add a new value. Return false if the dictionary is full. */
static bool add_dictionary_value(struct parquet_dictionary *dictionary,
				 const struct parquet_value *value)
{
	struct bytes *plain = &dictionary->plain;
	size_t head = dictionary->width ? 0 : 4;

	if (plain->size + head + value->size > dictionary->most)
		return false;
	if (head)
		bytes_add_le(plain, value->size, 4);
	if (value->bytes)
		bytes_add(plain, value->bytes, value->size);
	else
		bytes_add_le(plain, value->bits, dictionary->width);
	dictionary->count++;
	return true;
}

static int64_t number_code(struct parquet_dictionary *dictionary,
			   const struct parquet_value *value)
{
	int64_t code = dictionary->last;

	/* Values often repeat immediately. */
	if (dictionary->count && dictionary->last_bits == value->bits)
		return code;
	if (!intmap_get(&dictionary->numbers, value->bits, &code)) {
		code = dictionary->count;
		if (!add_dictionary_value(dictionary, value))
			return PARQUET_FULL;
		intmap_put(&dictionary->numbers, value->bits, code);
	}
	dictionary->last = (uint32_t)code;
	dictionary->last_bits = value->bits;
	return code;
}

/* `arrays` may contain one value more than the dictionary: the one that did not fit. */
static int64_t array_code(struct parquet_dictionary *dictionary,
			  const struct parquet_value *value)
{
	const struct texts_entry *last = &dictionary->arrays.entry[dictionary->last];
	size_t code;

	if (dictionary->count && last->size == value->size &&
	    !memcmp(last->text, value->bytes, value->size))
		return dictionary->last;
	if ((size_t)value->size + 4 > dictionary->most)
		return PARQUET_FULL;
	code = texts_put_bytes(&dictionary->arrays, value->bytes, value->size);
	if (code > dictionary->count ||
	    (code == dictionary->count && !add_dictionary_value(dictionary, value)))
		return PARQUET_FULL;
	dictionary->last = (uint32_t)code;
	return (int64_t)code;
}

int64_t parquet_dictionary_code(struct parquet_dictionary *dictionary,
				const struct parquet_value *value)
{
	return value->bytes ? array_code(dictionary, value)
			    : number_code(dictionary, value);
}

size_t parquet_dictionary_held(const struct parquet_dictionary *dictionary)
{
	return dictionary->plain.capacity + dictionary->count * (size_t)HELD_VALUE;
}

void parquet_dictionary_clear(struct parquet_dictionary *dictionary)
{
	bytes_clear(&dictionary->plain);
	intmap_clear(&dictionary->numbers);
	texts_clear(&dictionary->arrays);
	dictionary->count = dictionary->last = 0;
}

static bool is_nan(const struct parquet_column *column, uint64_t bits)
{
	return column->type == PARQUET_DOUBLE &&
	       (bits & (UINT64_MAX >> 1)) > UINT64_C(0x7ff0000000000000);
}

/*
 * Convert the bits of a number to a key that sorts like the number, or back: the function
 * is its own inverse. The bits of negative reals sort in reverse.
 */
static int64_t flip_negative_real(const struct parquet_column *column, int64_t key)
{
	return column->type == PARQUET_DOUBLE && key < 0 ? key ^ INT64_MAX : key;
}

static int compare_bounds(const struct parquet_bound *a, const struct parquet_bound *b)
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
	if (!range->any || compare_bounds(&bound, &range->low) < 0)
		range->low = bound;
	if (!range->any || compare_bounds(&bound, &range->high) > 0)
		range->high = bound;
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
	key = flip_negative_real(column, column->type == PARQUET_INT32
					     ? (int32_t)value->bits
					     : (int64_t)value->bits);
	range->boundless |= is_nan(column, value->bits);
	range->least = range->any && range->least < key ? range->least : key;
	range->most = range->any && range->most > key ? range->most : key;
	range->any = true;
}

/*
 * Convert a key to the bytes of a bound. The format requires -0.0 as the least zero and
 * 0.0 as the greatest, as readers treat the two as equal.
 */
static void set_bound(struct parquet_bound *bound, const struct parquet_column *column,
		      int64_t key, bool least)
{
	uint64_t bits = (uint64_t)flip_negative_real(column, key);

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
