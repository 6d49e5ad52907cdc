/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/ctf/metadata.h"
#include "trace/ctf/tsdl.h"
#include "trace/schema.h"

#include "metadata_build.h"

#define TRACE "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };\n"

static struct schema *parse(const char *text)
{
	struct error error = ERROR_INIT;
	struct schema *schema = tsdl_parse(text, strlen(text), &error);

	assert_string_equal(error_text(&error), "");
	assert_non_null(schema);
	return schema;
}

static void assert_wrong(const char *text, const char *wanted)
{
	struct error error = ERROR_INIT;
	char *whole = mem_printf(TRACE "%s", text);

	assert_null(tsdl_parse(whole, strlen(whole), &error));
	assert_string_equal(error_text(&error), wanted);
	error_clear(&error);
	free(whole);
}

/* The fields of an event that has these. */
static struct schema *parse_fields(const char *before, const char *fields)
{
	char *text = mem_printf(TRACE "%s event { id = 0; stream_id = 0; name = \"e\";"
				      " fields := struct { %s }; };",
				before, fields);
	struct schema *schema = parse(text);

	free(text);
	assert_int_equal(schema->events, 1);
	return schema;
}

TEST(blocks_are_read)
{
	struct schema *schema = parse(
	    "trace { major = 1; minor = 8; byte_order = be;\n"
	    " uuid = \"b417f438-724f-b346-8683-9BD543D43572\";\n"
	    " packet.header := struct { integer { size = 32; } magic; }; };\n"
	    "env { hostname = \"a \\\"b\\\"\"; tracer_name = \"lttng-ust\";\n"
	    " tracer_major = 2; tracer_minor = 13; tracer_patchlevel = 9; x = 1; };\n"
	    "clock { name = monotonic; freq = 1000; offset_s = -5; offset = 0x10;\n"
	    " description = \"x\"; };\n"
	    "stream { id = 7; packet.context := struct { }; };\n"
	    "event { id = 3; stream_id = 7; name = \"a:b\"; loglevel = 13;\n"
	    " model.emf.uri = \"http://x\"; context := struct { }; };\n");

	assert_int_equal(schema->order, ORDER_BIG);
	assert_true(schema->has_uuid);
	assert_int_equal(schema->uuid[0], 0xb4);
	assert_int_equal(schema->uuid[15], 0x72);
	assert_string_equal(schema->hostname, "a \"b\"");
	assert_int_equal(schema->clocks, 1);
	assert_string_equal(schema->clock[0].name, "monotonic");
	assert_int_equal(schema->clock[0].frequency, 1000);
	assert_int_equal(schema->clock[0].offset_s, -5);
	assert_int_equal(schema->clock[0].offset, 16);
	assert_false(schema->clock[0].has_uuid);
	assert_int_equal(schema->streams, 1);
	assert_int_equal(schema->stream[0].id, 7);
	assert_non_null(schema->stream[0].scope[SCOPE_PACKET_CONTEXT]);
	assert_null(schema->stream[0].scope[SCOPE_EVENT_HEADER]);
	assert_int_equal(schema->events, 1);
	assert_int_equal(schema->event[0].id, 3);
	assert_int_equal(schema->event[0].stream_id, 7);
	assert_string_equal(schema->event[0].known.name, "a:b");
	assert_non_null(schema->event[0].scope[SCOPE_SPECIFIC_CONTEXT]);
	assert_null(schema->event[0].scope[SCOPE_PAYLOAD]);
	schema_free(schema);
}

TEST(numbers_have_their_layout)
{
	struct schema *schema = parse_fields(
	    "typealias integer { size = 5; } := unsigned long;",
	    "integer { size = 16; align = 32; signed = true; byte_order = be;"
	    " base = hex; } a; unsigned long b; integer { size = 24; } c;"
	    "floating_point { exp_dig = 8; mant_dig = 24; align = 1; } d;"
	    "string { encoding = UTF8; } e;"
	    "integer { size = 27; align = 1; map = clock.m.value; } f;");
	const struct field_class *fields = schema->event[0].scope[SCOPE_PAYLOAD];
	const struct field_class *a = field_member(fields, "a");

	assert_int_equal(fields->members, 6);
	assert_int_equal(fields->align, 32);
	assert_int_equal(a->size, 16);
	assert_int_equal(a->align, 32);
	assert_int_equal(a->order, ORDER_BIG);
	assert_true(a->is_signed);
	assert_int_equal(field_member(fields, "b")->size, 5);
	assert_int_equal(field_member(fields, "b")->align, 1);
	assert_int_equal(field_member(fields, "c")->align, 8);
	assert_int_equal(field_member(fields, "d")->size, 32);
	assert_int_equal(field_member(fields, "e")->type, FIELD_STRING);
	assert_string_equal(field_member(fields, "f")->clock, "m");
	assert_null(field_member(fields, "g"));
	schema_free(schema);
}

TEST(labels_count_on)
{
	struct schema *schema = parse_fields(
	    "", "enum : integer { size = 8; signed = 1; } { a = -3, \"b c\" = 2 ... 5,"
		" d, } x;");
	const struct field_class *x =
	    field_member(schema->event[0].scope[SCOPE_PAYLOAD], "x");

	assert_true(x->is_label);
	assert_int_equal(x->members, 3);
	assert_true(x->member[0].range->first == (uint64_t)-3 &&
		    x->member[0].range->last == (uint64_t)-3);
	assert_string_equal(x->member[1].name, "b c");
	assert_true(x->member[1].range->first == 2 && x->member[1].range->last == 5);
	assert_true(x->member[2].range->first == 6 && x->member[2].range->last == 6);
	schema_free(schema);
}

/* If labels share a value, the one that came first counts, by any of its ranges. */
TEST(a_label_may_have_several_ranges)
{
	struct schema *schema = parse_fields(
	    "", "enum : integer { size = 8; signed = 1; } { a = -1, b = -2 ... 3, a = 2, "
		"c } x;");
	struct field_class *x = schema->event[0].scope[SCOPE_PAYLOAD]->member[0].class;

	assert_int_equal(x->members, 3);
	assert_int_equal(x->member[0].ranges, 2);
	assert_string_equal(field_label(x, (uint64_t)-1), "a");
	assert_string_equal(field_label(x, (uint64_t)-2), "b");
	assert_string_equal(field_label(x, 2), "a");
	assert_string_equal(field_label(x, 3), "b");
	assert_null(field_label(x, 4));
	assert_string_equal(field_label(x, 2), "a");
	schema_free(schema);
}

TEST(compound_types_nest)
{
	struct schema *schema = parse_fields(
	    "typedef integer { size = 8; encoding = UTF8; } text[4];\n"
	    "struct pair { integer { size = 16; } n; integer { size = 3; } m; } "
	    "align(64);\n"
	    "variant choice { struct pair p; string s; };\n"
	    "enum tag : integer { size = 8; } { p, s };",
	    "enum tag t; variant choice <t> v; text x; struct pair list[t];"
	    " struct { } align(8) padding; typealias string := word; word w;");
	const struct field_class *fields = schema->event[0].scope[SCOPE_PAYLOAD];
	const struct field_class *v = field_member(fields, "v");
	const struct field_class *list = field_member(fields, "list");

	assert_int_equal(v->type, FIELD_VARIANT);
	assert_string_equal(v->location->step[0], "t");
	assert_int_equal(v->align, 1);
	assert_int_equal(v->member[0].class->align, 64);
	assert_true(field_is_string(field_member(fields, "x")));
	assert_int_equal(field_member(fields, "x")->length, 4);
	assert_int_equal(list->type, FIELD_SEQUENCE);
	assert_string_equal(list->location->step[0], "t");
	assert_int_equal(list->align, 64);
	assert_int_equal(list->element->members, 2);
	assert_false(field_is_string(list));
	assert_int_equal(field_member(fields, "padding")->align, 8);
	assert_int_equal(field_member(fields, "w")->type, FIELD_STRING);
	schema_free(schema);
}

/* Constants that babeltrace2 and barectf write, and others that babeltrace2 reads. */
TEST(constants_are_read_as_in_c)
{
	struct schema *schema = parse_fields(
	    "env { hostname = \"\\x63\\141f\\xc3\\xA9\\061\\x309\"; n = 3; };"
	    "typealias integer { size = 8; } := int;"
	    "callsite { name = \"e\"; func = \"f\"; line = 39; ip = 0x40096c; };"
	    "clock { name = 'mono'; };",
	    "enum { A = 'A', B, C = '\\x50' ... '\\x51', } x; int y[env.n];"
	    "floating_point { exp_dig = 8; mant_dig = 24; } z;");
	const struct field_class *fields = schema->event[0].scope[SCOPE_PAYLOAD];
	const struct field_class *x = field_member(fields, "x");

	assert_string_equal(schema->hostname, "caf\u00e9109");
	assert_string_equal(schema->clock[0].name, "mono");
	assert_int_equal(schema->events, 1);
	assert_int_equal(x->size, 8);
	assert_string_equal(field_label(x, 65), "A");
	assert_string_equal(field_label(x, 66), "B");
	assert_string_equal(field_label(x, 0x51), "C");
	assert_null(field_label(x, 0x52));
	assert_int_equal(field_member(fields, "y")->type, FIELD_ARRAY);
	assert_int_equal(field_member(fields, "y")->length, 3);
	assert_int_equal(field_member(fields, "z")->align, 8);
	schema_free(schema);
}

TEST(unknown_attributes_are_counted)
{
	struct schema *schema =
	    parse("trace { major = 1; minor = 8; byte_order = le; foo = 1; };\n"
		  "clock { name = c; bar = \"x\"; };\n"
		  "typealias integer { size = 8; colour = red; } := u8;\n"
		  "stream { taste = 1; };\n"
		  "event { name = e; smell = 1; fields := struct { u8 a; u8 b;"
		  " floating_point { exp_dig = 8; mant_dig = 24; x = 1; } c;"
		  " string { y = 1; } d; }; };\n");

	assert_int_equal(schema->ignored, 7);
	assert_string_equal(schema->ignored_name, "foo of trace in line 1");
	schema_free(schema);
}

TEST(events_and_stamps_have_a_default)
{
	struct schema *schema = parse(TRACE "event { name = e; };\n");

	assert_int_equal(schema->streams, 1);
	assert_int_equal(schema->stream[0].id, 0);
	schema_free(schema);
	schema = parse(TRACE "typealias integer { size = 64; } := u64;\n"
			     "stream { id = 7; event.header := struct { u64 id; "
			     "u64 timestamp; }; packet.context := struct { "
			     "u64 timestamp_begin; string content_size; }; };\n"
			     "event { name = e; id = 3; };\n");
	assert_int_equal(schema->event[0].stream_id, 7);
	assert_string_equal(
	    field_member(schema->stream[0].scope[SCOPE_EVENT_HEADER], "timestamp")->clock,
	    "default");
	assert_string_equal(
	    field_member(schema->stream[0].scope[SCOPE_PACKET_CONTEXT], "timestamp_begin")
		->clock,
	    "default");
	assert_int_equal(
	    field_member(schema->stream[0].scope[SCOPE_PACKET_CONTEXT], "content_size")
		->roles,
	    0);
	schema_free(schema);
}

/* babeltrace2 refuses the number, though nothing uses it. */
TEST(what_never_matters_is_read)
{
	struct schema *schema =
	    parse_fields("env { tracer_name = \"x\"; big = 0x12345678901234567; };"
			 "enum tag : integer { size = 8; } { p, q = 3 ... 9 };",
			 "enum tag t; variant <t> { string p; string unnamed; } v;");

	assert_int_equal(
	    field_member(schema->event[0].scope[SCOPE_PAYLOAD], "v")->members, 2);
	schema_free(schema);
}

TEST(what_a_magic_number_is_not_is_named)
{
	static const char *const wrong[][2] = {
	    {"trace { major = 1; minor = 8; byte_order = le; packet.header := struct {"
	     " integer { size = 16; } magic; }; };",
	     "magic is of no known kind"},
	    {"trace { major = 1; minor = 8; byte_order = le; packet.header := struct {"
	     " string s; integer { size = 32; } magic; }; };",
	     "magic: expected as the first member"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct error error = ERROR_INIT;

		assert_null(tsdl_parse(wrong[i][0], strlen(wrong[i][0]), &error));
		assert_non_null(strstr(error_text(&error), wrong[i][1]));
		error_clear(&error);
	}
}

TEST(what_is_wrong_is_named_with_its_line)
{
	assert_wrong("\nfield { };",
		     "line 3: expected trace, env, clock, stream, event or a type");
	assert_wrong("stream { id = -1; };",
		     "line 2: stream: id: expected a non-negative integer");
	assert_wrong("typealias integer { size = 65; } := x;",
		     "line 2: size: expected 1 to 64 bits");
	assert_wrong("typealias integer { size = 8; align = 3; } := x;",
		     "line 2: align: expected a power of two up to 65536 as alignment");
	assert_wrong("typealias integer { size = 8; signed = False; } := x;",
		     "line 2: signed: expected true, false or a number");
	assert_wrong("clock { name = c; absolute = maybe; };",
		     "line 2: clock: absolute: expected true, false or a number");
	assert_wrong("typealias enum : integer { size = 8; } { A = 120 ... 17 } := x;",
		     "line 2: A: expected a range that does not end before its start");
	assert_wrong("typealias integer { size = 8; size = 16; } := x;",
		     "line 2: size: duplicate attribute");
	assert_wrong("struct x { string y; };\nstruct x { string z; };",
		     "line 3: duplicate type struct x");
	assert_wrong("struct x { y z; };", "line 2: no type y before its use");
	assert_wrong("struct x { string z; string z; };",
		     "line 2: z: duplicate member name");
	assert_wrong("struct x { string z[2][-3]; };",
		     "line 2: z: size: expected a non-negative integer");
	assert_wrong("typealias enum { a } := x;", "line 2: no type int before its use");
	assert_wrong(
	    "struct x { string y[env.n]; };",
	    "line 2: length-field-location: env.n: no such integer before its use");
	assert_wrong(
	    "env { n = \"4\"; };\nstruct x { string y[env.n]; };",
	    "line 3: length-field-location: env.n: no such integer before its use");
	assert_wrong("env { a = \"\\xg\"; };", "line 2: expected a name");
	assert_wrong("env { a = \"\\8\"; };", "line 2: expected a name");
	assert_wrong("event { id = 1; };", "line 2: event: missing name");
	assert_wrong("env { a = 18446744073709551616; b = c d; };",
		     "line 2: expected ';'");
	assert_wrong("typealias enum { } := x;", "line 2: no type int before its use");
	assert_wrong("typealias enum : integer { size = 8; } { } := x;",
		     "line 2: expected a label");
	assert_wrong("typealias string := int;\nstruct x { enum { A } y; };",
		     "line 3: expected an enumeration of integers");
	assert_wrong("typealias string := event;",
		     "line 2: expected a name other than event");
	assert_wrong("typealias integer { size = 8; base = 9; } := x;",
		     "line 2: base: invalid base (expected 2, 8, 10 or 16)");
	assert_wrong("clock { name = c;\ndescription = 23; };",
		     "line 3: clock: description: expected a string");
	assert_wrong(
	    "clock { name = c; uuid = \"d58f53f8-1ea8-4b9e-ab2b2c9f699ce47a\"; };",
	    "line 2: clock: uuid: expected a uuid");
	assert_wrong("env { a = \"", "line 2: expected a name");
	assert_wrong("/* ",
		     "line 2: expected trace, env, clock, stream, event or a type");
	assert_wrong("typealias integer { size = 8; } := ", "line 2: expected a type");
}

/* Each type holds the one before twice: the text is short, the tree is not. */
TEST(types_cannot_grow_without_end)
{
	char *text = mem_strdup(TRACE "struct s0 { string a; string b; };\n");
	struct error error = ERROR_INIT;

	for (int i = 1; i < 60; i++) {
		char *longer =
		    mem_printf("%sstruct s%d { struct s%d a; struct s%d b; };\n", text, i,
			       i - 1, i - 1);

		free(text);
		text = longer;
	}
	assert_null(tsdl_parse(text, strlen(text), &error));
	assert_non_null(
	    strstr(error_text(&error), "too many types, or nested too deeply"));
	error_clear(&error);
	free(text);
	text = mem_zalloc(40001);
	for (int i = 0; i < 4000; i++)
		memcpy(text + 10 * i, "struct x {", 10);
	assert_null(tsdl_parse(text, 40000, &error));
	assert_non_null(strstr(error_text(&error), "nested too deeply"));
	error_clear(&error);
	free(text);
}

/* `begin`, the unit so often, each with its number for %d, and `end`. */
static char *repeated(const char *begin, const char *unit, int times, const char *end)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	fputs(begin, out);
	for (int i = 0; i < times; i++) {
		const char *number = strstr(unit, "%d");

		fprintf(out, "%.*s%d%s", (int)(number - unit), unit, i, number + 2);
	}
	fputs(end, out);
	fclose(out);
	return text;
}

static void assert_too_much(const char *begin, const char *unit, int times,
			    const char *end, const char *wanted)
{
	char *text = repeated(begin, unit, times, end);
	struct error error = ERROR_INIT;

	assert_null(tsdl_parse(text, strlen(text), &error));
	if (!strstr(error_text(&error), wanted))
		fail_msg("%s, wanted: %s", error_text(&error), wanted);
	error_clear(&error);
	free(text);
}

/* Lists that are compared pair by pair are limited. */
TEST(what_is_compared_is_bounded)
{
	assert_too_much(TRACE "struct s {", "string _%d;\n", 5000, "};",
			"too many members");
	assert_too_much(TRACE, "typealias string := s%d;\n", 5000, "",
			"too many named types");
}

static void assert_text(const void *bytes, size_t count, const char *wanted)
{
	struct error error = ERROR_INIT;
	size_t size;
	char *text;

	scratch_bytes("metadata", bytes, count);
	text = metadata_text("metadata", &size, &error);
	if (!text) {
		assert_string_equal(error_text(&error), wanted);
		error_clear(&error);
		return;
	}
	assert_int_equal(size, strlen(wanted));
	assert_memory_equal(text, wanted, size);
	free(text);
}

/* The last packet may lack some of its padding: its text is whole. */
static void check_packets(bool big)
{
	unsigned char *packet = metadata_packet("/* CTF 1.8 */", 64, big);
	unsigned char two[128];

	memcpy(two, packet, 64);
	memcpy(two + 64, packet, 64);
	assert_text(two, 64, "/* CTF 1.8 */");
	assert_text(two, 128, "/* CTF 1.8 *//* CTF 1.8 */");
	assert_text(two, 127, "/* CTF 1.8 *//* CTF 1.8 */");
	assert_text(two, 64 + 37 + 13, "/* CTF 1.8 *//* CTF 1.8 */");
	assert_text(two, 64 + 37 + 12, "metadata: packet at byte 64: cut short");
	assert_text(two, 65, "metadata: packet at byte 64: cut short");
	assert_text(two, 5, "metadata: packet at byte 0: cut short");
	two[64] ^= 1;
	assert_text(two, 128, "metadata: packet at byte 64: no metadata packet");
	two[64] ^= 1;
	memset(two + 64 + 28, 0, 4); /* a packet of no size would never end */
	assert_text(two, 128, "metadata: packet at byte 64: impossible size");
	memset(two + 64 + 24, 0xff, 4);
	memset(two + 64 + 28, 0x01, 4);
	assert_text(two, 128, "metadata: packet at byte 64: impossible size");
	free(packet);
}

SCRATCH_TEST(packets_of_metadata_are_joined)
{
	check_packets(false);
	check_packets(true);
}
