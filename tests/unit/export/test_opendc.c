/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "opendc_timeline.h"

/* At 300 ms it begins, at 2500 it ends; of the second before 1 it ran 500 ms, of the next
 * 800, and of the rest 400, at 2000 MHz. */
OPENDC_TEST(time_is_exact_and_cut)
{
	make_node(1, 2000, 1);
	make_child(1, 1, 10, 1, "work", AT(300), AT(2500));
	make_switch(AT(0), 1, 0, 0, 0);
	make_switch(AT(400), 1, 0, 0, 10);
	make_switch(AT(900), 1, 0, 10, 0);
	make_switch(AT(1200), 1, 0, 0, 10);
	make_switch(AT(2400), 1, 0, 10, 0);
	make_switch(AT(3000), 1, 0, 0, 0);
	make_end();
	expect_note(run_export(make_options()),
		    "n1: 1.700000 s busy (and 1.300000 s idle): 1.700000 s in tasks");
	assert_file("out/fragments.csv", "id,duration,cpu_usage,gpu_usage\r\n"
					 "1,700,1428.5714285714287,\r\n"
					 "1,1000,1600.0,\r\n"
					 "1,500,1600.0,\r\n");
	assert_file("out/tasks.csv",
		    "id,name,submission_time,duration,cpu_count,cpu_capacity,"
		    "mem_capacity,gpu_count,gpu_capacity,parents,children,deferrable,"
		    "deadline,node\r\n"
		    "1,work,1700000000300,2200,1,1600.0,16778,,,,,,,n1\r\n");
	assert_file("out/topology.json", "{\n"
					 "  \"clusters\": [\n"
					 "    {\n"
					 "      \"name\": \"C01\",\n"
					 "      \"hosts\": [\n"
					 "        {\n"
					 "          \"name\": \"n1\",\n"
					 "          \"count\": 1,\n"
					 "          \"cpu\": {\n"
					 "            \"coreCount\": 1,\n"
					 "            \"coreSpeed\": 2000.0\n"
					 "          },\n"
					 "          \"memory\": {\n"
					 "            \"size\": \"1073741824 Bytes\"\n"
					 "          }\n"
					 "        }\n"
					 "      ]\n"
					 "    }\n"
					 "  ]\n"
					 "}\n");
}

/* A fragment's bounds are the first whole milliseconds of the task behind those of the
 * interval; the last moments of a process come after its exit; short ones have 1 ms. */
OPENDC_TEST(odd_lengths_sum_up)
{
	make_node(1, 1000, 2);
	make_child(1, 1, 10, 1, "odd", AT(100.25), AT(1500.5));
	make_child(2, 1, 11, 1, "short", AT(200), AT(200.4));
	make_switch(AT(0), 1, 0, 0, 0);
	make_switch(AT(100.5), 1, 0, 0, 10);
	make_switch(AT(200), 1, 1, 0, 11);
	make_switch(AT(200.3), 1, 1, 11, 0);
	make_switch(AT(1502.5), 1, 0, 10, 0);
	make_switch(AT(2000), 1, 0, 0, 0);
	make_switch(AT(2000), 1, 1, 0, 0);
	make_end();
	free(run_export(make_options()));
	assert_task("name", "odd short");
	assert_task("duration", "1403 1");
	assert_fragment("id", "1 1 2");
	assert_fragment("duration", "900 503 1");
	/* From 100.5 to 1000.25, from there to 1502.5; 0.3 of 1 ms. */
	assert_fragment("cpu_usage", "999.7222222222222 998.5089463220676 300.0");
	assert_task("cpu_count", "1 1");
}

OPENDC_TEST(threads_count_to_their_process)
{
	make_node(1, 1000, 4);
	make_process(1, 1, 10, 1, "pool");
	make_thread(2, 1, 1, 11);
	make_thread(3, NONE, 1, 12);
	make_switch(AT(0), 1, 0, 0, 10);
	make_switch(AT(0), 1, 1, 0, 11);
	make_switch(AT(0), 1, 2, 0, 12);
	make_switch(AT(0), 1, 3, 0, 99); /* of no thread that is known */
	for (int cpu = 0; cpu < 4; cpu++)
		make_switch(AT(1000), 1, cpu, (int64_t[]){10, 11, 12, 99}[cpu], 0);
	make_end();
	expect_note(run_export(make_options()),
		    "4.000000 s busy (and 0.000000 s idle): 3.000000 s in tasks; "
		    "omitted: 0.000000 s outside of tasks, 0.000000 s of kernel threads, "
		    "1.000000 s of unknown threads");
	assert_task("name", "pool thread");
	assert_task("cpu_count", "2 1");
	assert_task("cpu_capacity", "2000.0 1000.0");
	assert_fragment("cpu_usage", "2000.0 1000.0");
}

/* Processes, kernel threads and threads of which nothing is known are one task; memory
 * that is not known is what the host has. */
OPENDC_TEST(a_node_is_a_task)
{
	struct opendc_options *options = make_options();

	make_node(1, 1000, 4);
	make_node(2, 2000, 1);
	make_process(1, 1, 2, 0, "kthreadd");
	make_process(2, 1, 10, 1, "pool");
	make_switch(AT(0), 1, 0, 0, 10);
	make_switch(AT(0), 1, 1, 0, 2);
	make_switch(AT(0), 1, 2, 0, 99);
	make_switch(AT(0), 1, 3, 0, 0);
	make_switch(AT(0), 2, 0, 0, 7);
	make_switch(AT(500), 1, 1, 2, 0);
	make_switch(AT(1000), 1, 0, 10, 0);
	make_switch(AT(1000), 1, 2, 99, 0);
	make_switch(AT(1000), 2, 0, 7, 0);
	make_end();
	options->tasks = OPENDC_NODE_KIND;
	expect_note(run_export(options),
		    "n1: 2.500000 s busy (and 1.500000 s idle): 2.500000 s in tasks; "
		    "omitted: 0.000000 s outside of tasks, 0.000000 s of kernel "
		    "threads, 0.000000 s of unknown threads");
	assert_task("name", "n1 n2");
	assert_task("cpu_count", "3 1");
	assert_task("cpu_capacity", "2500.0 2000.0");
	assert_task("parents", " ");
	assert_fragment("cpu_usage", "2500.0 2000.0");
	options = make_options();
	options->tasks = OPENDC_NODE_KIND;
	options->no_kernel_threads = true;
	free(run_export(options));
	assert_fragment("cpu_usage", "2000.0 2000.0");
}

/* Three at a time of one core: said, unless there are slots for all of them. */
OPENDC_TEST(tasks_that_fit_no_core_are_told)
{
	struct opendc_options *options = make_options();
	char *notes;

	make_node(1, 1000, 1);
	for (int i = 1; i <= 3; i++)
		make_process(i, 1, i + 9, 1, "a");
	make_switch(AT(0), 1, 0, 0, 10);
	make_switch(AT(1000), 1, 0, 10, 0);
	make_end();
	expect_note(run_export(options), "n1: up to 3 tasks at a time for 1 cores");
	options = make_options();
	options->slots = 4;
	notes = run_export(options);
	assert_null(strstr(notes, "at a time"));
	free(notes);
	assert_task("cpu_count", "1 1 1");
	assert_fragment("cpu_usage", "1000.0 0.0 0.0");
	notes = scratch_read("out/topology.json", NULL);
	assert_non_null(strstr(notes, "\"coreCount\": 4"));
	assert_non_null(strstr(notes, "\"coreSpeed\": 250.0"));
	free(notes);
}

/* A processor's own speed holds from its step on, and its first one before it, too. */
OPENDC_TEST(speed_follows_the_events)
{
	static const struct timeline_column column[] = {{"state", CELL_INTEGER, false},
							{"cpu_id", CELL_INTEGER, false}};
	uint32_t class;

	make_node(1, 0, 2);
	class = make_class("power_cpu_frequency", column, 2);
	make_process(1, 1, 10, 1, "a");
	make_process(2, 1, 11, 1, "b");
	make_switch(AT(0), 1, 0, 0, 10);
	make_switch(AT(0), 1, 1, 0, 11);
	make_event(AT(250), 0, 10, class, (struct cell[]){INTEGER(2000000), INTEGER(0)});
	make_event(AT(500), 0, 10, class, (struct cell[]){INTEGER(4000000), INTEGER(0)});
	make_switch(AT(1000), 1, 0, 10, 0);
	make_switch(AT(1000), 1, 1, 11, 0);
	make_end();
	free(run_export(make_options()));
	/* Processor 1 has no speed of its own: it gets the highest of its node. */
	assert_fragment("cpu_usage", "3000.0 4000.0");
}

static void make_requests(void)
{
	make_node(1, 1000, 2);
	make_node(2, 1000, 1);
	make_process(1, 1, 10, 1, "server");
	make_child(2, 1, 11, 10, "helper", AT(100), AT(900));
	make_process(3, 2, 10, 1, "server");
	make_process(4, 1, 20, 1, "other");
	make_invocation(1, 10, "front", AT(90), AT(100), AT(600),
			"{\"trace_id\":\"t\",\"span_id\":\"a\"}");
	make_invocation(1, 10, "again", NONE, AT(400), AT(800),
			"{\"trace_id\":\"t\",\"span_id\":\"b\",\"parent_id\":\"a\","
			"\"deadline_ns\":1700000002000000000,\"cpus\":2}");
	make_invocation(2, 10, "back", NONE, AT(500), AT(700),
			"{\"trace_id\":\"t\",\"span_id\":7,\"parents\":[\"a\",\"b\","
			"\"gone\"]}");
	make_switch(AT(0), 1, 0, 0, 10);
	make_switch(AT(0), 1, 1, 0, 20);
	make_switch(AT(0), 2, 0, 0, 10);
	make_switch(AT(200), 1, 1, 20, 11);
	make_switch(AT(800), 1, 1, 11, 0);
	make_switch(AT(1000), 1, 0, 10, 0);
	make_switch(AT(1000), 2, 0, 10, 0);
	make_end();
}

/*
 * The server runs all the second, its helper from 200 to 800. Alone `front` has 300 of
 * the server and 200 of the helper, together they have 200 of each, and alone `again`
 * has 200 of each.
 */
OPENDC_TEST(invocations_have_their_processes_time)
{
	struct opendc_options *options = make_options();
	char *notes;

	make_requests();
	options->tasks = OPENDC_INVOCATION;
	notes = run_export(options);
	assert_non_null(strstr(notes, "n1: 1.800000 s busy (and 0.200000 s idle): "
				      "1.300000 s in tasks; omitted: 0.500000 s "
				      "outside of tasks"));
	assert_non_null(strstr(notes, "n2: 1.000000 s busy (and 0.000000 s idle): "
				      "0.200000 s in tasks"));
	assert_non_null(strstr(notes, "1 parents left out"));
	free(notes);
	assert_task("name", "front again back");
	assert_task("submission_time", "1700000000090 1700000000400 1700000000500");
	assert_task("duration", "500 400 200");
	assert_fragment("duration", "500 400 200");
	assert_fragment("cpu_usage", "1400.0 1500.0 1000.0");
	assert_task("cpu_count", "2 2 1");
	assert_task("parents", " 1 1;2");
	assert_task("children", "2;3 3 ");
	assert_task("deadline", " 1700000002000 ");
	assert_task("node", "n1 n1 n2");
}

OPENDC_TEST(capacity_is_chosen)
{
	struct opendc_options *options = make_options();

	make_requests();
	options->tasks = OPENDC_INVOCATION;
	options->capacity = OPENDC_ALLOCATED;
	options->parents = false;
	free(run_export(options));
	assert_task("cpu_count", "2 2 1");
	assert_task("cpu_capacity", "2000.0 2000.0 1000.0");
	assert_task("parents", "  ");
}

/* One of twenty fragments is higher than 95 % of them. */
OPENDC_TEST(the_highest_twentieth_is_left_out)
{
	struct opendc_options *options = make_options();

	make_node(1, 1000, 1);
	make_child(1, 1, 10, 1, "work", AT(0), AT(2000));
	for (int i = 0; i < 20; i++) {
		make_switch(AT(i * 100), 1, 0, 0, 10);
		make_switch(AT(i * 100 + (i == 7 ? 90 : 10 + i)), 1, 0, 10, 0);
	}
	make_switch(AT(2000), 1, 0, 0, 0);
	make_end();
	options->capacity = OPENDC_P95;
	options->interval_s = 0.1;
	free(run_export(options));
	assert_task("cpu_capacity", "290.0");
	assert_task("duration", "2000");
	/* All of them, in their order. */
	assert_fragment("duration", "100 100 100 100 100 100 100 100 100 100 100 100 "
				    "100 100 100 100 100 100 100 100");
}

OPENDC_TEST(processes_are_parents)
{
	struct opendc_options *options = make_options();

	make_node(1, 1000, 1);
	/* The child of what was there before has a lower number. */
	make_process(1, 1, 30, 1, "shell");
	make_process(2, 1, 20, 30, "make");
	make_child(3, 1, 40, 20, "cc", AT(100), AT(200));
	/* Parents of each other, which cannot be: neither has one. */
	make_process(4, 1, 50, 51, "a");
	make_process(5, 1, 51, 50, "b");
	make_process(6, 1, 2, 0, "kthreadd");
	make_process(7, 1, 3, 2, "rcu_gp");
	make_switch(AT(0), 1, 0, 0, 3);
	make_switch(AT(100), 1, 0, 3, 40);
	make_switch(AT(200), 1, 0, 40, 0);
	make_end();
	options->no_kernel_threads = true;
	expect_note(run_export(options), "2 kernel threads left out");
	assert_task("name", "shell a b make cc");
	assert_task("parents", "   1 4");
	assert_task("children", "4   5 ");
	assert_task("duration", "200 200 200 200 100");
}

OPENDC_TEST(groups_are_of_one_node)
{
	struct opendc_options *options = make_options();

	make_node(1, 1000, 2);
	make_node(2, 1000, 1);
	make_child(1, 1, 10, 1, "cc", AT(100), AT(300));
	make_child(2, 1, 11, 1, "cc", AT(200), AT(600));
	make_child(3, 2, 10, 1, "cc", AT(400), AT(700));
	make_switch(AT(100), 1, 0, 0, 10);
	make_switch(AT(200), 1, 1, 0, 11);
	make_switch(AT(300), 1, 0, 10, 0);
	make_switch(AT(400), 2, 0, 0, 10);
	make_switch(AT(600), 1, 1, 11, 0);
	make_switch(AT(700), 2, 0, 10, 0);
	make_end();
	options->tasks = OPENDC_COMM;
	free(run_export(options));
	assert_task("name", "cc@n1 cc@n2");
	assert_task("duration", "500 300");
	assert_fragment("cpu_usage", "1200.0 1000.0");
}

/* setsid makes a session of the process and its children; others are of none. */
OPENDC_TEST(sessions_are_inherited)
{
	static const struct timeline_column column = {"ret", CELL_INTEGER, false};
	struct opendc_options *options = make_options();
	uint32_t class;

	make_node(1, 1000, 1);
	class = make_class("syscall_exit_setsid", &column, 1);
	make_process(1, 1, 10, 1, "login");
	make_child(2, 1, 11, 10, "sh", AT(100), AT(900));
	make_process(3, 1, 20, 1, "other");
	make_switch(AT(0), 1, 0, 0, 10);
	make_event(AT(50), 0, 10, class, (struct cell[]){INTEGER(10)});
	make_switch(AT(200), 1, 0, 10, 11);
	make_switch(AT(500), 1, 0, 11, 20);
	make_switch(AT(1000), 1, 0, 20, 0);
	make_end();
	options->tasks = OPENDC_SESSION;
	expect_note(run_export(options), "1 processes without a group, left out");
	assert_task("name", "10@n1");
	assert_fragment("cpu_usage", "500.0");
}

/* Two processes with a namespace each, one of which has a child, and one without. */
static void make_contained(void)
{
	make_node(1, 1000, 1);
	make_process(1, 1, 10, 1, "shim");
	make_child(2, 1, 11, 10, "worker", AT(0), AT(900));
	make_process(3, 1, 20, 1, "other");
	make_process(4, 1, 30, 1, "free");
}

static void make_contained_run(void)
{
	make_switch(AT(200), 1, 0, 10, 11);
	make_switch(AT(500), 1, 0, 11, 20);
	make_switch(AT(600), 1, 0, 20, 30);
	make_switch(AT(1000), 1, 0, 30, 0);
	make_end();
}

static void assert_contained(void)
{
	struct opendc_options *options = make_options();

	options->tasks = OPENDC_CGROUP;
	expect_note(run_export(options), "1 processes without a group, left out");
	assert_task("name", "4026532001@n1 4026532002@n1");
	assert_fragment("id", "1 2");
	assert_fragment("cpu_usage", "500.0 100.0");
}

/* LTTng's statedump lists all processes when the trace begins. */
OPENDC_TEST(cgroups_are_told_by_the_statedump)
{
	static const struct timeline_column column[] = {{"tid", CELL_INTEGER, false},
							{"ns_inum", CELL_INTEGER, false}};
	uint32_t class;

	make_contained();
	class = make_class("lttng_statedump_process_cgroup_ns", column, 2);
	make_switch(AT(0), 1, 0, 0, 10);
	make_event(AT(1), 0, 5, class, (struct cell[]){INTEGER(10), INTEGER(4026532001)});
	make_event(AT(2), 0, 5, class, (struct cell[]){INTEGER(20), INTEGER(4026532002)});
	make_contained_run();
	assert_contained();
}

/* The context cgroup_ns is that of the thread that goes. */
OPENDC_TEST(cgroups_are_told_by_the_context)
{
	static const struct timeline_column column[] = {
	    {"prev_comm", CELL_TEXT, false},    {"prev_tid", CELL_INTEGER, false},
	    {"prev_prio", CELL_INTEGER, false}, {"prev_state", CELL_INTEGER, false},
	    {"next_comm", CELL_TEXT, false},    {"next_tid", CELL_INTEGER, false},
	    {"next_prio", CELL_INTEGER, false}, {"cgroup_ns", CELL_INTEGER, true}};
	static const int64_t thread[] = {10, 20, 30};
	static const int64_t cgroup[] = {4026532001, 4026532002, 0};
	uint32_t class;

	make_contained();
	class = make_class("sched_switch", column, COUNT(column));
	/* On a second processor, in no time. */
	for (int i = 0; i < 3; i++)
		make_event(AT(0), 1, thread[i], class,
			   (struct cell[]){TEXT("prev"), INTEGER(thread[i]), INTEGER(20),
					   INTEGER(1), TEXT("next"), INTEGER(0),
					   INTEGER(20), INTEGER(cgroup[i])});
	make_switch(AT(0), 1, 0, 0, 10);
	make_contained_run();
	assert_contained();
}

/* A record of an invocation names the group of its process. */
OPENDC_TEST(cgroups_are_told_by_records)
{
	make_contained();
	make_task(&(struct timeline_invocation){.node = 1,
						.pid = 10,
						.name = "a",
						.enqueue_ns = NONE,
						.begin_ns = AT(0),
						.end_ns = AT(900),
						.process = 1,
						.data = "{\"cgroup\": 4026532001}"});
	make_task(&(struct timeline_invocation){.node = 1,
						.pid = 20,
						.name = "b",
						.enqueue_ns = NONE,
						.begin_ns = AT(0),
						.end_ns = AT(900),
						.process = 3,
						.data = "{\"cgroup\": \"4026532002\"}"});
	make_switch(AT(0), 1, 0, 0, 10);
	make_contained_run();
	assert_contained();
}

OPENDC_TEST(what_was_not_recorded_is_told)
{
	struct opendc_options *options = make_options();

	make_node(1, 0, 0);
	make_process(1, 1, 10, 1, "a");
	make_switch(AT(0), 1, 3, 0, 10);
	make_switch(AT(100), 1, 3, 10, 0);
	make_end();
	options->tasks = OPENDC_CGROUP;
	expect_note(run_export(options),
		    "error: run.db: no cgroup of any process was recorded");
	options = make_options();
	options->tasks = OPENDC_INVOCATION;
	expect_note(run_export(options), "error: run.db: no invocations; use --tasks "
					 "process, or a run with invocations.jsonl");
	options = make_options();
	options->cpu_mhz = 3000;
	expect_note(run_export(options), "n1: neither node.json nor events tell the "
					 "speed of its cores, 3000 MHz is taken");
	assert_fragment("cpu_usage", "3000.0");
}

/* A stamp of 1970 among those of today. */
OPENDC_TEST(a_trace_of_years_is_asked_about)
{
	struct opendc_options *options = make_options();

	make_node(1, 1000, 1);
	for (int i = 1; i <= 3; i++)
		make_process(i, 1, i, 0, "daemon");
	make_switch(0, 1, 0, 0, 1);
	make_switch(AT(0), 1, 0, 1, 0);
	make_end();
	expect_note(run_export(options),
		    "error: run.db: too many fragments (limit 2^32); use a "
		    "longer --interval");
	options = make_options();
	options->interval_s = 86400;
	free(run_export(options));
	assert_task("duration", "1700000000000 1700000000000 1700000000000");
}
