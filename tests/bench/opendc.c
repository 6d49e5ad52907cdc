/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench-opendc DIR [TASKS SECONDS]: a timeline of so many processes (100,000) that all
 * run a while in each of so many seconds (100), made in DIR, and what it takes ctexport
 * to make an OpenDC trace of it: seconds on the clock and of
 * processors, and memory at most.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/number.h"
#include "launch.h"
#include "timeline/rows.h"

enum { NODES = 20, CPUS = 4, PROCESSORS = NODES * CPUS };

static const nsec_t begin_ns = (nsec_t)1700000000 * NSEC_PER_SEC;

struct size {
	int64_t tasks, seconds;
};

static int add_nodes(struct timeline_writer *writer, const struct size *size,
		     struct error *error)
{
	for (int64_t i = 1; i <= NODES; i++) {
		char *name = mem_printf("node%d", (int)i);
		const struct timeline_node node = {.id = i,
						   .name = name,
						   .cpus = CPUS,
						   .cpu_mhz = 2400,
						   .mem_kib = 1 << 24};
		const struct timeline_source source = {
		    .id = i,
		    .node = i,
		    .kind = "kernel",
		    .name = name,
		    .begin_ns = begin_ns,
		    .end_ns = begin_ns + size->seconds * NSEC_PER_SEC,
		    .events = 1,
		    .reference = 1};
		int status = timeline_add_node(writer, &node, error) ||
			     timeline_add_source(writer, &source, error);

		free(name);
		if (status)
			return -1;
	}
	return 0;
}

/* Processors take the tasks in turn; of a node's the numbers begin at 1000. */
static int64_t node_of(int64_t task)
{
	return 1 + task % PROCESSORS / CPUS;
}

static int64_t tid_of(int64_t task)
{
	return 1000 + task;
}

static int add_processes(struct timeline_writer *writer, const struct size *size,
			 struct error *error)
{
	for (int64_t i = 0; i < size->tasks; i++) {
		const struct timeline_process process = {
		    .id = i + 1,
		    .node = node_of(i),
		    .pid = tid_of(i),
		    .ppid = i ? tid_of(i % PROCESSORS) : 1,
		    .comm = "work",
		    .begin_ns = TIMELINE_NONE,
		    .end_ns = TIMELINE_NONE,
		    .exit_status = TIMELINE_NONE};
		const struct timeline_thread thread = {.id = i + 1,
						       .process = i + 1,
						       .node = process.node,
						       .tid = process.pid,
						       .comm = "work",
						       .begin_ns = TIMELINE_NONE,
						       .end_ns = TIMELINE_NONE};

		if (timeline_add_process(writer, &process, error) ||
		    timeline_add_thread(writer, &thread, error))
			return -1;
	}
	return 0;
}

/* In each second each processor gives each of its tasks the same time. */
static int add_switches(struct timeline_writer *writer, const struct size *size,
			uint32_t class, struct error *error)
{
	int64_t last[PROCESSORS] = {0};
	int64_t turns = size->tasks / PROCESSORS;

	for (int64_t i = 0; i < size->seconds * turns; i++) {
		int64_t turn = i % turns;
		nsec_t when =
		    begin_ns + i / turns * NSEC_PER_SEC + turn * (NSEC_PER_SEC / turns);

		for (int64_t p = 0; p < PROCESSORS; p++) {
			int64_t next = tid_of(turn * PROCESSORS + p);
			const struct cell cell[] = {
			    {.type = CELL_TEXT, .size = 4, .bytes = "work"},
			    {.type = CELL_INTEGER, .integer = last[p]},
			    {.type = CELL_INTEGER, .integer = 20},
			    {.type = CELL_INTEGER, .integer = 0},
			    {.type = CELL_TEXT, .size = 4, .bytes = "work"},
			    {.type = CELL_INTEGER, .integer = next},
			    {.type = CELL_INTEGER, .integer = 20},
			};
			const struct timeline_event event = {.ts_ns = when,
							     .node = 1 + p / CPUS,
							     .source = 1 + p / CPUS,
							     .tid = last[p],
							     .cpu = (int32_t)(p % CPUS),
							     .class = class,
							     .cell = cell};

			if (timeline_add_event(writer, &event, NULL, error))
				return -1;
			last[p] = next;
		}
	}
	return 0;
}

/* What ctmerge makes of the switches: who ran, up to the processor's next one. */
static int add_spans(const char *path, struct error *error)
{
	static const char sql[] =
	    "INSERT INTO thread_state (id, node, tid, thread, state_code, begin_ns,"
	    " duration_ns, cpu, cut) SELECT row_number() OVER (), r.node, r.tid, t.id, 1,"
	    " r.begin_ns, r.end_ns - r.begin_ns, cpu, 0 FROM"
	    " (SELECT e.node, s.next_tid AS tid, e.cpu, e.ts_ns AS begin_ns,"
	    "  lead(e.ts_ns) OVER (PARTITION BY e.node, e.cpu ORDER BY e.id) AS end_ns"
	    "  FROM sched_switch AS s JOIN event AS e ON e.id = s.id) AS r"
	    " JOIN thread AS t ON t.node = r.node AND t.tid = r.tid"
	    " WHERE r.end_ns > r.begin_ns ORDER BY 2, 3, 6, 1";
	char *command = mem_printf("sqlite3 '%s' \"%s\"", path, sql);
	int status = system(command);

	free(command);
	return status ? error_set(error, "%s: sqlite3 made no spans", path) : 0;
}

static int write_timeline(const char *path, const struct size *size, struct error *error)
{
	static const struct timeline_column column[] = {
	    {"prev_comm", CELL_TEXT, false},    {"prev_tid", CELL_INTEGER, false},
	    {"prev_prio", CELL_INTEGER, false}, {"prev_state", CELL_INTEGER, false},
	    {"next_comm", CELL_TEXT, false},    {"next_tid", CELL_INTEGER, false},
	    {"next_prio", CELL_INTEGER, false}};
	const struct timeline_class class = {"kernel", "sched_switch", column, 7};
	struct timeline_writer *writer = timeline_writer_new(path, NULL, true, error);
	uint32_t id;
	int status = !writer || add_nodes(writer, size, error) ||
		     add_processes(writer, size, error) ||
		     timeline_add_class(writer, &class, &id, error) ||
		     add_switches(writer, size, id, error) ||
		     timeline_writer_finish(writer, error);

	timeline_writer_free(writer);
	return status ? -1 : add_spans(path, error);
}

/* Run it and print its line; takes the words. */
static int measure(const char *what, struct text_list *words, struct error *error)
{
	struct launched launched;
	int status = launch(words, NULL, &launched, error);

	text_list_clear(words);
	if (status == 0 && launched.status)
		status = error_set(error, "%s: exit status %d", what, launched.status);
	if (status == 0)
		printf("%-12s %8.2f %8.2f %8ld\n", what, launched.wall_s, launched.cpu_s,
		       launched.peak_kib / 1024);
	return status;
}

static int measure_all(const char *directory, const struct size *size,
		       struct error *error)
{
	char *timeline = mem_printf("%s/run.db", directory);
	char *output = mem_printf("%s/trace", directory);
	struct text_list words = {0};
	int status = write_timeline(timeline, size, error);

	printf("%lld tasks, %lld fragments\n%-12s %8s %8s %8s\n", (long long)size->tasks,
	       (long long)(size->tasks * size->seconds), "what", "s", "cpu s", "MiB");
	launch_words(&words, "ctexport", "opendc", "-q", "--tasks", "process", timeline,
		     "-o", output, NULL);
	status = status || measure("export", &words, error);
	text_list_clear(&words);
	free(timeline);
	free(output);
	return status ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct size size = {100000, 100};
	struct error error = ERROR_INIT;
	int status;

	if ((argc != 2 && argc != 4) ||
	    (argc == 4 && (number_integer(argv[2], &size.tasks) ||
			   number_integer(argv[3], &size.seconds))) ||
	    size.tasks < PROCESSORS || size.seconds < 1) {
		fputs("usage: bench-opendc DIR [TASKS SECONDS]\n", stderr);
		return EXIT_MISUSE;
	}
	size.tasks -= size.tasks % PROCESSORS;
	status = measure_all(argv[1], &size, &error);
	if (error.text)
		fprintf(stderr, "bench-opendc: %s\n", error.text);
	error_clear(&error);
	return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
