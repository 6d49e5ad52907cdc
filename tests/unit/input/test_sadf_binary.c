/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sadf_rows.h"

/* A program that stands in for sadf. */
static void put_sadf(const char *script)
{
	char *path = mem_printf("%s/bin:/usr/bin:/bin", scratch);

	scratch_text("bin/sadf", script);
	assert_int_equal(chmod("bin/sadf", 0755), 0);
	assert_int_equal(setenv("PATH", path, 1), 0);
	free(path);
}

static void read_log(const char *path, int status, const char *wanted,
		     const char *problems)
{
	struct rows rows = {.length = 0};
	struct sadf_sink sink = {take_row, take_mark, &rows};

	assert_int_equal(sadf_read_binary(path, &sink, &rows.problems), status);
	assert_string_equal(rows.text, wanted);
	assert_problems(&rows.problems, problems);
}

#define ROW(line, item) #line ": h 5000000000/1 " item " proc/s 1=1 task /s - rate\n"

/* The name goes to sadf as it is, however odd, and the environment does not. */
static void sadf_is_run_without_a_shell(void **state)
{
	const char *const name = "a $(touch b);'\" `touch b`.sa";

	(void)state;
	put_sadf("#!/bin/sh\n"
		 "printf 'h\\t1\\t5\\t%s\\tproc/s\\t1\\n' \"$1$2$4$5\" \"$3\" "
		 "\"$# $LC_ALL,$S_TIME_FORMAT,$(cat)\"\n");
	setenv("S_TIME_FORMAT", "ISO", 1);
	setenv("LC_ALL", "de_DE.UTF-8", 1);
	scratch_text(name, "");
	read_log(name, 0,
		 "1: h 5000000000/1 -p-U---A proc/s 1=1 task /s - rate\n"
		 "2: h 5000000000/1 a $(touch b);'\" `touch b`.sa proc/s 1=1 task /s - "
		 "rate\n"
		 "3: h 5000000000/1 5 C,, proc/s 1=1 task /s - rate\n",
		 "");
	assert_int_not_equal(access("b", F_OK), 0);
	scratch_text("-V.sa", "");
	put_sadf("#!/bin/sh\nprintf 'h\\t1\\t5\\t%s\\tproc/s\\t1\\n' \"$3\"\n");
	read_log("-V.sa", 0, ROW(1, "./-V.sa"), "");
}

static void failures_are_told(void **state)
{
	(void)state;
	scratch_text("a.sa", "");
	put_sadf("#!/bin/sh\nprintf 'h\\t1\\t5\\tx\\tproc/s\\t1\\nh\\t1'\n"
		 "printf 'End of file\\nmore\\n' >&2\nexit 2\n");
	read_log("a.sa", 0, ROW(1, "x"),
		 "a.sa:2: the file ends within this line, left out (truncated, 1)\n"
		 "a.sa: sadf: End of file (exit status 2), what it gave is used "
		 "(unreadable, 1)\n");
	put_sadf("#!/bin/sh\nexit 3\n");
	read_log("a.sa", -1, "",
		 "a.sa: no sample in it (empty, 1)\n"
		 "a.sa: sadf: exit status 3, what it gave is used (unreadable, 1)\n");
	put_sadf("#!/bin/sh\nkill -SEGV $$\n");
	read_log("a.sa", -1, "",
		 "a.sa: no sample in it (empty, 1)\n"
		 "a.sa: sadf: killed by signal 11, what it gave is used (unreadable, "
		 "1)\n");
}

static void much_on_standard_error_blocks_nothing(void **state)
{
	(void)state;
	scratch_text("a.sa", "");
	put_sadf("#!/bin/sh\nhead -c 1000000 /dev/zero | tr '\\0' x >&2\n"
		 "printf 'h\\t1\\t5\\tx\\tproc/s\\t1\\n'\n");
	read_log("a.sa", 0, ROW(1, "x"), "");
}

static void without_sadf_it_is_asked_for(void **state)
{
	(void)state;
	scratch_text("a.sa", "");
	assert_int_equal(setenv("PATH", scratch, 1), 0);
	read_log("a.sa", -1, "",
		 "a.sa: no sadf here to read it with, want sysstat, or text of LC_ALL=C "
		 "sadf -p -U FILE -- -A (unreadable, 1)\n");
	read_log("none.sa", -1, "",
		 "none.sa: No such file or directory (unreadable, 1)\n");
	read_log(".", -1, "", ".: no plain file (unreadable, 1)\n");
}

/* A sink that has had enough need not wait for all that sadf would say. */
static void the_sink_may_end_it(void **state)
{
	struct rows rows = {.stop_after = 2};
	struct sadf_sink sink = {take_row, take_mark, &rows};

	(void)state;
	scratch_text("a.sa", "");
	put_sadf("#!/bin/sh\nexec yes \"$(printf 'h\\t1\\t5\\tx\\tproc/s\\t1')\"\n");
	assert_int_equal(sadf_read_binary("a.sa", &sink, &rows.problems), 7);
	assert_int_equal(rows.count, 2);
	assert_problems(&rows.problems, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(sadf_is_run_without_a_shell),
	    SCRATCH_TEST(failures_are_told),
	    SCRATCH_TEST(much_on_standard_error_blocks_nothing),
	    SCRATCH_TEST(without_sadf_it_is_asked_for),
	    SCRATCH_TEST(the_sink_may_end_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
