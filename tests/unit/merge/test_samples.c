/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../timeline/timeline.h"

#include <inttypes.h>

#include "made_up_class.h"
#include "merge/processes.h"
#include "merge/samples.h"
#include "merge/tables.h"

#define T   INT64_C(1795228740000000000)
#define T_S "1795228740"

/* By the clock of node n1's trace, the axis is 1000 s ahead and runs 1 % faster. */
static struct clock_segment ahead = {
    .local_ns = T, .ref_ns = T + 1000 * NSEC_PER_SEC, .rate_ppb = 1e7};

static struct merge_run run;
static struct merge_node nodes[3];
static struct merge_source source;
static struct selection selection;
static struct processes *processes;

static int begin(void **state)
{
	(void)state;
	memset(&run, 0, sizeof(run));
	memset(nodes, 0, sizeof(nodes));
	memset(&selection, 0, sizeof(selection));
	selection.begin_ns = NSEC_MIN;
	selection.end_ns = NSEC_MAX;
	source = (struct merge_source){
	    .kind = "kernel",
	    .clock = {.segment = &ahead, .segments = 1},
	    .is_read = true,
	    .facts = {.clock_offset_ns = T - 500, .has_uuid = true}};
	run.node = nodes;
	run.source = &source;
	run.count = 1;
	processes = processes_new(4);
	return scratch_enter(NULL);
}

static int end(void **state)
{
	(void)state;
	processes_free(processes);
	run_files_clear(&run.files);
	problem_clear(&run.problems);
	return scratch_leave(NULL);
}

/* Take in all files of the nodes below a directory. */
static void take_in(const char *path)
{
	struct error error = ERROR_INIT;
	struct timeline_writer *writer = timeline_writer_new("t.db", NULL, true, &error);

	run.sources.files = &run.files;
	source_add_run(&run.sources, path, &run.problems, &error);
	error_clear(&error);
	run.nodes = run.files.nodes;
	assert_true(run.nodes <= 3);
	for (size_t i = 0; i < run.nodes; i++) {
		struct timeline_node row = {.id = (int64_t)i + 1};

		nodes[i].id = row.id;
		nodes[i].name = run.files.node[i].name;
		nodes[i].files = &run.files.node[i];
		row.name = nodes[i].name;
		assert_int_equal(timeline_add_node(writer, &row, &error), 0);
	}
	if (merge_samples(&run, &selection, writer, &error) ||
	    processes_write(processes, &run, writer, &error))
		fail_msg("%s", error_text(&error));
	finish_timeline(writer);
	assert_int_equal(tables_derive("t.db", NULL, &error), 0);
	assert_whole("t.db");
}

static void assert_problems(const char *wanted)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < run.problems.count; i++)
		fprintf(out, "%s: %s %" PRIu64 ": %s\n", run.problems.item[i].place,
			problem_kind_word(run.problems.item[i].kind),
			run.problems.item[i].count, run.problems.item[i].text);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

#define SAMPLE_SQL                                                                       \
	"SELECT node, ts_ns - 1795228740000000000, m.name, unit, kind, activity, "       \
	"i.type, i.name, value, interval_ns FROM sample JOIN metric m ON "               \
	"m.id = metric LEFT JOIN metric_item i ON i.id = item ORDER BY sample.rowid"

#define CLOCK_CSV "1795228740000000000,500\n1795228750000000000,10000000500\n"

FIXTURE_TEST(sar_is_placed, begin, end)
{
	scratch_text("r/n1/clock.csv", CLOCK_CSV);
	scratch_text("r/n1/sar.sadf", "n1\t1\t" T_S "\tall\t%usr\t4.29\n"
				      "n1\t1\t1795228741\tall\t%usr\t5\n"
				      "n1\t1\t1795228741\tall\t%sys\t6\n"
				      "n1\t1\t1795228741\t-\tkbmemfree\t70\n"
				      "n1\t1\t1795228741\t-\tnew/s\t8\n");
	take_in("r");
	assert_answer("t.db", SAMPLE_SQL,
		      "1|1000000000000|%usr|percent|gauge|cpu|cpu|all|4.29|1000000000\n"
		      "1|1001010000000|%usr|percent|gauge|cpu|cpu|all|5|1000000000\n"
		      "1|1001010000000|%sys|percent|gauge|cpu|cpu|all|6|1000000000\n"
		      "1|1001010000000|kbmemfree|kB|gauge|memory|||70|1000000000\n"
		      "1|1001010000000|new/s||||||8|1000000000");
	assert_answer("t.db", "SELECT count(*), max(id) FROM metric", "4|4");
	assert_answer("t.db", "SELECT count(*), max(id) FROM metric_item", "1|1");
	assert_problems("");
}

/* The problem names the command that converts the log; a log next to its text is no
 * problem. */
FIXTURE_TEST(logs_without_text_are_told, begin, end)
{
	scratch_text("r/n1/clock.csv", CLOCK_CSV);
	scratch_text("r/n1/a.sa", "");
	scratch_text("r/n1/b.sa", "");
	scratch_text("r/n1/b.sadf", "n\t1\t" T_S "\tall\t%usr\t4\n");
	take_in("r");
	assert_answer("t.db", "SELECT value FROM sample", "4");
	assert_problems("r/n1/a.sa: unreadable 1: binary log of sar skipped; convert it "
			"with LC_ALL=C sadf -p -U FILE.sa -- -A >FILE.sadf\n");
}

FIXTURE_TEST(marks_become_problems, begin, end)
{
	scratch_text("r/n1/clock.csv", CLOCK_CSV);
	scratch_text("r/n1/sar.sadf", "n1\t-1\t" T_S "\tLINUX-RESTART\t(2 CPU)\n"
				      "n1\t-1\t1795228741\tCOM load \x1b begins\n"
				      "n1\t1\t1795228742\tall\t%usr\tx\n");
	take_in("r");
	assert_answer("t.db", "SELECT count(*) FROM sample", "0");
	assert_problems(
	    "r/n1/sar.sadf:1: restart 1: 1795229740.000000000: sar was "
	    "started again, (2 CPU)\n"
	    "r/n1/sar.sadf:2: comment 1: 1795229741.010000000: load \x1b begins\n"
	    "r/n1/sar.sadf:3: broken 1: invalid number 'x' skipped\n");
}

FIXTURE_TEST(without_clock_samples_it_is_told, begin, end)
{
	/* n1 has a trace, n2 a capture, n3 nothing. */
	struct merge_source sources[3] = {source, source, source};

	sources[1].node = 1;
	sources[1].kind = "capture";
	sources[1].facts.has_uuid = false;
	sources[2].node = 2;
	sources[2].is_read = false;
	run.source = sources;
	run.count = 3;
	scratch_text("r/n1/sar.sadf", "n1\t1\t1795228741\tall\t%usr\t1\n");
	scratch_text("r/n2/clock.csv", CLOCK_CSV);
	scratch_text("r/n2/sar.sadf", "n2\t1\t1795228741\tall\t%usr\t2\n");
	scratch_text("r/n3/sensors.csv", "1795228741000000000,t,celsius,3\n");
	take_in("r");
	assert_answer("t.db",
		      "SELECT node, ts_ns - 1795228740000000000, value FROM sample "
		      "ORDER BY node",
		      "1|1001010000000|1\n2|1001010000000|2\n3|1000000000|3");
	assert_problems(
	    "n1: clock 1: no clock.csv, samples and tasks are placed as if the real-time "
	    "clock were the epoch time of the trace\n"
	    "n2: clock 1: no trace to place samples and tasks by, they are placed by a "
	    "capture's clock\n"
	    "n3: clock 1: no trace to place samples and tasks by, their timestamps are "
	    "left "
	    "as they are\n");
}

FIXTURE_TEST(nothing_stamped_nothing_told, begin, end)
{
	scratch_text("r/n1/node.json", "{}");
	scratch_text("r/n1/proc.csv", "realtime_ns,pid\n");
	take_in("r");
	assert_problems("");
}

FIXTURE_TEST(stamps_around_a_step_are_told, begin, end)
{
	scratch_text("r/n1/clock.csv", "1795228740000000000,500\n"
				       "1795228741000000000,1000000500\n"
				       "1795228842000000000,2000000500\n"
				       "1795228843000000000,3000000500\n");
	scratch_text("r/n1/sensors.csv", "1795228740500000000,t,celsius,1\n"
					 "1795228800000000000,t,celsius,2\n"
					 "1795228842500000000,t,celsius,3\n");
	take_in("r");
	assert_int_equal(run.problems.count, 2);
	assert_int_equal(run.problems.item[0].kind, PROBLEM_STEP);
	assert_int_equal(run.problems.item[1].kind, PROBLEM_CLOCK);
	assert_int_equal(run.problems.item[1].count, 1);
	assert_answer(
	    "t.db",
	    "SELECT value, ts_ns - 1795228740000000000 BETWEEN 1001010000000 AND "
	    "1002020000000 FROM sample",
	    "1|0\n2|1\n3|0");
}

FIXTURE_TEST(any_offset_is_taken, begin, end)
{
	source.facts.clock_offset_ns = INT64_MIN;
	scratch_text("r/n1/clock.csv", "1000000000,-500\n");
	scratch_text("r/n1/sensors.csv", "1000000000,t,celsius,1\n");
	take_in("r");
	assert_answer("t.db", "SELECT count(*) FROM sample", "1");
}

FIXTURE_TEST(processes_are_items, begin, end)
{
	scratch_text("r/n1/clock.csv", CLOCK_CSV);
	scratch_text("r/n1/proc.csv",
		     "realtime_ns,pid,ppid,comm,state,utime_ns,stime_ns,rss_kib,"
		     "read_bytes,write_bytes\n" T_S "000000000,7,1,sh,S,10,20,30,40,50\n"
		     "1795228741000000000,7,1,sh,,,21,,,\n"
		     "1795228741000000000,8,,,R,,,,,\n");
	take_in("r");
	assert_answer("t.db", SAMPLE_SQL,
		      "1|1000000000000|utime|ns|counter|process|process|7 sh|10|\n"
		      "1|1000000000000|stime|ns|counter|process|process|7 sh|20|\n"
		      "1|1000000000000|rss|KiB|gauge|process|process|7 sh|30|\n"
		      "1|1000000000000|read|bytes|counter|process|process|7 sh|40|\n"
		      "1|1000000000000|write|bytes|counter|process|process|7 sh|50|\n"
		      "1|1000000000000|ppid||gauge|process|process|7 sh|1|\n"
		      "1|1000000000000|state|character|gauge|process|process|7 sh|83|\n"
		      "1|1001010000000|stime|ns|counter|process|process|7 sh|21|\n"
		      "1|1001010000000|state|character|gauge|process|process|8|82|");
	assert_problems("");
}

FIXTURE_TEST(sensors_name_their_units, begin, end)
{
	scratch_text("r/n1/clock.csv", CLOCK_CSV);
	scratch_text("r/n1/sensors.csv", T_S "000000000,rapl/0,joules,1.5\n" T_S
					     "000000000,b\xff,furlongs,2\n");
	take_in("r");
	assert_answer("t.db", SAMPLE_SQL,
		      "1|1000000000000|joules|joules|counter|sensor|sensor|rapl/0|1.5|\n"
		      "1|1000000000000|furlongs|||sensor|sensor|b\xef\xbf\xbd|2|");
}

CLASS(dump, "lttng_statedump_process_state", COLUMN("tid"), COLUMN("pid"));
CLASS(finish, "sched_process_exit", COLUMN("tid"));

#define INVOCATION_SQL                                                                   \
	"SELECT node, pid, name, enqueue_ns - 1795229740000000000, "                     \
	"begin_ns - 1795229740000000000, end_ns - 1795229740000000000, status, "         \
	"process, data FROM invocation ORDER BY id"

FIXTURE_TEST(tasks_find_their_processes, begin, end)
{
	const struct cell cell[] = {INT(7), INT(7)};
	struct event_class known = {.of = NULL};
	struct merged_event event = {.node = 1, .ts_ns = T, .tid = 7, .cell = cell};

	/* It ends a little before its launcher knows. */
	event.class = made_up(&dump, &known);
	processes_event(processes, &event);
	event.class = made_up(&finish, &known);
	event.ts_ns += 1000 * NSEC_PER_SEC + 9;
	processes_event(processes, &event);
	event_class_clear(&known);
	scratch_text("r/n1/clock.csv", CLOCK_CSV);
	scratch_text("r/n1/invocations.jsonl",
		     "{\"name\":\"a\",\"node\":\"n2\",\"pid\":7,\"enqueued_ns\":" T_S
		     "000000000,"
		     "\"started_ns\":" T_S "000000000,\"ended_ns\":" T_S
		     "000000010,\"status\":3}\n"
		     "{\"node\":\"gone\",\"pid\":7,\"status\":\"killed\",\"bytes\":5,"
		     "\"argv\":[\"a\",\"b\"],\"x\":1,\"trace_id\":\"t\"}\n"
		     "{\"pid\":7,\"started_ns\":" T_S "000000000}\n"
		     "no json\n");
	scratch_text("r/n2/clock.csv", CLOCK_CSV);
	take_in("r");
	assert_answer("t.db", INVOCATION_SQL,
		      "2|7|a|0|0|10|3|1|\n"
		      "|7|||||||{\"status\":\"killed\",\"bytes\":5,"
		      "\"argv\":[\"a\",\"b\"],\"x\":1,\"trace_id\":\"t\","
		      "\"command\":\"a b\",\"node\":\"gone\"}\n"
		      "1|7|||0||||");
	assert_int_equal(run.problems.count, 2);
	assert_string_equal(run.problems.item[0].text,
			    "unknown node 'gone'; the task has none");
	assert_string_equal(run.problems.item[0].place, "r/n1/invocations.jsonl:2");
}

/* Also what is of a wrong type, after it was told. */
FIXTURE_TEST(what_is_no_column_is_kept, begin, end)
{
#define PLACE "r/n1/invocations.jsonl:"
	scratch_text("r/n1/clock.csv", CLOCK_CSV);
	scratch_text("r/n1/invocations.jsonl",
		     "{\"name\":null,\"status\":\"late\",\"argv\":[\"ls\",7],"
		     "\"tags\":{\"a\":[1,null]},\"bytes\":9223372036854775807}\n"
		     "{\"argv\":[\"ls\"],\"command\":\"ls -l\"}\n"
		     "{\"name\":5,\"pid\":\"7\",\"started_ns\":9223372036854775807,"
		     "\"status\":[]}\n"
		     "{\"enqueued_ns\":" T_S "000000005,\"ended_ns\":" T_S
		     "000000004}\n");
	take_in("r");
	assert_answer("t.db", INVOCATION_SQL,
		      "1||||||||{\"status\":\"late\",\"argv\":[\"ls\",7],"
		      "\"tags\":{\"a\":[1,null]},\"bytes\":9223372036854775807,"
		      "\"command\":\"ls 7\"}\n"
		      "1||||||||{\"argv\":[\"ls\"],\"command\":\"ls -l\"}\n"
		      "1||||||||{\"name\":5,\"pid\":\"7\","
		      "\"started_ns\":9223372036854775807,\"status\":[]}\n"
		      "1|||5||4|||");
	assert_problems(
	    PLACE "3: malformed 1: name: ignored (expected a string)\n" PLACE
		  "3: malformed 1: pid: ignored (expected an integer)\n" PLACE
		  "3: malformed 1: started_ns: ignored (expected integer nanoseconds "
		  "between the years 1967 and 2111)\n" PLACE
		  "3: malformed 1: status: ignored (expected an integer)\n" PLACE
		  "4: backward 1: enqueued, started and ended out of order\n");
}

FIXTURE_TEST(what_is_not_wanted_is_left_out, begin, end)
{
	char *name = mem_strdup("n[13]");

	scratch_text("r/n1/clock.csv", CLOCK_CSV);
	scratch_text("r/n2/clock.csv", CLOCK_CSV);
	for (int i = 1; i <= 2; i++) {
		char path[40];

		snprintf(path, sizeof(path), "r/n%d/sar.sadf", i);
		scratch_text(path, "n\t1\t" T_S "\tall\t%usr\t1\n"
				   "n\t1\t1795228741\tall\t%usr\t2\n"
				   "n\t1\t1795228742\tall\t%usr\t3\n"
				   "n\t-1\t1795228742\tLINUX-RESTART\n");
	}
	scratch_text(
	    "r/n2/invocations.jsonl",
	    "{\"name\":\"over\",\"started_ns\":1,\"ended_ns\":2,\"node\":\"n1\"}\n"
	    "{\"name\":\"across\",\"started_ns\":" T_S "000000000,"
	    "\"ended_ns\":1795229799000000000,\"node\":\"n1\"}\n"
	    "{\"name\":\"elsewhere\"}\n"
	    "{\"name\":\"timeless\",\"node\":\"n1\"}\n");
	selection.nodes = (struct text_list){.item = &name, .count = 1};
	selection.begin_ns = selection.end_ns = T + 1001010000000;
	take_in("r");
	assert_answer("t.db", "SELECT node, value FROM sample", "1|2");
	assert_answer("t.db", "SELECT group_concat(name) FROM invocation",
		      "across,timeless");
	free(name);
}

/* Every value of the recorded run is there: by metric and node the sums are equal. */
FIXTURE_TEST(recorded_values_are_all_there, begin, end)
{
	char *path = mem_printf("%s/tests/fixtures/net3", getenv("CT_SOURCE"));
	char sum[64], *answer;
	double total = 0;
	uint64_t lines = 0;

	take_in(path);
	for (size_t i = 0; i < run.nodes; i++) {
		char *name = mem_printf("%s/sar.sadf", nodes[i].files->path);
		char *text = scratch_read(name, NULL);

		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
			total += strtod(strrchr(line, '\t') + 1, NULL);
			lines++;
		}
		free(text);
		free(name);
	}
	snprintf(sum, sizeof(sum), "%" PRIu64 "|%.3f", lines, total);
	answer =
	    ask("t.db", "SELECT printf('%d|%.3f', count(value), sum(value)) FROM sample");
	assert_string_equal(answer, sum);
	assert_int_equal(lines, 3 * 14098);
	free(answer);
	free(path);
}
