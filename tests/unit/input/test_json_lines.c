/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/csv.h"

#include "rows.h"

/* Objects as LINE: OBJECT; whether there was something to read. */
static bool read_file(const char *path, struct rows *rows)
{
	struct problem_log log;
	struct line_reader *lines;
	struct text_line line;
	json_t *object;

	problem_log_init(&log, path, &rows->problems);
	lines = line_reader_open(path, &log);
	while (lines && (object = line_reader_next_object(lines, &line))) {
		char *text = json_one_line(object);

		rows->count++;
		if (strlen(text) < 1000)
			rows_add(rows, "%d: %s\n", (int)line.number, text);
		free(text);
		json_decref(object);
	}
	line_reader_close(lines);
	return lines;
}

static void read_text(const char *text, const char *wanted, const char *problems)
{
	struct rows rows = {.length = 0};

	scratch_text("a", text);
	assert_true(read_file("a", &rows));
	assert_string_equal(rows.text, wanted);
	assert_problems(&rows.problems, problems);
}

SCRATCH_TEST(blanks_are_passed_over)
{
	read_text("{\"b\": 7, \"a\": [1, null]}\r\n\n  \n{}\n",
		  "1: {\"b\":7,\"a\":[1,null]}\n4: {}\n", "");
}

SCRATCH_TEST(broken_lines_are_left_out)
{
	struct rows rows = {.length = 0};

	read_text(
	    "{\"pid\": 1}\n{\"pid\": 2\n[3]\n{\"pid\": 4, \"pid\": 5}\n"
	    "{\"pid\": 99999999999999999999}\n{\"pid\": 6} x\n{\"pid\": 7}",
	    "1: {\"pid\":1}\n7: {\"pid\":7}\n",
	    "a:2: invalid JSON: '}' expected near end of file at byte 9; skipped "
	    "(broken, "
	    "1)\n"
	    "a:3: not a JSON object; skipped (broken, 1)\n"
	    "a:4: invalid JSON: duplicate object key near '\"pid\"' at byte 16; skipped "
	    "(broken, 1)\n"
	    "a:5: invalid JSON: too big integer near '99999999999999999999' at byte 28; "
	    "skipped (broken, 2)\n");
	read_text("{\"pid\": 1}\n{\"pid\": 2, \"na", "1: {\"pid\":1}\n",
		  "a:2: incomplete last line skipped (truncated, 1)\n");
	scratch_long("a", "{\"name\": \"", 10000000, "\"}\n{\"pid\": 1}\n");
	assert_true(read_file("a", &rows));
	assert_string_equal(rows.text, "2: {\"pid\":1}\n");
	assert_problems(&rows.problems,
			"a:1: line longer than 1 MiB skipped (broken, 1)\n");
	read_text("", "", "");
	assert_false(read_file(".", &rows));
	assert_problems(&rows.problems, ".: not a regular file (unreadable, 1)\n");
}

/* As deep, and as many, as a line can hold. */
SCRATCH_TEST(hostile_records_end_soon)
{
	struct rows rows = {.length = 0};
	char *text = mem_alloc(1000100);
	size_t length;

	memset(text, '[', 1000000);
	text[1000000] = '\0';
	scratch_text("a", text);
	assert_true(read_file("a", &rows));
	assert_string_equal(rows.text, "");
	assert_int_equal(rows.problems.count, 1);
	problem_clear(&rows.problems);
	length = (size_t)sprintf(text, "{\"argv\":[0");
	for (int i = 0; i < 490000; i++)
		length += (size_t)sprintf(text + length, ",1");
	sprintf(text + length, "]}\n");
	scratch_text("a", text);
	assert_true(read_file("a", &rows));
	assert_int_equal(rows.count, 1);
	assert_problems(&rows.problems, "");
	free(text);
}
