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
static void tell(struct spans *spans, struct thread *thread, nsec_t end_ns, int64_t cut)
{
	struct span *call = &thread->call;

	call->end_ns = end_ns;
	call->value[CALL_COMM] = thread->comm;
	call->value[CALL_CUT] = cut;
	spans_tell(spans, SPAN_SYSCALL, thread->node, thread->tid, call);
	free(thread->path);
	thread->path = NULL;
	*call = spans_begin(0, 0);
}

void syscall_cut(struct spans *spans, struct thread *thread, nsec_t end_ns)
{
	if (thread->call.value[CALL_NAME] != SPAN_NONE)
		tell(spans, thread, end_ns, span_cut(false, true));
}

/* A number of things is not below 0, but a directory's descriptor may be. */
static int64_t count_of(const struct spans *spans, int place)
{
	return known(spans_integer(spans, place, SPAN_NONE));
}

static void begin(struct spans *spans, struct thread *thread)
{
	struct span *call = &thread->call;

	syscall_cut(spans, thread, spans->event->ts_ns);
	thread->called = true;
	call->begin_ns = spans->event->ts_ns;
	call->value[CALL_NAME] = (int64_t)spans->event->class->span_text;
	call->value[CALL_ENTRY] = spans->event->id;
	call->value[CALL_FD] = count_of(spans, ENTRY_FD);
	for (int i = ENTRY_COUNT; i <= ENTRY_SIZE && call->value[CALL_COUNT] == SPAN_NONE;
	     i++)
		call->value[CALL_COUNT] = count_of(spans, i);
	for (int i = ENTRY_FILENAME; i <= ENTRY_PATHNAME && !thread->path; i++) {
		const struct cell *path = spans_field(spans, i);

		if (path->type != CELL_TEXT)
			continue;
		call->path_size = path->size;
		call->path = thread->path = mem_strndup(path->bytes, path->size);
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
	struct span *call = &thread->call;
	bool is_beginless;

	/* A program that was executed may be of the other kind: its name stays. */
	if (call->value[CALL_NAME] != name)
		syscall_cut(spans, thread, spans->event->ts_ns);
	is_beginless = call->value[CALL_NAME] == SPAN_NONE;
	if (is_beginless)
		call->begin_ns = earliest(spans, thread);
	call->value[CALL_NAME] = name;
	call->value[CALL_CPU] = known(spans->event->cpu);
	call->value[CALL_EXIT] = spans->event->id;
	call->value[CALL_RET] = spans_integer(spans, RETURNED, SPAN_NONE);
	tell(spans, thread, spans->event->ts_ns, span_cut(is_beginless, false));
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
