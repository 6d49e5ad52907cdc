/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/process_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/rows.h"

/* Within so much of each other, two births of a tid are one. */
static const nsec_t same_birth_ns = NSEC_PER_MSEC / 2;

struct process_node *process_table_node(struct process_table *table, uint32_t node)
{
	if (node >= table->nodes) {
		size_t count = (size_t)node + 1;

		table->node = mem_realloc(table->node, count, sizeof(*table->node));
		memset(table->node + table->nodes, 0,
		       (count - table->nodes) * sizeof(*table->node));
		table->nodes = count;
	}
	return &table->node[node];
}

static struct thread_row *add_thread(struct process_table *table, uint32_t node,
				     int64_t tid)
{
	struct thread_row row = {.tid = tid,
				 .process = -1,
				 .node = node,
				 .begin_ns = TIMELINE_NONE,
				 .end_ns = TIMELINE_NONE};

	if (!intmap_get(&process_table_node(table, node)->thread, (uint64_t)tid,
			&row.previous))
		row.previous = -1;
	table->thread = mem_grow(table->thread, table->threads, &table->thread_room,
				 sizeof(*table->thread));
	table->thread[table->threads] = row;
	intmap_put(&process_table_node(table, node)->thread, (uint64_t)tid,
		   (int64_t)table->threads);
	return &table->thread[table->threads++];
}

static int64_t add_process(struct process_table *table, uint32_t node, int64_t pid)
{
	struct process_row row = {.pid = pid,
				  .ppid = TIMELINE_NONE,
				  .leader = -1,
				  .exe = -1,
				  .group_status = TIMELINE_NONE,
				  .leader_status = TIMELINE_NONE,
				  .begin_ns = TIMELINE_NONE,
				  .end_ns = TIMELINE_NONE,
				  .node = node};
	struct process_node *at = process_table_node(table, node);

	if (!intmap_get(&at->process, (uint64_t)pid, &row.previous))
		row.previous = -1;
	intmap_put(&at->process, (uint64_t)pid, (int64_t)table->processes);
	table->process = mem_grow(table->process, table->processes, &table->process_room,
				  sizeof(*table->process));
	table->process[table->processes] = row;
	return (int64_t)table->processes++;
}

struct thread_row *process_table_find(struct process_table *table, uint32_t node,
				      int64_t tid)
{
	int64_t index;

	if (!intmap_get(&process_table_node(table, node)->thread, (uint64_t)tid, &index))
		return NULL;
	return &table->thread[index];
}

struct thread_row *process_table_thread(struct process_table *table, uint32_t node,
					int64_t tid)
{
	struct thread_row *thread = process_table_find(table, node, tid);

	if (thread && !thread->gone)
		return thread;
	thread = add_thread(table, node, tid);
	if (tid == 0) { /* every processor has one of this number */
		process_table_adopt(table, thread, 0, TIMELINE_NONE);
		strcpy(thread->comm, "swapper");
	}
	return thread;
}

struct process_row *process_table_process(struct process_table *table,
					  const struct thread_row *thread)
{
	return thread->process < 0 ? NULL : &table->process[thread->process];
}

/* A thread joins a process, which lives on by that. */
static void join(struct process_table *table, struct thread_row *thread, int64_t process)
{
	struct process_row *row = &table->process[process];

	thread->process = process;
	if (thread->tid == row->pid)
		row->leader = thread - table->thread;
	if (thread->end_ns == TIMELINE_NONE) {
		row->alive++;
		row->end_ns = TIMELINE_NONE;
	} else if (!row->alive && row->end_ns == TIMELINE_NONE) {
		row->end_ns = thread->end_ns;
	}
}

void process_table_adopt(struct process_table *table, struct thread_row *thread,
			 int64_t pid, int64_t ppid)
{
	struct process_node *node = process_table_node(table, thread->node);
	int64_t process = thread->process;

	if (process < 0) {
		/* A first thread that lives is not of a process that ended. */
		if (!intmap_get(&node->process, (uint64_t)pid, &process) ||
		    (thread->tid == pid && thread->end_ns == TIMELINE_NONE &&
		     table->process[process].end_ns != TIMELINE_NONE))
			process = add_process(table, thread->node, pid);
		join(table, thread, process);
	}
	if (table->process[process].pid == pid &&
	    table->process[process].ppid == TIMELINE_NONE)
		table->process[process].ppid = ppid;
}

/* What had the pid until now is over, also where its end was not recorded. */
static void end_process(struct process_table *table, uint32_t node, int64_t pid,
			nsec_t ts_ns)
{
	int64_t index;

	if (!intmap_get(&process_table_node(table, node)->process, (uint64_t)pid, &index))
		return;
	table->process[index].alive = 0;
	if (table->process[index].end_ns == TIMELINE_NONE)
		table->process[index].end_ns = ts_ns;
}

/* Two sessions trace one kernel; no tid comes again so soon, with its end lost. */
static bool is_told_again(const struct thread_row *thread,
			  const struct thread_birth *birth)
{
	return thread->end_ns == TIMELINE_NONE && thread->begin_ns != TIMELINE_NONE &&
	       nsec_sub(birth->ts_ns, thread->begin_ns) < same_birth_ns;
}

struct thread_row *process_table_begin(struct process_table *table,
				       const struct thread_birth *birth)
{
	struct thread_row *thread = process_table_find(table, birth->node, birth->tid);
	int64_t process;

	if (thread && is_told_again(thread, birth))
		return thread;
	if (thread)
		process_table_end(table, thread, birth->ts_ns);
	thread = add_thread(table, birth->node, birth->tid);
	thread->begin_ns = birth->ts_ns;
	if (birth->pid == TIMELINE_NONE)
		return thread;
	if (birth->pid != birth->tid) {
		process_table_adopt(table, thread, birth->pid, TIMELINE_NONE);
		return thread;
	}
	end_process(table, birth->node, birth->pid, birth->ts_ns);
	process = add_process(table, birth->node, birth->pid);
	table->process[process].begin_ns = birth->ts_ns;
	table->process[process].ppid = birth->ppid;
	join(table, thread, process);
	return thread;
}

void process_table_end(struct process_table *table, struct thread_row *thread,
		       nsec_t ts_ns)
{
	struct process_row *process = process_table_process(table, thread);

	if (thread->end_ns != TIMELINE_NONE)
		return;
	thread->end_ns = ts_ns;
	if (process && process->alive && --process->alive == 0)
		process->end_ns = ts_ns;
}

struct thread_row *process_table_exec(struct process_table *table, uint32_t node,
				      int64_t tid, int64_t old_tid, nsec_t ts_ns)
{
	struct thread_row *thread = process_table_find(table, node, tid);

	if (old_tid != tid && (!thread || thread->end_ns != TIMELINE_NONE)) {
		int64_t process = thread ? thread->process : -1;

		thread = add_thread(table, node, tid);
		thread->begin_ns = ts_ns;
		if (process >= 0)
			join(table, thread, process);
	}
	thread = process_table_thread(table, node, tid);
	process_table_adopt(table, thread, tid, TIMELINE_NONE);
	if (old_tid != tid) {
		struct thread_row *old = process_table_find(table, node, old_tid);

		if (old)
			process_table_end(table, old, ts_ns);
	}
	return thread;
}

int64_t process_table_at(const struct process_table *table, uint32_t node, int64_t pid,
			 nsec_t ts_ns)
{
	int64_t index;

	if (node >= table->nodes ||
	    !intmap_get(&table->node[node].process, (uint64_t)pid, &index))
		return -1;
	while (index >= 0) {
		const struct process_row *row = &table->process[index];
		const struct process_row *before =
		    row->previous < 0 ? NULL : &table->process[row->previous];
		bool is_later = row->begin_ns == TIMELINE_NONE
				    ? before && before->end_ns >= ts_ns
				    : row->begin_ns > ts_ns;

		if (!is_later)
			return row->end_ns == TIMELINE_NONE || row->end_ns >= ts_ns
				   ? index
				   : -1;
		index = row->previous;
	}
	return -1;
}

int64_t process_table_thread_at(const struct process_table *table, uint32_t node,
				int64_t tid, nsec_t ts_ns)
{
	int64_t index;

	if (node >= table->nodes ||
	    !intmap_get(&table->node[node].thread, (uint64_t)tid, &index))
		return -1;
	while (table->thread[index].previous >= 0) {
		const struct thread_row *row = &table->thread[index];
		const struct thread_row *before = &table->thread[row->previous];

		if (row->begin_ns == TIMELINE_NONE ? before->end_ns < ts_ns
						   : row->begin_ns <= ts_ns)
			break;
		index = row->previous;
	}
	return index;
}

void process_table_clear(struct process_table *table)
{
	for (size_t i = 0; i < table->nodes; i++) {
		intmap_clear(&table->node[i].thread);
		intmap_clear(&table->node[i].process);
	}
	free(table->node);
	free(table->thread);
	free(table->process);
	texts_clear(&table->exe);
	memset(table, 0, sizeof(*table));
}
