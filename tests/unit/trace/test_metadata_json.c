/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "base/mem.h"
#include "trace/ctf/metadata.h"
#include "trace/ctf/program.h"
#include "trace/ctf/resolve.h"

#define RS       "\x1e"
#define PREAMBLE RS "{\"type\": \"preamble\", \"version\": 2}"
#define CLOCK                                                                            \
	RS "{\"type\": \"clock-class\", \"id\": \"c\", \"frequency\": 1000, "            \
	   "\"origin\": \"unix-epoch\", \"namespace\": \"n\", \"name\": \"m\", "         \
	   "\"uid\": \"u\"}"
#define STREAM RS "{\"type\": \"data-stream-class\", \"default-clock-class-id\": \"c\"}"
#define EVENT(members)                                                                   \
	RS "{\"type\": \"event-record-class\", \"name\": \"e\", "                        \
	   "\"payload-field-class\": {\"type\": \"structure\", \"member-classes\": "     \
	   "[" members "]}}"
#define MEMBER(name, rest) "{\"name\": \"" name "\", \"field-class\": {" rest "}}"
#define U8                                                                               \
	"\"type\": \"fixed-length-unsigned-integer\", \"length\": 8, \"alignment\": 8, " \
	"\"byte-order\": \"little-endian\""

static struct schema *parse(const char *text)
{
	struct error error = ERROR_INIT;
	struct schema *schema = json_metadata_parse(text, strlen(text), &error);

	assert_string_equal(error_text(&error), "");
	assert_int_equal(schema_resolve(schema, &error), 0);
	return schema;
}

static void assert_wrong(const char *text, const char *wanted)
{
	struct error error = ERROR_INIT;
	struct schema *schema = json_metadata_parse(text, strlen(text), &error);

	if (schema) {
		assert_int_equal(schema_resolve(schema, &error), -1);
		schema_free(schema);
	}
	assert_string_equal(error_text(&error), wanted);
	error_clear(&error);
}

TEST(what_is_wrong_is_named)
{
	assert_wrong(RS "{}", "fragment 1: unknown fragment without a type");
	assert_wrong(CLOCK, "fragment 1: expected a preamble");
	assert_wrong(RS "{\"type\": \"preamble\", \"version\": 3}",
		     "fragment 1: preamble: version: unsupported version (expected 2)");
	assert_wrong(RS "{\"type\": \"preamble\", \"version\": 2, \"extensions\": "
			"{\"my.tracer\": {\"piano\": {}}}}",
		     "fragment 1: preamble: unknown extension piano of my.tracer");
	assert_wrong(PREAMBLE RS "{\"type\": \"clock-class\", \"id\": \"c\"}",
		     "fragment 2: clock-class: missing frequency");
	assert_wrong(
	    PREAMBLE RS
	    "{\"type\": \"clock-class\", \"id\": \"c\", \"frequency\": 1, \"hue\": 7}",
	    "fragment 2: clock-class: hue: unknown attribute");
	assert_wrong(
	    PREAMBLE EVENT(MEMBER("a", "\"type\": \"colour\"")),
	    "fragment 2: event-record-class: e: payload-field-class: a: unknown field "
	    "class colour");
	assert_wrong(PREAMBLE EVENT(
			 MEMBER("a", "\"type\": \"fixed-length-floating-point-number\", "
				     "\"length\": 128, \"byte-order\": \"big-endian\"")),
		     "fragment 2: event-record-class: e: payload-field-class: a: length: "
		     "expected 1 to 64 bits");
	assert_wrong(
	    PREAMBLE CLOCK STREAM EVENT(MEMBER(
		"a",
		"\"type\": \"dynamic-length-blob\", "
		"\"length-field-location\": {\"path\": [\"n\"]}") "," MEMBER("n", U8)),
	    "event e: n: expected an earlier integer field");
	assert_wrong(PREAMBLE RS "{\"type\": \"data-stream-class\", "
				 "\"packet-context-field-class\": \"none\"}",
		     "fragment 2: data-stream-class: packet-context-field-class: no "
		     "type none before its use");
}

TEST(clocks_are_known_by_their_identity)
{
	static const char other[] =
	    PREAMBLE RS "{\"type\": \"clock-class\", \"id\": \"other\", \"frequency\": "
			"1000, \"name\": \"m\", \"uid\": "
			"\"c3582570-ae32-455f-bbc0-a57d869dea27\"}";
	struct schema *one = parse(PREAMBLE CLOCK), *same = parse(PREAMBLE CLOCK),
		      *boot = parse(other);

	assert_true(one->clock[0].has_uuid);
	assert_memory_equal(one->clock[0].uuid, same->clock[0].uuid, 16);
	assert_string_equal(one->clock[0].identity, "m");
	/* LTTng's is the boot's UUID, as in CTF 1.8. */
	assert_int_equal(boot->clock[0].uuid[0], 0xc3);
	assert_int_equal(boot->clock[0].uuid[15], 0x27);
	schema_free(one);
	schema_free(same);
	schema_free(boot);
}

/* Two users of what is in several options, one of them within an option. */
TEST(options_share_what_is_referred_to)
{
	struct schema *schema =
	    parse(PREAMBLE CLOCK STREAM EVENT(MEMBER("s", U8) "," MEMBER(
		"v",
		"\"type\": \"variant\", \"selector-field-location\": {\"path\": "
		"[\"s\"]}, \"options\": ["
		"{\"selector-field-ranges\": [[0, 0]], \"field-class\": {\"type\": "
		"\"structure\", \"member-classes\": [" MEMBER(
		    "n", U8) "]}},"
			     "{\"selector-"
			     "field-ranges\": "
			     "[[1, "
			     "18446744073709551"
			     "615]], \"field-"
			     "class\": "
			     "{\"type\": "
			     "\"structure\", "
			     "\"member-"
			     "classes\": "
			     "[" MEMBER("n", U8) "," MEMBER(
				 "b", "\"type\": \"dynamic-length-blob\", "
				      "\"length-field-location\": {\"origin\": "
				      "\"event-record-payload\", \"path\": [\"v\", "
				      "\"n\"]}") "]}}]") "," MEMBER("after",
								    "\"type\": "
								    "\"dynamic-length-"
								    "blob\", "
								    "\"length-field-"
								    "location\": "
								    "{\"path\": [\"v\", "
								    "\"n\"]}")));
	const struct field_class *fields = schema->event[0].scope[SCOPE_PAYLOAD];
	const struct field_class *v = fields->member[1].class;
	const struct field_class *one = v->member[0].class->member[0].class;
	const struct field_class *other = v->member[1].class->member[0].class;

	assert_int_equal(one->slots, 1);
	assert_int_equal(v->member[1].class->member[1].class->from, other->slot[0]);
	assert_int_equal(fields->member[2].class->from, one->slot[0]);
	assert_int_equal(fields->member[2].class->from, other->slot[1]);
	assert_true(v->member[1].range[0].last == UINT64_MAX);
	schema_free(schema);
}

/* Each option refers to its own length, and what follows to that of the one there. */
TEST(an_integer_is_referred_to_alone_and_with_others)
{
#define BLOB(location)                                                                   \
	"\"type\": \"dynamic-length-blob\", \"length-field-location\": {\"path\": "      \
	"[" location "]}"
#define OPTION(range)                                                                    \
	"{\"selector-field-ranges\": [[" range "]], \"field-class\": {\"type\": "        \
	"\"structure\", \"member-classes\": [" MEMBER("n", U8) "," MEMBER(               \
	    "b", BLOB("\"n\"")) "]}}"
	struct schema *schema =
	    parse(PREAMBLE CLOCK STREAM EVENT(MEMBER("s", U8) "," MEMBER(
		"v", "\"type\": \"variant\", "
		     "\"selector-field-location\": {\"path\": "
		     "[\"s\"]}, \"options\": [" OPTION("0, 0") "," OPTION(
			 "1, 9") "]") "," MEMBER("after", BLOB("\"v\", \"n\""))));
	const struct field_class *fields = schema->event[0].scope[SCOPE_PAYLOAD];
	const struct field_class *v = fields->member[1].class;
	const struct field_class *one = v->member[0].class->member[0].class;
	const struct field_class *other = v->member[1].class->member[0].class;

	assert_int_equal(one->slots, 1);
	assert_int_equal(other->slots, 2);
	assert_int_equal(v->member[0].class->member[1].class->from, one->slot[0]);
	assert_int_equal(v->member[1].class->member[1].class->from, other->slot[0]);
	assert_int_equal(fields->member[2].class->from, one->slot[0]);
	assert_int_equal(fields->member[2].class->from, other->slot[1]);
	schema_free(schema);
}

/* In an option, a path through the variant leads into this option, not into another. */
TEST(an_option_refers_to_its_own_members)
{
#define STRUCTURE(members) "\"type\": \"structure\", \"member-classes\": [" members "]"
#define STRING             "\"type\": \"null-terminated-string\""
#define SELECTED(range, type)                                                            \
	"{\"selector-field-ranges\": [[" range "]], \"field-class\": {" type "}}"
#define OTHERS SELECTED("0, 0", U8) "," SELECTED("1, 1", STRUCTURE(MEMBER("n", STRING)))
#define OWN    MEMBER("n", U8) "," MEMBER("b", BLOB("null, \"v\", \"n\""))
#define VARIANT                                                                          \
	"\"type\": \"variant\", \"selector-field-location\": {\"path\": [\"s\"]}, "
	struct schema *schema = parse(PREAMBLE CLOCK STREAM EVENT(MEMBER(
	    "s", U8) "," MEMBER("v", VARIANT "\"options\": [" OTHERS
					     "," SELECTED("2, 9", STRUCTURE(OWN)) "]")));
	const struct field_class *option =
	    schema->event[0].scope[SCOPE_PAYLOAD]->member[1].class->member[2].class;

	assert_int_equal(option->member[0].class->slots, 1);
	assert_int_equal(option->member[1].class->from, option->member[0].class->slot[0]);
	schema_free(schema);
}

TEST(an_alias_may_have_another_name)
{
#define ALIAS(name, class)                                                               \
	RS "{\"type\": \"field-class-alias\", \"name\": \"" name                         \
	   "\", \"field-class\": " class "}"
#define NAMED "{\"name\": \"f\", \"field-class\": \"b\"}"
	struct schema *schema = parse(PREAMBLE CLOCK STREAM ALIAS("a", "{" U8 "}")
					  ALIAS("b", "\"a\"") EVENT(NAMED));
	const struct field_class *fields = schema->event[0].scope[SCOPE_PAYLOAD];

	assert_int_equal(fields->member[0].class->type, FIELD_INTEGER);
	schema_free(schema);
	assert_wrong(PREAMBLE ALIAS("a", "\"a\""),
		     "fragment 2: field-class-alias: no type a before its use");
}

/* Escapes, characters of two units, and what is passed over whatever it is. */
TEST(texts_are_json)
{
	struct schema *schema =
	    parse(PREAMBLE STREAM RS RS
		  "\n{\"name\": \"\\u00e9\\ud83d\\ude00\\t\\/\\\"\",\n\"type\": "
		  "\"event-record-class\", \"attributes\": {\"a\": [1.5e3, "
		  "-99999999999999999999, true, null, {}]}}\n" CLOCK);

	assert_string_equal(schema->event[0].known.name, "\xc3\xa9\xf0\x9f\x98\x80\t/\"");
	schema_free(schema);
}

TEST(what_is_no_json_is_refused)
{
	static const char *const bad[] = {"{\"type\": \"preamble\", \"version\": 2,}",
					  "{\"type\": \"preamble\"",
					  "{\"a\": \"\\ud800\"}",
					  "{\"a\": \"\\u0000\"}",
					  "{\"a\": \"\\q\"}",
					  "{\"a\": \"\n\"}",
					  "{\"a\": \"\xff\"}",
					  "{\"a\": truth}",
					  "{\"a\": +1}",
					  "{\"a\": 0x1}",
					  "{} // none",
					  "{\"a\": 1 2}",
					  "{} {}",
					  "\""};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error error = ERROR_INIT;
		char *text = mem_printf(RS "%s", bad[i]);

		assert_null(json_metadata_parse(text, strlen(text), &error));
		if (strncmp(error_text(&error), "fragment 1: ", 12) != 0 ||
		    !strstr(error_text(&error), ": expected "))
			fail_msg("%s: %s", bad[i], error_text(&error));
		error_clear(&error);
		free(text);
	}
}

TEST(what_is_said_twice_is_refused)
{
	assert_wrong(RS "{\"type\": \"preamble\", \"version\": 2, \"version\": 2}",
		     "fragment 1: preamble: version: unknown attribute");
	assert_wrong(PREAMBLE RS "{\"type\": \"field-class-alias\", \"name\": \"a\", "
				 "\"field-class\": {" U8 "}}" RS
				 "{\"type\": \"field-class-alias\", \"name\": \"a\", "
				 "\"field-class\": {" U8 "}}",
		     "fragment 3: field-class-alias: duplicate alias 'a'");
}
