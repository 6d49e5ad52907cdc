/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "input/csv.h"
#include "merge/stages.h"

struct tasks {
	struct sampler *sampler;
	struct problem_log log;
};

/* One that ran on a node, as its launcher recorded it. */
struct task {
	struct timeline_invocation row; /* its stamps are as recorded at first */
	const char *node;               /* where it ran, if not where the file is */
	json_t *rest;                   /* what no column has */
	uint64_t line;
};

static void check_order(const struct task *task, struct problem_log *log)
{
	const nsec_t times[] = {task->row.enqueue_ns, task->row.begin_ns,
				task->row.end_ns};
	nsec_t last = TIMELINE_NONE;

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (times[i] == TIMELINE_NONE)
			continue;
		if (times[i] < last)
			problem_log_add(log, PROBLEM_BACKWARD, task->line,
					"enqueued, started and ended out of order");
		last = times[i];
	}
}

static void read_task(struct task *task, const json_t *record, struct problem_log *log)
{
	static const struct member known[] = {
	    {"name", MEMBER_TEXT, offsetof(struct task, row.name)},
	    {"node", MEMBER_TEXT, offsetof(struct task, node)},
	    {"pid", MEMBER_INTEGER, offsetof(struct task, row.pid)},
	    {"enqueued_ns", MEMBER_STAMP, offsetof(struct task, row.enqueue_ns)},
	    {"started_ns", MEMBER_STAMP, offsetof(struct task, row.begin_ns)},
	    {"ended_ns", MEMBER_STAMP, offsetof(struct task, row.end_ns)},
	    {"bytes", MEMBER_INTEGER, MEMBER_STAYS},
	    {"trace_id", MEMBER_TEXT, MEMBER_STAYS},
	    {"status", MEMBER_INTEGER_OR_TEXT, offsetof(struct task, row.status)},
	    {"argv", MEMBER_ARRAY, MEMBER_STAYS},
	    {"command", MEMBER_TEXT, MEMBER_STAYS},
	    {NULL, MEMBER_ANY, 0},
	};
	const json_t *argv = json_object_get(record, "argv");
	char *command;

	task->rest = members_read(record, known, task, log, task->line);
	if (json_is_array(argv) && !json_object_get(task->rest, "command")) {
		command = json_join(argv, " ");
		json_set_text(task->rest, "command", command);
		free(command);
	}
	check_order(task, log);
}

/* The index of the node that it ran on; -1 where the run has no such node. */
static int64_t node_of(const struct tasks *tasks, const struct task *task)
{
	const struct merge_run *run = tasks->sampler->run;

	if (!task->node)
		return tasks->sampler->node;
	for (size_t i = 0; i < run->nodes; i++)
		if (strcmp(run->node[i].name, task->node) == 0)
			return (int64_t)i;
	return -1;
}

/* One outside of the run is reported, and not known; the rest of its task is used. */
static nsec_t place_stamp(struct tasks *tasks, const struct task *task, const char *name,
			  nsec_t realtime_ns)
{
	char text[NSEC_TEXT];
	nsec_t ts_ns;

	if (realtime_ns == TIMELINE_NONE)
		return TIMELINE_NONE;
	ts_ns = sampler_place(tasks->sampler, realtime_ns);
	if (!sampler_is_far(tasks->sampler, ts_ns))
		return ts_ns;
	problem_log_add(
	    &tasks->log, PROBLEM_STAMP, task->line,
	    "%s %s is more than two days before or after all traces and captures "
	    "of the run; treated as unknown",
	    name, nsec_format_utc(text, realtime_ns));
	return TIMELINE_NONE;
}

/* Whether some of its time is of interest; what has no time is. */
static bool is_wanted(const struct tasks *tasks, const struct timeline_invocation *row,
		      const char *node)
{
	const struct selection *selection = tasks->sampler->selection;
	const nsec_t times[] = {row->enqueue_ns, row->begin_ns, row->end_ns};
	nsec_t first = NSEC_MAX, last = NSEC_MIN;

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (times[i] == TIMELINE_NONE)
			continue;
		first = times[i] < first ? times[i] : first;
		last = times[i] > last ? times[i] : last;
	}
	if (!selection_has_node(selection, node))
		return false;
	return first > last ||
	       (first <= selection->end_ns && last >= selection->begin_ns);
}

static int add_task(struct tasks *tasks, struct task *task)
{
	struct sampler *sampler = tasks->sampler;
	struct timeline_invocation *row = &task->row;
	int64_t node = node_of(tasks, task);
	char *data = NULL;
	int status;

	row->enqueue_ns = place_stamp(tasks, task, "enqueued_ns", row->enqueue_ns);
	row->begin_ns = place_stamp(tasks, task, "started_ns", row->begin_ns);
	row->end_ns = place_stamp(tasks, task, "ended_ns", row->end_ns);
	if (!is_wanted(tasks, row, node < 0 ? task->node : sampler->run->node[node].name))
		return 0;
	if (node < 0) {
		problem_log_add(&tasks->log, PROBLEM_NODE, task->line,
				"unknown node '%s'; the task has none", task->node);
		json_set_text(task->rest, "node", task->node);
	} else {
		row->node = sampler->run->node[node].id;
	}
	if (json_object_size(task->rest))
		row->data = data = json_one_line(task->rest);
	status = timeline_add_invocation(sampler->writer, row, sampler->error);
	free(data);
	return status;
}

int sample_invocations(struct sampler *sampler, const char *path)
{
	struct tasks tasks = {.sampler = sampler};
	struct line_reader *lines;
	struct text_line line;
	json_t *record;
	int status = 0;

	problem_log_init(&tasks.log, path, &sampler->run->problems);
	lines = line_reader_open(path, &tasks.log);
	while (lines && !status && (record = line_reader_next_object(lines, &line))) {
		struct task task = {.row = {.node = TIMELINE_NONE,
					    .pid = TIMELINE_NONE,
					    .enqueue_ns = TIMELINE_NONE,
					    .begin_ns = TIMELINE_NONE,
					    .end_ns = TIMELINE_NONE,
					    .status = TIMELINE_NONE,
					    .process = TIMELINE_NONE},
				    .line = line.number};

		read_task(&task, record, &tasks.log);
		status = add_task(&tasks, &task);
		json_decref(task.rest);
		json_decref(record);
	}
	line_reader_close(lines);
	return status;
}
