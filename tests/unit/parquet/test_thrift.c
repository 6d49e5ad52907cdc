/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parquet/parquet_private.h"

#include "../export/export.h"

static void fields_are_steps_of_ids(void **state)
{
	struct bytes out = {0};
	struct thrift thrift;

	(void)state;
	thrift_begin(&thrift, &out);
	thrift_i32(&thrift, 1, 5);
	thrift_i64(&thrift, 3, -1);
	thrift_bool(&thrift, 5, true);
	thrift_bool(&thrift, 6, false);
	thrift_text(&thrift, 20, "ab");
	thrift_bool(&thrift, 200, true);
	thrift_end(&thrift);
	assert_bytes(&out, "\x15\x0a"
			   "\x26\x01"
			   "\x21"
			   "\x12"
			   "\xe8\x02"
			   "ab"
			   "\x01\x90\x03"
			   "\x00");
	bytes_clear(&out);
}

static void numbers_take_what_they_need(void **state)
{
	struct bytes out = {0};

	(void)state;
	bytes_add_varint(&out, 127);
	bytes_add_varint(&out, 300);
	bytes_add_varint(&out, UINT64_MAX);
	bytes_add_zigzag(&out, -64);
	bytes_add_zigzag(&out, 64);
	bytes_add_zigzag(&out, INT64_MIN);
	assert_bytes(&out, "\x7f"
			   "\xac\x02"
			   "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
			   "\x7f"
			   "\x80\x01"
			   "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	bytes_clear(&out);
}

static void lists_have_short_and_long_heads(void **state)
{
	struct bytes out = {0};
	struct thrift thrift;

	(void)state;
	thrift_begin(&thrift, &out);
	thrift_list(&thrift, 1, THRIFT_I32, 2);
	thrift_i32(&thrift, THRIFT_ITEM, 1);
	thrift_i32(&thrift, THRIFT_ITEM, -1);
	thrift_list(&thrift, 2, THRIFT_BINARY, 0);
	thrift_list(&thrift, 3, THRIFT_I64, 15);
	for (int i = 0; i < 15; i++)
		thrift_i64(&thrift, THRIFT_ITEM, 1);
	thrift_end(&thrift);
	assert_bytes(&out, "\x19\x25\x02\x01"
			   "\x19\x08"
			   "\x19\xf6\x0f\2\2\2\2\2\2\2\2\2\2\2\2\2\2\2"
			   "\x00");
	bytes_clear(&out);
}

/* A struct in between does not change the steps of the outer one. */
static void structs_count_for_themselves(void **state)
{
	struct bytes out = {0};
	struct thrift thrift;

	(void)state;
	thrift_begin(&thrift, &out);
	thrift_struct(&thrift, 5);
	thrift_i32(&thrift, 1, 0);
	thrift_list(&thrift, 2, THRIFT_STRUCT, 1);
	thrift_struct(&thrift, THRIFT_ITEM);
	thrift_i32(&thrift, 9, 1);
	thrift_end(&thrift);
	thrift_i32(&thrift, 3, 0);
	thrift_end(&thrift);
	thrift_i32(&thrift, 7, 0);
	thrift_end(&thrift);
	assert_bytes(&out, "\x5c\x15\x00\x19\x1c\x95\x02\x00\x15\x00\x00"
			   "\x25\x00\x00");
	bytes_clear(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(fields_are_steps_of_ids),
	    cmocka_unit_test(numbers_take_what_they_need),
	    cmocka_unit_test(lists_have_short_and_long_heads),
	    cmocka_unit_test(structs_count_for_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
