/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "input/faults.h"
#include "input/invocations.h"
#include "merge/samples.h"

struct tasks {
	struct sampler *sampler;
	struct faults faults;
};

/* What no column has, as JSON; NULL: nothing. For free(). A member that the record itself
 * has is of a wrong type, and stays. */
static char *data_of(const struct invocation *task, bool is_node_known)
{
	struct error error = ERROR_INIT;
	json_t *data = task->extra
			   ? json_parse_object(task->extra, strlen(task->extra), &error)
			   : NULL;
	json_t *more = json_pack(
	    "{ss* ss* so* ss* ss* so*}", "node", is_node_known ? NULL : task->node,
	    "status", task->status_text, "bytes",
	    task->bytes == INVOCATION_UNKNOWN ? NULL : json_integer(task->bytes),
	    "trace_id", task->trace_id, "command", task->command, "argv",
	    task->argv ? json_loads(task->argv, JSON_DECODE_ANY, NULL) : NULL);
	char *text = NULL;

	data = data ? data : json_object();
	json_object_update_missing(data, more);
	if (json_object_size(data))
		text = json_one_line(data);
	json_decref(more);
	json_decref(data);
	error_clear(&error);
	return text;
}

/* The index of the node that it ran on; -1 where the run has no such node. */
static int64_t node_of(const struct tasks *tasks, const struct invocation *task)
{
	const struct merge_run *run = tasks->sampler->run;

	if (!task->node)
		return tasks->sampler->node;
	for (size_t i = 0; i < run->nodes; i++)
		if (strcmp(run->node[i].name, task->node) == 0)
			return (int64_t)i;
	return -1;
}

/* One outside of the run is not known, and told; the rest of its task is used. */
static nsec_t place(struct tasks *tasks, const struct invocation *task, const char *name,
		    nsec_t realtime_ns)
{
	char text[NSEC_TEXT];
	nsec_t ts_ns;

	if (realtime_ns == INVOCATION_UNKNOWN)
		return TIMELINE_NONE;
	ts_ns = stamps_place(&tasks->sampler->stamps, realtime_ns);
	if (!stamps_is_far(&tasks->sampler->stamps, ts_ns))
		return ts_ns;
	faults_add(&tasks->faults, "stamp", task->line,
		   "%s %s is more than two days before or after all traces and captures "
		   "of the run, taken as not known",
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

/*
 * The launcher's stamps lie just outside of the process's life, and the middle well
 * within; so it is asked first.
 */
static int64_t process_of(const struct tasks *tasks,
			  const struct timeline_invocation *row, uint32_t node)
{
	const nsec_t begin = row->begin_ns, end = row->end_ns;
	bool has_both = begin != TIMELINE_NONE && end != TIMELINE_NONE && begin <= end;
	const nsec_t times[] = {has_both ? begin + (end - begin) / 2 : TIMELINE_NONE,
				begin, end};
	int64_t process = 0;

	if (row->pid == TIMELINE_NONE)
		return TIMELINE_NONE;
	for (size_t i = 0; !process && i < sizeof(times) / sizeof(*times); i++)
		if (times[i] != TIMELINE_NONE)
			process = processes_find(tasks->sampler->processes, node,
						 row->pid, times[i]);
	return process ? process : TIMELINE_NONE;
}

static int take_task(void *context, const struct invocation *task)
{
	struct tasks *tasks = context;
	struct sampler *sampler = tasks->sampler;
	int64_t node = node_of(tasks, task);
	struct timeline_invocation row = {
	    .node = node < 0 ? TIMELINE_NONE : sampler->run->node[node].id,
	    .pid = task->pid == INVOCATION_UNKNOWN ? TIMELINE_NONE : task->pid,
	    .name = task->name,
	    .enqueue_ns = place(tasks, task, "enqueued_ns", task->enqueued_ns),
	    .begin_ns = place(tasks, task, "started_ns", task->started_ns),
	    .end_ns = place(tasks, task, "ended_ns", task->ended_ns),
	    .status = task->status == INVOCATION_UNKNOWN ? TIMELINE_NONE : task->status,
	    .process = TIMELINE_NONE};
	char *data;
	int status;

	if (!is_wanted(tasks, &row,
		       node < 0 ? task->node : sampler->run->node[node].name))
		return 0;
	if (node < 0)
		faults_add(&tasks->faults, "node", task->line,
			   "'%s' is no node of this run, the task has none", task->node);
	else
		row.process = process_of(tasks, &row, (uint32_t)node);
	data = data_of(task, node >= 0);
	row.data = data;
	status = timeline_add_invocation(sampler->writer, &row, sampler->error);
	free(data);
	return status ? 1 : 0;
}

int sample_invocations(struct sampler *sampler, const char *path)
{
	struct tasks tasks = {.sampler = sampler};
	int status;

	faults_init(&tasks.faults, path, &sampler->run->problems);
	status = invocations_read(path, take_task, &tasks, &sampler->run->problems);
	return status > 0 ? -1 : 0;
}
