/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/read_values.h"

#include "base/mem.h"

/* Encodings of the format that are read, by their numbers. */
enum {
	ENCODING_PLAIN = 0,
	ENCODING_PLAIN_DICTIONARY = 2,
	ENCODING_RLE = 3,
	ENCODING_DELTA_BINARY_PACKED = 5,
	ENCODING_DELTA_LENGTH_BYTE_ARRAY = 6,
	ENCODING_DELTA_BYTE_ARRAY = 7,
	ENCODING_RLE_DICTIONARY = 8,
	ENCODING_BYTE_STREAM_SPLIT = 9,
};

enum { INT96_SIZE = 12, LENGTH_SIZE = 4 };

/* Bytes of a value as PLAIN has it; 0: they differ, or are less than one. */
static size_t width_of(const struct parquet_leaf *leaf)
{
	switch (leaf->type) {
	case PARQUET_INT32:
	case PARQUET_FLOAT:
		return 4;
	case PARQUET_INT64:
	case PARQUET_DOUBLE:
		return 8;
	case PARQUET_INT96:
		return INT96_SIZE;
	case PARQUET_FIXED_LEN_BYTE_ARRAY:
		return leaf->length;
	default:
		return 0;
	}
}

static bool is_bytes(const struct parquet_leaf *leaf)
{
	return leaf->type == PARQUET_BYTE_ARRAY || leaf->type == PARQUET_INT96 ||
	       leaf->type == PARQUET_FIXED_LEN_BYTE_ARRAY;
}

static int take(struct parquet_values_reader *values, size_t size,
		struct parquet_datum *datum)
{
	if (size > (size_t)(values->end - values->at))
		return -1;
	datum->bytes = values->at;
	datum->size = (uint32_t)size;
	values->at += size;
	return 0;
}

static int next_fixed(struct parquet_values_reader *values, struct parquet_datum *datum)
{
	size_t width = width_of(values->leaf);

	if (take(values, width, datum))
		return -1;
	if (!is_bytes(values->leaf))
		datum->bits = bytes_le(datum->bytes, (unsigned)width);
	return 0;
}

static int next_bytes(struct parquet_values_reader *values, struct parquet_datum *datum)
{
	if (take(values, LENGTH_SIZE, datum))
		return -1;
	return take(values, (size_t)bytes_le(datum->bytes, LENGTH_SIZE), datum);
}

static int next_bit(struct parquet_values_reader *values, struct parquet_datum *datum)
{
	uint64_t index = values->index++;

	if (index / 8 >= (uint64_t)(values->end - values->at))
		return -1;
	datum->bits = values->at[index / 8] >> index % 8 & 1;
	return 0;
}

static int next_run(struct parquet_values_reader *values, struct parquet_datum *datum)
{
	uint32_t value;

	if (parquet_hybrid_next(&values->hybrid, &value))
		return -1;
	datum->bits = value;
	return 0;
}

static int next_entry(struct parquet_values_reader *values, struct parquet_datum *datum)
{
	uint32_t index;

	if (parquet_hybrid_next(&values->hybrid, &index) ||
	    index >= values->dictionary->entries)
		return -1;
	*datum = values->dictionary->entry[index];
	return 0;
}

static int next_delta(struct parquet_values_reader *values, struct parquet_datum *datum)
{
	int64_t value;

	if (parquet_delta_next(&values->delta, &value))
		return -1;
	datum->bits =
	    values->leaf->type == PARQUET_INT32 ? (uint32_t)value : (uint64_t)value;
	return 0;
}

/* A length of DELTA_LENGTH_BYTE_ARRAY and its bytes. */
static int next_length(struct parquet_values_reader *values, struct parquet_datum *datum)
{
	int64_t length;

	if (parquet_delta_next(&values->delta, &length) || length < 0 ||
	    length > values->end - values->at)
		return -1;
	return take(values, (size_t)length, datum);
}

/* What it has in common with the value before, and its own bytes. */
static int next_shared(struct parquet_values_reader *values, struct parquet_datum *datum)
{
	int64_t shared;

	if (parquet_delta_next(&values->shared, &shared) || shared < 0 ||
	    (uint64_t)shared > values->text.size || next_length(values, datum))
		return -1;
	if ((uint64_t)shared + datum->size > UINT32_MAX / 4)
		return -1;
	values->text.size = (size_t)shared;
	bytes_reserve(&values->text, datum->size + 1);
	bytes_add(&values->text, datum->bytes, datum->size);
	datum->bytes = values->text.data;
	datum->size = (uint32_t)values->text.size;
	if (values->leaf->type == PARQUET_FIXED_LEN_BYTE_ARRAY &&
	    datum->size != values->leaf->length)
		return -1;
	return 0;
}

/* The first bytes of all values, then the second ones, ... */
static int next_split(struct parquet_values_reader *values, struct parquet_datum *datum)
{
	size_t width = width_of(values->leaf);
	uint64_t count = (uint64_t)(values->end - values->at) / width;
	uint64_t index = values->index++;

	if (index >= count)
		return -1;
	values->text.size = 0;
	for (size_t i = 0; i < width; i++)
		bytes_add_byte(&values->text, values->at[i * count + index]);
	datum->bytes = values->text.data;
	datum->size = (uint32_t)width;
	if (!is_bytes(values->leaf))
		datum->bits = bytes_le(datum->bytes, (unsigned)width);
	return 0;
}

static int begin_plain(struct parquet_values_reader *values)
{
	values->next = values->leaf->type == PARQUET_BOOLEAN      ? next_bit
		       : values->leaf->type == PARQUET_BYTE_ARRAY ? next_bytes
								  : next_fixed;
	return 0;
}

/* A page of nulls alone may lack even the width. */
static int begin_dictionary(struct parquet_values_reader *values)
{
	unsigned width = values->at < values->end ? *values->at++ : 0;

	if (!values->dictionary || width > 32)
		return -1;
	parquet_hybrid_read(&values->hybrid, values->at, values->end, width);
	values->next = next_entry;
	return 0;
}

static int begin_runs(struct parquet_values_reader *values)
{
	uint64_t size;

	if (values->leaf->type != PARQUET_BOOLEAN ||
	    values->end - values->at < LENGTH_SIZE)
		return -1;
	size = bytes_le(values->at, LENGTH_SIZE);
	values->at += LENGTH_SIZE;
	if (size > (uint64_t)(values->end - values->at))
		return -1;
	parquet_hybrid_read(&values->hybrid, values->at, values->at + size, 1);
	values->next = next_run;
	return 0;
}

/* Numbers of no bits have no bytes: without a limit a few bytes were many of them. */
static int begin_numbers(struct parquet_values_reader *values,
			 struct parquet_delta_reader *delta)
{
	return parquet_delta_read(delta, values->at, values->end) ||
	       delta->left > values->most;
}

static int begin_delta(struct parquet_values_reader *values)
{
	if (values->leaf->type != PARQUET_INT32 && values->leaf->type != PARQUET_INT64)
		return -1;
	values->next = next_delta;
	return begin_numbers(values, &values->delta);
}

/* The bytes of all values begin where their lengths end. */
static int begin_lengths(struct parquet_values_reader *values)
{
	if (begin_numbers(values, &values->delta))
		return -1;
	values->at = parquet_delta_end(values->delta);
	values->next = next_length;
	return values->at && values->leaf->type == PARQUET_BYTE_ARRAY ? 0 : -1;
}

static int begin_shared(struct parquet_values_reader *values)
{
	if (values->leaf->type != PARQUET_BYTE_ARRAY &&
	    values->leaf->type != PARQUET_FIXED_LEN_BYTE_ARRAY)
		return -1;
	if (begin_numbers(values, &values->shared))
		return -1;
	values->at = parquet_delta_end(values->shared);
	if (!values->at || begin_numbers(values, &values->delta))
		return -1;
	values->at = parquet_delta_end(values->delta);
	values->next = next_shared;
	return values->at ? 0 : -1;
}

static int begin_split(struct parquet_values_reader *values)
{
	size_t width = width_of(values->leaf);

	values->next = next_split;
	return width && (size_t)(values->end - values->at) % width == 0 ? 0 : -1;
}

int parquet_values_begin(struct parquet_values_reader *values, int32_t encoding,
			 const uint8_t *data, size_t size, struct error *error)
{
	int status = -1;

	values->at = data;
	values->end = data + size;
	values->index = 0;
	values->text.size = 0;
	switch (encoding) {
	case ENCODING_PLAIN:
		status = begin_plain(values);
		break;
	case ENCODING_PLAIN_DICTIONARY:
	case ENCODING_RLE_DICTIONARY:
		if (!values->dictionary)
			return error_set(error, "indices ahead of their dictionary");
		status = begin_dictionary(values);
		break;
	case ENCODING_RLE:
		status = begin_runs(values);
		break;
	case ENCODING_DELTA_BINARY_PACKED:
		status = begin_delta(values);
		break;
	case ENCODING_DELTA_LENGTH_BYTE_ARRAY:
		status = begin_lengths(values);
		break;
	case ENCODING_DELTA_BYTE_ARRAY:
		status = begin_shared(values);
		break;
	case ENCODING_BYTE_STREAM_SPLIT:
		status = begin_split(values);
		break;
	default:
		return error_set(error, "encoding %d, which is not read", (int)encoding);
	}
	return status ? error_set(error, "encoding %d does not hold", (int)encoding) : 0;
}

int parquet_dictionary_read(struct parquet_read_dictionary *dictionary,
			    const struct parquet_leaf *leaf, const uint8_t *data,
			    size_t size, uint32_t count, struct error *error)
{
	struct parquet_values_reader values = {.leaf = leaf, .most = count};

	dictionary->entries = 0;
	if (leaf->type == PARQUET_BOOLEAN)
		return error_set(error, "a dictionary of booleans");
	if (parquet_values_begin(&values, ENCODING_PLAIN, data, size, error))
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		struct parquet_datum datum = {0};

		if (parquet_values_next(&values, &datum))
			return error_set(error, "a dictionary that ends within entry %u",
					 i + 1);
		dictionary->entry =
		    mem_grow(dictionary->entry, dictionary->entries, &dictionary->room,
			     sizeof(*dictionary->entry));
		dictionary->entry[dictionary->entries++] = datum;
	}
	return 0;
}
