/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/run_facts.h"

#include "rows.h"

static int read_text(struct run_facts *facts, const char *text, const char *wanted,
		     const char *told)
{
	struct problem_list problems = {NULL, 0, 0};
	struct error error = ERROR_INIT;
	int status;

	scratch_text("run.json", text);
	status = run_facts_read(facts, "run.json", &problems, &error);
	assert_string_equal(error_text(&error), wanted);
	error_clear(&error);
	assert_problems(&problems, told);
	return status;
}

static void all_members_are_taken(void **state)
{
	struct run_facts facts;

	(void)state;
	assert_int_equal(
	    read_text(
		&facts,
		"{\"name\": \"mesh\", \"recipe\": \"iperf\","
		" \"collector_version\": \"0.1.0\","
		" \"begin_ns\": 1795228740123456789, \"end_ns\": 1795228750123456789,"
		" \"parameters\": {\"size\": 200, \"rate\": 0.1, \"mode\": \"tcp\","
		" \"big\": 1795228740.123456, \"list\": [1, 2], \"on\": true},"
		" \"nodes\": [\"n0\", {\"name\": \"n1\", \"role\": \"web\"},"
		" {\"name\": \"n2\", \"roles\": [\"db\", \"log\"],"
		" \"address\": \"10.7.0.1\"}],"
		" \"recorder\": \"by hand\"}",
		"", ""),
	    0);
	assert_string_equal(facts.name, "mesh");
	assert_string_equal(facts.recipe, "iperf");
	assert_string_equal(facts.collector_version, "0.1.0");
	assert_int_equal(facts.begin_ns, 1795228740123456789);
	assert_int_equal(facts.end_ns, 1795228750123456789);
	assert_int_equal(facts.parameters, 6);
	assert_string_equal(facts.parameter[0].name, "size");
	assert_string_equal(facts.parameter[0].value, "200");
	assert_string_equal(facts.parameter[1].value, "0.1");
	assert_string_equal(facts.parameter[2].value, "tcp");
	assert_string_equal(facts.parameter[3].value, "1795228740.123456");
	assert_string_equal(facts.parameter[4].value, "[1,2]");
	assert_string_equal(facts.parameter[5].value, "true");
	assert_int_equal(facts.nodes, 3);
	assert_string_equal(facts.node[0].name, "n0");
	assert_null(facts.node[0].role);
	assert_string_equal(facts.node[1].role, "web");
	assert_null(facts.node[1].extra);
	assert_string_equal(facts.node[2].role, "db,log");
	assert_string_equal(facts.node[2].extra, "{\"address\":\"10.7.0.1\"}");
	assert_string_equal(facts.extra, "{\"recorder\":\"by hand\"}");
	run_facts_clear(&facts);
	assert_null(facts.name);
}

static void nothing_is_needed(void **state)
{
	struct error error = ERROR_INIT;
	struct run_facts facts;

	(void)state;
	memset(&facts, 0xff, sizeof(facts));
	assert_int_equal(run_facts_read(&facts, "run.json", NULL, &error), 0);
	assert_null(facts.name);
	assert_int_equal(facts.nodes, 0);
	assert_int_equal(read_text(&facts, "{}", "", ""), 0);
	assert_null(facts.extra);
	assert_int_equal(facts.begin_ns, 0);
	run_facts_clear(&facts);
}

static void wrong_types_are_told(void **state)
{
	struct run_facts facts;

	(void)state;
	assert_int_equal(
	    read_text(&facts,
		      "{\"name\": 7, \"recipe\": {\"steps\": []}, \"begin_ns\": \"now\","
		      " \"parameters\": [], \"nodes\": [7, {}, {\"name\": \"n\","
		      " \"role\": 5}, {\"role\": \"x\"}]}",
		      "",
		      "run.json: name: want a string, not used (malformed, 1)\n"
		      "run.json: begin_ns: want integer nanoseconds between the years "
		      "1933 and 2070, not used (malformed, 1)\n"
		      "run.json: parameters: want an object, not used (malformed, 1)\n"
		      "run.json: nodes: want names or objects with a name, left out "
		      "(malformed, 3)\n"
		      "run.json: role: want a string, not used (malformed, 1)\n"),
	    0);
	assert_string_equal(facts.recipe, "{\"steps\":[]}");
	assert_int_equal(facts.nodes, 1);
	assert_string_equal(facts.node[0].extra, "{\"role\":5}");
	run_facts_clear(&facts);
}

static void what_is_no_object_is_refused(void **state)
{
	struct error error = ERROR_INIT;
	struct run_facts facts;

	(void)state;
	assert_int_equal(read_text(&facts, "[]", "run.json: no JSON object", ""), -1);
	assert_int_equal(
	    read_text(&facts, "",
		      "run.json:1:0: no JSON: '[' or '{' expected near end of file", ""),
	    -1);
	assert_int_equal(run_facts_read(&facts, ".", NULL, &error), -1);
	assert_string_equal(error_text(&error), ".: no plain file");
	error_clear(&error);
}

/* Those of the recorded run, which no recipe made. */
static void the_recorded_run_is_read(void **state)
{
	char *path = mem_printf("%s/tests/fixtures/net3/run.json", getenv("CT_SOURCE"));
	struct problem_list problems = {NULL, 0, 0};
	struct error error = ERROR_INIT;
	struct run_facts facts;

	(void)state;
	assert_int_equal(run_facts_read(&facts, path, &problems, &error), 0);
	assert_problems(&problems, "");
	assert_string_equal(facts.name, "net3");
	assert_int_equal(facts.nodes, 3);
	assert_string_equal(facts.node[2].name, "node3");
	assert_string_equal(facts.parameter[0].name, "profile");
	assert_string_equal(facts.parameter[0].value, "net");
	run_facts_clear(&facts);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(all_members_are_taken),
	    SCRATCH_TEST(nothing_is_needed),
	    SCRATCH_TEST(wrong_types_are_told),
	    SCRATCH_TEST(what_is_no_object_is_refused),
	    cmocka_unit_test(the_recorded_run_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
