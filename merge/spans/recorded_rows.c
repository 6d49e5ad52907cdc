/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/spans/recorded_rows.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "merge/spans/spans_private.h"

/* The rows of `recorded`: when nodes, processors and user space were recorded. */
struct recorded_rows {
	const struct spans *spans; /* NULL if none were made */
	const struct recording *recording;
	const struct merge_run *run;
	const struct selection *selection;
	struct timeline_writer *writer;
};

struct period {
	nsec_t begin_ns, end_ns;
};

struct period_list {
	struct period *item;
	size_t count, capacity;
};

/* Add the selected part of a period. */
static void add_period(struct period_list *list, const struct selection *selection,
		       nsec_t begin_ns, nsec_t end_ns)
{
	if (begin_ns < selection->begin_ns)
		begin_ns = selection->begin_ns;
	if (end_ns > selection->end_ns)
		end_ns = selection->end_ns;
	if (begin_ns <= end_ns)
		*MEM_NEXT(list->item, list->count, list->capacity) =
		    (struct period){begin_ns, end_ns};
}

static int compare_periods(const void *a, const void *b)
{
	const struct period *p = a, *q = b;

	return COMPARE(p->begin_ns, q->begin_ns);
}

/* Write periods as rows, joining those that touch, and clear the list. */
static int write_periods(struct period_list *list, const struct timeline_recorded *as,
			 struct timeline_writer *writer, struct error *error)
{
	int status = 0;

	SORT(list->item, list->count, compare_periods);
	for (size_t i = 0, next; i < list->count && !status; i = next) {
		struct timeline_recorded row = *as;

		row.begin_ns = list->item[i].begin_ns;
		row.end_ns = list->item[i].end_ns;
		for (next = i + 1;
		     next < list->count && list->item[next].begin_ns <= row.end_ns;
		     next++)
			if (list->item[next].end_ns > row.end_ns)
				row.end_ns = list->item[next].end_ns;
		status = timeline_add_recorded(writer, &row, error);
	}
	list->count = 0;
	return status;
}

/* Times of the first and the last event of a processor, and of the last of its node. */
struct seen {
	nsec_t begin_ns, end_ns, last_ns;
};

/* Add the periods in which a processor's events of a need were recorded, by its marks.
 * If the packets do not state a time, use that of its events. */
static void add_lane(struct period_list *list, const struct recording_node *node,
		     int64_t cpu, enum event_need need, struct seen seen,
		     const struct selection *selection)
{
	nsec_t begin_ns = 0;
	bool is_open = false;

	for (size_t i = 0; i < node->marks; i++) {
		const struct recording_mark *mark = &node->mark[i];

		if (mark->cpu != cpu || !(mark->needs >> need & 1) ||
		    mark->kind == MARK_LOSS)
			continue;
		if (is_open)
			add_period(list, selection, begin_ns,
				   mark->kind == MARK_STOP
				       ? recording_mark_ns(mark, seen.last_ns)
				       : mark->other_ns);
		is_open = mark->kind == MARK_START;
		begin_ns = mark->ts_ns == NSEC_MIN ? seen.begin_ns : mark->ts_ns;
	}
	if (is_open)
		add_period(list, selection, begin_ns, seen.end_ns);
}

static bool has_marks(const struct recording_node *node, int64_t cpu,
		      enum event_need need)
{
	for (size_t i = 0; i < node->marks; i++)
		if ((cpu < -1 || node->mark[i].cpu == cpu) &&
		    node->mark[i].needs >> need & 1)
			return true;
	return false;
}

/* Return the times of a processor's events, or those of its node if it has none. */
static struct seen seen_times(const struct recorded_rows *rows, size_t at, int64_t number)
{
	const struct span_node *node = rows->spans ? &rows->spans->node[at] : NULL;
	const struct cpu *cpu =
	    node && number >= 0 && (size_t)number < node->cpus ? node->cpu[number] : NULL;
	struct seen seen = {NSEC_MAX, NSEC_MIN, NSEC_MAX};

	if (merge_run_extent(rows->run, &rows->run->node[at], &seen.begin_ns,
			     &seen.end_ns))
		seen.last_ns = seen.end_ns;
	if (cpu && cpu->begin_ns > NSEC_MIN) {
		seen.begin_ns = cpu->begin_ns;
		seen.end_ns = cpu->end_ns;
	}
	return seen;
}

/* The events of a source, on the timeline's axis. */
static struct period extent_of(const struct merge_source *source)
{
	return (struct period){clock_correct(&source->clock, source->facts.begin_ns),
			       clock_correct(&source->clock, source->facts.end_ns)};
}

/* Move on to the next higher processor that has marks. A damaged packet can have any
 * number. Return false after the last. */
static bool next_cpu(const struct recording_node *node, int64_t *cpu)
{
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < node->marks; i++)
		if (node->mark[i].cpu > *cpu && node->mark[i].cpu < next)
			next = node->mark[i].cpu;
	*cpu = next;
	return next < INT64_MAX;
}

/* Write when a node's kernel traces, or the traces that it has instead, were recorded on
 * any processor. */
static int write_node(const struct recorded_rows *rows, size_t at, struct error *error)
{
	const struct merge_run *run = rows->run;
	const struct recording_node *node = &rows->recording->node[at];
	const struct timeline_recorded row = {
	    .node = run->node[at].id, .cpu = TIMELINE_NONE, .kind = "kernel"};
	struct period_list list = {NULL, 0, 0};
	int64_t number = INT64_MIN;
	int status;

	while (next_cpu(node, &number))
		add_lane(&list, node, number, NEED_ANY, seen_times(rows, at, number),
			 rows->selection);
	for (size_t i = 0; i < run->count; i++) {
		const struct merge_source *source = &run->source[i];
		struct period extent = extent_of(source);

		if (source->node == at && source->facts.events && source->makes_spans &&
		    !source->tells_recorded)
			add_period(&list, rows->selection, extent.begin_ns,
				   extent.end_ns);
	}
	status = write_periods(&list, &row, rows->writer, error);
	free(list.item);
	return status;
}

/* Write when a processor's switches were recorded, or any of its events if the node has
 * no sched_switch. */
static int write_cpu(const struct recorded_rows *rows, size_t at, int64_t number,
		     struct error *error)
{
	const struct recording_node *node = &rows->recording->node[at];
	const struct timeline_recorded row = {
	    .node = rows->run->node[at].id, .cpu = number, .kind = "cpu"};
	enum event_need need = has_marks(node, -2, NEED_SWITCH) ? NEED_SWITCH : NEED_ANY;
	const struct cpu *cpu = rows->spans->node[at].cpu[number];
	struct period_list list = {NULL, 0, 0};
	int status;

	if (has_marks(node, number, NEED_ANY))
		add_lane(&list, node, number, need, seen_times(rows, at, number),
			 rows->selection);
	else if (cpu && cpu->begin_ns > NSEC_MIN)
		add_period(&list, rows->selection, cpu->begin_ns, cpu->end_ns);
	status = write_periods(&list, &row, rows->writer, error);
	free(list.item);
	return status;
}

/* Return the times that a period states, or those of its source's events. */
static struct period user_period(const struct recorded_rows *rows,
				 const struct recording_user *user)
{
	struct period extent = extent_of(&rows->run->source[user->source]);

	return (struct period){user->begin_ns == NSEC_MIN ? extent.begin_ns
							  : user->begin_ns,
			       user->end_ns == NSEC_MAX ? extent.end_ns : user->end_ns};
}

static bool is_user_of(const struct recorded_rows *rows,
		       const struct recording_user *user, size_t at)
{
	const struct merge_source *source = &rows->run->source[user->source];

	return source->node == at && source->facts.events;
}

/* Append the holes of all streams of a processor, with the times in which they lost
 * events, and return its first and last time. */
static struct period find_user_holes(const struct recorded_rows *rows, size_t at,
				     int64_t cpu, struct period_list *holes)
{
	const struct recording *recording = rows->recording;
	struct period all = {NSEC_MAX, NSEC_MIN};
	nsec_t last_ns = NSEC_MAX; /* end of the stream */

	for (size_t i = 0; i < recording->users; i++) {
		const struct recording_user *user = &recording->user[i];
		struct period period;

		if (user->cpu != cpu || !is_user_of(rows, user, at))
			continue;
		period = user_period(rows, user);
		if (user->is_lost) {
			*MEM_NEXT(holes->item, holes->count, holes->capacity) = period;
			continue;
		}
		if (user->is_first)
			last_ns = NSEC_MAX;
		if (period.begin_ns > last_ns)
			*MEM_NEXT(holes->item, holes->count, holes->capacity) =
			    (struct period){last_ns, period.begin_ns};
		if (last_ns == NSEC_MAX || period.end_ns > last_ns)
			last_ns = period.end_ns;
		if (period.begin_ns < all.begin_ns)
			all.begin_ns = period.begin_ns;
		if (last_ns > all.end_ns)
			all.end_ns = last_ns;
	}
	return all;
}

/* Write the periods that remain of one without its holes, and clear these. */
static int write_without_holes(const struct recorded_rows *rows, struct period all,
			       struct period_list *holes,
			       const struct timeline_recorded *as, struct error *error)
{
	struct period_list list = {NULL, 0, 0};
	int status;

	SORT(holes->item, holes->count, compare_periods);
	for (size_t i = 0; i < holes->count; i++) {
		if (holes->item[i].begin_ns > all.begin_ns)
			add_period(&list, rows->selection, all.begin_ns,
				   holes->item[i].begin_ns);
		if (holes->item[i].end_ns > all.begin_ns)
			all.begin_ns = holes->item[i].end_ns;
	}
	if (all.begin_ns <= all.end_ns)
		add_period(&list, rows->selection, all.begin_ns, all.end_ns);
	status = write_periods(&list, as, rows->writer, error);
	free(holes->item);
	free(list.item);
	return status;
}

/* Write when all streams of a processor's user space were surely recorded. */
static int write_user_cpu(const struct recorded_rows *rows, size_t at, int64_t cpu,
			  struct error *error)
{
	const struct timeline_recorded row = {
	    .node = rows->run->node[at].id, .cpu = cpu, .kind = "user"};
	struct period_list holes = {NULL, 0, 0};
	struct period all = find_user_holes(rows, at, cpu, &holes);

	return write_without_holes(rows, all, &holes, &row, error);
}

/* Move on to the next higher processor of a node's user space. Return false after the
 * last. */
static bool next_user_cpu(const struct recorded_rows *rows, size_t at, int64_t *cpu)
{
	const struct recording *recording = rows->recording;
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < recording->users; i++) {
		const struct recording_user *user = &recording->user[i];

		if (!user->is_lost && is_user_of(rows, user, at) && user->cpu > *cpu &&
		    user->cpu < next)
			next = user->cpu;
	}
	*cpu = next;
	return next < INT64_MAX;
}

/* Write when a node's user space was recorded, on any processor and on each. */
static int write_user(const struct recorded_rows *rows, size_t at, struct error *error)
{
	const struct recording *recording = rows->recording;
	const struct timeline_recorded row = {
	    .node = rows->run->node[at].id, .cpu = TIMELINE_NONE, .kind = "user"};
	struct period_list list = {NULL, 0, 0};
	int64_t cpu = -1;
	int status;

	for (size_t i = 0; i < recording->users; i++) {
		const struct recording_user *user = &recording->user[i];
		struct period period = user_period(rows, user);

		if (user->is_lost || !is_user_of(rows, user, at))
			continue;
		add_period(&list, rows->selection, period.begin_ns, period.end_ns);
	}
	status = write_periods(&list, &row, rows->writer, error);
	while (!status && next_user_cpu(rows, at, &cpu))
		status = write_user_cpu(rows, at, cpu, error);
	free(list.item);
	return status;
}

/* Write the periods in which a capture with losses lost no packets. */
static int write_capture(const struct recorded_rows *rows,
			 const struct merge_source *source, struct error *error)
{
	const struct timeline_recorded row = {.node = rows->run->node[source->node].id,
					      .cpu = TIMELINE_NONE,
					      .kind = "capture"};
	struct period extent = extent_of(source);
	struct period_list holes = {NULL, 0, 0};

	for (size_t i = 0; i < source->losses; i++) {
		const struct trace_loss *loss = &source->loss[i];

		*MEM_NEXT(holes.item, holes.count, holes.capacity) =
		    (struct period){loss->begin_ns == NSEC_MIN
					? extent.begin_ns
					: clock_correct(&source->clock, loss->begin_ns),
				    loss->end_ns == NSEC_MAX
					? NSEC_MAX
					: clock_correct(&source->clock, loss->end_ns)};
	}
	return write_without_holes(rows, extent, &holes, &row, error);
}

int spans_write_recorded(const struct spans *spans, const struct recording *recording,
			 const struct merge_run *run, const struct selection *selection,
			 struct timeline_writer *writer, struct error *error)
{
	const struct recorded_rows rows = {spans, recording, run, selection, writer};
	int status = 0;

	for (size_t at = 0; at < run->nodes && !status; at++)
		status = write_node(&rows, at, error);
	for (size_t at = 0; spans && at < run->nodes && !status; at++)
		for (size_t i = 0; i < spans->node[at].cpus && !status; i++)
			status = write_cpu(&rows, at, (int64_t)i, error);
	for (size_t at = 0; at < run->nodes && !status; at++)
		status = write_user(&rows, at, error);
	for (size_t i = 0; i < run->count && !status; i++)
		if (run->source[i].losses)
			status = write_capture(&rows, &run->source[i], error);
	return status;
}
