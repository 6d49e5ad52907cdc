/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Fields of CTF 2 that tracers seldom write: wide strings, reals of 16 bits, reversed
 * bits.
 */
#include <math.h>

#include "ctf_write.h"

#include "../select.h"

#define RS                 "\x1e"
#define FIELD(name, class) "{\"name\": \"" name "\", \"field-class\": {" class "}}"
#define NUMBER(name, type, length, order, more)                                          \
	FIELD(name, "\"type\": \"fixed-length-" type "\", \"length\": " length           \
		    ", \"alignment\": 8, \"byte-order\": \"" order "-endian\"" more)

#define WIDE(encoding) "\"null-terminated-string\", \"encoding\": \"utf-" encoding "\""

/* clang-format off */
static const char metadata[] =
    RS "{\"type\": \"preamble\", \"version\": 2}"
    RS "{\"type\": \"trace-class\"}"
    RS "{\"type\": \"clock-class\", \"id\": \"c\", \"frequency\": 1000000000}"
    RS "{\"type\": \"data-stream-class\", \"default-clock-class-id\": \"c\", "
    "\"event-record-header-field-class\": {\"type\": \"structure\", "
    "\"member-classes\": ["
    NUMBER("t", "unsigned-integer", "8", "little",
	   ", \"roles\": [\"default-clock-timestamp\"]")
    "]}}"
    RS "{\"type\": \"event-record-class\", \"name\": \"e\", \"payload-field-class\": "
    "{\"type\": \"structure\", \"member-classes\": ["
    FIELD("z16be", "\"type\": " WIDE("16be")) ","
    FIELD("z16le", "\"type\": " WIDE("16le")) ","
    FIELD("z32le", "\"type\": " WIDE("32le")) ","
    FIELD("f32be", "\"type\": \"static-length-string\", \"length\": 12, "
		   "\"encoding\": \"utf-32be\"") ","
    FIELD("bad", "\"type\": " WIDE("16le")) ","
    FIELD("list", "\"type\": \"static-length-array\", \"length\": 2, "
		  "\"element-field-class\": {\"type\": " WIDE("16le") "}") ","
    NUMBER("one", "floating-point-number", "16", "big", "") ","
    NUMBER("small", "floating-point-number", "16", "little", "") ","
    NUMBER("less", "floating-point-number", "16", "little", "") ","
    NUMBER("none", "floating-point-number", "16", "little", "") ","
    NUMBER("little", "unsigned-integer", "16", "little",
	   ", \"bit-order\": \"last-to-first\"") ","
    NUMBER("big", "signed-integer", "8", "big", ", \"bit-order\": \"first-to-last\"")
    "]}}";
/* clang-format on */

static const char *const field[] = {"z16be", "z16le", "z32le", "f32be", "bad",    "list",
				    "one",   "small", "less",  "none",  "little", "big"};

enum { FIELDS = sizeof(field) / sizeof(*field), REALS = 6, INTEGERS = 10 };

#define EURO    "\xe2\x82\xac"
#define PENGUIN "\xf0\x9f\x90\xa7"

static void check_event(void *context, const struct trace_event *event)
{
	static const char *const text[] = {EURO, "a" PENGUIN, PENGUIN, "b" EURO};
	const struct cell *cell = event->cell;

	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(cell[i].type, CELL_TEXT);
		assert_int_equal(cell[i].size, strlen(text[i]));
		assert_memory_equal(cell[i].bytes, text[i], strlen(text[i]));
	}
	assert_int_equal(cell[4].type, CELL_BLOB); /* half of a character */
	assert_int_equal(cell[4].size, 4);
	assert_memory_equal(cell[4].bytes, "\x3d\xd8z", 4);
	assert_int_equal(cell[5].type, CELL_TEXT);
	assert_int_equal(cell[5].size, strlen("[\"x\",\"\xef\xbf\xbdz\"]"));
	assert_memory_equal(cell[5].bytes, "[\"x\",\"\xef\xbf\xbdz\"]", cell[5].size);
	for (size_t i = REALS; i < INTEGERS; i++)
		assert_int_equal(cell[i].type, CELL_REAL);
	assert_true(cell[REALS].real == 1.5);
	assert_true(cell[REALS + 1].real == 0x1p-24);
	assert_true(cell[REALS + 2].real == -INFINITY);
	assert_true(isnan(cell[REALS + 3].real));
	assert_int_equal(cell[INTEGERS].integer, 0x8001);
	assert_int_equal(cell[INTEGERS + 1].integer, -128);
	++*(int *)context;
}

SCRATCH_TEST(what_tracers_write_seldom_is_read)
{
	struct ctf_stream stream = {.size = 0};
	struct trace_reader *reader;
	int events = 0;

	put_int(&stream, 1, 7);
	put_bytes(&stream, "\x20\xac\0\0", 4);
	put_bytes(&stream, "a\0\x3d\xd8\x27\xdc\0\0", 8);
	put_bytes(&stream, "\x27\xf4\1\0\0\0\0\0", 8);
	put_bytes(&stream, "\0\0\0b\0\0\x20\xac\0\0\0\0", 12);
	put_bytes(&stream, "\x3d\xd8z\0\0\0", 6);
	put_bytes(&stream, "x\0\0\0\x3d\xd8z\0\0\0", 10);
	put_bytes(&stream, "\x3e\0\1\0\0\xfc\1\x7c", 8);
	put_bytes(&stream, "\1\x80\1", 3);
	scratch_text("t/metadata", metadata);
	scratch_bytes("t/stream", stream.bytes, stream.size);
	reader = open_reader("t");
	select_fields(reader, "e", field, FIELDS);
	while (trace_reader_step(reader, UINT64_MAX, check_event, &events))
		;
	assert_int_equal(trace_reader_problems(reader)->count, 0);
	assert_int_equal(events, 1);
	trace_reader_free(reader);
}
