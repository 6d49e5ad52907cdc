/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/sadf.h"

#include "input/csv.h"
#include "rows.h"

static const char *or_dash(const char *text)
{
	return text ? text : "-";
}

static void add_row(struct rows *rows, const struct sadf_row *row)
{
	if (row->kind != SADF_VALUE)
		rows_add(rows, "%d: %s %s %lld '%s'\n", (int)row->line,
			 row->kind == SADF_RESTART ? "restart" : "comment", row->host,
			 (long long)row->realtime_ns, row->text);
	else
		rows_add(rows, "%d: %s %lld/%lld %s %s %s=%g %s %s %s %s\n",
			 (int)row->line, row->host, (long long)row->realtime_ns,
			 (long long)(row->interval_ns / NSEC_PER_SEC), row->item,
			 row->metric, row->text, row->value, or_dash(row->about.activity),
			 or_dash(row->about.unit), or_dash(row->about.item_type),
			 row->about.kind ? row->about.kind : "");
}

/* Read a file. Return true if it has rows. */
static bool read_file(const char *path, struct rows *rows)
{
	struct problem_log log;
	struct sadf_row row;
	struct sadf *sadf;

	problem_log_init(&log, path, &rows->problems);
	sadf = sadf_open(path, &log);
	while (sadf && sadf_next(sadf, &row))
		add_row(rows, &row);
	sadf_close(sadf);
	return sadf;
}

static void read_text(const char *text, const char *wanted, const char *problems)
{
	struct rows rows = {.length = 0};

	scratch_text("a", text);
	assert_true(read_file("a", &rows));
	assert_string_equal(rows.text, wanted);
	assert_problems(&rows.problems, problems);
}

SCRATCH_TEST(rows_are_read)
{
	read_text(
	    "web\t1\t1795228740\tall\t%usr\t4.29\n"
	    "web\t10\t1795228740.25\teth0\trxkB/s\t-1\r\n"
	    "\n"
	    "web\t1\t1795228741\t-\tkbmemfree\t322424\n",
	    "1: web 1795228740000000000/1 all %usr 4.29=4.29 cpu percent cpu gauge\n"
	    "2: web 1795228740250000000/10 eth0 rxkB/s -1=-1 net kB/s interface "
	    "rate\n"
	    "4: web 1795228741000000000/1 - kbmemfree 322424=322424 memory kB - "
	    "gauge\n",
	    "");
}

SCRATCH_TEST(unknown_metrics_are_kept)
{
	read_text("web\t1\t5\tx\tnew/s\t4\nweb\t1\t5\tx\t\t4\n",
		  "1: web 5000000000/1 x new/s 4=4 - - - \n"
		  "2: web 5000000000/1 x  4=4 - - - \n",
		  "");
}

/* Two activities have a tps, and two a retrans/s. */
SCRATCH_TEST(names_of_two_activities_are_told_apart)
{
	read_text("h\t1\t5\t-\ttps\t1\nh\t1\t5\tsda\ttps\t1\n"
		  "h\t1\t5\t-\tcall/s\t1\nh\t1\t5\t-\tretrans/s\t1\n"
		  "h\t1\t5\t-\testres/s\t1\nh\t1\t5\t-\tretrans/s\t1\n"
		  "h\t1\t5\tsum\tall\t1\nh\t1\t5\t27\tcpu12\t1\nh\t1\t5\tx\tcpux\t1\n",
		  "1: h 5000000000/1 - tps 1=1 io /s - rate\n"
		  "2: h 5000000000/1 sda tps 1=1 disk /s disk rate\n"
		  "3: h 5000000000/1 - call/s 1=1 nfs /s - rate\n"
		  "4: h 5000000000/1 - retrans/s 1=1 nfs /s - rate\n"
		  "5: h 5000000000/1 - estres/s 1=1 tcp /s - rate\n"
		  "6: h 5000000000/1 - retrans/s 1=1 tcp /s - rate\n"
		  "7: h 5000000000/1 sum all 1=1 interrupt /s interrupt rate\n"
		  "8: h 5000000000/1 27 cpu12 1=1 interrupt /s interrupt rate\n"
		  "9: h 5000000000/1 x cpux 1=1 - - - \n",
		  "");
}

SCRATCH_TEST(some_values_are_texts)
{
	read_text("h\t1\t5\tbus1\tmanufact\tLinux, Ltd\nh\t1\t5\tfan1\tDEVICE\t7\n",
		  "1: h 5000000000/1 bus1 manufact Linux, Ltd=nan usb - usb text\n"
		  "2: h 5000000000/1 fan1 DEVICE 7=nan sensor - sensor text\n",
		  "");
}

SCRATCH_TEST(restarts_and_comments_are_marks)
{
	read_text("vm\t-1\t1795304844\tLINUX-RESTART\t(2 CPU)\n"
		  "vm\t-1\t1795304843\tCOM begin; of load\n"
		  "vm\t-1\t1795304843\tCOM begin; of load\n"
		  "vm\t-1\t1795304844\tCOM begin; of load\n"
		  "vm\t-1\t1795304847\tLINUX-RESTART\n",
		  "1: restart vm 1795304844000000000 '(2 CPU)'\n"
		  "2: comment vm 1795304843000000000 'begin; of load'\n"
		  "4: comment vm 1795304844000000000 'begin; of load'\n"
		  "5: restart vm 1795304847000000000 ''\n",
		  "");
}

SCRATCH_TEST(other_forms_are_refused)
{
	read_text("# hostname;interval;timestamp;tps\nh;1;6;7\nh;1;7;8\n", "",
		  "a:1: line of sadf -d skipped; use LC_ALL=C sadf -p -U FILE -- -A "
		  "(broken, 3)\n"
		  "a: no sample in it (empty, 1)\n");
}

#define GOOD  "h\t1\t5\t-\tproc/s\t1\n"
#define GOOD2 "2: h 5000000000/1 - proc/s 1=1 task /s - rate\n"
#define GOOD1 "1: h 5000000000/1 - proc/s 1=1 task /s - rate\n"

SCRATCH_TEST(broken_lines_are_left_out)
{
	read_text("h\t1\t5\tall\t%usr\t4,29\n" GOOD, GOOD2,
		  "a:1: number '4,29' with a decimal comma skipped; use LC_ALL=C sadf "
		  "(locale, 1)\n");
	read_text("h\t1\t2026-11-21 02:39:00 UTC\tall\t%usr\t4\n" GOOD, GOOD2,
		  "a:1: invalid time '2026-11-21 02:39:00 UTC' skipped; use sadf -U "
		  "(broken, 1)\n");
	read_text("h\t1\t1795228740000\tall\t%usr\t4\n" GOOD, GOOD2,
		  "a:1: invalid time '1795228740000' skipped (expected seconds between "
		  "1967 and 2111) (broken, 1)\n");
	read_text(GOOD "i\t1\t5\t-\tproc/s\t2\n", GOOD1,
		  "a:2: a line of host 'i' in a text of 'h', skipped (node, 1)\n");
	read_text("h\tx\t5\tall\t%usr\t4\n" GOOD, GOOD2,
		  "a:1: invalid interval 'x' skipped (expected seconds) (broken, 1)\n");
	read_text("h\t1\t5\tall\t%usr\tnan\n" GOOD, GOOD2,
		  "a:1: invalid number 'nan' skipped (broken, 1)\n");
	read_text("h\t1\t5\tall\t%usr\n" GOOD "h\t1\t5\tall\t%usr\t4\t5\n", GOOD2,
		  "a:1: line skipped (expected HOST INTERVAL SECONDS ITEM METRIC VALUE "
		  "with tabs between) (broken, 2)\n");
	read_text("{\"sysstat\": {\n" GOOD, GOOD2,
		  "a:1: not a line of sadf -p (expected HOST INTERVAL SECONDS ITEM "
		  "METRIC VALUE with tabs between); skipped (broken, 1)\n");
	read_text("\n" GOOD "h\t1\t5\t-\tproc/s\t1", GOOD2,
		  "a:3: incomplete last line skipped (truncated, 1)\n");
	read_text("h\t-1\tnow\tLINUX-RESTART\t(2 CPU)\n" GOOD, GOOD2,
		  "a:1: invalid time 'now' skipped; use sadf -U (broken, "
		  "1)\n");
}

SCRATCH_TEST(hostile_files_are_survived)
{
	struct rows rows = {.length = 0};

	read_text("", "", "a: no sample in it (empty, 1)\n");
	SCRATCH_LITERAL("a", GOOD "\x7f"
				  "ELF\0\0\0\n");
	assert_true(read_file("a", &rows));
	assert_problems(&rows.problems, "a:2: line with a zero byte skipped (broken, "
					"1)\n");
	scratch_long("a", GOOD, 10000000, "\nh\t-1\t5\tCOM not wanted\n");
	assert_true(read_file("a", &rows));
	assert_problems(&rows.problems,
			"a:2: line longer than 1 MiB skipped (broken, 1)\n");
	assert_string_equal(rows.text,
			    GOOD1 GOOD1 "3: comment h 5000000000 'not wanted'\n");
	assert_false(read_file(".", &rows));
	assert_problems(&rows.problems, ".: not a regular file (unreadable, 1)\n");
}

/* Sums made with awk from the recorded run; nothing of it is unknown. */
TEST(a_recorded_file_is_read_whole)
{
	struct problem_list problems = {NULL, 0, 0};
	char *path =
	    mem_printf("%s/tests/fixtures/net3/node1/sar.sadf", getenv("CT_SOURCE"));
	double memory = 0, all = 0;
	uint64_t rows = 0;
	struct problem_log log;
	struct sadf_row row;
	struct sadf *sadf;

	problem_log_init(&log, path, &problems);
	sadf = sadf_open(path, &log);
	for (; sadf_next(sadf, &row); rows++) {
		assert_non_null(row.about.activity);
		all += row.value;
		if (strcmp(row.metric, "kbmemfree") == 0)
			memory += row.value;
	}
	sadf_close(sadf);
	assert_problems(&problems, "");
	assert_int_equal(rows, 14098);
	assert_true(memory == 12211980);
	assert_true(all > 48100977.96 - 0.01 && all < 48100977.96 + 0.01);
	free(path);
}
