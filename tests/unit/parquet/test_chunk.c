/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parquet/parquet_private.h"

#include "../draw.h"
#include "../export/export.h"

static const struct parquet_settings settings = {.codec = PARQUET_UNCOMPRESSED,
						 .page_rows = 1000,
						 .page_bytes = 1 << 20,
						 .dictionary_bytes = 1 << 20};

/* A chunk of 8,000 values of 64 bits, one a row. */
static void fill(struct parquet_chunk *chunk, struct parquet_press *press,
		 const struct parquet_column *column, uint64_t (*bits_of)(uint64_t))
{
	struct error error = ERROR_INIT;

	*press = (struct parquet_press){.codec = PARQUET_UNCOMPRESSED};
	parquet_chunk_init(chunk, column, &settings, press);
	for (uint64_t i = 0; i < 8000; i++) {
		const struct parquet_value value = {.size = 8, .bits = bits_of(i)};

		parquet_chunk_add(chunk, PARQUET_FIRST, &value);
		assert_int_equal(parquet_chunk_end_rows(chunk, 1, &error), 0);
	}
	assert_int_equal(parquet_chunk_finish(chunk, &error), 0);
	assert_int_equal(chunk->pages, 8);
	assert_int_equal(chunk->value_count, 8000);
}

static void assert_encoding(const struct parquet_column *column,
			    uint64_t (*bits_of)(uint64_t), int encoding)
{
	struct parquet_chunk chunk;
	struct parquet_press press;

	fill(&chunk, &press, column, bits_of);
	assert_int_equal(chunk.pages_of[encoding], 8);
	assert_int_equal(chunk.head.size > 0, encoding == FORMAT_RLE_DICTIONARY);
	parquet_chunk_clear(&chunk);
	parquet_press_clear(&press);
}

static uint64_t counting(uint64_t i)
{
	return i;
}

static uint64_t by_chance(uint64_t i)
{
	(void)i;
	return draw();
}

static uint64_t of_few(uint64_t i)
{
	return (i * i % 17) << 50;
}

static void the_smaller_encoding_is_chosen(void **state)
{
	static const struct parquet_column integer = {.type = PARQUET_INT64};
	static const struct parquet_column real = {.type = PARQUET_DOUBLE};

	(void)state;
	assert_encoding(&integer, counting, FORMAT_DELTA_BINARY_PACKED);
	assert_encoding(&integer, by_chance, FORMAT_PLAIN);
	assert_encoding(&integer, of_few, FORMAT_RLE_DICTIONARY);
	assert_encoding(&real, counting, FORMAT_PLAIN);
	assert_encoding(&real, of_few, FORMAT_RLE_DICTIONARY);
}

static uint64_t first_few(uint64_t i)
{
	return i < 3500 ? i % 5 : i * UINT64_C(0x9e3779b97f4a7c15);
}

/* Full in the middle of a page: that page and all later ones do without it. */
static void a_full_dictionary_is_left(void **state)
{
	static const struct parquet_column column = {.type = PARQUET_DOUBLE};
	struct parquet_settings small = settings;
	struct error error = ERROR_INIT;
	struct parquet_press press = {.codec = PARQUET_UNCOMPRESSED};
	struct parquet_chunk chunk;

	(void)state;
	small.dictionary_bytes = 800;
	parquet_chunk_init(&chunk, &column, &small, &press);
	for (uint64_t i = 0; i < 8000; i++) {
		const struct parquet_value value = {.size = 8, .bits = first_few(i)};

		parquet_chunk_add(&chunk, PARQUET_FIRST, &value);
		assert_int_equal(parquet_chunk_end_rows(&chunk, 1, &error), 0);
	}
	assert_int_equal(parquet_chunk_finish(&chunk, &error), 0);
	assert_int_equal(chunk.pages_of[FORMAT_RLE_DICTIONARY], 3);
	assert_int_equal(chunk.pages_of[FORMAT_PLAIN], 5);
	assert_true(chunk.head.size > 800);
	parquet_chunk_clear(&chunk);
	parquet_press_clear(&press);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    DRAW_TEST(the_smaller_encoding_is_chosen),
	    cmocka_unit_test(a_full_dictionary_is_left),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
