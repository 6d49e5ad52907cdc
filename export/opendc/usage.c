/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/usage.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/opendc/runs.h"

struct opendc_usage {
	struct opendc_tasks *tasks;
	int64_t interval_ms;
	struct opendc_runs *runs;
	bool more; /* `ahead` is the first record of a task to come */
	struct opendc_record ahead;
	int64_t next; /* task */
	struct opendc_work *work;
	size_t room;
};

struct opendc_usage *opendc_usage_new(struct opendc_tasks *tasks, int64_t interval_ms)
{
	struct opendc_usage *usage = mem_zalloc(sizeof(*usage));

	usage->tasks = tasks;
	usage->interval_ms = interval_ms;
	usage->runs = opendc_runs_new();
	return usage;
}

/* Milliseconds, rounded up. */
static int64_t millis(nsec_t span)
{
	return span / NSEC_PER_MSEC + (span % NSEC_PER_MSEC > 0);
}

static nsec_t floor_to(nsec_t instant, nsec_t step)
{
	nsec_t rest = instant % step;

	return nsec_sub(instant, rest < 0 ? rest + step : rest);
}

/* From a task's begin to the first multiple of the interval behind it. */
static int64_t first_length(const struct opendc_task *task, int64_t interval_ms)
{
	nsec_t step = interval_ms * NSEC_PER_MSEC;

	return millis(
	    nsec_sub(nsec_add(floor_to(task->begin_ns, step), step), task->begin_ns));
}

void opendc_cut(const struct opendc_task *task, int64_t interval_ms,
		struct opendc_cuts *cuts)
{
	int64_t all = millis(nsec_sub(task->end_ns, task->begin_ns));

	cuts->interval_ms = interval_ms;
	cuts->first_ms = first_length(task, interval_ms);
	cuts->all_ms = all ? all : 1;
	cuts->fragments = 1;
	if (cuts->all_ms > cuts->first_ms)
		cuts->fragments +=
		    (uint64_t)((cuts->all_ms - cuts->first_ms + interval_ms - 1) /
			       interval_ms);
}

int64_t opendc_length(const struct opendc_cuts *cuts, uint64_t index)
{
	int64_t begin =
	    index ? cuts->first_ms + ((int64_t)index - 1) * cuts->interval_ms : 0;
	int64_t length = index ? cuts->interval_ms : cuts->first_ms;

	return length < cuts->all_ms - begin ? length : cuts->all_ms - begin;
}

int opendc_usage_check(const struct opendc_tasks *tasks, int64_t interval_ms,
		       struct error *error)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < tasks->tasks; i++) {
		struct opendc_cuts cuts;

		opendc_cut(&tasks->task[i], interval_ms, &cuts);
		sum += cuts.fragments;
		if (sum > UINT32_MAX)
			return error_set(error, "more than 2^32 fragments, want a longer "
						"--interval, or less of the timeline");
	}
	return 0;
}

static int close_fragment(struct opendc_usage *usage, int64_t index, struct error *error)
{
	struct opendc_task *task = &usage->tasks->task[index];
	const struct opendc_record record = {(uint32_t)index, task->open_index,
					     task->open_work};

	task->open = false;
	return opendc_runs_add(usage->runs, &record, error);
}

static int add_work(struct opendc_usage *usage, int64_t index, uint32_t fragment,
		    double work, struct error *error)
{
	struct opendc_task *task = &usage->tasks->task[index];

	if (task->open && task->open_index == fragment) {
		task->open_work += work;
		return 0;
	}
	if (task->open && close_fragment(usage, index, error))
		return -1;
	task->open = true;
	task->open_index = fragment;
	task->open_work = work;
	return 0;
}

int opendc_usage_add(struct opendc_usage *usage, int64_t task, nsec_t begin_ns,
		     nsec_t end_ns, double mhz, struct error *error)
{
	nsec_t origin = usage->tasks->task[task].begin_ns;
	nsec_t first =
	    first_length(&usage->tasks->task[task], usage->interval_ms) * NSEC_PER_MSEC;
	nsec_t step = usage->interval_ms * NSEC_PER_MSEC;

	while (begin_ns < end_ns) {
		nsec_t since = nsec_sub(begin_ns, origin);
		int64_t index = since < first ? 0 : 1 + (since - first) / step;
		nsec_t until = nsec_add(origin, first + index * step);
		nsec_t to = until < end_ns ? until : end_ns;

		if (add_work(usage, task, (uint32_t)index,
			     (double)nsec_sub(to, begin_ns) * mhz, error))
			return -1;
		begin_ns = to;
	}
	return 0;
}

int opendc_usage_finish(struct opendc_usage *usage, struct error *error)
{
	int more;

	for (size_t i = 0; i < usage->tasks->tasks; i++)
		if (usage->tasks->task[i].open &&
		    close_fragment(usage, (int64_t)i, error))
			return -1;
	if (opendc_runs_sort(usage->runs, error))
		return -1;
	more = opendc_runs_next(usage->runs, &usage->ahead, error);
	usage->more = more > 0;
	return more < 0 ? -1 : 0;
}

int opendc_usage_next(struct opendc_usage *usage, const struct opendc_work **work,
		      size_t *count, struct error *error)
{
	size_t have = 0;

	while (usage->more && usage->ahead.task == usage->next) {
		int more;

		/* A fragment may come in pieces, of several threads or late ones. */
		if (have && usage->work[have - 1].index == usage->ahead.index) {
			usage->work[have - 1].work += usage->ahead.work;
		} else {
			usage->work = mem_grow(usage->work, have, &usage->room,
					       sizeof(*usage->work));
			usage->work[have++] =
			    (struct opendc_work){usage->ahead.index, usage->ahead.work};
		}
		more = opendc_runs_next(usage->runs, &usage->ahead, error);
		if (more < 0)
			return -1;
		usage->more = more > 0;
	}
	usage->next++;
	*work = usage->work;
	*count = have;
	return 0;
}

void opendc_usage_free(struct opendc_usage *usage)
{
	if (!usage)
		return;
	opendc_runs_free(usage->runs);
	free(usage->work);
	free(usage);
}
