/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What threads, processors and disks did: spans become slices. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "activity/activity.h"
#include "export/perfetto/perfetto.h"

enum { CPUS_SAID = 4096 }; /* of a node; more is taken to be damage */

enum { NAME_TEXT = 96 };

static void add_cuts(struct perfetto_event *event, bool begin, bool end)
{
	if (begin || end)
		perfetto_add_text(event, "cut",
				  !end     ? "begin"
				  : !begin ? "end"
					   : "begin and end");
}

/* "nginx 812": who had a thread's number of the node when the event ended. */
static void add_thread(const struct perfetto *perfetto, struct perfetto_event *event,
		       int64_t node, const char *name, int64_t tid, char text[NAME_TEXT])
{
	const struct perfetto_name *found;

	if (tid < 0)
		return;
	found = perfetto_names_find(perfetto->names, node, tid, event->end_ns);
	snprintf(text, NAME_TEXT, "%s %" PRId64,
		 found && *found->comm ? found->comm : "thread", tid);
	perfetto_add_text(event, name, text);
}

/* Put a slice on a row of its kind. */
static int add_slice(const struct perfetto *perfetto, struct perfetto_event *event,
		     enum perfetto_row kind, int64_t node, int64_t of)
{
	event->place = *perfetto_rows_lane(perfetto->rows, kind, node, of,
					   event->begin_ns, event->end_ns);
	return perfetto_write_event(perfetto->writer, event);
}

/* NULL: a state that nothing is drawn for. */
static const char *state_name(const struct thread_span *span)
{
	static const char *const waits[] = {
	    [WAIT_UNKNOWN] = "Blocked",
	    [WAIT_THREAD] = "Blocked on a thread",
	    [WAIT_DISK] = "Blocked on a disk",
	    [WAIT_NETWORK] = "Blocked on the network",
	    [WAIT_TIMER] = "Blocked on a timer",
	    [WAIT_INTERRUPT] = "Blocked on an interrupt",
	};

	switch (span->state) {
	case ACTIVITY_RUNNING:
		return "Running";
	case ACTIVITY_RUNNABLE:
		return span->preempted ? "Runnable (preempted)" : "Runnable";
	case ACTIVITY_BLOCKED:
		return waits[span->wait];
	case ACTIVITY_DEAD:
		return "Dead";
	case ACTIVITY_UNKNOWN:
		break;
	}
	return NULL;
}

static void add_number(struct perfetto_event *event, const char *name, int64_t value,
		       int64_t none)
{
	if (value != none)
		perfetto_add_integer(event, name, value);
}

static int add_state(const struct perfetto *perfetto, const struct thread_span *span)
{
	struct perfetto_event event = {.begin_ns = span->begin_ns,
				       .end_ns = span->end_ns,
				       .category = "state",
				       .name = state_name(span)};
	char waker[NAME_TEXT];

	if (!event.name)
		return 0;
	add_number(&event, "cpu", span->cpu, -1);
	if (span->state == ACTIVITY_RUNNING)
		add_number(&event, "priority", span->priority, INT64_MIN);
	perfetto_add_text(&event, "system call", span->syscall);
	if (span->state == ACTIVITY_BLOCKED)
		add_number(&event, "switch_state", span->switch_state, 0);
	if (span->state == ACTIVITY_BLOCKED || span->state == ACTIVITY_RUNNABLE) {
		add_thread(perfetto, &event, span->node,
			   span->wait > WAIT_THREAD ? "interrupted" : "waker",
			   span->waker_tid, waker);
		add_number(&event, "wakeup event", span->wake_event, 0);
		if (span->wake_batch == span->wake_recv) /* it came alone */
			add_number(&event, "receive event", span->wake_recv, 0);
	}
	add_cuts(&event, span->cut_begin, span->cut_end);
	return add_slice(perfetto, &event, ROW_STATES, span->node, span->tid);
}

/* What a processor ran; nothing is drawn where it was idle. */
static int add_run(const struct perfetto *perfetto, const struct thread_span *span)
{
	struct perfetto_event event = {.begin_ns = span->begin_ns,
				       .end_ns = span->end_ns,
				       .category = "cpu",
				       .name = *span->comm ? span->comm : "(no name)"};
	const struct perfetto_name *name =
	    perfetto_names_find(perfetto->names, span->node, span->tid, span->begin_ns);

	perfetto_add_integer(&event, "tid", span->tid);
	if (name)
		add_number(&event, "pid", name->pid, -1);
	add_number(&event, "priority", span->priority, INT64_MIN);
	add_cuts(&event, span->cut_begin, span->cut_end);
	return add_slice(perfetto, &event, ROW_CPU, span->node, span->cpu);
}

static int on_thread(void *context, const struct thread_span *span)
{
	const struct perfetto *perfetto = context;

	if (span->tid == 0)
		return 0;
	if (perfetto->parts & PART_STATES && add_state(perfetto, span))
		return -1;
	if (perfetto->parts & PART_CPUS && span->state == ACTIVITY_RUNNING &&
	    span->cpu >= 0)
		return add_run(perfetto, span);
	return 0;
}

static int on_interrupt(void *context, const struct interrupt_span *span)
{
	const struct perfetto *perfetto = context;
	bool hard = span->kind == INTERRUPT_HARD;
	struct perfetto_event event = {.begin_ns = span->begin_ns,
				       .end_ns = span->end_ns,
				       .category = hard ? "irq" : "softirq"};
	char number[NAME_TEXT], thread[NAME_TEXT];

	snprintf(number, sizeof(number), "%s %" PRId64, event.category, span->number);
	event.name = *span->name ? span->name : number;
	perfetto_add_integer(&event, "number", span->number);
	add_thread(perfetto, &event, span->node, "interrupted", span->tid, thread);
	if (!hard && span->raised_ns != NSEC_MIN)
		perfetto_add_integer(&event, "raise latency ns",
				     nsec_sub(span->begin_ns, span->raised_ns));
	add_cuts(&event, span->cut_begin, span->cut_end);
	return add_slice(perfetto, &event, hard ? ROW_IRQ : ROW_SOFTIRQ, span->node,
			 span->cpu);
}

static int on_syscall(void *context, const struct syscall_span *span)
{
	struct perfetto_event event = {.begin_ns = span->begin_ns,
				       .end_ns = span->end_ns,
				       .category = "syscall",
				       .name = span->name};

	add_number(&event, "return", span->ret, INT64_MIN);
	add_number(&event, "fd", span->fd, -1);
	add_number(&event, "count", span->count, -1);
	perfetto_add_text(&event, "path", span->path);
	add_number(&event, "cpu", span->cpu, -1);
	add_number(&event, "entry event", span->entry_event, 0);
	add_number(&event, "exit event", span->exit_event, 0);
	add_cuts(&event, span->cut_begin, span->cut_end);
	return add_slice(context, &event, ROW_SYSCALLS, span->node, span->tid);
}

static int on_disk(void *context, const struct disk_span *span)
{
	struct perfetto_event event = {.begin_ns = span->begin_ns,
				       .end_ns = span->end_ns,
				       .category = "disk",
				       .name = span->discard ? "discard"
					       : span->flush ? "flush"
					       : span->write ? "write"
							     : "read"};

	perfetto_add_integer(&event, "sector", span->sector);
	perfetto_add_integer(&event, "sectors", span->sectors);
	if (span->issue_ns != NSEC_MIN)
		perfetto_add_integer(&event, "queued ns",
				     nsec_sub(span->issue_ns, span->begin_ns));
	add_number(&event, "tid", span->tid, -1);
	perfetto_add_text(&event, "comm", span->comm);
	add_number(&event, "error", span->error, 0);
	add_cuts(&event, span->cut_begin, span->cut_end);
	return add_slice(context, &event, ROW_DISK, span->node, span->dev);
}

static int on_frequency(void *context, const struct frequency_step *step)
{
	const struct perfetto *perfetto = context;
	struct perfetto_counter counter = {
	    .kind = ROW_FREQUENCY, .node = step->node, .of = step->cpu};
	const struct perfetto_track *track =
	    perfetto_rows_counter(perfetto->rows, &counter);

	if (!track) {
		char name[NAME_TEXT];
		struct perfetto_label label = {
		    .group = ROW_CPUS, .name = name, .unit = "kHz"};

		snprintf(name, sizeof(name), "CPU %" PRId64 " frequency", step->cpu);
		track = perfetto_rows_new_counter(perfetto->rows, &counter, &label);
	}
	return perfetto_write_counter(perfetto->writer, track, step->ts_ns,
				      (double)step->khz);
}

static void on_share(void *context, double share)
{
	const struct perfetto *perfetto = context;

	(void)share;
	progress_update(perfetto->progress, "ctexport perfetto", perfetto->writer->events,
			0, 0);
}

/*
 * Nothing is drawn where a processor was idle, so it has to be said where it is not
 * known: what lies before the begin of its node's trace, or else what comes after that.
 */
static int add_unrecorded(const struct perfetto *perfetto, bool before)
{
	const struct scope *scope = perfetto->scope;

	for (size_t i = 0; i < scope->nodes; i++) {
		const struct scope_node *node = &scope->node[i];
		int64_t cpus = node->cpus > 0 && node->cpus < CPUS_SAID ? node->cpus : 1;
		nsec_t at = scope->begin_ns, until;

		while (node->chosen && recorded_gap(&scope->recorded, node->id, &at,
						    scope->end_ns, &until)) {
			struct perfetto_event event = {.begin_ns = at,
						       .end_ns = until,
						       .category = "recorded",
						       .name = "not recorded"};

			if ((at == scope->begin_ns) == before)
				for (int64_t cpu = 0; cpu < cpus; cpu++)
					if (add_slice(perfetto, &event, ROW_CPU, node->id,
						      cpu))
						return -1;
			at = until;
		}
	}
	return 0;
}

/* What was asked for and cannot be had. */
static int note_missing(const struct perfetto *perfetto, struct error *error)
{
	struct activity_recorded has = {0};

	if (activity_recorded(&has, perfetto->timeline, error))
		return -1;
	if (!has.switches && perfetto->parts & (PART_STATES | PART_CPUS))
		problem_add(perfetto->notes, "", "missing", 1,
			    "no sched_switch was recorded: no states of threads and "
			    "processors");
	else if (!has.wakeups && perfetto->parts & PART_STATES)
		problem_add(perfetto->notes, "", "missing", 1,
			    "no sched_wakeup was recorded: what threads waited for is "
			    "not known");
	return 0;
}

int perfetto_add_activity(struct perfetto *perfetto, struct error *error)
{
	unsigned parts = perfetto->parts;
	struct activity_ops ops = {
	    .thread = parts & (PART_STATES | PART_CPUS) ? on_thread : NULL,
	    .interrupt = parts & PART_INTERRUPTS ? on_interrupt : NULL,
	    .syscall = parts & PART_SYSCALLS ? on_syscall : NULL,
	    .disk = parts & PART_DISKS ? on_disk : NULL,
	    .frequency = parts & PART_CPUS ? on_frequency : NULL,
	    .share = on_share,
	    .without = parts & PART_STATES ? 0 : ACTIVITY_ONLY_RUNNING,
	};

	if (!ops.thread && !ops.interrupt && !ops.syscall && !ops.disk)
		return 0;
	if (note_missing(perfetto, error))
		return -1;
	if (parts & PART_CPUS && add_unrecorded(perfetto, true))
		return -1;
	if (activity_walk(perfetto->timeline, perfetto->scope, &ops, perfetto, error))
		return -1;
	return parts & PART_CPUS ? add_unrecorded(perfetto, false) : 0;
}
