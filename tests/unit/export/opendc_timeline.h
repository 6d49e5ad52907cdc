/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_OPENDC_TIMELINE_H
#define CT_TEST_OPENDC_TIMELINE_H

/*
 * Timelines made by hand, and what ctexport makes of them: CSV files in the directory
 * "out". Times are in milliseconds from BEGIN, which is a whole second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scratch.h"
#include "base/mem.h"
#include "export.h"
#include "export/format.h"
#include "export/opendc/opendc_private.h"
#include "timeline/rows.h"

#define BEGIN  ((nsec_t)1700000000 * NSEC_PER_SEC)
#define AT(ms) (BEGIN + (nsec_t)((ms)*1e6))
#define NONE   TIMELINE_NONE

static struct {
	struct timeline_writer *writer;
	struct error error;
	uint32_t sched_switch;
} made;

#define MADE(call)                                                                       \
	do {                                                                             \
		if (call)                                                                \
			fail_msg("%s", error_text(&made.error));                         \
	} while (0)

static inline void make_begin(void)
{
	static const struct timeline_column column[] = {
	    {"prev_comm", CELL_TEXT, false},    {"prev_tid", CELL_INTEGER, false},
	    {"prev_prio", CELL_INTEGER, false}, {"prev_state", CELL_INTEGER, false},
	    {"next_comm", CELL_TEXT, false},    {"next_tid", CELL_INTEGER, false},
	    {"next_prio", CELL_INTEGER, false}};
	const struct timeline_class class = {"kernel", "sched_switch", column, 7};

	memset(&made, 0, sizeof(made));
	made.writer = timeline_writer_new("run.db", NULL, true, &made.error);
	assert_non_null(made.writer);
	MADE(timeline_add_class(made.writer, &class, &made.sched_switch, &made.error));
}

static inline int make_set_up(void **state)
{
	int status = scratch_enter(state);

	make_begin();
	return status;
}

/* A test that begins with an empty timeline. */
#define OPENDC_TEST(name) FIXTURE_TEST(name, make_set_up, scratch_leave)

static inline void make_node(int64_t id, double mhz, int64_t cpus)
{
	char name[16];
	const struct timeline_node node = {
	    .id = id, .name = name, .cpus = cpus, .cpu_mhz = mhz, .mem_kib = 1 << 20};

	snprintf(name, sizeof(name), "n%d", (int)id);
	MADE(timeline_add_node(made.writer, &node, &made.error));
}

/* A process with its first thread of the same number. */
static inline void make_both(const struct timeline_process *process)
{
	const struct timeline_thread thread = {.id = process->id,
					       .process = process->id,
					       .node = process->node,
					       .tid = process->pid,
					       .comm = process->comm,
					       .begin_ns = process->begin_ns,
					       .end_ns = process->end_ns};

	MADE(timeline_add_process(made.writer, process, &made.error));
	MADE(timeline_add_thread(made.writer, &thread, &made.error));
}

/* One that begins and ends, and one that does neither. */
#define make_child(number, on, its_pid, its_ppid, name, begin, end)                      \
	make_both(&(struct timeline_process){.id = (number),                             \
					     .node = (on),                               \
					     .pid = (its_pid),                           \
					     .ppid = (its_ppid),                         \
					     .comm = (name),                             \
					     .begin_ns = (begin),                        \
					     .end_ns = (end),                            \
					     .exit_status = 0})
#define make_process(number, on, its_pid, its_ppid, name)                                \
	make_child(number, on, its_pid, its_ppid, name, NONE, NONE)

static inline void make_thread(int64_t id, int64_t process, int64_t node, int64_t tid)
{
	const struct timeline_thread thread = {.id = id,
					       .process = process,
					       .node = node,
					       .tid = tid,
					       .comm = "thread",
					       .begin_ns = NONE,
					       .end_ns = NONE};

	MADE(timeline_add_thread(made.writer, &thread, &made.error));
}

static inline void make_task(const struct timeline_invocation *invocation)
{
	MADE(timeline_add_invocation(made.writer, invocation, &made.error));
}

#define make_invocation(on, its_pid, its_name, enqueue, begin, end, json)                \
	make_task(&(struct timeline_invocation){.node = (on),                            \
						.pid = (its_pid),                        \
						.name = (its_name),                      \
						.enqueue_ns = (enqueue),                 \
						.begin_ns = (begin),                     \
						.end_ns = (end),                         \
						.process = NONE,                         \
						.data = (json)})

/* On a processor of a node one thread goes and another comes. */
static inline void make_switch(nsec_t when, int64_t node, int32_t cpu, int64_t prev,
			       int64_t next)
{
	const struct cell cell[] = {TEXT("prev"), INTEGER(prev), INTEGER(20), INTEGER(1),
				    TEXT("next"), INTEGER(next), INTEGER(20)};
	const struct timeline_event event = {.ts_ns = when,
					     .node = node,
					     .tid = prev,
					     .cpu = cpu,
					     .class = made.sched_switch,
					     .cell = cell};

	MADE(timeline_add_event(made.writer, &event, NULL, &made.error));
}

/* Any other event, on node 1. */
static inline void make_event(nsec_t when, int32_t cpu, int64_t tid, uint32_t class,
			      const struct cell *cell)
{
	const struct timeline_event event = {.ts_ns = when,
					     .node = 1,
					     .tid = tid,
					     .cpu = cpu,
					     .class = class,
					     .cell = cell};

	MADE(timeline_add_event(made.writer, &event, NULL, &made.error));
}

static inline uint32_t make_class(const char *name, const struct timeline_column *column,
				  size_t columns)
{
	const struct timeline_class class = {"kernel", name, column, columns};
	uint32_t id;

	MADE(timeline_add_class(made.writer, &class, &id, &made.error));
	return id;
}

/* Running spans as ctmerge makes them of switches: up to the processor's next one, or its
 * node's last event. */
#define MADE_SPANS                                                                       \
	"INSERT INTO thread_state (id, node, tid, thread, state_code, begin_ns,"         \
	" duration_ns, cpu, cut) SELECT row_number() OVER (), node, tid,"                \
	" (SELECT t.id FROM thread AS t WHERE t.node = r.node AND t.tid = r.tid"         \
	"  AND coalesce(t.begin_ns, 0) <= r.begin_ns ORDER BY t.begin_ns DESC LIMIT 1)," \
	" 1, begin_ns, end_ns - begin_ns, cpu, 0 FROM"                                   \
	" (SELECT e.node, s.next_tid AS tid, e.cpu, e.ts_ns AS begin_ns,"                \
	"  coalesce(lead(e.ts_ns) OVER (PARTITION BY e.node, e.cpu ORDER BY e.id),"      \
	"  (SELECT max(ts_ns) FROM event AS m WHERE m.node = e.node)) AS end_ns"         \
	"  FROM sched_switch AS s JOIN event AS e ON e.id = s.id) AS r"                  \
	" WHERE end_ns > begin_ns"

static inline void make_end(void)
{
	MADE(timeline_writer_finish(made.writer, &made.error));
	timeline_writer_free(made.writer);
	assert_int_equal(system("sqlite3 run.db \"" MADE_SPANS "\""), 0);
}

/* The options as without any, but for CSV. */
static inline struct opendc_options *make_options(void)
{
	static struct opendc_options defaults;
	static bool has_defaults;

	if (!has_defaults)
		defaults = opendc_options;
	has_defaults = true;
	opendc_options = defaults;
	opendc_options.format = OPENDC_CSV;
	opendc_options.tasks = OPENDC_PROCESS;
	opendc_options.parents = true;
	return &opendc_options;
}

/* Export run.db with the options of make_options. What was noted, a line each, or the
 * error after "error: "; for free(). */
static inline char *run_export(struct opendc_options *options)
{
	static const char *const written[] = {"out/tasks.csv", "out/fragments.csv",
					      "out/topology.json", "out/experiment.json",
					      "out/experiment-legacy.json"};
	struct error error = ERROR_INIT;
	struct export export = {.path = "run.db", .directory = "out", .quiet = true};
	char *text = mem_strdup("");
	int status;

	assert_ptr_equal(options, &opendc_options);
	mkdir("out", 0777);
	for (size_t i = 0; i < sizeof(written) / sizeof(*written); i++)
		unlink(written[i]);
	export.timeline = timeline_reader_open("run.db", &error);
	assert_non_null(export.timeline);
	status = scope_init(&export.scope, export.timeline, NULL, NULL, NULL, &error);
	assert_int_equal(status, 0);
	progress_init(&export.progress, true);
	status = export_opendc.run(&export, &error);
	for (size_t i = 0; i < export.notes.count; i++) {
		char *more = mem_printf("%s%s: %s\n", text, export.notes.item[i].place,
					export.notes.item[i].text);

		free(text);
		text = more;
	}
	if (status) {
		free(text);
		text = mem_printf("error: %s", error_text(&error));
	}
	error_clear(&error);
	problem_clear(&export.notes);
	scope_clear(&export.scope);
	timeline_reader_free(export.timeline);
	return text;
}

/* Takes the notes. */
static inline void expect_note(char *have, const char *want)
{
	if (!strstr(have, want))
		fail_msg("'%s' is not in:\n%s", want, have);
	free(have);
}

/* A column of a CSV file in words, "a b c"; for free(). */
static inline char *column_of(const char *path, const char *name)
{
	char *text = scratch_read(path, NULL), *all = mem_strdup(""), *line, *rest = text;
	const char *space = "";
	int wanted = -1;

	while ((line = strsep(&rest, "\n")) && *line) {
		char *cell, *cells = line;
		int at = 0;

		line[strcspn(line, "\r")] = '\0';
		while ((cell = strsep(&cells, ","))) {
			if (wanted < 0 && strcmp(cell, name) == 0) {
				wanted = at;
				break;
			}
			if (at++ == wanted) {
				char *more = mem_printf("%s%s%s", all, space, cell);

				free(all);
				all = more;
				space = " ";
			}
		}
		if (wanted < 0)
			fail_msg("%s: no column %s", path, name);
	}
	free(text);
	return all;
}

#define assert_column(path, name, words)                                                 \
	do {                                                                             \
		char *have = column_of(path, name);                                      \
		assert_string_equal(have, words);                                        \
		free(have);                                                              \
	} while (0)

#define assert_task(name, words)     assert_column("out/tasks.csv", name, words)
#define assert_fragment(name, words) assert_column("out/fragments.csv", name, words)

#endif
