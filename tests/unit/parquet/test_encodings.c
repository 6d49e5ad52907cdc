/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes worked out by hand, some of them in the format's Encodings.md. */
#include "../draw.h"
#include "../export/export.h"
#include "parquet/parquet_private.h"

static void groups_are_packed_from_the_lowest_bit(void **state)
{
	static const uint32_t number[] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct bytes out = {0};

	(void)state;
	parquet_hybrid_add(&out, 3, number, COUNT(number));
	assert_bytes(&out, "\x03\x88\xc6\xfa");
	bytes_clear(&out);
}

static void runs_are_counted(void **state)
{
	uint32_t number[101];
	struct bytes out = {0};

	(void)state;
	for (size_t i = 0; i < 100; i++)
		number[i] = 300;
	number[100] = 1;
	parquet_hybrid_add(&out, 9, number, COUNT(number));
	assert_bytes(&out, "\xc8\x01\x2c\x01"
			   "\x02\x01\x00");
	out.size = 0;
	parquet_hybrid_add(&out, 1, NULL, 0);
	assert_int_equal(out.size, 0);
	bytes_clear(&out);
}

/* What was packed, read by the words of the format. */
static uint64_t unpacked(const uint8_t *data, size_t at, unsigned width)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < width; i++, at++)
		value |= (uint64_t)(data[at / 8] >> at % 8 & 1) << i;
	return value;
}

static uint64_t varint(const uint8_t **at)
{
	uint64_t value = 0;
	unsigned shift = 0;

	do
		value |= (uint64_t)(**at & 0x7f) << shift, shift += 7;
	while (*(*at)++ & 0x80);
	return value;
}

static void assert_hybrid(const struct bytes *bytes, unsigned width,
			  const uint32_t *wanted, size_t count)
{
	const uint8_t *at = bytes->data, *end = at + bytes->size;
	size_t n = 0;

	while (at < end) {
		uint64_t head = varint(&at);
		size_t values = head & 1 ? (head >> 1) * 8 : head >> 1;

		for (size_t i = 0; i < values && n < count; i++, n++)
			assert_int_equal(wanted[n], head & 1
							? unpacked(at, i * width, width)
							: unpacked(at, 0, width));
		at += head & 1 ? (head >> 1) * width : (width + 7) / 8;
	}
	assert_ptr_equal(at, end);
	assert_int_equal(n, count);
}

static void any_numbers_come_back(void **unused)
{
	(void)unused;
	for (int round = 0; round < 300; round++) {
		unsigned width = (unsigned)draw_between(1, 32);
		struct bytes out = {0};
		uint32_t number[3000], last = 0;
		size_t count = (size_t)draw_between(0, 3000);
		int64_t repeat = draw_between(1, 30);

		for (size_t i = 0; i < count; i++) {
			if (draw_between(1, repeat) == 1)
				last = (uint32_t)(draw() >> (64 - width));
			number[i] = last;
		}
		parquet_hybrid_add(&out, width, number, count);
		assert_hybrid(&out, width, number, count);
		bytes_clear(&out);
	}
}

static void add_delta(struct bytes *out, const int64_t *number, size_t count)
{
	struct bytes plain = {0};

	for (size_t i = 0; i < count; i++)
		bytes_add_le(&plain, (uint64_t)number[i], 8);
	parquet_delta_add(out, plain.data, count);
	bytes_clear(&plain);
}

static void equal_steps_take_no_bits(void **state)
{
	static const int64_t number[] = {1, 2, 3, 4, 5};
	struct bytes out = {0};

	(void)state;
	add_delta(&out, number, COUNT(number));
	assert_bytes(&out, "\x80\x01\x04\x05\x02"
			   "\x02\0\0\0\0");
	bytes_clear(&out);
}

static void steps_count_from_the_least(void **state)
{
	static const int64_t number[] = {7, 5, 3, 1, 2, 3, 4, 5};
	struct bytes out = {0};

	(void)state;
	add_delta(&out, number, COUNT(number));
	assert_bytes(&out, "\x80\x01\x04\x08\x0e"
			   "\x03\x02\0\0\0"
			   "\xc0\x3f\0\0\0\0\0\0");
	bytes_clear(&out);
}

static void steps_wrap_around(void **state)
{
	static const int64_t wide[] = {INT64_MAX, INT64_MIN};
	struct bytes out = {0};

	(void)state;
	add_delta(&out, wide, 2);
	assert_bytes(&out, "\x80\x01\x04\x02\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
			   "\x02\0\0\0\0");
	bytes_clear(&out);
}

static void no_number_and_one_are_a_head(void **state)
{
	static const int64_t number[] = {-3};
	struct bytes out = {0};

	(void)state;
	add_delta(&out, NULL, 0);
	assert_bytes(&out, "\x80\x01\x04\x00\x00");
	out.size = 0;
	add_delta(&out, number, 1);
	assert_bytes(&out, "\x80\x01\x04\x01\x05");
	bytes_clear(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(groups_are_packed_from_the_lowest_bit),
	    cmocka_unit_test(runs_are_counted),
	    DRAW_TEST(any_numbers_come_back),
	    cmocka_unit_test(equal_steps_take_no_bits),
	    cmocka_unit_test(steps_count_from_the_least),
	    cmocka_unit_test(steps_wrap_around),
	    cmocka_unit_test(no_number_and_one_are_a_head),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
