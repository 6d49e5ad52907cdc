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

/* "name=text;" of each in its order, or "name:stamp;". */
static void assert_facts(const struct run_facts *facts, const char *wanted)
{
	struct rows rows = {.length = 0};

	for (size_t i = 0; i < facts->count; i++) {
		const struct run_fact *fact = &facts->item[i];

		if (fact->text)
			rows_add(&rows, "%s=%s;", fact->name, fact->text);
		else
			rows_add(&rows, "%s:%lld;", fact->name, (long long)fact->stamp);
	}
	assert_string_equal(rows.text, wanted);
}

SCRATCH_TEST(all_members_are_taken)
{
	struct run_facts facts;

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
	assert_facts(&facts, "name=mesh;recipe=iperf;collector=0.1.0;"
			     "run.json={\"recorder\":\"by hand\"};"
			     "begin_ns:1795228740123456789;end_ns:1795228750123456789;"
			     "parameter.size=200;parameter.rate=0.1;parameter.mode=tcp;"
			     "parameter.big=1795228740.123456;parameter.list=[1,2];"
			     "parameter.on=true;role.n1=web;role.n2=db,log;");
	run_facts_clear(&facts);
	assert_int_equal(facts.count, 0);
}

SCRATCH_TEST(nothing_is_needed)
{
	struct error error = ERROR_INIT;
	struct run_facts facts;

	memset(&facts, 0xff, sizeof(facts));
	assert_int_equal(run_facts_read(&facts, "run.json", NULL, &error), 0);
	assert_int_equal(facts.count, 0);
	assert_int_equal(read_text(&facts, "{}", "", ""), 0);
	assert_int_equal(facts.count, 0);
	run_facts_clear(&facts);
}

SCRATCH_TEST(wrong_types_are_told)
{
	struct run_facts facts;

	assert_int_equal(
	    read_text(
		&facts,
		"{\"name\": 7, \"recipe\": {\"steps\": []}, \"begin_ns\": \"now\","
		" \"parameters\": [], \"nodes\": [7, {}, {\"name\": \"n\","
		" \"role\": 5}, {\"role\": \"x\"}]}",
		"",
		"run.json: name: ignored (expected a string) (malformed, 1)\n"
		"run.json: begin_ns: ignored (expected integer nanoseconds between the "
		"years "
		"1967 and 2111) (malformed, 1)\n"
		"run.json: parameters: ignored (expected an object) (malformed, 1)\n"
		"run.json: nodes: expected names or objects with a name; skipped "
		"(malformed, 3)\n"
		"run.json: role: ignored (expected a string) (malformed, 1)\n"),
	    0);
	assert_facts(&facts, "recipe={\"steps\":[]};run.json={\"name\":7,"
			     "\"begin_ns\":\"now\",\"parameters\":[]};");
	run_facts_clear(&facts);
}

SCRATCH_TEST(what_is_no_object_is_refused)
{
	struct error error = ERROR_INIT;
	struct run_facts facts;

	assert_int_equal(read_text(&facts, "[]", "run.json: not a JSON object", ""), -1);
	assert_int_equal(
	    read_text(&facts, "",
		      "run.json:1:0: invalid JSON: '[' or '{' expected near end of file",
		      ""),
	    -1);
	assert_int_equal(run_facts_read(&facts, ".", NULL, &error), -1);
	assert_string_equal(error_text(&error), ".: not a regular file");
	error_clear(&error);
}

/* Those of the recorded run, which no recipe made. */
TEST(the_recorded_run_is_read)
{
	char *path = mem_printf("%s/tests/fixtures/net3/run.json", getenv("CT_SOURCE"));
	struct problem_list problems = {NULL, 0, 0};
	struct error error = ERROR_INIT;
	struct run_facts facts;

	assert_int_equal(run_facts_read(&facts, path, &problems, &error), 0);
	assert_problems(&problems, "");
	assert_string_equal(facts.item[0].name, "name");
	assert_string_equal(facts.item[0].text, "net3");
	run_facts_clear(&facts);
	free(path);
}
