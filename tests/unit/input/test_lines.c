/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/csv.h"

#include "rows.h"

static void read_lines(const char *path, const char *wanted, const char *problems)
{
	struct rows rows = {.length = 0};
	struct problem_log log;
	struct line_reader *lines;
	struct text_line line;

	problem_log_init(&log, path, &rows.problems);
	lines = line_reader_open(path, &log);
	while (lines && line_reader_next(lines, &line)) {
		assert_int_equal(strlen(line.text), line.length);
		rows_add(&rows, "%d %s%s", (int)line.number,
			 line.length > 40 ? "long" : line.text, line.ended ? "\n" : "|");
	}
	line_reader_close(lines);
	assert_string_equal(rows.text, wanted);
	assert_problems(&rows.problems, problems);
}

SCRATCH_TEST(lines_end_in_any_way)
{
	scratch_text("a", "one\ntwo\r\n\n\r\nfive\rstill\n");
	read_lines("a", "1 one\n2 two\n3 \n4 \n5 five\rstill\n", "");
	scratch_text("a", "one\ntwo");
	read_lines("a", "1 one\n2 two|", "");
	scratch_text("a", "one\r");
	read_lines("a", "1 one\r|", "");
	scratch_text("a", "");
	read_lines("a", "", "");
}

SCRATCH_TEST(what_is_no_text_is_passed_over)
{
	SCRATCH_LITERAL("a", "one\nt\0wo\n\0\nfour\n");
	read_lines("a", "1 one\n4 four\n",
		   "a:2: line with a zero byte skipped (broken, 2)\n");
}

SCRATCH_TEST(long_lines_are_passed_over)
{
	const char *const wanted = "a:2: line longer than 1 MiB skipped (broken, 1)\n";

	scratch_long("a", "one\n", 10000000, "\nthree\n");
	read_lines("a", "1 one\n3 three\n", wanted);
	scratch_long("a", "one\n", 10000000, "");
	read_lines("a", "1 one\n", wanted);
	scratch_long("a", "one\n", LINE_LONGEST, "\nthree\n");
	read_lines("a", "1 one\n2 long\n3 three\n", "");
	scratch_long("a", "one\n", LINE_LONGEST, "\r\nthree\n");
	read_lines("a", "1 one\n2 long\n3 three\n", "");
	scratch_long("a", "one\n", LINE_LONGEST, "");
	read_lines("a", "1 one\n2 long|", "");
	scratch_long("a", "one\n", LINE_LONGEST + 1, "\nthree\n");
	read_lines("a", "1 one\n3 three\n", wanted);
	scratch_long("a", "one\n", LINE_LONGEST + 1, "\r\nthree\n");
	read_lines("a", "1 one\n3 three\n", wanted);
}

SCRATCH_TEST(only_plain_files_are_read)
{
	assert_int_equal(mkdir("directory", 0777), 0);
	assert_int_equal(mkfifo("pipe", 0666), 0);
	read_lines("directory", "", "directory: not a regular file (unreadable, 1)\n");
	read_lines("pipe", "", "pipe: not a regular file (unreadable, 1)\n");
	read_lines("none", "", "none: No such file or directory (unreadable, 1)\n");
	scratch_text("secret", "x\n");
	assert_int_equal(chmod("secret", 0), 0);
	if (access("secret", R_OK))
		read_lines("secret", "", "secret: Permission denied (unreadable, 1)\n");
}

/* A million broken lines make no million problems. */
TEST(problems_of_a_sort_are_counted)
{
	struct problem_list problems = {NULL, 0, 0};
	struct problem_log log;

	problem_add(&problems, "b", PROBLEM_OTHER, 1, "of another file");
	problem_log_init(&log, "a", &problems);
	for (unsigned i = 1; i <= 10; i++) {
		problem_log_add(&log, PROBLEM_BROKEN, i, "%u is odd", i);
		problem_log_add(&log, PROBLEM_FOREIGN, i, "as ever");
	}
	problem_log_add(&log, PROBLEM_BROKEN, 11, "%u is odd", 2);
	assert_problems(&problems, "b: of another file (other, 1)\n"
				   "a:1: 1 is odd (broken, 1)\n"
				   "a:1: as ever (foreign, 10)\n"
				   "a:2: 2 is odd (broken, 2)\n"
				   "a:3: 3 is odd (broken, 1)\n"
				   "a:4: 4 is odd (broken, 7)\n");
}

/* Bytes that are quoted from a file must not reach a terminal unchanged. */
TEST(quotes_are_shortened)
{
	struct problem_list problems = {NULL, 0, 0};
	struct problem_log log;
	char *endless = mem_zalloc(1000001);

	memset(endless, 'x', 1000000);
	memcpy(endless + 398, "\xc3\xa4", 2);
	problem_log_init(&log, "a", &problems);
	problem_log_add(&log, PROBLEM_BROKEN, 1, "%s", endless + 397);
	problem_log_add(&log, PROBLEM_BROKEN, 1, "%s", endless);
	problem_log_add(&log, PROBLEM_BROKEN, 1, "%s", endless + 1);
	assert_int_equal(strlen(problems.item[0].text), 403);
	assert_int_equal(strlen(problems.item[1].text), 403);
	assert_string_equal(problems.item[2].text + 397, "\xc3\xa4x...");
	problem_clear(&problems);
	free(endless);
}
