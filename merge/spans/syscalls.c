/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "merge/spans/spans_private.h"

/*
 * System calls: a thread is in one at a time. An exit without its entry is of a call that
 * began before the recording, of a clone whose child returns from it as well, or its
 * entry was lost; exit(2) and the return from a signal's handler have no exit.
 */
static struct span span_of(const struct thread *thread, int64_t name, nsec_t begin_ns,
			   nsec_t end_ns)
{
	struct span span = spans_begin(begin_ns, end_ns);

	span.value[CALL_COMM] = thread->comm == NO_TEXT ? SPAN_NONE : thread->comm;
	span.value[CALL_NAME] = name;
	return span;
}

/* What its entry told. */
static void set_call(struct span *span, const struct call *call)
{
	span->value[CALL_ENTRY] = call->entry_event;
	span->value[CALL_FD] = call->fd;
	span->value[CALL_COUNT] = call->count;
	span->path = call->path;
	span->path_size = call->path_size;
}

static void clear(struct call *call)
{
	free(call->path);
	*call = (struct call){.name = NO_TEXT};
}

void syscall_cut(struct spans *spans, struct thread *thread, nsec_t end_ns)
{
	struct span span;

	if (thread->call.name == NO_TEXT)
		return;
	span = span_of(thread, thread->call.name, thread->call.begin_ns, end_ns);
	set_call(&span, &thread->call);
	span.value[CALL_CUT] = span_cut(false, true);
	spans_tell(spans, SPAN_SYSCALL, thread->node, thread->tid, &span);
	clear(&thread->call);
}

/* A number of things is not below 0, but a directory's descriptor may be. */
static int64_t count_of(const struct spans *spans, int place)
{
	int64_t count = spans_integer(spans, place, SPAN_NONE);

	return count < 0 ? SPAN_NONE : count;
}

static void begin(struct spans *spans, struct thread *thread)
{
	struct call *call = &thread->call;

	syscall_cut(spans, thread, spans->event->ts_ns);
	thread->called = true;
	*call = (struct call){.name = (int64_t)spans->event->class->span_text,
			      .begin_ns = spans->event->ts_ns,
			      .entry_event = spans->event->id,
			      .fd = count_of(spans, ENTRY_FD),
			      .count = SPAN_NONE};
	for (int i = ENTRY_COUNT; i <= ENTRY_SIZE && call->count == SPAN_NONE; i++)
		call->count = count_of(spans, i);
	for (int i = ENTRY_FILENAME; i <= ENTRY_PATHNAME && !call->path; i++) {
		const struct cell *path = spans_field(spans, i);

		if (path->type == CELL_TEXT) {
			call->path_size = path->size;
			call->path = mem_strndup(path->bytes, path->size);
		}
	}
}

/* When a call began whose entry was not seen, as far back as can be. */
static nsec_t earliest(const struct spans *spans, const struct thread *thread)
{
	if (thread->called)
		return spans->event->ts_ns;
	if (thread->fork_ns != NSEC_MIN)
		return thread->fork_ns;
	return spans->node[thread->node].begin_ns;
}

static void end(struct spans *spans, struct thread *thread)
{
	int64_t name = (int64_t)spans->event->class->span_text;
	struct call *call = &thread->call;
	nsec_t now = spans->event->ts_ns;
	struct span span;

	/* A program that was executed may be of the other kind: its name stays. */
	if (call->name != NO_TEXT && call->name != name)
		syscall_cut(spans, thread, now);
	if (call->name == NO_TEXT) {
		span = span_of(thread, name, earliest(spans, thread), now);
		span.value[CALL_CUT] = span_cut(true, false);
	} else {
		span = span_of(thread, call->name, call->begin_ns, now);
		set_call(&span, call);
		span.value[CALL_CUT] = 0;
	}
	span.value[CALL_CPU] = spans->event->cpu < 0 ? SPAN_NONE : spans->event->cpu;
	span.value[CALL_EXIT] = spans->event->id;
	span.value[CALL_RET] = spans_integer(spans, RETURNED, SPAN_NONE);
	spans_tell(spans, SPAN_SYSCALL, thread->node, thread->tid, &span);
	clear(call);
	thread->called = true;
}

void syscall_event(struct spans *spans)
{
	struct thread *thread;

	if (spans->tid <= 0)
		return;
	thread = spans_thread(spans, spans->event->node, spans->tid);
	if (spans->tag == AT_SYSCALL_ENTRY)
		begin(spans, thread);
	else
		end(spans, thread);
}

void syscall_finish(struct spans *spans, uint32_t node, nsec_t end_ns)
{
	for (size_t i = 0; i < spans->threads; i++)
		if (spans->thread[i]->node == node)
			syscall_cut(spans, spans->thread[i], end_ns);
}
