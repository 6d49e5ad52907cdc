/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"

#include "../scratch.h"

static void assert_refused(const char *text, const char *wanted)
{
	struct error error = ERROR_INIT;

	scratch_text("f.json", text);
	assert_null(json_read_object("f.json", &error));
	if (strncmp(error_text(&error), wanted, strlen(wanted)) != 0)
		assert_string_equal(error_text(&error), wanted);
	error_clear(&error);
}

SCRATCH_TEST(broken_json_says_where)
{
	assert_refused("", "f.json:1:");
	assert_refused("hello", "f.json:1:");
	assert_refused("{\"a\": 1,\n \"b\": [1, 2", "f.json:2:");
	assert_refused("{\"a\": 1}}", "f.json:1:");
	assert_refused("{\"a\": 1, \"a\": 2}", "f.json:1:");
	assert_refused("{\"a\": 9223372036854775808}", "f.json:1:");
	assert_refused("[1, 2]", "f.json: not a JSON object");
}

SCRATCH_TEST(a_file_that_cannot_be_read_is_named)
{
	struct error error = ERROR_INIT;

	assert_null(json_read_object("none.json", &error));
	assert_string_equal(error_text(&error), "none.json: No such file or directory");
	assert_int_equal(mkdir("folder", 0777), 0);
	assert_null(json_read_object("folder", &error));
	assert_memory_equal(error_text(&error), "folder:", 7);
	error_clear(&error);
}

SCRATCH_TEST(members_are_typed)
{
	struct error error = ERROR_INIT;
	nsec_t value = 42;
	json_t *root;

	scratch_text("f.json", "{\"text\": \"x\", \"low\": -9223372036854775808,"
			       " \"high\": 9223372036854775807, \"real\": 1.0,"
			       " \"null\": null}");
	root = json_read_object("f.json", &error);
	assert_non_null(root);
	assert_string_equal(json_text(root, "text"), "x");
	assert_null(json_text(root, "low"));
	assert_null(json_text(root, "none"));
	assert_int_equal(json_nsec(root, "none", &value), -1);
	assert_int_equal(json_nsec(root, "text", &value), -1);
	assert_int_equal(json_nsec(root, "real", &value), -1);
	assert_int_equal(json_nsec(root, "null", &value), -1);
	assert_int_equal(value, 42);
	assert_int_equal(json_nsec(root, "low", &value), 0);
	assert_int_equal(value, NSEC_MIN);
	assert_int_equal(json_nsec(root, "high", &value), 0);
	assert_int_equal(value, NSEC_MAX);
	json_decref(root);
}

static void assert_no_object(const char *text, const char *wanted)
{
	struct error error = ERROR_INIT;

	assert_null(json_parse_object(text, strlen(text), &error));
	assert_string_equal(error_text(&error), wanted);
	error_clear(&error);
}

TEST(texts_are_parsed_and_made)
{
	const char *const text = "{\"b\": 1, \"a\": [true, \"x\\ny\"]} and more";
	struct error error = ERROR_INIT;
	json_t *object = json_parse_object(text, strlen(text) - 9, &error);
	char *line = json_one_line(object);

	assert_string_equal(line, "{\"b\":1,\"a\":[true,\"x\\ny\"]}");
	free(line);
	line = json_one_line(json_object_get(object, "b"));
	assert_string_equal(line, "1");
	free(line);
	json_decref(object);
	assert_no_object("[]", "not a JSON object");
	assert_no_object(
	    "{", "invalid JSON: string or '}' expected near end of file at byte 1");
	assert_no_object("",
			 "invalid JSON: '[' or '{' expected near end of file at byte 0");
}
