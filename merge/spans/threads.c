/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"
#include "merge/spans/spans_private.h"

/*
 * The states of threads, from the kernel's scheduler. A switch gives the thread that is
 * switched out, its state, and the thread that is switched in; a wakeup makes a sleeping
 * thread runnable. sched_waking is recorded by the waker at once; sched_wakeup follows
 * when the thread is queued, on another processor some microseconds later and there in an
 * interrupt. So the first of the two starts the wait for a processor, and sched_waking,
 * if recorded, gives the waker.
 *
 * sched_waking can precede the switch of a thread that is about to sleep on another
 * processor: then the thread is runnable from that switch on. Or the waking had an
 * earlier cause, or its timestamp is too early, and the thread sleeps until a later one.
 * The next event decides: a second sched_waking proves that the thread slept; a
 * sched_wakeup, or the thread running again, proves that it did not.
 */
enum {
	STATES = 0xff, /* bits of prev_state that are states; those above are flags */
	STATE_EXITED = 16 | 32,
	STATE_ENDING = STATE_EXITED | 64 | 128, /* states of a thread that exits */
};

/* Map prev_state to a kind of sleep; what is neither interruptible nor uninterruptible,
 * such as TASK_IDLE, is STATE_BLOCKED. */
static int64_t sleep_of(int64_t switch_state)
{
	return switch_state & 2   ? STATE_UNINTERRUPTIBLE
	       : switch_state & 1 ? STATE_INTERRUPTIBLE
				  : STATE_BLOCKED;
}

static bool is_asleep(const struct thread *thread)
{
	return thread->state >= STATE_INTERRUPTIBLE && thread->state <= STATE_BLOCKED;
}

static void set_cause(struct span *span, const struct span_cause *cause)
{
	if (!cause->event)
		return;
	span->state.wait = cause->wait;
	if (cause->is_assumed)
		span->state.wait_assumed = 1;
	span->state.waker_tid = known(cause->tid);
	span->state.wake_event = cause->event;
	if (!cause->last_recv)
		return;
	span->state.wake_first_recv = cause->first_recv;
	span->state.wake_last_recv = cause->last_recv;
}

/* No span of a thread is empty of time. */
static void add_state(struct spans *spans, uint32_t node, int64_t tid, struct span *span)
{
	if (span->end_ns > span->begin_ns)
		spans_add(spans, SPAN_THREAD, node, tid, span);
}

static void enter_state(struct thread *thread, int64_t state, nsec_t now)
{
	thread->state = state;
	thread->is_new = false;
	if (state == STATE_RUNNING)
		return;
	span_init(&thread->open, now, now);
	thread->open.state.state_code = state;
	thread->open.state.cut = 0;
	if (state == STATE_RUNNABLE)
		thread->open.state.preempted = 0;
	else if (is_asleep(thread))
		thread->open.state.syscall = thread->call.syscall.name;
}

/* A thread's state is over, unless it is its processor's. */
static void end_state(struct spans *spans, struct thread *thread, nsec_t end_ns)
{
	const nsec_t *doubt_ns = spans->node[thread->node].doubt_ns;
	nsec_t begin_ns = thread->open.begin_ns;

	if (thread->state == STATE_UNKNOWN || thread->state == STATE_RUNNING)
		return;
	thread->open.end_ns = end_ns;
	thread->open.state.comm = thread->comm;
	thread->open.state.cut |= span_doubt(doubt_ns, NEED_SWITCH, begin_ns) |
				  span_doubt(doubt_ns, NEED_WAKEUP, begin_ns);
	add_state(spans, thread->node, thread->tid, &thread->open);
}

/* The same, without an event that says how. */
static void cut_state(struct spans *spans, struct thread *thread, nsec_t end_ns)
{
	if (thread->state == STATE_RUNNABLE)
		thread->open.state.cpu = known(thread->cpu);
	thread->open.state.cut |= span_cut(false, true);
	end_state(spans, thread, end_ns);
}

/* End the running span of the processor's thread. `next` is the next thread; -1 if its
 * switch was lost. */
static void end_running(struct spans *spans, uint32_t node, const struct cpu *cpu,
			nsec_t end_ns, int64_t next)
{
	struct thread *thread = cpu->tid > 0 ? spans_find(spans, node, cpu->tid) : NULL;
	struct span span;

	if (end_ns <= cpu->since_ns)
		return;
	span_init(&span, cpu->since_ns, end_ns);
	span.state.comm =
	    thread && thread->comm != TIMELINE_NONE ? thread->comm : cpu->comm;
	span.state.state_code = STATE_RUNNING;
	span.state.cpu = cpu->number;
	span.state.priority = cpu->priority;
	span.state.next_tid = known(next);
	if (thread) {
		span.state.syscall = thread->call.syscall.name;
		span.state.last_cpu = known(thread->last_cpu);
		thread->last_cpu = cpu->number;
	}
	if (next >= 0)
		span.state.preempted = cpu->is_preempted;
	span.state.cut = span_cut(cpu->cut, next < 0) |
			 span_doubt(cpu->doubt_ns, NEED_SWITCH, span.begin_ns);
	add_state(spans, node, cpu->tid, &span);
}

/* End the CPU's running span at its last event; what runs there now is unknown. */
static void mark_current_unknown(struct spans *spans, uint32_t node, struct cpu *cpu)
{
	end_running(spans, node, cpu, cpu->last_ns, -1);
	cpu->known = false;
	cpu->since_ns = NSEC_MAX;
}

/* The thread appears on another CPU than the one it was running on, so the switch away
 * from there was lost. */
static void drop_stale_running(struct spans *spans, struct thread *thread)
{
	struct cpu *cpu = spans_cpu(spans, thread->node, thread->cpu);

	if (cpu && cpu != spans->cpu && cpu->known && cpu->tid == thread->tid)
		mark_current_unknown(spans, thread->node, cpu);
	thread->state = STATE_UNKNOWN;
}

/* If a sleeping thread was woken before it left the processor, it has not slept: turn its
 * sleep into a wait for a processor. */
static void confirm_pending(struct thread *thread)
{
	if (!is_asleep(thread) || !thread->pending.event)
		return;
	enter_state(thread, STATE_RUNNABLE, thread->open.begin_ns);
	set_cause(&thread->open, &thread->pending);
}

/* Start a running span of a thread that replaces `prev_tid`. */
static void set_running(struct spans *spans, struct thread *thread, int64_t prev_tid)
{
	nsec_t now = spans->event->ts_ns;

	if (thread->state == STATE_RUNNING)
		drop_stale_running(spans, thread);
	if (thread->is_new)
		thread->state = STATE_RUNNABLE; /* since its fork */
	confirm_pending(thread);
	if (thread->state == STATE_RUNNABLE) {
		thread->open.state.cpu = spans->cpu->number;
		thread->open.state.prev_tid = prev_tid;
		thread->open.state.priority =
		    event_integer(spans->event, NEXT_PRIO, TIMELINE_NONE);
	}
	if (thread->state != STATE_DEAD)
		end_state(spans, thread, now);
	enter_state(thread, STATE_RUNNING, now);
	thread->pending = NO_CAUSE;
	thread->cpu = spans->cpu->number;
}

/* Set the state of the thread that was switched out: runnable, dead or asleep. */
static void set_switched_out_state(struct spans *spans, struct thread *thread,
				   int64_t state)
{
	nsec_t now = spans->event->ts_ns;

	if ((state & STATES) == 0) {
		enter_state(thread, STATE_RUNNABLE, now);
		thread->open.state.preempted = 1;
		thread->cpu = spans->cpu->number;
	} else if (state & (thread->exiting ? STATE_ENDING : STATE_EXITED)) {
		enter_state(thread, STATE_DEAD, now);
		call_cut(spans, thread, now);
	} else {
		enter_state(thread, sleep_of(state), now);
		thread->open.state.switch_state = state;
	}
}

/* The thread that is switched out must be the one we believed to be running; otherwise
 * events were lost. */
static void check_current(struct spans *spans, int64_t prev)
{
	struct cpu *cpu = spans->cpu;
	uint32_t node = spans->event->node;
	struct thread *thread;

	if (cpu->known && cpu->tid != prev) {
		thread = cpu->tid > 0 ? spans_find(spans, node, cpu->tid) : NULL;
		mark_current_unknown(spans, node, cpu);
		if (thread)
			thread->state = STATE_UNKNOWN;
	}
	if (cpu->known)
		return;
	thread = prev > 0 ? spans_thread(spans, node, prev) : NULL;
	if (thread && thread->state == STATE_RUNNING)
		drop_stale_running(spans, thread);
	if (cpu->since_ns != NSEC_MAX)
		cpu->since_ns = cpu->first_ns;
	cpu->cut = true;
	cpu->tid = prev;
}

static void switch_out_thread(struct spans *spans, int64_t prev, int64_t next)
{
	static const struct flag_name states[] = {
	    {"TASK_RUNNING", 0}, {"TASK_INTERRUPTIBLE", 1}, {"TASK_UNINTERRUPTIBLE", 2},
	    {"TASK_STOPPED", 4}, {"TASK_TRACED", 8},        {"EXIT_DEAD", 16},
	    {"EXIT_ZOMBIE", 32}, {"TASK_PARKED", 64},       {"TASK_DEAD", 128},
	    {NULL, 0},
	};
	struct cpu *cpu = spans->cpu;
	struct thread *thread =
	    prev > 0 ? spans_thread(spans, spans->event->node, prev) : NULL;
	int64_t state = spans_flags(spans, PREV_STATE, states, 1);

	cpu->comm = spans_text(spans, PREV_COMM);
	cpu->priority = event_integer(spans->event, PREV_PRIO, TIMELINE_NONE);
	cpu->is_preempted = prev > 0 && !(state & STATES);
	if (thread)
		thread->comm = cpu->comm;
	end_running(spans, spans->event->node, cpu, spans->event->ts_ns, next);
	if (thread)
		set_switched_out_state(spans, thread, state);
}

static void switch_in_thread(struct spans *spans, int64_t prev, int64_t next)
{
	struct cpu *cpu = spans->cpu;
	struct thread *thread;

	cpu->known = true;
	cpu->cut = false;
	cpu->tid = next;
	cpu->since_ns = spans->event->ts_ns;
	cpu->comm = spans_text(spans, NEXT_COMM);
	cpu->priority = event_integer(spans->event, NEXT_PRIO, TIMELINE_NONE);
	if (next <= 0)
		return;
	thread = spans_thread(spans, spans->event->node, next);
	thread->comm = cpu->comm;
	set_running(spans, thread, prev);
}

static void on_switch(struct spans *spans)
{
	int64_t prev = spans_tid(spans, PREV_TID), next = spans_tid(spans, NEXT_TID);
	struct cpu *cpu = spans->cpu;

	if (!cpu || prev < 0 || next < 0)
		return;
	interrupt_cut(spans, spans->event->node, cpu, cpu->last_ns);
	cpu->last_recv = 0; /* a softirq does not span a switch */
	check_current(spans, prev);
	switch_out_thread(spans, prev, next);
	switch_in_thread(spans, prev, next);
}

/* Return true if the running thread of every processor of the node is known. */
static bool all_known(const struct span_node *node)
{
	for (size_t i = 0; i < node->cpus; i++)
		if (node->cpu[i] && node->cpu[i]->begin_ns > NSEC_MIN &&
		    !node->cpu[i]->known)
			return false;
	return true;
}

/* A thread's first event: it runs nowhere, so it is presumed to have slept. The span is
 * dropped if a processor appears later on which it may have run. */
static void add_presumed_sleep(struct spans *spans, struct thread *thread,
			       const struct span_cause *by)
{
	enter_state(thread, STATE_BLOCKED,
		    known_since(&spans->node[thread->node], NEED_WAKEUP));
	thread->comm = spans_text(spans, WOKEN_COMM);
	thread->open.state.cut = span_cut(true, false);
	thread->open.is_presumed = true;
	set_cause(&thread->open, by);
	end_state(spans, thread, spans->event->ts_ns);
}

/* The thread waits for a processor from now on. */
static void mark_runnable(struct spans *spans, struct thread *thread,
			  const struct span_cause *by)
{
	if (is_asleep(thread)) {
		set_cause(&thread->open, by);
		end_state(spans, thread, spans->event->ts_ns);
	} else if (thread->state == STATE_UNKNOWN && thread->comm == TIMELINE_NONE &&
		   !thread->is_new && all_known(&spans->node[thread->node])) {
		add_presumed_sleep(spans, thread, by);
	}
	enter_state(thread, STATE_RUNNABLE, spans->event->ts_ns);
	set_cause(&thread->open, by);
	thread->exiting = false;
}

static void on_wakeup(struct spans *spans)
{
	int64_t tid = spans_tid(spans, WOKEN_TID);
	struct span_cause by = interrupt_cause(spans);
	struct thread *thread;

	if (spans->cpu)
		spans->cpu->recv_woke = true;
	if (tid <= 0)
		return;
	thread = spans_thread(spans, spans->event->node, tid);
	if (thread->state == STATE_RUNNING) {
		thread->pending = spans->tag == AT_WAKING ? by : NO_CAUSE;
	} else {
		if (spans->tag != AT_WAKING)
			confirm_pending(thread);
		if (thread->state != STATE_RUNNABLE)
			mark_runnable(spans, thread, &by);
		thread->pending = NO_CAUSE;
		thread->cpu = event_integer(spans->event, WOKEN_CPU, -1);
	}
	thread->comm = spans_text(spans, WOKEN_COMM);
}

/* Remove the thread that had this number: it has ended. */
static void drop_thread(struct spans *spans, int64_t tid)
{
	struct thread *thread = spans_find(spans, spans->event->node, tid);

	if (!thread)
		return;
	cut_state(spans, thread, spans->event->ts_ns);
	call_cut(spans, thread, spans->event->ts_ns);
	spans_forget(spans, thread);
}

static void on_fork(struct spans *spans)
{
	int64_t tid = spans_tid(spans, CHILD_TID);
	const struct span_cause by = {
	    .wait = WAIT_THREAD, .tid = spans->tid, .event = spans->event->id};
	struct thread *thread;

	if (tid <= 0)
		return;
	drop_thread(spans, tid);
	thread = spans_thread(spans, spans->event->node, tid);
	thread->comm = spans_text(spans, CHILD_COMM);
	thread->fork_ns = spans->event->ts_ns;
	enter_state(thread, STATE_RUNNABLE, thread->fork_ns);
	set_cause(&thread->open, &by);
	thread->state = STATE_UNKNOWN; /* until it is woken or runs */
	thread->is_new = true;
}

/* If a thread other than its process's first executes a program, it becomes the first,
 * and all others end. */
static void on_exec(struct spans *spans)
{
	int64_t tid = spans_tid(spans, EXEC_TID), old = spans_tid(spans, EXEC_OLD_TID);
	struct cpu *cpu = spans->cpu;
	nsec_t now = spans->event->ts_ns;
	struct thread *thread;

	if (tid <= 0 || old < 0 || tid == old || !cpu || !cpu->known || cpu->tid != old)
		return;
	cpu->is_preempted = false;
	end_running(spans, spans->event->node, cpu, now, tid);
	thread = spans_find(spans, spans->event->node, old);
	if (thread) {
		call_cut(spans, thread, now);
		spans_forget(spans, thread);
	}
	thread = spans_thread(spans, spans->event->node, tid);
	cut_state(spans, thread, now);
	call_cut(spans, thread, now);
	enter_state(thread, STATE_RUNNING, now);
	thread->exiting = false;
	thread->comm = cpu->comm;
	thread->cpu = cpu->number;
	cpu->tid = tid;
	cpu->since_ns = now;
}

static void on_free(struct spans *spans)
{
	int64_t tid = spans_tid(spans, FREE_TID);
	struct thread *thread =
	    tid > 0 ? spans_find(spans, spans->event->node, tid) : NULL;

	if (!thread || thread->state != STATE_DEAD)
		return;
	end_state(spans, thread, spans->event->ts_ns);
	spans_forget(spans, thread);
}

static void on_thread_exit(struct spans *spans)
{
	int64_t tid = spans_tid(spans, EXIT_TID);

	if (tid > 0)
		spans_thread(spans, spans->event->node, tid)->exiting = true;
}

void thread_event(struct spans *spans)
{
	static void (*const on[])(struct spans *) = {
	    [AT_SWITCH] = on_switch,     [AT_WAKING] = on_wakeup, [AT_WAKEUP] = on_wakeup,
	    [AT_WAKEUP_NEW] = on_wakeup, [AT_FORK] = on_fork,     [AT_EXEC] = on_exec,
	    [AT_EXIT] = on_thread_exit,  [AT_FREE] = on_free,
	};

	on[spans->tag](spans);
}

/* Cut a thread's state, and forget what is known of the thread. */
static void lose_state(struct spans *spans, struct thread *thread, nsec_t stop_ns)
{
	if (thread->state != STATE_UNKNOWN)
		cut_state(spans, thread,
			  stop_ns > thread->open.begin_ns ? stop_ns
							  : thread->open.begin_ns);
	thread->state = STATE_UNKNOWN;
	thread->comm = TIMELINE_NONE;
	thread->exiting = thread->is_new = false;
	thread->fork_ns = NSEC_MIN;
	thread->cpu = thread->last_cpu = -1;
	thread->pending = NO_CAUSE;
}

/* Threads that run on another processor are not cut: they need only the events of that
 * one. */
void thread_lose(struct spans *spans, uint32_t at, struct cpu *cpu, unsigned needs,
		 nsec_t stop_ns)
{
	const struct span_node *node = &spans->node[at];
	bool states = needs & (1u << NEED_SWITCH | 1u << NEED_WAKEUP);
	bool calls = needs & 1u << NEED_CALL ||
		     (needs & 1u << NEED_SWITCH && node->calls_lack_tid);

	if (cpu && needs & 1u << NEED_SWITCH) {
		struct thread *thread =
		    cpu->known && cpu->tid > 0 ? spans_find(spans, at, cpu->tid) : NULL;

		if (cpu->known)
			end_running(spans, at, cpu, stop_ns, -1);
		if (thread)
			thread->state = STATE_UNKNOWN;
		cpu->known = false;
		cpu->tid = -1;
		cpu->since_ns = 0;
	}
	for (size_t i = 0; (states || calls) && i < spans->threads; i++) {
		struct thread *thread = spans->thread[i];
		bool runs = thread->state == STATE_RUNNING;

		if (thread->node != at || (runs && cpu && thread->cpu != cpu->number))
			continue;
		if (calls)
			call_lose(spans, thread, stop_ns);
		if (states && !runs)
			lose_state(spans, thread, stop_ns);
	}
}

void thread_finish(struct spans *spans, uint32_t at, nsec_t end_ns)
{
	const struct span_node *node = &spans->node[at];

	for (size_t i = 0; i < node->cpus; i++)
		if (node->cpu[i] && node->cpu[i]->known)
			end_running(spans, at, node->cpu[i], end_ns, -1);
	for (size_t i = 0; i < spans->threads; i++)
		if (spans->thread[i]->node == at) {
			cut_state(spans, spans->thread[i], end_ns);
			call_cut(spans, spans->thread[i], end_ns);
		}
}
