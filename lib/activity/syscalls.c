/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "activity/activity_private.h"
#include "base/mem.h"

/*
 * System calls: a thread is in one at a time. An exit without its entry is of a call that
 * began before the recording, of a clone whose child returns from it as well, or its
 * entry was lost; exit(2) and the return from a signal's handler have no exit.
 */
static void tell(struct walk *walk, const struct thread *thread,
		 struct syscall_span *span)
{
	if (!walk->ops->syscall || walk->status ||
	    !walk_clip(walk, &span->begin_ns, span->end_ns, &span->cut_begin, true))
		return;
	span->node = walk->node[thread->node].id;
	span->tid = thread->tid;
	span->comm = thread->comm;
	walk->status = walk->ops->syscall(walk->context, span);
}

static void clear(struct call *call)
{
	free(call->path);
	*call = (struct call){.fd = -1, .count = -1};
}

static struct syscall_span span_of(const struct call *call, nsec_t end_ns)
{
	return (struct syscall_span){
	    .cpu = -1,
	    .name = call->name,
	    .begin_ns = call->begin_ns,
	    .end_ns = end_ns,
	    .ret = INT64_MIN,
	    .entry_event = call->entry_event,
	    .fd = call->fd,
	    .count = call->count,
	    .path = call->path,
	};
}

void syscall_cut(struct walk *walk, struct thread *thread, nsec_t end_ns)
{
	struct syscall_span span;

	if (!thread->call.name)
		return;
	span = span_of(&thread->call, end_ns);
	span.cut_end = true;
	tell(walk, thread, &span);
	clear(&thread->call);
}

/* "read" of syscall_entry_read and of compat_syscall_entry_read */
static const char *name_of(const char *class)
{
	static const char *const heads[] = {"compat_syscall_entry_", "syscall_entry_",
					    "compat_syscall_exit_", "syscall_exit_"};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (strncmp(class, heads[i], strlen(heads[i])) == 0)
			return class + strlen(heads[i]);
	return class;
}

/* Fields of an entry, in the order of its wish. */
enum { FD, COUNT, LEN, SIZE, FILENAME, PATHNAME };

static void begin(struct walk *walk, struct thread *thread)
{
	const struct cell *field = walk->row.field;
	struct call *call = &thread->call;
	nsec_t now = walk->row.ts_ns;

	syscall_cut(walk, thread, now);
	thread->called = true;
	*call = (struct call){.name = name_of(walk->row.class),
			      .begin_ns = now,
			      .entry_event = walk->row.id,
			      .fd = -1,
			      .count = -1};
	if (!walk->ops->syscall)
		return;
	call->fd = field_integer(&field[FD], -1);
	for (int i = COUNT; i <= SIZE && call->count < 0; i++)
		call->count = field_integer(&field[i], -1);
	for (int i = FILENAME; i <= PATHNAME && !call->path; i++)
		if (field[i].type == CELL_TEXT)
			call->path = mem_strndup(field[i].bytes, field[i].size);
}

/* When a call began whose entry was not seen, as far back as can be. */
static nsec_t earliest(const struct walk *walk, const struct thread *thread)
{
	const struct activity_node *node = &walk->node[thread->node];

	if (thread->called)
		return walk->row.ts_ns;
	if (thread->fork_ns != NSEC_MIN)
		return thread->fork_ns;
	return node->begin_ns == NSEC_MIN ? walk->row.ts_ns : node->begin_ns;
}

static void end(struct walk *walk, struct thread *thread)
{
	const char *name = name_of(walk->row.class);
	struct syscall_span span;

	/* A program that was executed may be of the other kind: its name stays. */
	if (thread->call.name && strcmp(thread->call.name, name) != 0)
		syscall_cut(walk, thread, walk->row.ts_ns);
	span = span_of(&thread->call, walk->row.ts_ns);
	if (!thread->call.name) {
		span.name = name;
		span.begin_ns = earliest(walk, thread);
		span.cut_begin = true;
		span.fd = -1;
		span.count = -1;
	}
	span.cpu = walk->row.cpu;
	span.exit_event = walk->row.id;
	if (walk->ops->syscall)
		span.ret = field_integer(&walk->row.field[0], INT64_MIN);
	tell(walk, thread, &span);
	clear(&thread->call);
	thread->called = true;
}

void syscall_event(struct walk *walk)
{
	struct thread *thread;

	if (walk->row.tid <= 0)
		return;
	thread = walk_thread(walk, walk->at_node, walk->row.tid);
	if (walk->row.tag == AT_SYSCALL_ENTRY)
		begin(walk, thread);
	else
		end(walk, thread);
}

void syscall_finish(struct walk *walk, size_t node, nsec_t end_ns)
{
	for (size_t i = 0; i < walk->threads; i++)
		if (walk->thread[i]->node == node)
			syscall_cut(walk, walk->thread[i], end_ns);
}
