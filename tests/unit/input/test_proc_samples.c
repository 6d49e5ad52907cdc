/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/csv.h"

#include "rows.h"

static long long integer(const struct csv_row *row, enum proc_column column)
{
	return (long long)row->cell[column].integer;
}

static void read_file(const char *path, const char *wanted, const char *problems)
{
	struct rows rows = {.length = 0};
	struct problem_log log;
	struct csv_row row;
	struct csv *csv;

	problem_log_init(&log, path, &rows.problems);
	csv = csv_open(path, &proc_columns, &log);
	while (csv && csv_next(csv, &row)) {
		const char *comm = row.cell[PROC_COMM].text;
		long long state = integer(&row, PROC_STATE);

		rows_add(&rows, "%d: %lld %lld<%lld %s %c ", (int)row.line,
			 integer(&row, PROC_REALTIME), integer(&row, PROC_PID),
			 integer(&row, PROC_PPID), comm ? comm : "-",
			 state < 0 ? '-' : (int)state);
		rows_add(&rows, "u%lld s%lld m%lld r%lld w%lld\n",
			 integer(&row, PROC_UTIME), integer(&row, PROC_STIME),
			 integer(&row, PROC_RSS), integer(&row, PROC_READ),
			 integer(&row, PROC_WRITTEN));
	}
	csv_close(csv);
	assert_string_equal(rows.text, wanted);
	assert_problems(&rows.problems, problems);
}

static void read_text(const char *text, const char *wanted, const char *problems)
{
	scratch_text("proc.csv", text);
	read_file("proc.csv", wanted, problems);
}

#define HEADER                                                                           \
	"realtime_ns,pid,ppid,comm,state,utime_ns,stime_ns,rss_kib,read_bytes,"          \
	"write_bytes\n"

SCRATCH_TEST(every_column_is_taken)
{
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

SCRATCH_TEST(broken_cells_are_unknown)
{
	read_text(
	    HEADER "1,2,x,sh,SS,-5,1.5,3,4,5\n", "2: 1 2<-1 sh - u-1 s-1 m3 r4 w5\n",
	    "proc.csv:2: invalid ppid 'x' (expected a count); skipped (malformed, 1)\n"
	    "proc.csv:2: invalid state 'SS' (expected a single letter); skipped "
	    "(malformed, 1)\n"
	    "proc.csv:2: invalid utime_ns '-5' (expected a count); skipped (malformed, "
	    "1)\n"
	    "proc.csv:2: invalid stime_ns '1.5' (expected a count); skipped (malformed, "
	    "1)\n");
}

SCRATCH_TEST(broken_rows_are_left_out)
{
	read_text("realtime_ns,pid,wchan\nx,2,0\n1,y,0\n1,-2,0\n1,,0\n1,5,0\n",
		  "6: 1 5<-1 - - u-1 s-1 m-1 r-1 w-1\n",
		  "proc.csv:1: unknown column 'wchan' ignored (foreign, 1)\n"
		  "proc.csv:2: invalid realtime_ns 'x' (expected a time in nanoseconds); "
		  "skipped "
		  "(broken, 1)\n"
		  "proc.csv:3: invalid pid 'y' (expected a count); skipped (broken, 1)\n"
		  "proc.csv:4: invalid pid '-2' (expected a count); skipped (broken, 1)\n"
		  "proc.csv:5: pid is empty; skipped (broken, 1)\n");
	read_text("1,2,3\n", "",
		  "proc.csv:1: missing column 'realtime_ns' (expected a header line: "
		  "realtime_ns,pid,ppid,comm,state,utime_ns,stime_ns,rss_kib,read_bytes,"
		  "write_bytes) (headless, 1)\n");
}

SCRATCH_TEST(a_file_that_is_not_there_is_a_problem)
{
	read_file("none", "", "none: No such file or directory (unreadable, 1)\n");
	read_file(".", "", ".: not a regular file (unreadable, 1)\n");
}
