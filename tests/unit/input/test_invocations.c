/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/invocations.h"

#include "rows.h"

static void add_number(struct rows *rows, const char *name, int64_t value)
{
	if (value != INVOCATION_UNKNOWN)
		rows_add(rows, " %s=%lld", name, (long long)value);
}

static void add_text(struct rows *rows, const char *name, const char *value)
{
	if (value)
		rows_add(rows, " %s=%s", name, value);
}

static int take(void *context, const struct invocation *invocation)
{
	struct rows *rows = context;

	rows_add(rows, "%d:", (int)invocation->line);
	add_text(rows, "name", invocation->name);
	add_text(rows, "node", invocation->node);
	add_number(rows, "pid", invocation->pid);
	add_number(rows, "enqueued", invocation->enqueued_ns);
	add_number(rows, "started", invocation->started_ns);
	add_number(rows, "ended", invocation->ended_ns);
	add_number(rows, "status", invocation->status);
	if (json_object_size(invocation->rest)) {
		char *rest = json_one_line(invocation->rest);

		rows_add(rows, " rest=%s", rest);
		free(rest);
	}
	rows_add(rows, "\n");
	return rows_enough(rows);
}

static void read_text(const char *text, const char *wanted, const char *problems)
{
	struct rows rows = {.length = 0};

	scratch_text("a", text);
	assert_int_equal(invocations_read("a", take, &rows, &rows.problems), 0);
	assert_string_equal(rows.text, wanted);
	assert_problems(&rows.problems, problems);
}

static void all_members_are_taken(void **state)
{
	(void)state;
	read_text(
	    "{\"name\": \"resize\", \"node\": \"n2\", \"pid\": 71, \"enqueued_ns\": 1,"
	    " \"started_ns\": 1795228740123456789, \"ended_ns\": 1795228740123456790,"
	    " \"status\": 137, \"bytes\": 9223372036854775807, \"trace_id\": \"4bf9\","
	    " \"argv\": [\"convert\", \"a b\", 7]}\n",
	    "1: name=resize node=n2 pid=71 enqueued=1 started=1795228740123456789 "
	    "ended=1795228740123456790 status=137 rest={\"bytes\":9223372036854775807,"
	    "\"trace_id\":\"4bf9\",\"argv\":[\"convert\",\"a b\",7],"
	    "\"command\":\"convert a b 7\"}\n",
	    "");
	read_text(
	    "{\"argv\": [\"ls\"], \"command\": \"ls -l\", \"status\": \"timeout\"}\n"
	    "{}\n",
	    "1: rest={\"argv\":[\"ls\"],\"command\":\"ls -l\",\"status\":\"timeout\"}\n"
	    "2:\n",
	    "");
}

static void unknown_members_are_kept(void **state)
{
	(void)state;
	read_text("{\"pid\": 7, \"cold\": true, \"tags\": {\"a\": [1, null]},"
		  " \"name\": null}\r\n\n  \n",
		  "1: pid=7 rest={\"cold\":true,\"tags\":{\"a\":[1,null]}}\n", "");
}

static void wrong_types_stay_with_the_rest(void **state)
{
	(void)state;
	read_text("{\"pid\": \"7\", \"name\": 5, \"ended_ns\": 1.5,"
		  " \"started_ns\": 9223372036854775807, \"status\": []}\n",
		  "1: rest={\"pid\":\"7\",\"name\":5,\"ended_ns\":1.5,"
		  "\"started_ns\":9223372036854775807,\"status\":[]}\n",
		  "a:1: name: want a string, not used (malformed, 1)\n"
		  "a:1: pid: want an integer, not used (malformed, 1)\n"
		  "a:1: started_ns: want integer nanoseconds between the years 1933 and "
		  "2070, not used (malformed, 1)\n"
		  "a:1: ended_ns: want integer nanoseconds between the years 1933 and "
		  "2070, not used (malformed, 2)\n");
}

static void broken_lines_are_left_out(void **state)
{
	struct rows rows = {.length = 0};

	(void)state;
	read_text("{\"pid\": 1}\n{\"pid\": 2\n[3]\n{\"pid\": 4, \"pid\": 5}\n"
		  "{\"pid\": 99999999999999999999}\n{\"pid\": 6} x\n{\"pid\": 7}",
		  "1: pid=1\n7: pid=7\n",
		  "a:2: no JSON: '}' expected near end of file at 9, left out (broken, "
		  "1)\n"
		  "a:3: no JSON object, left out (broken, 1)\n"
		  "a:4: no JSON: duplicate object key near '\"pid\"' at 16, left out "
		  "(broken, 1)\n"
		  "a:5: no JSON: too big integer near '99999999999999999999' at 28, left "
		  "out (broken, 2)\n");
	read_text("{\"pid\": 1}\n{\"pid\": 2, \"na", "1: pid=1\n",
		  "a:2: the file ends within this line, left out (truncated, 1)\n");
	scratch_long("a", "{\"name\": \"", 10000000, "\"}\n{\"pid\": 1}\n");
	assert_int_equal(invocations_read("a", take, &rows, &rows.problems), 0);
	assert_string_equal(rows.text, "2: pid=1\n");
	assert_problems(&rows.problems,
			"a:1: a line of more than 1 MiB, left out (broken, 1)\n");
	read_text("", "", "");
	assert_int_equal(invocations_read(".", take, &rows, &rows.problems), -1);
	assert_problems(&rows.problems, ".: no plain file (unreadable, 1)\n");
}

/* As deep, and as many, as a line can hold. */
static void hostile_records_end_soon(void **state)
{
	struct rows rows = {.length = 0};
	char *text = mem_alloc(1000100);
	size_t length;

	(void)state;
	memset(text, '[', 1000000);
	text[1000000] = '\0';
	scratch_text("a", text);
	assert_int_equal(invocations_read("a", take, &rows, &rows.problems), 0);
	assert_string_equal(rows.text, "");
	assert_int_equal(rows.problems.count, 1);
	problem_clear(&rows.problems);
	length = (size_t)sprintf(text, "{\"argv\":[0");
	for (int i = 0; i < 490000; i++)
		length += (size_t)sprintf(text + length, ",1");
	sprintf(text + length, "]}\n");
	scratch_text("a", text);
	assert_int_equal(invocations_read("a", take, &rows, &rows.problems), 0);
	assert_int_equal(rows.count, 1);
	assert_problems(&rows.problems, "");
	free(text);
}

static void times_out_of_order_are_told(void **state)
{
	(void)state;
	read_text("{\"enqueued_ns\": 5, \"started_ns\": 4}\n"
		  "{\"enqueued_ns\": 5, \"ended_ns\": 4}\n"
		  "{\"enqueued_ns\": 5, \"started_ns\": 5, \"ended_ns\": 5}\n",
		  "1: enqueued=5 started=4\n2: enqueued=5 ended=4\n"
		  "3: enqueued=5 started=5 ended=5\n",
		  "a:1: enqueued, started and ended out of order (backward, 2)\n");
}

static void the_callback_may_end_it(void **state)
{
	struct rows rows = {.stop_after = 1};

	(void)state;
	scratch_text("a", "{}\n{}\n");
	assert_int_equal(invocations_read("a", take, &rows, &rows.problems), 7);
	assert_int_equal(rows.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(all_members_are_taken),
	    SCRATCH_TEST(unknown_members_are_kept),
	    SCRATCH_TEST(wrong_types_stay_with_the_rest),
	    SCRATCH_TEST(broken_lines_are_left_out),
	    SCRATCH_TEST(hostile_records_end_soon),
	    SCRATCH_TEST(times_out_of_order_are_told),
	    SCRATCH_TEST(the_callback_may_end_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
