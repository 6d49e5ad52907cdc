/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "activity/activity_private.h"

/*
 * States of threads, after what the kernel's scheduler tells: a switch says who leaves
 * the processor, in which state, and who comes; a wakeup, that a thread which was not
 * runnable is so from now on. sched_waking is by the waker and at once; sched_wakeup
 * comes when the thread is in the queue, on another processor some microseconds later
 * and there in an interrupt. So the first of the two begins the wait for a processor,
 * and sched_waking, where it is recorded, names the waker.
 */
enum {
	STATES = 0xff, /* bits of prev_state that are states; those above are flags */
	STATE_EXITED = 16 | 32,
	STATE_ENDING = STATE_EXITED | 64 | 128, /* of a thread that exits */
};

static void tell(struct walk *walk, const struct thread *thread, struct thread_span *span)
{
	if (!walk->ops->thread || walk->status ||
	    !walk_clip(walk, &span->begin_ns, span->end_ns, &span->cut_begin, false))
		return;
	span->node = walk->node[thread ? thread->node : walk->at_node].id;
	walk->status = walk->ops->thread(walk->context, span);
}

static const char *call_of(const struct walk *walk, const struct thread *thread)
{
	return walk->without & ACTIVITY_NO_SYSCALLS ? NULL : thread->call.name;
}

/* What holds of every span of a thread; the rest is not known, or as its state is. */
static struct thread_span span_of(const struct walk *walk, const struct thread *thread,
				  nsec_t end_ns)
{
	return (struct thread_span){
	    .tid = thread->tid,
	    .state = thread->state,
	    .begin_ns = thread->since_ns,
	    .end_ns = end_ns,
	    .cut_begin = thread->cut,
	    .cpu = -1,
	    .priority = INT64_MIN,
	    .comm = thread->comm,
	    .waker_tid = -1,
	    .next_tid = -1,
	    .prev_tid = -1,
	    .syscall = call_of(walk, thread),
	};
}

static void set_wake(struct thread_span *span, const struct wake *wake)
{
	span->wait = wake->wait;
	span->waker_tid = wake->tid;
	span->wake_event = wake->event;
	span->wake_batch = wake->batch;
	span->wake_recv = wake->recv;
}

static void enter_state(struct thread *thread, enum activity_state state, nsec_t now)
{
	thread->state = state;
	thread->since_ns = now;
	thread->cut = false;
	thread->preempted = false;
}

/* A wait for a processor is over: on which one it runs, and who left that for it. */
static void tell_runnable(struct walk *walk, struct thread *thread, nsec_t end_ns,
			  int64_t cpu, int64_t prev_tid)
{
	struct thread_span span = span_of(walk, thread, end_ns);

	span.cpu = cpu;
	span.preempted = thread->preempted;
	span.prev_tid = prev_tid;
	span.priority = field_integer(&walk->row.field[6], INT64_MIN); /* next_prio */
	span.syscall = NULL;
	set_wake(&span, &thread->wake);
	tell(walk, thread, &span);
}

static void tell_blocked(struct walk *walk, struct thread *thread, nsec_t end_ns,
			 const struct wake *wake)
{
	struct thread_span span = span_of(walk, thread, end_ns);

	span.switch_state = thread->switch_state;
	set_wake(&span, wake);
	tell(walk, thread, &span);
}

/* A thread's state is over without an event that says how. */
static void tell_cut(struct walk *walk, struct thread *thread, nsec_t end_ns)
{
	struct thread_span span = span_of(walk, thread, end_ns);

	if (walk->without & ACTIVITY_ONLY_RUNNING)
		return;
	span.cut_end = true;
	span.cpu = thread->state == ACTIVITY_RUNNABLE ? thread->cpu : -1;
	span.preempted = thread->preempted;
	if (thread->state == ACTIVITY_RUNNABLE)
		set_wake(&span, &thread->wake);
	if (thread->state == ACTIVITY_BLOCKED)
		span.switch_state = thread->switch_state;
	if (thread->state != ACTIVITY_BLOCKED)
		span.syscall = NULL;
	if (thread->state != ACTIVITY_UNKNOWN && thread->state != ACTIVITY_RUNNING)
		tell(walk, thread, &span);
}

/* The processor's thread ran until then. `next`: who came, -1: that was lost. */
static void tell_running(struct walk *walk, size_t node, const struct cpu *cpu,
			 nsec_t end_ns, int64_t next, bool preempted)
{
	const struct thread *thread =
	    cpu->tid > 0 ? walk_find(walk, node, cpu->tid) : NULL;
	struct thread_span span = {
	    .tid = cpu->tid,
	    .state = ACTIVITY_RUNNING,
	    .begin_ns = cpu->since_ns,
	    .end_ns = end_ns,
	    .cut_begin = cpu->cut,
	    .cut_end = next < 0,
	    .cpu = cpu->number,
	    .priority = cpu->priority,
	    .comm = thread && *thread->comm ? thread->comm : cpu->comm,
	    .preempted = preempted,
	    .waker_tid = -1,
	    .next_tid = next,
	    .prev_tid = -1,
	    .syscall = thread ? call_of(walk, thread) : NULL,
	};
	size_t at_node = walk->at_node;

	walk->at_node = node;
	tell(walk, NULL, &span);
	walk->at_node = at_node;
}

/* It is seen elsewhere than on the processor where it was last: its leaving was lost. */
static void leave_elsewhere(struct walk *walk, struct thread *thread)
{
	struct cpu *cpu = walk_cpu(walk, thread->node, thread->cpu);

	if (cpu && cpu != walk->cpu && cpu->known && cpu->tid == thread->tid) {
		tell_running(walk, thread->node, cpu, cpu->last_ns, -1, false);
		cpu->known = false;
		cpu->since_ns = NSEC_MAX;
	}
	thread->state = ACTIVITY_UNKNOWN;
}

/* A thread comes on the processor that `prev_tid` left. */
static void run(struct walk *walk, struct thread *thread, int64_t prev_tid)
{
	nsec_t now = walk->row.ts_ns;

	if (thread->state == ACTIVITY_RUNNING)
		leave_elsewhere(walk, thread);
	if (thread->is_new) {
		enter_state(thread, ACTIVITY_RUNNABLE, thread->fork_ns);
		thread->is_new = false;
	}
	if (!(walk->without & ACTIVITY_ONLY_RUNNING)) {
		if (thread->state == ACTIVITY_RUNNABLE)
			tell_runnable(walk, thread, now, walk->cpu->number, prev_tid);
		else if (thread->state == ACTIVITY_BLOCKED)
			tell_blocked(walk, thread, now, &thread->pending);
	}
	enter_state(thread, ACTIVITY_RUNNING, now);
	thread->pending = NO_WAKE;
	thread->wake = NO_WAKE;
	thread->cpu = walk->cpu->number;
}

/* What the processor's thread does after it left. */
static void stop(struct walk *walk, struct thread *thread, int64_t state)
{
	nsec_t now = walk->row.ts_ns;

	thread->switch_state = state;
	if ((state & STATES) == 0) {
		enter_state(thread, ACTIVITY_RUNNABLE, now);
		thread->preempted = true;
		thread->wake = NO_WAKE;
		thread->cpu = walk->cpu->number;
	} else if (state & (thread->exiting ? STATE_ENDING : STATE_EXITED)) {
		enter_state(thread, ACTIVITY_DEAD, now);
		syscall_cut(walk, thread, now);
	} else {
		enter_state(thread, ACTIVITY_BLOCKED, now);
		/* Woken while it was on its way to sleep, and no sched_wakeup to come. */
		if (thread->pending.event && !walk->has_wakeups) {
			enter_state(thread, ACTIVITY_RUNNABLE, now);
			thread->wake = thread->pending;
			thread->pending = NO_WAKE;
		}
	}
}

/* Who leaves by the switch is whom we took to run; else events were lost. */
static void check_current(struct walk *walk, int64_t prev)
{
	struct cpu *cpu = walk->cpu;
	struct thread *lost;

	if (cpu->known && cpu->tid != prev) {
		lost = cpu->tid > 0 ? walk_find(walk, walk->at_node, cpu->tid) : NULL;
		tell_running(walk, walk->at_node, cpu, cpu->last_ns, -1, false);
		if (lost)
			lost->state = ACTIVITY_UNKNOWN;
		cpu->known = false;
		cpu->since_ns = NSEC_MAX;
	}
	if (!cpu->known) {
		struct thread *thread =
		    prev > 0 ? walk_thread(walk, walk->at_node, prev) : NULL;

		if (thread && thread->state == ACTIVITY_RUNNING)
			leave_elsewhere(walk, thread);
		if (cpu->since_ns != NSEC_MAX)
			cpu->since_ns = cpu->first_ns;
		cpu->cut = true;
		cpu->tid = prev;
	}
}

static void on_switch(struct walk *walk)
{
	const struct cell *field = walk->row.field;
	struct cpu *cpu = walk->cpu;
	int64_t prev = field_integer(&field[1], -1), next = field_integer(&field[5], -1);
	int64_t state;
	nsec_t now = walk->row.ts_ns;
	struct thread *thread;

	if (!cpu || prev < 0 || next < 0)
		return;
	interrupt_cut(walk, walk->at_node, cpu, cpu->last_ns);
	cpu->recv = 0; /* no softirq goes on over a switch */
	check_current(walk, prev);
	cpu->comm = texts_keep(&walk->texts, &field[0]);
	cpu->priority = field_integer(&field[2], INT64_MIN);
	thread = prev > 0 ? walk_thread(walk, walk->at_node, prev) : NULL;
	if (thread)
		thread->comm = cpu->comm;
	state = field_state(&field[3]);
	tell_running(walk, walk->at_node, cpu, now, next, prev > 0 && !(state & STATES));
	if (thread)
		stop(walk, thread, state);

	cpu->known = true;
	cpu->cut = false;
	cpu->tid = next;
	cpu->since_ns = now;
	cpu->comm = texts_keep(&walk->texts, &field[4]);
	cpu->priority = field_integer(&field[6], INT64_MIN);
	if (next > 0) {
		thread = walk_thread(walk, walk->at_node, next);
		thread->comm = cpu->comm;
		run(walk, thread, prev);
	}
}

/* Whether it is known of every processor of the node who runs there. */
static bool all_known(const struct activity_node *node)
{
	for (size_t i = 0; i < node->cpus; i++)
		if (node->cpu[i] && !node->cpu[i]->known)
			return false;
	return true;
}

/* The thread waits for a processor from now on. */
static void wake(struct walk *walk, struct thread *thread, const struct wake *by)
{
	const struct activity_node *node = &walk->node[thread->node];
	nsec_t now = walk->row.ts_ns;

	if (thread->state == ACTIVITY_BLOCKED) {
		tell_blocked(walk, thread, now, by);
	} else if (thread->state == ACTIVITY_UNKNOWN && !thread->comm[0] &&
		   !thread->is_new && all_known(node)) {
		/* First heard of: it runs nowhere, so it slept all the time. */
		enter_state(thread, ACTIVITY_BLOCKED, node->begin_ns);
		thread->cut = true;
		thread->comm = texts_keep(&walk->texts, &walk->row.field[0]);
		tell_blocked(walk, thread, now, by);
	}
	enter_state(thread, ACTIVITY_RUNNABLE, now);
	thread->wake = *by;
	thread->is_new = false;
	thread->exiting = false;
}

static void on_wakeup(struct walk *walk)
{
	const struct cell *field = walk->row.field;
	int64_t tid = field_integer(&field[1], -1);
	struct wake by = interrupt_wake(walk);
	struct thread *thread;

	if (walk->cpu)
		walk->cpu->recv_woke = true;
	if (tid <= 0)
		return;
	thread = walk_thread(walk, walk->at_node, tid);
	if (thread->state == ACTIVITY_RUNNING) {
		thread->pending = walk->row.tag == AT_WAKING ? by : NO_WAKE;
	} else {
		if (thread->state != ACTIVITY_RUNNABLE)
			wake(walk, thread,
			     thread->pending.event ? &thread->pending : &by);
		thread->pending = NO_WAKE;
		thread->cpu = field_integer(&field[3], -1);
	}
	thread->comm = texts_keep(&walk->texts, &field[0]);
}

/* A new thread of that number; an old one of it is gone, whatever we saw of it. */
static void on_fork(struct walk *walk)
{
	const struct cell *field = walk->row.field;
	int64_t tid = field_integer(&field[0], -1);
	struct thread *thread;

	if (tid <= 0)
		return;
	thread = walk_find(walk, walk->at_node, tid);
	if (thread) {
		tell_cut(walk, thread, walk->row.ts_ns);
		syscall_cut(walk, thread, walk->row.ts_ns);
		walk_forget(walk, thread);
	}
	thread = walk_thread(walk, walk->at_node, tid);
	thread->comm = texts_keep(&walk->texts, &field[1]);
	thread->fork_ns = walk->row.ts_ns;
	thread->is_new = true;
	thread->wake = (struct wake){
	    .wait = WAIT_THREAD, .tid = walk->row.tid, .event = walk->row.id};
}

/*
 * A thread that is not its process's first executes a program: it becomes the first, and
 * all others are gone.
 */
static void on_exec(struct walk *walk)
{
	const struct cell *field = walk->row.field;
	int64_t tid = field_integer(&field[0], -1);
	int64_t old_tid = field_integer(&field[1], tid);
	struct cpu *cpu = walk->cpu;
	struct thread *thread;

	if (tid <= 0 || tid == old_tid || !cpu || !cpu->known || cpu->tid != old_tid)
		return;
	thread = walk_find(walk, walk->at_node, old_tid);
	tell_running(walk, walk->at_node, cpu, walk->row.ts_ns, tid, false);
	if (thread) {
		syscall_cut(walk, thread, walk->row.ts_ns);
		walk_forget(walk, thread);
	}
	thread = walk_thread(walk, walk->at_node, tid);
	tell_cut(walk, thread, walk->row.ts_ns);
	syscall_cut(walk, thread, walk->row.ts_ns);
	enter_state(thread, ACTIVITY_RUNNING, walk->row.ts_ns);
	thread->exiting = false;
	thread->comm = cpu->comm;
	thread->cpu = cpu->number;
	cpu->tid = tid;
	cpu->since_ns = walk->row.ts_ns;
}

static void on_free(struct walk *walk)
{
	int64_t tid = field_integer(&walk->row.field[0], -1);
	struct thread *thread = walk_find(walk, walk->at_node, tid);
	struct thread_span span;

	if (!thread || thread->state != ACTIVITY_DEAD)
		return;
	span = span_of(walk, thread, walk->row.ts_ns);
	span.syscall = NULL;
	if (!(walk->without & ACTIVITY_ONLY_RUNNING))
		tell(walk, thread, &span);
	walk_forget(walk, thread);
}

static void on_exit(struct walk *walk)
{
	int64_t tid = field_integer(&walk->row.field[0], -1);

	if (tid > 0)
		walk_thread(walk, walk->at_node, tid)->exiting = true;
}

void thread_event(struct walk *walk)
{
	switch (walk->row.tag) {
	case AT_SWITCH:
		on_switch(walk);
		break;
	case AT_WAKING:
	case AT_WAKEUP:
	case AT_WAKEUP_NEW:
		on_wakeup(walk);
		break;
	case AT_FORK:
		on_fork(walk);
		break;
	case AT_EXEC:
		on_exec(walk);
		break;
	case AT_EXIT:
		on_exit(walk);
		break;
	case AT_FREE:
		on_free(walk);
		break;
	}
}

void thread_finish(struct walk *walk, size_t at, nsec_t end_ns)
{
	const struct activity_node *node = &walk->node[at];

	walk->at_node = at;
	for (size_t i = 0; i < node->cpus; i++)
		if (node->cpu[i] && node->cpu[i]->known)
			tell_running(walk, at, node->cpu[i], end_ns, -1, false);
	for (size_t i = 0; i < walk->threads; i++)
		if (walk->thread[i]->node == at)
			tell_cut(walk, walk->thread[i], end_ns);
}
