/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/mem.h"
#include "merge/spans/spans_private.h"

/* System calls: a thread is in one at a time. An exit without an entry belongs to a call
 * that began before the recording, or to a clone whose child returns from it as well, or
 * its entry was lost. exit(2) and the return from a signal handler have no exit. */
/* Return CUT_DOUBT if events that a call depends on may have been lost: on its node or,
 * if the thread has not left its processor since the call began, on that processor. */
static int64_t call_doubt(struct spans *spans, const struct thread *thread)
{
	const struct span_node *node = &spans->node[thread->node];
	const nsec_t *doubt_ns = node->doubt_ns;
	nsec_t begin_ns = thread->call.begin_ns;
	const struct cpu *cpu = thread->state == STATE_RUNNING
				    ? spans_cpu(spans, thread->node, thread->cpu)
				    : NULL;

	if (cpu && cpu->known && cpu->tid == thread->tid && cpu->since_ns <= begin_ns)
		doubt_ns = cpu->doubt_ns;
	return span_doubt(doubt_ns, NEED_CALL, begin_ns) |
	       (node->calls_lack_tid ? span_doubt(doubt_ns, NEED_SWITCH, begin_ns) : 0);
}

static void add_call(struct spans *spans, struct thread *thread, nsec_t end_ns,
		     int64_t cut)
{
	struct span *call = &thread->call;

	call->end_ns = end_ns;
	call->syscall.comm = thread->comm;
	call->syscall.cut = cut | call_doubt(spans, thread);
	spans_add(spans, SPAN_SYSCALL, thread->node, thread->tid, call);
	free(thread->path);
	thread->path = NULL;
	span_init(call, 0, 0);
}

void call_cut(struct spans *spans, struct thread *thread, nsec_t end_ns)
{
	if (thread->call.syscall.name != TIMELINE_NONE)
		add_call(spans, thread, end_ns, span_cut(false, true));
}

/* A number of things is not below 0, but a directory's descriptor may be. */
static int64_t count_of(const struct spans *spans, int place)
{
	return known(event_integer(spans->event, place, TIMELINE_NONE));
}

static void begin_call(struct spans *spans, struct thread *thread)
{
	struct span *call = &thread->call;

	call_cut(spans, thread, spans->event->ts_ns);
	thread->called = true;
	call->begin_ns = spans->event->ts_ns;
	call->syscall.name = (int64_t)spans->event->class->span_text;
	call->syscall.entry_event = spans->event->id;
	call->syscall.fd = count_of(spans, ENTRY_FD);
	for (int i = ENTRY_COUNT; i <= ENTRY_SIZE && call->syscall.count == TIMELINE_NONE;
	     i++)
		call->syscall.count = count_of(spans, i);
	for (int i = ENTRY_FILENAME; i <= ENTRY_PATHNAME && !thread->path; i++) {
		const struct cell *path = event_field(spans->event, i);

		if (path->type != CELL_TEXT)
			continue;
		call->path_size = path->size;
		call->path = thread->path = mem_strndup(path->bytes, path->size);
	}
}

/* Return the earliest possible start of a call whose entry was not seen: the exit of the
 * thread's previous call. */
static nsec_t earliest_call_begin(const struct spans *spans, const struct thread *thread)
{
	if (thread->called)
		return spans->event->ts_ns;
	if (thread->fork_ns != NSEC_MIN)
		return thread->fork_ns;
	return known_since(&spans->node[thread->node], NEED_CALL);
}

static void end_call(struct spans *spans, struct thread *thread)
{
	int64_t name = (int64_t)spans->event->class->span_text;
	struct span *call = &thread->call;
	bool is_beginless;

	/* A program that was executed may be of the other kind: its name stays. */
	if (call->syscall.name != name)
		call_cut(spans, thread, spans->event->ts_ns);
	is_beginless = call->syscall.name == TIMELINE_NONE;
	if (is_beginless)
		call->begin_ns = earliest_call_begin(spans, thread);
	call->syscall.name = name;
	call->syscall.cpu = known(spans->event->cpu);
	call->syscall.exit_event = spans->event->id;
	call->syscall.ret = event_integer(spans->event, RETURNED, TIMELINE_NONE);
	add_call(spans, thread, spans->event->ts_ns, span_cut(is_beginless, false));
	thread->called = true;
}

void call_event(struct spans *spans)
{
	struct thread *thread;

	if (spans->tid <= 0)
		return;
	thread = spans_thread(spans, spans->event->node, spans->tid);
	if (spans->tag == AT_SYSCALL_ENTRY)
		begin_call(spans, thread);
	else
		end_call(spans, thread);
}

void call_lose(struct spans *spans, struct thread *thread, nsec_t stop_ns)
{
	call_cut(spans, thread,
		 stop_ns > thread->call.begin_ns ? stop_ns : thread->call.begin_ns);
	thread->called = false;
}
