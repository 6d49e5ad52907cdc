/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/opendc/opendc.h"
#include "timeline/query.h"

/* A task may last until 2068: a longer time than this without work is one fragment. */
enum { IDLE_MS = 3600 * 1000 };

struct opendc_work {
	uint64_t index; /* of the fragment */
	double work;    /* MHz times nanoseconds; in the end MHz */
};

/* Milliseconds, rounded up. */
static int64_t millis(nsec_t span)
{
	return span / NSEC_PER_MSEC + (span % NSEC_PER_MSEC > 0);
}

static int64_t floor_to(nsec_t instant, nsec_t step)
{
	nsec_t rest = instant % step;

	return nsec_sub(instant, rest < 0 ? rest + step : rest);
}

int64_t opendc_floor_ms(nsec_t instant)
{
	return floor_to(instant, NSEC_PER_MSEC) / NSEC_PER_MSEC;
}

/*
 * How a task is cut: lengths of the first, of the others but the last, and of all, in
 * milliseconds; and how many they are. Fragments begin at the multiples of the interval
 * since the epoch, but for a task's first, and whole milliseconds after the task's begin:
 * those of the interval, rounded up. So their lengths sum to the task's, and what a task
 * works within one never exceeds what its processors can do in it.
 */
struct cuts {
	int64_t first_ms, interval_ms, all_ms;
	uint64_t fragments;
};

static struct cuts cut(const struct opendc_task *task, int64_t interval_ms)
{
	nsec_t step = interval_ms * NSEC_PER_MSEC;
	int64_t all_ms = millis(nsec_sub(task->end_ns, task->begin_ns));
	struct cuts cuts = {
	    .first_ms = millis(
		nsec_sub(nsec_add(floor_to(task->begin_ns, step), step), task->begin_ns)),
	    .interval_ms = interval_ms,
	    .all_ms = all_ms ? all_ms : 1,
	    .fragments = 1};

	if (cuts.all_ms > cuts.first_ms)
		cuts.fragments +=
		    (uint64_t)((cuts.all_ms - cuts.first_ms + interval_ms - 1) /
			       interval_ms);
	return cuts;
}

/* From the begin of a fragment to the end of the last of so many. */
static int64_t length_of(const struct cuts *cuts, uint64_t index, uint64_t count)
{
	int64_t begin_ms =
	    index ? cuts->first_ms + ((int64_t)index - 1) * cuts->interval_ms : 0;
	int64_t end_ms =
	    cuts->first_ms + ((int64_t)(index + count) - 1) * cuts->interval_ms;

	return (end_ms < cuts->all_ms ? end_ms : cuts->all_ms) - begin_ms;
}

static void add_work(struct opendc_fragments *fragments, nsec_t begin_ns, nsec_t end_ns,
		     double mhz)
{
	const struct opendc_task *task = &fragments->task[fragments->at];
	struct cuts cuts = cut(task, fragments->interval_ms);
	nsec_t first = cuts.first_ms * NSEC_PER_MSEC;
	nsec_t step = cuts.interval_ms * NSEC_PER_MSEC;

	while (begin_ns < end_ns) {
		nsec_t since = nsec_sub(begin_ns, task->begin_ns);
		int64_t index = since < first ? 0 : 1 + (since - first) / step;
		nsec_t until = nsec_add(task->begin_ns, first + index * step);
		nsec_t to = until < end_ns ? until : end_ns;
		double work = (double)nsec_sub(to, begin_ns) * mhz;

		if ((uint64_t)index >= cuts.fragments)
			index = (int64_t)cuts.fragments - 1;
		if (!fragments->works ||
		    fragments->work[fragments->works - 1].index != (uint64_t)index) {
			fragments->work =
			    mem_grow(fragments->work, fragments->works,
				     &fragments->work_room, sizeof(*fragments->work));
			fragments->work[fragments->works++] =
			    (struct opendc_work){(uint64_t)index, 0};
		}
		fragments->work[fragments->works - 1].work += work;
		fragments->in += work;
		begin_ns = to;
	}
}

static int compare_work(const void *a, const void *b)
{
	const struct opendc_work *one = a, *other = b;

	return (one->index > other->index) - (one->index < other->index);
}

static int compare_usage(const void *a, const void *b)
{
	const struct opendc_work *one = a, *other = b;

	return (one->work > other->work) - (one->work < other->work);
}

/* Each fragment in which the task worked once, in their order, and in MHz. */
static void sum_work(struct opendc_fragments *fragments, const struct cuts *cuts)
{
	struct opendc_work *work = fragments->work;
	size_t count = 0;

	/* Of several threads, or of samples of two sorts. */
	if (fragments->works)
		qsort(work, fragments->works, sizeof(*work), compare_work);
	for (size_t i = 0; i < fragments->works; i++)
		if (count && work[count - 1].index == work[i].index)
			work[count - 1].work += work[i].work;
		else
			work[count++] = work[i];
	for (size_t i = 0; i < count; i++)
		work[i].work /=
		    (double)length_of(cuts, work[i].index, 1) * (double)NSEC_PER_MSEC;
	fragments->works = count;
}

/* The least that a share of all fragments does not exceed: those without work are 0. */
static double usage_of(const struct opendc_fragments *fragments, uint64_t count,
		       uint64_t above)
{
	uint64_t rank = count - above, zeros = count - fragments->works;
	size_t size = fragments->works * sizeof(*fragments->work);
	struct opendc_work *sorted;
	double usage;

	if (rank <= zeros)
		return 0;
	sorted = mem_alloc(size);
	memcpy(sorted, fragments->work, size);
	qsort(sorted, fragments->works, sizeof(*sorted), compare_usage);
	usage = sorted[rank - zeros - 1].work;
	free(sorted);
	return usage;
}

/* A task that never worked is still to be placed: it gets a core. Rounding in the last
 * digit does not make it need another one. */
static void set_capacity(const struct opendc_fragments *fragments,
			 struct opendc_task *task, const struct cuts *cuts)
{
	enum { TWENTIETH = 20 };
	double cores;

	task->duration_ms = cuts->all_ms;
	if (fragments->capacity == OPENDC_ALLOCATED) {
		cores = (double)(task->allocated ? task->allocated : task->cores);
		task->cpu_capacity = cores * task->mhz;
	} else {
		task->cpu_capacity = usage_of(
		    fragments, cuts->fragments,
		    fragments->capacity == OPENDC_P95 ? cuts->fragments / TWENTIETH : 0);
		if (task->cpu_capacity <= 0)
			task->cpu_capacity = task->mhz;
		cores = ceil(task->cpu_capacity / task->mhz * (1 - 1e-12));
		cores = fmin(cores, (double)task->cores);
	}
	task->cpu_count = (int64_t)fmin(fmax(cores, 1), INT32_MAX);
}

/* How many fragments are written as one: those of a long time without work. */
static uint64_t count_idle(const struct cuts *cuts, uint64_t index, uint64_t next)
{
	return next - index > (uint64_t)(IDLE_MS / cuts->interval_ms) ? next - index : 1;
}

/* Write the fragments of the task at hand, and go on to the next one. */
static int end_task(struct opendc_fragments *fragments, struct error *error)
{
	struct opendc_task *task = &fragments->task[fragments->at++];
	const struct cuts cuts = cut(task, fragments->interval_ms);
	const struct opendc_work *next, *end;
	struct cell cell[OPENDC_FIELDS] = {{0}};
	uint64_t count;

	sum_work(fragments, &cuts);
	set_capacity(fragments, task, &cuts);
	cell[OPENDC_ID] = cell_of_integer((int64_t)fragments->at);
	cell[OPENDC_CPU_COUNT] = cell_of_integer(task->cpu_count);
	cell[OPENDC_TIMESTAMP] = cell_of_integer(opendc_floor_ms(task->begin_ns));
	next = fragments->work;
	end = next + fragments->works;
	for (uint64_t i = 0; i < cuts.fragments; i += count) {
		bool works = next < end && next->index == i;
		uint64_t until = next < end ? next->index : cuts.fragments;
		int64_t length;

		count = works ? 1 : count_idle(&cuts, i, until);
		length = length_of(&cuts, i, count);
		cell[OPENDC_DURATION] = cell_of_integer(length);
		cell[OPENDC_TIMESTAMP].integer += length;
		cell[OPENDC_CPU_USAGE] =
		    (struct cell){.type = CELL_REAL, .real = works ? (next++)->work : 0};
		fragments->out +=
		    cell[OPENDC_CPU_USAGE].real * (double)length * (double)NSEC_PER_MSEC;
		if (opendc_file_add(fragments->file, cell, error))
			return -1;
	}
	fragments->works = 0;
	if (fragments->at % 64 == 0)
		progress_update(fragments->progress, "tasks", fragments->at, 0, 0);
	return 0;
}

int opendc_end_tasks(struct opendc_fragments *fragments, size_t before,
		     struct error *error)
{
	while (fragments->at < before)
		if (end_task(fragments, error))
			return -1;
	return 0;
}

int opendc_add_work(struct opendc_fragments *fragments, size_t task, nsec_t begin_ns,
		    nsec_t end_ns, double mhz, struct error *error)
{
	if (opendc_end_tasks(fragments, task, error))
		return -1;
	add_work(fragments, begin_ns, end_ns, mhz);
	return 0;
}

uint64_t opendc_count_fragments(const struct opendc_fragments *fragments)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < fragments->tasks && sum <= UINT32_MAX; i++)
		sum += cut(&fragments->task[i], fragments->interval_ms).fragments;
	return sum;
}
