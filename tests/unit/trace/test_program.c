/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "base/mem.h"
#include "trace/ctf/program.h"
#include "trace/ctf/resolve.h"
#include "trace/ctf/tsdl.h"

#define U(size, align) "integer { size = " #size "; align = " #align "; } "
#define B(size, align)                                                                   \
	"integer { size = " #size "; align = " #align "; byte_order = be; } "

enum { MOST = ROLES + 16 };

/* The plan of an event with these fields, and a walk over some bytes. */
struct walked {
	struct schema *schema;
	struct ctf_program *program;
	struct ctf_cursor cursor;
	struct ctf_place place[MOST];
	uint64_t slot[MOST];
	struct error error;
};

/* Members of the outermost structure get their place by their number. */
static void compile(struct walked *walked, const char *fields)
{
	char *text = mem_printf(
	    "trace { major = 1; minor = 8; byte_order = le; }; stream { id = 0; };"
	    "event { id = 0; stream_id = 0; name = \"e\";"
	    " fields := struct { %s }; };",
	    fields);

	memset(walked, 0, sizeof(*walked));
	walked->schema = tsdl_parse(text, strlen(text), &walked->error);
	assert_string_equal(error_text(&walked->error), "");
	if (!schema_resolve(walked->schema, &walked->error)) {
		struct field_class *class = walked->schema->event[0].scope[SCOPE_PAYLOAD];

		assert_true(walked->schema->slots <= MOST);
		for (size_t i = 0; i < class->members; i++)
			class->member[i].class->place = (int)i;
		walked->program = ctf_program_new(&class, 1);
	}
	free(text);
}

static bool walk(struct walked *walked, const void *bytes, size_t count)
{
	for (int i = 0; i < MOST; i++)
		walked->place[i].at = CTF_ABSENT;
	walked->cursor = (struct ctf_cursor){
	    .bytes = {bytes, count},
	    .end = 8 * count,
	    .budget = 8 * count,
	    .slot = walked->slot,
	    .place = walked->place,
	};
	return ctf_program_run(walked->program, &walked->cursor);
}

static void walked_clear(struct walked *walked)
{
	ctf_program_free(walked->program);
	schema_free(walked->schema);
	error_clear(&walked->error);
}

static void assert_refused(const char *fields, const char *wanted)
{
	struct walked walked;

	compile(&walked, fields);
	assert_null(walked.program);
	assert_string_equal(error_text(&walked.error), wanted);
	walked_clear(&walked);
}

TEST(bits_are_read_in_either_order)
{
	static const unsigned char byte[] = {0x12, 0x34, 0x56, 0x78, 0x9a,
					     0xbc, 0xde, 0xf0, 0x11};
	const struct ctf_bytes bytes = {byte, sizeof(byte)};

	assert_int_equal(ctf_bits(bytes, 0, 32, false), 0x78563412);
	assert_int_equal(ctf_bits(bytes, 0, 32, true), 0x12345678);
	assert_int_equal(ctf_bits(bytes, 4, 8, false), 0x41);
	assert_int_equal(ctf_bits(bytes, 4, 8, true), 0x23);
	assert_true(ctf_bits(bytes, 4, 64, true) == 0x23456789abcdef01u);
	assert_true(ctf_bits(bytes, 4, 64, false) == 0x1f0debc9a7856341u);
	assert_int_equal(ctf_bits(bytes, 71, 1, true), 1);
	assert_int_equal(ctf_bits(bytes, 68, 4, false), 1);
	assert_true(ctf_sign(0x1f, 5) == UINT64_MAX);
	assert_int_equal(ctf_sign(0xf, 5), 15);
}

TEST(places_follow_sizes_and_alignments)
{
	struct walked walked;

	compile(&walked, U(3, 1) "a; " U(5, 1) "b; " U(16, 32) "c; string d; " U(
			     32, 16) "e;"
				     "struct { " U(8, 8) "x; " U(64, 64) "y; } f;");
	assert_true(walk(
	    &walked, "\1\0\0\0\2\2text\0\0\3\3\3\3\4\0\0\0\0\0\0\0\5\5\5\5\5\5\5\5", 32));
	assert_int_equal(walked.place[0].at, 0);
	assert_int_equal(walked.place[1].at, 3);
	assert_int_equal(walked.place[2].at, 32);
	assert_int_equal(walked.place[3].at, 48);
	assert_int_equal(walked.place[3].count, 4);
	assert_int_equal(walked.place[4].at, 96);
	assert_int_equal(walked.cursor.at, 256);
	assert_false(walk(&walked, "\1\0\0\0\2\2text", 10));
	assert_string_equal(walked.cursor.why, "string extends past its packet");
	assert_false(walk(&walked, "\1\0\0\0\2", 5));
	assert_string_equal(walked.cursor.why, "field extends past its packet");
	walked_clear(&walked);
}

TEST(sequences_are_as_long_as_they_say)
{
	struct walked walked;

	compile(&walked, U(8, 8) "n; " U(16, 8) "s[n]; string t[n]; " U(8, 8) "e;");
	assert_true(walk(&walked, "\2....a\0bc\0e", 11));
	assert_int_equal(walked.place[1].at, 8);
	assert_int_equal(walked.place[1].count, 2);
	assert_int_equal(walked.place[2].at, 40);
	assert_int_equal(walked.place[3].at, 80);
	assert_true(walk(&walked, "\0e", 2));
	assert_int_equal(walked.place[3].at, 8);
	assert_false(walk(&walked, "\377....a\0bc\0e", 11));
	assert_false(walk(&walked, "\3......a\0bc\0e", 12));
	walked_clear(&walked);
	/* Elements of no size end, too. */
	compile(&walked, U(64, 8) "n; struct { string a[n]; } s[0]; struct { } t[n];"
				  "struct { variant <v> { struct { } a; } x; } u[0];");
	walked_clear(&walked);
	compile(&walked, U(32, 8) "n; enum : " U(
			     8, 8) "{ a } v;"
				   "struct { variant <v> { struct { } a; } x; } u[n];");
	assert_true(walk(&walked, "\3\0\0\0\0", 5));
	assert_false(walk(&walked, "\377\377\377\377\0", 5));
	assert_string_equal(walked.cursor.why, "more elements than its packet has bits");
	walked_clear(&walked);
	compile(&walked, U(32, 8) "n; struct { } t[n];");
	assert_true(walk(&walked, "\3\0\0\0", 4));
	assert_false(walk(&walked, "\377\377\377\377", 4));
	assert_string_equal(walked.cursor.why, "more elements than its packet has bits");
	walked_clear(&walked);
	compile(&walked, "struct { struct { } inner[4000000000]; } t[4000000000];");
	assert_false(walk(&walked, "", 1));
	assert_string_equal(walked.cursor.why, "more elements than its packet has bits");
	walked_clear(&walked);
}

TEST(variants_follow_their_tag)
{
	struct walked walked;

	compile(&walked,
		"enum : integer { size = 8; signed = true; }"
		" { low = -5 ... -1, none = 0, text = 1, low = 7 } tag;"
		"variant <tag> { " U(16, 8) "low; struct { } none; string text; } v;" U(
		    8, 8) "end;");
	assert_true(walk(&walked, "\377..e", 4));
	assert_int_equal(walked.place[2].at, 24);
	assert_true(walk(&walked, "\7..e", 4));
	assert_int_equal(walked.place[2].at, 24);
	assert_true(walk(&walked, "\0e", 2));
	assert_int_equal(walked.place[2].at, 8);
	assert_true(walk(&walked, "\1abc\0e", 6));
	assert_int_equal(walked.place[2].at, 40);
	assert_false(walk(&walked, "\2abc\0e", 6));
	assert_string_equal(walked.cursor.why, "variant has no option for its tag");
	walked_clear(&walked);
}

TEST(references_are_looked_up_from_inside_out)
{
	struct walked walked;

	compile(
	    &walked,
	    U(8, 8) "n; struct { " U(8, 8) "m; struct { " U(8, 8) "a[m]; " U(
		8,
		8) "b[n]; " U(8,
			      8) "c[event.fields.n]; } x; } y;" U(8,
								  8) "d[y.m]; " U(8,
										  8) "end"
										     ";");
	assert_true(walk(&walked, "\1\2aabcdde", 9));
	assert_int_equal(walked.place[3].at, 64);
	walked_clear(&walked);
}

TEST(what_cannot_be_walked_is_refused)
{
	assert_refused(U(8, 8) "s[n]; " U(8, 8) "n;",
		       "event e: n: expected an earlier integer field");
	assert_refused("integer { size = 8; signed = true; } n; string s[n];",
		       "event e: n: expected an unsigned length");
	assert_refused(
	    "variant { string a; } v;",
	    "event e: variant without a tag: expected an earlier integer field");
	assert_refused(U(8, 8) "n; variant <n> { string a; } v;",
		       "event e: n: expected an enumeration");
}

/* Each variant matches all labels of its tag with its options. */
TEST(options_and_labels_are_bounded)
{
	char *fields = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&fields, &size);

	fputs("enum : " U(16, 8) "{ a", out);
	for (int i = 0; i < 40000; i++)
		fprintf(out, ", a = %d", i);
	fputs(" } n;", out);
	for (int i = 0; i < 1000; i++)
		fprintf(out, "variant <n> { string a; } v%d;\n", i);
	fclose(out);
	assert_refused(fields, "event e: n: too many options and labels");
	free(fields);
}

/* As in the headers of packets that LTTng records. */
TEST(byte_orders_may_change_between_bytes)
{
	struct walked walked;

	compile(&walked, U(8, 8) "n; " B(4, 4) "a; " B(3, 1) "b; " B(
			     9, 1) "c; "
				   "struct { " U(8, 8) "x; " U(1, 1) "y; " U(
				       7, 1) "z; } s[n];" U(16, 8) "d;");
	assert_non_null(walked.program);
	assert_true(walk(&walked, "\1....dd", 7));
	assert_int_equal(walked.place[5].at, 40);
	walked_clear(&walked);
}
