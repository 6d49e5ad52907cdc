/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes worked out by hand, some of them in the format's Encodings.md. */
#include "../draw.h"
#include "../export/export.h"
#include "parquet/encoding.h"

static void groups_are_packed_from_the_lowest_bit(void **state)
{
	struct parquet_hybrid hybrid = {.width = 3};

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		parquet_hybrid_add(&hybrid, i);
	parquet_hybrid_finish(&hybrid);
	assert_bytes(&hybrid.out, "\x03\x88\xc6\xfa");
	bytes_clear(&hybrid.out);
}

static void runs_are_counted(void **state)
{
	struct parquet_hybrid hybrid = {.width = 9};

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		parquet_hybrid_add(&hybrid, 300);
	parquet_hybrid_add(&hybrid, 1);
	parquet_hybrid_finish(&hybrid);
	assert_bytes(&hybrid.out, "\xc8\x01\x2c\x01"
				  "\x02\x01\x00");
	parquet_hybrid_reset(&hybrid, 1);
	parquet_hybrid_finish(&hybrid);
	assert_int_equal(hybrid.out.size, 0);
	bytes_clear(&hybrid.out);
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

/* One by one, as runs and many at once, by chance. */
static void add_in_parts(struct parquet_hybrid *hybrid, const uint32_t *number,
			 size_t count)
{
	for (size_t i = 0; i < count;) {
		size_t part = (size_t)draw_between(1, (int64_t)(count - i)), run = 1;
		int64_t how = draw_between(0, 2);

		while (run < part && number[i + run] == number[i])
			run++;
		if (how == 0)
			part = 1;
		if (how == 1)
			part = run;
		if (how == 0)
			parquet_hybrid_add(hybrid, number[i]);
		else if (how == 1)
			parquet_hybrid_repeat(hybrid, number[i], run);
		else
			parquet_hybrid_add_all(hybrid, number + i, part);
		i += part;
	}
}

static void any_numbers_come_back(void **unused)
{
	(void)unused;
	for (int round = 0; round < 300; round++) {
		struct parquet_hybrid hybrid = {.width = (unsigned)draw_between(1, 32)};
		uint32_t number[3000], last = 0;
		size_t count = (size_t)draw_between(0, 3000);
		int64_t repeat = draw_between(1, 30);

		for (size_t i = 0; i < count; i++) {
			if (draw_between(1, repeat) == 1)
				last = (uint32_t)(draw() >> (64 - hybrid.width));
			number[i] = last;
		}
		add_in_parts(&hybrid, number, count);
		parquet_hybrid_finish(&hybrid);
		assert_hybrid(&hybrid.out, hybrid.width, number, count);
		bytes_clear(&hybrid.out);
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
