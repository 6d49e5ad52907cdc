/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/proc_samples.h"

#include "rows.h"

static int take(void *context, const struct proc_sample *sample)
{
	rows_add(context, "%d: %lld %lld<%lld %s %c u%lld s%lld m%lld r%lld w%lld\n",
		 (int)sample->line, (long long)sample->realtime_ns,
		 (long long)sample->pid, (long long)sample->ppid,
		 sample->comm ? sample->comm : "-", sample->state ? sample->state : '-',
		 (long long)sample->utime_ns, (long long)sample->stime_ns,
		 (long long)sample->rss_kib, (long long)sample->read_bytes,
		 (long long)sample->write_bytes);
	return rows_enough(context);
}

static void read_text(const char *text, const char *wanted, const char *problems)
{
	struct rows rows = {.length = 0};

	scratch_text("proc.csv", text);
	proc_samples_read("proc.csv", take, &rows, &rows.problems);
	assert_string_equal(rows.text, wanted);
	assert_problems(&rows.problems, problems);
}

#define HEADER                                                                           \
	"realtime_ns,pid,ppid,comm,state,utime_ns,stime_ns,rss_kib,read_bytes,"          \
	"write_bytes\n"

static void every_column_is_taken(void **state)
{
	(void)state;
	read_text(HEADER "1795228740000000001,7,1,\"a, \"\"b\"\"\",S,10,20,30,40,50\n",
		  "2: 1795228740000000001 7<1 a, \"b\" S u10 s20 m30 r40 w50\n", "");
	/* The numbers of kernel threads are not all there. */
	read_text(HEADER "1,2,0,kthreadd,S,0,0,,,\n",
		  "2: 1 2<0 kthreadd S u0 s0 m-1 r-1 w-1\n", "");
	read_text("comm,pid,realtime_ns\nsh,2,1\n,3,1\n",
		  "2: 1 2<-1 sh - u-1 s-1 m-1 r-1 w-1\n"
		  "3: 1 3<-1 - - u-1 s-1 m-1 r-1 w-1\n",
		  "");
	read_text(HEADER, "", "");
	read_text("", "", "");
}

static void broken_cells_are_unknown(void **state)
{
	(void)state;
	read_text(HEADER "1,2,x,sh,SS,-5,1.5,3,4,5\n",
		  "2: 1 2<-1 sh - u-1 s-1 m3 r4 w5\n",
		  "proc.csv:2: ppid 'x' is no count, left out (malformed, 1)\n"
		  "proc.csv:2: state 'SS' is no single letter, left out (malformed, 1)\n"
		  "proc.csv:2: utime_ns '-5' is no count, left out (malformed, 1)\n"
		  "proc.csv:2: stime_ns '1.5' is no count, left out (malformed, 1)\n");
}

static void broken_rows_are_left_out(void **state)
{
	(void)state;
	read_text("realtime_ns,pid,wchan\nx,2,0\n1,y,0\n1,-2,0\n1,,0\n1,5,0\n",
		  "6: 1 5<-1 - - u-1 s-1 m-1 r-1 w-1\n",
		  "proc.csv:1: column 'wchan' is not known, left out (foreign, 1)\n"
		  "proc.csv:2: 'x' is no time in nanoseconds, left out (broken, 1)\n"
		  "proc.csv:3: 'y' is no pid, left out (broken, 1)\n"
		  "proc.csv:4: '-2' is no pid, left out (broken, 1)\n"
		  "proc.csv:5: pid is empty, left out (broken, 1)\n");
	read_text("1,2,3\n", "",
		  "proc.csv:1: no column 'realtime_ns', want a header line: "
		  "realtime_ns,pid,ppid,comm,state,utime_ns,stime_ns,rss_kib,read_bytes,"
		  "write_bytes (headless, 1)\n");
}

static void the_callback_may_end_it(void **state)
{
	struct rows rows = {.stop_after = 2};

	(void)state;
	scratch_text("a", "pid,realtime_ns\n1,1\n2,1\n3,1\n");
	assert_int_equal(proc_samples_read("a", take, &rows, &rows.problems), 7);
	assert_int_equal(rows.count, 2);
	assert_int_equal(proc_samples_read("none", take, &rows, &rows.problems), -1);
	assert_problems(&rows.problems,
			"none: No such file or directory (unreadable, 1)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(every_column_is_taken),
	    SCRATCH_TEST(broken_cells_are_unknown),
	    SCRATCH_TEST(broken_rows_are_left_out),
	    SCRATCH_TEST(the_callback_may_end_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
