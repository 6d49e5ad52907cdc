/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../draw.h"
#include "../timeline/timeline.h"

#include "lived.h"
#include "made_up_class.h"
#include "merge/processes.h"

CLASS(dump, "lttng_statedump_process_state", COLUMN("tid"), COLUMN("pid"), COLUMN("ppid"),
      COLUMN("name"));
CLASS(change, "sched_switch", COLUMN("prev_comm"), COLUMN("prev_tid"),
      COLUMN("prev_state"), COLUMN("next_comm"), COLUMN("next_tid"));
CLASS(birth, "sched_process_fork", COLUMN("parent_tid"), COLUMN("parent_pid"),
      COLUMN("child_comm"), COLUMN("child_tid"), COLUMN("child_pid"));
CLASS(exec, "sched_process_exec", CONTEXT("tid"), COLUMN("filename"), COLUMN("tid"),
      COLUMN("old_tid"));
CLASS(finish, "sched_process_exit", COLUMN("comm"), COLUMN("tid"));
CLASS(finish_told, "sched_process_exit", COLUMN("comm"), COLUMN("tid"),
      COLUMN("group_dead"), COLUMN("exit_code"));
CLASS(freed, "sched_process_free", COLUMN("comm"), COLUMN("tid"));
CLASS(exit_call, "syscall_entry_exit", COLUMN("error_code"));
CLASS(exit_group, "syscall_entry_exit_group", COLUMN("error_code"));
CLASS(dump_net, "lttng_statedump_process_net_ns", COLUMN("tid"), COLUMN("ns_inum"));
CLASS(dump_cgroup, "lttng_statedump_process_cgroup_ns", COLUMN("tid"), COLUMN("ns_inum"));
CLASS(in_space, "irq_handler_entry", CONTEXT("net_ns"));
CLASS(plain, "irq_handler_entry", COLUMN("pid"));
CLASS(in_context, "irq_handler_entry", CONTEXT("pid"), COLUMN("irq"));
CLASS(in_user, "app:work", CONTEXT("vpid"), COLUMN("pid"), CONTEXT("ppid"),
      CONTEXT("procname"));
CLASS(with_name, "x", CONTEXT("procname"));

static struct merge_node nodes[] = {{.id = 1}, {.id = 2}, {.id = 3}, {.id = 4}};
static const struct merge_run run = {.node = nodes};

static struct processes *all;
static struct event_class known; /* of the class at hand */
static int64_t at;               /* the time, which every event brings on by 1 ms */
static bool twice;               /* as if two sessions told it */

static void happens(const struct trace_class *class, int64_t tid, const struct cell *cell)
{
	struct merged_event event = {
	    .class = made_up(class, &known), .cell = cell, .tid = tid};

	at += NSEC_PER_MSEC;
	event.ts_ns = at;
	processes_event(all, &event);
	event.ts_ns += NSEC_PER_USEC;
	if (twice)
		processes_event(all, &event);
}

#define EVENT_OF(class, tid, ...)                                                        \
	happens(&(class), (tid), (const struct cell[]){__VA_ARGS__})

static int begin(void **state)
{
	(void)state;
	all = processes_new(4);
	at = 0;
	twice = false;
	return scratch_enter(NULL);
}

static int end(void **state)
{
	(void)state;
	processes_free(all);
	event_class_clear(&known);
	known = (struct event_class){0};
	return scratch_leave(NULL);
}

#define PROCESS_SQL                                                                      \
	"SELECT id, pid, ppid, comm, exe, begin_ns / 1000000, end_ns / 1000000, "        \
	"exit_status FROM process "                                                      \
	"ORDER BY id"
#define THREAD_SQL                                                                       \
	"SELECT process, tid, comm, begin_ns / 1000000, end_ns / 1000000 FROM thread "   \
	"ORDER BY id"

static void assert_written(const char *rows, const char *threads)
{
	struct error error = ERROR_INIT;
	struct timeline_writer *writer = write_timeline("t.db", true);

	assert_int_equal(processes_write(all, &run, writer, &error), 0);
	finish_timeline(writer);
	assert_answer("t.db", PROCESS_SQL, rows);
	assert_answer("t.db", THREAD_SQL, threads);
	assert_whole("t.db");
}

static void assert_life(void)
{
	EVENT_OF(dump, -1, INT(5), INT(5), INT(1), STR("sh"));
	EVENT_OF(birth, 5, INT(5), INT(5), STR("sh"), INT(9), INT(9));
	EVENT_OF(exec, 9, INT(9), STR("/bin/true"), INT(9), INT(9));
	EVENT_OF(change, 5, STR("sh"), INT(5), INT(1), STR("true"), INT(9));
	EVENT_OF(exit_group, 9, INT(256 + 3));
	EVENT_OF(finish, 9, STR("true"), INT(9));
	EVENT_OF(change, 9, STR("true"), INT(9), INT(128), STR("swapper/1"), INT(0));
	EVENT_OF(freed, 0, STR("true"), INT(9));
	assert_written("1|5|1|sh||||\n2|9|5|true|/bin/true|2|6|3\n3|0||swapper||||",
		       "1|5|sh||\n2|9|true|2|6\n3|0|swapper||");
}

FIXTURE_TEST(a_process_lives, begin, end)
{
	assert_life();
}

FIXTURE_TEST(two_sessions_tell_the_same, begin, end)
{
	twice = true;
	assert_life();
}

FIXTURE_TEST(a_pid_comes_again, begin, end)
{
	EVENT_OF(birth, 5, INT(5), INT(5), STR("a"), INT(9), INT(9));
	EVENT_OF(finish, 9, STR("a"), INT(9));
	EVENT_OF(birth, 5, INT(5), INT(5), STR("b"), INT(9), INT(9));
	EVENT_OF(freed, 0, STR("a"), INT(9)); /* late, of the first one */
	EVENT_OF(birth, 5, INT(5), INT(5), STR("c"), INT(9),
		 INT(9)); /* its end is lost */
	assert_written("1|5||||||\n2|9|5|a||1|2|\n3|9|5|b||3|5|\n4|9|5|c||5||",
		       "1|5|||\n2|9|a|1|2\n3|9|b|3|5\n4|9|c|5|");
}

FIXTURE_TEST(a_pid_comes_again_without_forks, begin, end)
{
	EVENT_OF(change, 1, STR("a"), INT(9), INT(1), STR("x"), INT(2));
	EVENT_OF(finish, 9, STR("a"), INT(9));
	EVENT_OF(change, 9, STR("a"), INT(9), INT(0), STR("x"),
		 INT(2)); /* not yet over */
	EVENT_OF(change, 2, STR("x"), INT(2), INT(0), STR("a"), INT(9));
	EVENT_OF(change, 9, STR("a"), INT(9), INT(128), STR("x"), INT(2));
	EVENT_OF(change, 2, STR("x"), INT(2), INT(0), STR("b"), INT(9));
	assert_written("", "|9|a||2\n|2|x||\n|9|b||");
}

FIXTURE_TEST(threads_belong_to_processes, begin, end)
{
	EVENT_OF(birth, 5, INT(5), INT(5), STR("a"), INT(9), INT(9));
	EVENT_OF(birth, 9, INT(9), INT(9), STR("a"), INT(10), INT(9));
	EVENT_OF(change, 10, STR("a"), INT(10), INT(1), STR("named"),
		 INT(10)); /* prctl */
	EVENT_OF(exit_call, 9, INT(4));
	EVENT_OF(finish, 9, STR("a"), INT(9));
	EVENT_OF(exit_group, 10, INT(5));
	EVENT_OF(finish, 10, STR("named"), INT(10));
	assert_written("1|5||||||\n2|9|5|a||1|7|5", "1|5|||\n2|9|a|1|5\n2|10|named|2|7");
}

FIXTURE_TEST(a_thread_that_is_not_the_first_executes, begin, end)
{
	EVENT_OF(birth, 5, INT(5), INT(5), STR("a"), INT(9), INT(9));
	EVENT_OF(birth, 9, INT(9), INT(9), STR("a"), INT(10), INT(9));
	EVENT_OF(finish, 9, STR("a"), INT(9));
	EVENT_OF(exec, 9, INT(9), STR("/b"), INT(9), INT(10));
	EVENT_OF(exit_call, 9, INT(1));
	EVENT_OF(finish, 9, STR("b"), INT(9));
	assert_written("1|5||||||\n2|9|5|b|/b|1|6|1",
		       "1|5|||\n2|9|a|1|3\n2|10|a|2|4\n2|9|b|4|6");
}

FIXTURE_TEST(what_the_tracer_tells_of_the_end_counts, begin, end)
{
	EVENT_OF(change, 0, STR("x"), INT(0), INT(0), STR("a"), INT(9));
	EVENT_OF(in_context, 9, INT(9), INT(1));
	EVENT_OF(finish_told, 9, STR("a"), INT(9), INT(0), INT(0));
	EVENT_OF(in_context, 10, INT(9), INT(1));
	EVENT_OF(finish_told, 10, STR("b"), INT(10), INT(1), INT(7 << 8));
	assert_written("1|0||swapper||||\n2|9||a|||5|7",
		       "1|0|swapper||\n2|9|a||3\n2|10|b||5");
}

FIXTURE_TEST(the_context_names_threads, begin, end)
{
	EVENT_OF(in_user, 9, INT(8), INT(77), INT(4), STR("other"));
	EVENT_OF(in_user, 9, INT(8), INT(77), INT(4), STR("work"));
	EVENT_OF(in_user, 8, INT(8), INT(77), INT(4), STR("main"));
	EVENT_OF(with_name, 11, STR("named"));
	EVENT_OF(with_name, 0, STR("swapper/0"));
	EVENT_OF(with_name, -1, STR("nobody"));
	assert_written("1|8|4|main||||\n2|0||swapper||||",
		       "1|9|work||\n1|8|main||\n|11|named||\n2|0|swapper||");
}

/* The address of a class may come again, when its source was freed. */
FIXTURE_TEST(a_class_is_more_than_its_address, begin, end)
{
	struct trace_class class = in_context;

	EVENT_OF(class, 9, INT(9), INT(1));
	class = plain;
	EVENT_OF(class, 8, INT(8));
	class = finish;
	EVENT_OF(class, 9, STR("b"), INT(9));
	class = freed;
	EVENT_OF(class, 9, STR("b"), INT(9));
	EVENT_OF(in_context, 9, INT(9), INT(1));
	assert_written("1|9||b|||3|\n2|9||||||", "1|9|b||3\n2|9|||");
}

FIXTURE_TEST(odd_values_do_no_harm, begin, end)
{
	const struct cell blob = {
	    .type = CELL_BLOB, .size = 20, .bytes = "\xe4\0234567890123456789"};

	EVENT_OF(birth, -1, INT(-1), INT(-1), STR("a"), INT(-5), INT(-5));
	EVENT_OF(birth, -1, STR("x"), {0}, {0}, {0}, {0});
	EVENT_OF(freed, -1, STR("a"), INT(-5));
	EVENT_OF(finish, -1, STR("a"), {0});
	EVENT_OF(exit_group, -1, INT(1));
	EVENT_OF(dump, -1, INT(INT64_MIN), INT(INT64_MAX), INT(1), STR("a"));
	EVENT_OF(exec, -1, INT(1), {0}, INT(INT64_MAX), {0});
	EVENT_OF(change, -1, blob, INT(3), STR("R"), {0}, INT(4));
	assert_written("1|9223372036854775807||||||", "1|9223372036854775807|||\n"
						      "|3|\xef\xbf\xbd\x13"
						      "4567890123456||\n|4|||");
}

struct read {
	struct follow *follow;
	struct lived *lived;
	struct trace_reader *source;
	uint32_t node;
	int64_t offset[LIVED_NODES]; /* of stamps from CLOCK_MONOTONIC */
};

static void take(void *context, const struct trace_event *record)
{
	struct read *read = context;
	const struct trace_class *class = trace_reader_class(read->source, record->class);

	read->offset[read->node] =
	    record->local_ns - lived_event(read->lived, read->node, record)->mono_ns;
	processes_event(all,
			&(struct merged_event){
			    .node = read->node,
			    .class = made_up(class, &known),
			    .ts_ns = record->local_ns,
			    .tid = follow_event(read->follow, read->node, &known, record),
			    .cell = record->cell});
}

/* Each process of the model has one row, and says what was known of it. */
static void assert_lived(const struct read *read)
{
	for (size_t i = 0; i < read->lived->lives; i++) {
		const struct life *life = &read->lived->life[i];
		int64_t offset = read->offset[life->node];
		char sql[300], wanted[200];

		snprintf(sql, sizeof(sql),
			 "SELECT begin_ns, ifnull(end_ns, 0), exe, "
			 "ifnull(exit_status, -1) FROM process "
			 "WHERE node = %u AND pid = %" PRId64,
			 (unsigned)life->node + 1, life->tid);
		snprintf(wanted, sizeof(wanted), "%" PRId64 "|%" PRId64 "|%s|%" PRId64,
			 life->begin_ns + offset,
			 life->end_ns ? life->end_ns + offset : 0, life->path,
			 life->end_ns ? life->status : -1);
		assert_answer("t.db", sql, wanted);
	}
}

FIXTURE_TEST(simulated_processes_are_found, begin, end)
{
	static const struct timeline_node second = {.id = 2, .name = "n2"};
	static struct merge_source sources[LIVED_NODES] = {{.node = 0}, {.node = 1}};
	const struct merge_run lived = {.source = sources, .count = LIVED_NODES};
	struct read read = {.follow = follow_new(&lived), .lived = lived_run(lived_text)};
	struct error error = ERROR_INIT;
	struct timeline_writer *writer = write_timeline("t.db", true);

	assert_int_equal(timeline_add_node(writer, &second, &error), 0);
	for (; read.node < LIVED_NODES; read.node++)
		lived_read(read.node, &read.source, take, &read);
	assert_int_equal(processes_write(all, &run, writer, &error), 0);
	finish_timeline(writer);
	assert_true(read.lived->lives > 20);
	assert_lived(&read);
	/* All that begin are daemons' children, and no thread is of no process. */
	assert_answer("t.db",
		      "SELECT count(*) FROM process p WHERE begin_ns NOT NULL AND NOT "
		      "EXISTS (SELECT 1 FROM process q WHERE q.pid = p.ppid AND "
		      "q.node = p.node AND q.comm = 'cron')",
		      "0");
	assert_answer("t.db", "SELECT count(*) FROM thread WHERE process IS NULL", "0");
	assert_answer("t.db",
		      "SELECT count(*) FROM process WHERE begin_ns > end_ns OR "
		      "comm IS NULL",
		      "0");
	assert_whole("t.db");
	lived_free(read.lived);
	follow_free(read.follow);
}

static void assert_containers(const char *rows)
{
	struct error error = ERROR_INIT;
	struct timeline_writer *writer = write_timeline("t.db", true);

	assert_int_equal(processes_write(all, &run, writer, &error), 0);
	finish_timeline(writer);
	assert_answer("t.db", "SELECT pid, container FROM process ORDER BY id", rows);
}

FIXTURE_TEST(a_namespace_tells_a_container, begin, end)
{
	for (int tid = 1; tid <= 4; tid++) {
		EVENT_OF(dump, -1, INT(tid), INT(tid), INT(0), STR("p"));
		EVENT_OF(dump_cgroup, -1, INT(tid), INT(tid == 3 ? 73 : 70));
		EVENT_OF(dump_net, -1, INT(tid), INT(tid == 4 ? 94 : 90));
	}
	EVENT_OF(birth, 1, INT(1), INT(1), STR("c"), INT(5), INT(5)); /* of a host's */
	EVENT_OF(birth, 3, INT(3), INT(3), STR("c"), INT(6), INT(6));
	EVENT_OF(birth, 4, INT(4), INT(4), STR("c"), INT(7), INT(7));
	EVENT_OF(dump_net, -1, INT(99), INT(94));                     /* nobody's */
	EVENT_OF(birth, 4, INT(4), INT(4), STR("c"), INT(8), INT(4)); /* a thread */
	assert_containers("1|host\n2|host\n3|cgroup:73\n4|net:94\n5|\n6|cgroup:73\n7|"
			  "net:94");
}

FIXTURE_TEST(a_context_tells_a_container, begin, end)
{
	EVENT_OF(dump, -1, INT(5), INT(5), INT(1), STR("sh"));
	EVENT_OF(dump, -1, INT(6), INT(6), INT(1), STR("sh"));
	EVENT_OF(dump, -1, INT(7), INT(7), INT(1), STR("sh"));
	EVENT_OF(in_space, 5, INT(90));
	EVENT_OF(in_space, 6, INT(90));
	EVENT_OF(in_space, 6, INT(94)); /* it went there */
	EVENT_OF(in_space, 0, INT(90)); /* as the node's own */
	EVENT_OF(birth, 5, INT(5), INT(5), STR("c"), INT(8), INT(8));
	EVENT_OF(in_space, 8, INT(94));
	EVENT_OF(in_space, 9, INT(94)); /* whose process is not known */
	EVENT_OF(dump, -1, INT(1), INT(1), INT(0), STR("init"));
	EVENT_OF(in_space, 1, INT(94)); /* by its number in the container */
	assert_containers("5|host\n6|net:94\n7|\n0|host\n8|net:94\n1|net:94");
}
