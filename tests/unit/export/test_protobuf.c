/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/perfetto/protobuf.h"

#include "export.h"

static void fields_are_tags_and_values(void **state)
{
	struct bytes out = {0};

	(void)state;
	/* The examples of the encoding's own description: 150, "testing". */
	protobuf_add_uint(&out, 1, 150);
	protobuf_add_text(&out, 2, "testing");
	protobuf_add_uint(&out, 16, 0);
	protobuf_add_int(&out, 3, -2);
	assert_bytes(&out, "\x08\x96\x01"
			   "\x12\x07testing"
			   "\x80\x01\x00"
			   "\x18\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	bytes_clear(&out);
}

static void fixed_numbers_are_little_endian(void **state)
{
	struct bytes out = {0};

	(void)state;
	protobuf_add_fixed64(&out, 47, 0x0102030405060708u);
	protobuf_add_double(&out, 44, -2.5);
	assert_bytes(&out, "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01"
			   "\xe1\x02\x00\x00\x00\x00\x00\x00\x04\xc0");
	bytes_clear(&out);
}

static void texts_are_utf8(void **state)
{
	struct bytes out = {0};

	(void)state;
	protobuf_add_text(&out, 1, "");
	protobuf_add_text(&out, 1,
			  "a\xff"
			  "b");
	assert_bytes(&out, "\x0a\x00"
			   "\x0a\x05"
			   "a\xef\xbf\xbd"
			   "b");
	bytes_clear(&out);
}

/* Lengths of one, two, three and four bytes, and what stands around them. */
static void messages_know_their_length(void **state)
{
	static const size_t sizes[] = {0, 1, 127, 128, 16383, 16384, 2097152};

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct bytes out = {0}, wanted = {0};
		size_t inner;

		bytes_add_byte(&out, 0x55);
		inner = protobuf_begin(&out, 1);
		for (size_t k = 0; k < sizes[i]; k++)
			bytes_add_byte(&out, (uint8_t)k);
		protobuf_end(&out, inner);
		bytes_add_byte(&out, 0x66);

		bytes_add_byte(&wanted, 0x55);
		bytes_add_byte(&wanted, 0x0a);
		bytes_add_varint(&wanted, sizes[i]);
		for (size_t k = 0; k < sizes[i]; k++)
			bytes_add_byte(&wanted, (uint8_t)k);
		bytes_add_byte(&wanted, 0x66);
		assert_int_equal(out.size, wanted.size);
		assert_memory_equal(out.data, wanted.data, wanted.size);
		bytes_clear(&out);
		bytes_clear(&wanted);
	}
}

static void messages_nest(void **state)
{
	struct bytes out = {0};
	size_t outer = protobuf_begin(&out, 3), inner;

	(void)state;
	inner = protobuf_begin(&out, 1);
	protobuf_add_uint(&out, 1, 1);
	protobuf_end(&out, inner);
	inner = protobuf_begin(&out, 2);
	protobuf_end(&out, inner);
	protobuf_end(&out, outer);
	assert_bytes(&out, "\x1a\x06\x0a\x02\x08\x01\x12\x00");
	bytes_clear(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(fields_are_tags_and_values),
	    cmocka_unit_test(fixed_numbers_are_little_endian),
	    cmocka_unit_test(texts_are_utf8),
	    cmocka_unit_test(messages_know_their_length),
	    cmocka_unit_test(messages_nest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
