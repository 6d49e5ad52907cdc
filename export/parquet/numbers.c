/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/numbers.h"

/* A table of so many values is small enough to be cleared for a page. */
enum { MOST_SPAN = 1 << 16 };

static bool is_plain_integer(const struct parquet_column *column)
{
	return column->type == PARQUET_INT64 && column->logical != PARQUET_UINT_64;
}

void parquet_numbers_range(const struct parquet_numbers *numbers,
			   struct parquet_range *range)
{
	unsigned width = parquet_width(numbers->column);
	int64_t least = INT64_MAX, most = INT64_MIN;

	if (!is_plain_integer(numbers->column)) {
		for (size_t i = 0; i < numbers->count; i++) {
			const struct parquet_value value = {
			    .size = width,
			    .bits = bytes_le(numbers->plain + i * width, width)};

			parquet_range_add(range, numbers->column, &value);
		}
		return;
	}
	for (size_t i = 0; i < numbers->count; i++) {
		int64_t number = (int64_t)bytes_le(numbers->plain + i * 8, 8);

		least = number < least ? number : least;
		most = number > most ? number : most;
	}
	if (numbers->count)
		parquet_range_join(range, &(const struct parquet_range){
					      .any = true, .least = least, .most = most});
}

static inline bool code_one(struct parquet_dictionary *dictionary, uint64_t bits,
			    unsigned width, uint32_t *code)
{
	const struct parquet_value value = {.size = width, .bits = bits};
	int64_t found = parquet_dictionary_code(dictionary, &value);

	*code = (uint32_t)found;
	return found != PARQUET_FULL;
}

static bool code_each(const struct parquet_numbers *numbers,
		      struct parquet_dictionary *dictionary, uint32_t *code)
{
	unsigned width = parquet_width(numbers->column);

	for (size_t i = 0; i < numbers->count; i++)
		if (!code_one(dictionary, bytes_le(numbers->plain + i * width, width),
			      width, &code[i]))
			return false;
	return true;
}

/* Integers near each other: `known` has the code, plus 1, of least + i at i. */
static bool code_near(const struct parquet_numbers *numbers, int64_t least,
		      struct parquet_dictionary *dictionary, uint32_t *known,
		      uint32_t *code)
{
	for (size_t i = 0; i < numbers->count; i++) {
		uint64_t bits = bytes_le(numbers->plain + i * 8, 8);
		uint32_t *at = &known[bits - (uint64_t)least];

		if (*at == 0) {
			if (!code_one(dictionary, bits, 8, at))
				return false;
			++*at;
		}
		code[i] = *at - 1;
	}
	return true;
}

bool parquet_numbers_code(const struct parquet_numbers *numbers,
			  const struct parquet_range *range,
			  struct parquet_dictionary *dictionary, struct bytes *direct,
			  uint32_t *code)
{
	uint64_t span = (uint64_t)range->most - (uint64_t)range->least;
	size_t size = ((size_t)span + 1) * sizeof(uint32_t);

	if (numbers->count == 0)
		return true;
	if (!is_plain_integer(numbers->column) || span >= MOST_SPAN ||
	    span / 8 > numbers->count)
		return code_each(numbers, dictionary, code);
	direct->size = 0;
	memset(bytes_extend(direct, size), 0, size);
	/* Memory is aligned for any type, as it comes from malloc. */
	return code_near(numbers, range->least, dictionary,
			 (uint32_t *)(void *)direct->data, code);
}
