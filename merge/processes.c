/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/processes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "merge/process_table.h"
#include "timeline/query.h"

/* More processors than Linux can have; a higher number is a broken stream. */
enum { CPUS_MOST = 65536 };

struct follow {
	struct processors {
		uint32_t with;    /* the source whose processors count */
		int64_t *current; /* thread by processor, -1: unknown */
		size_t count;
	} * source;
	size_t sources;
};

struct follow *follow_new(size_t sources)
{
	struct follow *follow = mem_zalloc(sizeof(*follow));

	follow->source = mem_zalloc(sources * sizeof(*follow->source));
	follow->sources = sources;
	for (uint32_t i = 0; i < sources; i++)
		follow->source[i].with = i;
	return follow;
}

void follow_share(struct follow *follow, uint32_t source, uint32_t with)
{
	follow->source[source].with = follow->source[with].with;
}

/* Where the thread of a processor is kept, or NULL. */
static int64_t *current_of(struct processors *of, int32_t cpu)
{
	if (cpu < 0 || cpu >= CPUS_MOST)
		return NULL;
	if ((size_t)cpu >= of->count) {
		of->current =
		    mem_realloc(of->current, (size_t)cpu + 1, sizeof(*of->current));
		while (of->count <= (size_t)cpu)
			of->current[of->count++] = -1;
	}
	return &of->current[cpu];
}

int64_t follow_event(struct follow *follow, uint32_t source,
		     const struct event_class *class, const struct ctf_event *record)
{
	int64_t *current =
	    current_of(&follow->source[follow->source[source].with], record->cpu);
	int64_t tid = current ? *current : -1;

	if (class->tag == AT_SWITCH && class->column[NEXT_TID] >= 0) {
		/* the thread that goes is the event's */
		tid = cell_integer(event_cell(record->cell, class->column[PREV_TID]), -1);
		if (current)
			*current = cell_integer(
			    event_cell(record->cell, class->column[NEXT_TID]), -1);
	}
	return class->context[CONTEXT_TID] >= 0
		   ? cell_integer(event_cell(record->cell, class->context[CONTEXT_TID]),
				  -1)
		   : tid;
}

void follow_free(struct follow *follow)
{
	if (!follow)
		return;
	for (size_t i = 0; i < follow->sources; i++)
		free(follow->source[i].current);
	free(follow->source);
	free(follow);
}

struct processes {
	struct process_table table;
};

/* One event, with what is needed to take it in. */
struct taken {
	struct process_table *table;
	const struct event_class *class;
	const struct cell *cell;
	uint32_t node;
	nsec_t ts_ns;
	int64_t tid; /* the thread that runs, -1: unknown */
};

struct processes *processes_new(void)
{
	return mem_zalloc(sizeof(struct processes));
}

static int64_t number(const struct taken *event, int column)
{
	return cell_integer(event_cell(event->cell, column), TIMELINE_NONE);
}

/* A field, TIMELINE_NONE where it has no number. */
static int64_t field(const struct taken *event, int place)
{
	return number(event, event->class->column[place]);
}

/* A thread number, TIMELINE_NONE also where it is none. */
static int64_t tid_of(const struct taken *event, int column)
{
	int64_t tid = number(event, column);

	return tid < 0 ? TIMELINE_NONE : tid;
}

static int64_t tid_field(const struct taken *event, int place)
{
	return tid_of(event, event->class->column[place]);
}

/* Bytes that are no UTF-8 come as a blob. */
static const struct cell *text(const struct taken *event, int column)
{
	const struct cell *cell = event_cell(event->cell, column);

	return cell->type == CELL_TEXT || cell->type == CELL_BLOB ? cell : NULL;
}

static void set_comm(struct thread_row *thread, const struct cell *cell)
{
	size_t size = cell ? strnlen(cell->bytes, cell->size) : 0;

	if (!size || thread->tid == 0)
		return;
	if (size > sizeof(thread->comm) - 1)
		size = sizeof(thread->comm) - 1;
	if (memcmp(thread->comm, cell->bytes, size) == 0 && !thread->comm[size])
		return;
	memcpy(thread->comm, cell->bytes, size);
	memset(thread->comm + size, 0, sizeof(thread->comm) - size);
}

/* The thread that a field names, with the name beside it; or NULL. */
static struct thread_row *named(struct taken *event, int tid, int comm)
{
	int64_t is = tid_field(event, tid);
	struct thread_row *thread;

	if (is == TIMELINE_NONE)
		return NULL;
	thread = process_table_thread(event->table, event->node, is);
	set_comm(thread, text(event, event->class->column[comm]));
	return thread;
}

static void take_switch(struct taken *event)
{
	/* Zombie, dead, and TASK_DEAD, which was 64 before Linux 4.14. */
	const int64_t over = 16 | 32 | 64 | 128;
	int64_t state = field(event, PREV_STATE);
	bool is_over = state > 0 && (state & over);
	struct thread_row *prev =
	    process_table_find(event->table, event->node, tid_field(event, PREV_TID));

	/* Its last switch: when the tid comes again it is another thread. */
	if (!prev || !prev->gone || !is_over) /* else another session told it */
		prev = named(event, PREV_TID, PREV_COMM);
	if (prev && prev->end_ns != TIMELINE_NONE && is_over)
		prev->gone = true;
	named(event, NEXT_TID, NEXT_COMM);
}

static void inherit_namespaces(struct process_row *child,
			       const struct process_row *parent)
{
	for (size_t i = 0; i < NAMESPACES; i++) {
		child->namespace[i] = parent->namespace[i];
		child->is_inherited[i] = true;
	}
}

/* What is not known is 0 or TIMELINE_NONE. */
static void set_namespace(struct taken *event, const struct thread_row *thread, int kind,
			  int64_t inode)
{
	struct process_row *process = process_table_process(event->table, thread);

	if (inode <= 0)
		return;
	/* Idle is in no container. */
	if (thread->tid == 0)
		process_table_node(event->table, event->node)->namespace[kind] = inode;
	if (!process)
		return;
	process->namespace[kind] = inode;
	process->is_inherited[kind] = false;
}

/* Nor are the first process and kthreadd; a context may have a container's own numbers.
 */
static void take_dumped_namespace(struct taken *event)
{
	enum { KTHREADD = 2 };
	struct process_node *node = process_table_node(event->table, event->node);
	int64_t tid = tid_field(event, DUMP_TID), inode = field(event, DUMP_NAMESPACE);
	const struct thread_row *thread =
	    process_table_find(event->table, event->node, tid);
	int kind =
	    event->class->tag == AT_DUMP_CGROUP ? NAMESPACE_CGROUP : NAMESPACE_NETWORK;

	if (tid >= 0 && tid <= KTHREADD && inode > 0)
		node->namespace[kind] = inode;
	if (thread)
		set_namespace(event, thread, kind, inode);
}

static void take_fork(struct taken *event)
{
	struct thread_birth birth = {.node = event->node,
				     .tid = tid_field(event, CHILD_TID),
				     .pid = tid_field(event, CHILD_PID),
				     .ppid = tid_field(event, PARENT_PID),
				     .ts_ns = event->ts_ns};
	struct thread_row *thread = named(event, PARENT_TID, PARENT_COMM);
	struct process_row *process;
	int64_t parent = -1;

	if (thread && birth.ppid != TIMELINE_NONE)
		process_table_adopt(event->table, thread, birth.ppid, TIMELINE_NONE);
	if (thread)
		parent = thread->process;
	if (birth.tid == TIMELINE_NONE)
		return;
	thread = process_table_begin(event->table, &birth);
	set_comm(thread, text(event, event->class->column[CHILD_COMM]));
	if (parent < 0 || thread->process < 0 || parent == thread->process)
		return;
	process = &event->table->process[thread->process];
	if (process->exe < 0)
		process->exe = event->table->process[parent].exe;
	if (process->begin_ns == event->ts_ns)
		inherit_namespaces(process, &event->table->process[parent]);
}

static void take_exec(struct taken *event)
{
	int64_t tid = tid_field(event, EXEC_TID), old = tid_field(event, EXEC_OLD_TID);
	const struct cell *file = text(event, event->class->column[EXEC_FILE]);
	struct thread_row *thread;
	struct process_row *process;
	char *path;

	if (tid == TIMELINE_NONE)
		return;
	thread = process_table_exec(event->table, event->node, tid,
				    old == TIMELINE_NONE ? tid : old, event->ts_ns);
	process = process_table_process(event->table, thread);
	if (!file || !process)
		return;
	path = mem_strndup(file->bytes, file->size);
	process->exe = (int64_t)texts_put(&event->table->exe, path);
	free(path);
}

/* task->exit_code, as wait(2) has it: 0 where a signal ended it. */
static void take_exit_code(struct process_row *process, int64_t code)
{
	if (code != TIMELINE_NONE && (code & 0x7f) == 0 &&
	    process->group_status == TIMELINE_NONE)
		process->group_status = code >> 8;
}

static void take_exit(struct taken *event)
{
	struct thread_row *thread = named(event, EXIT_TID, EXIT_COMM);
	int64_t last = field(event, EXIT_GROUP_DEAD);
	struct process_row *process;

	process_table_node(event->table, event->node)->tells_exits = true;
	if (!thread || thread->tid == 0)
		return;
	process_table_end(event->table, thread, event->ts_ns);
	process = process_table_process(event->table, thread);
	if (!process)
		return;
	if (last == 0)
		process->end_ns = TIMELINE_NONE;
	else if (last != TIMELINE_NONE)
		process->end_ns = event->ts_ns;
	if (process->end_ns != TIMELINE_NONE)
		take_exit_code(process, field(event, EXIT_CODE));
}

static void take_free(struct taken *event)
{
	int64_t tid = tid_field(event, FREE_TID);
	struct thread_row *thread = process_table_find(event->table, event->node, tid);

	if (!thread || tid <= 0)
		return;
	/* It may be late, and the tid another thread's already. */
	if (thread->end_ns == TIMELINE_NONE &&
	    process_table_node(event->table, event->node)->tells_exits)
		return;
	process_table_end(event->table, thread, event->ts_ns);
	thread->gone = true;
}

static void take_dump(struct taken *event)
{
	int64_t tid = tid_field(event, DUMP_TID), pid = tid_field(event, DUMP_PID);
	struct thread_row *thread;

	/* One that ended and was not waited for is dumped, too: it is the same. */
	thread = process_table_find(event->table, event->node, tid);
	if (!thread)
		thread = named(event, DUMP_TID, DUMP_COMM);
	if (!thread)
		return;
	set_comm(thread, text(event, event->class->column[DUMP_COMM]));
	if (pid != TIMELINE_NONE)
		process_table_adopt(event->table, thread, pid,
				    tid_field(event, DUMP_PPID));
}

/* exit(2) ends a thread, exit_group(2) all of its process; the first one counts. */
static void take_exit_call(struct taken *event)
{
	int64_t status = field(event, ENTRY_STATUS);
	struct thread_row *thread;
	struct process_row *process;

	if (event->tid <= 0 || status == TIMELINE_NONE)
		return;
	thread = process_table_thread(event->table, event->node, event->tid);
	process = process_table_process(event->table, thread);
	if (!process)
		return;
	if (strcmp(event->class->call, "exit") == 0) {
		if (thread->tid == process->pid)
			process->leader_status = status & 0xff;
	} else if (process->group_status == TIMELINE_NONE) {
		process->group_status = status & 0xff;
	}
}

/* The context tells the name and the process of the thread that runs. */
static void take_context(struct taken *event)
{
	const int *context = event->class->context;
	int64_t pid = tid_of(event, context[CONTEXT_PID]);
	struct thread_row *thread;

	if (event->tid < 0)
		return;
	thread = process_table_thread(event->table, event->node, event->tid);
	set_comm(thread, text(event, context[CONTEXT_COMM]));
	if (thread->process < 0 && pid != TIMELINE_NONE)
		process_table_adopt(event->table, thread, pid,
				    tid_of(event, context[CONTEXT_PPID]));
	set_namespace(event, thread, NAMESPACE_CGROUP,
		      number(event, context[CONTEXT_CGROUP]));
	set_namespace(event, thread, NAMESPACE_NETWORK,
		      number(event, context[CONTEXT_NETWORK]));
}

void processes_event(struct processes *processes, uint32_t node,
		     const struct event_class *class, const struct cell *cell,
		     nsec_t ts_ns, int64_t tid)
{
	static void (*const take[])(struct taken *) = {
	    [AT_SWITCH] = take_switch,
	    [AT_FORK] = take_fork,
	    [AT_EXEC] = take_exec,
	    [AT_EXIT] = take_exit,
	    [AT_FREE] = take_free,
	    [AT_DUMP] = take_dump,
	    [AT_DUMP_CGROUP] = take_dumped_namespace,
	    [AT_DUMP_NETWORK] = take_dumped_namespace,
	    [AT_SYSCALL_ENTRY] = take_exit_call,
	};
	struct taken event = {.table = &processes->table,
			      .class = class,
			      .cell = cell,
			      .node = node,
			      .ts_ns = ts_ns,
			      .tid = tid};

	if (class->use & EVENT_CONTEXT)
		take_context(&event);
	if (class->use & EVENT_FOLLOWED)
		take[class->tag](&event);
}

int64_t processes_find(const struct processes *processes, uint32_t node, int64_t pid,
		       nsec_t ts_ns)
{
	return process_table_at(&processes->table, node, pid, ts_ns) + 1;
}

int64_t processes_thread(const struct processes *processes, uint32_t node, int64_t tid,
			 nsec_t ts_ns, const char **comm)
{
	int64_t index = process_table_thread_at(&processes->table, node, tid, ts_ns);
	const char *name = index < 0 ? "" : processes->table.thread[index].comm;

	*comm = *name ? name : NULL;
	return index + 1;
}

static int64_t exit_status(const struct process_row *row)
{
	if (row->end_ns == TIMELINE_NONE)
		return TIMELINE_NONE;
	return row->group_status != TIMELINE_NONE ? row->group_status
						  : row->leader_status;
}

/*
 * The namespace that tells a container; "host": none does; NULL: not known. Whoever is
 * not in a container may have put its child into one.
 */
static char *container_of(const struct process_table *table,
			  const struct process_row *row)
{
	static const char *const names[NAMESPACES] = {"cgroup", "net"};
	const int64_t *host = table->node[row->node].namespace;
	bool is_in_none = false;

	for (size_t i = 0; i < NAMESPACES; i++) {
		if (!row->namespace[i])
			continue;
		if (row->namespace[i] != host[i])
			return mem_printf("%s:%" PRId64, names[i], row->namespace[i]);
		is_in_none |= !row->is_inherited[i];
	}
	return is_in_none ? mem_strdup("host") : NULL;
}

static int write_process(const struct process_table *table, size_t index,
			 const struct merge_run *run, struct timeline_writer *writer,
			 struct error *error)
{
	const struct process_row *row = &table->process[index];
	const char *comm = row->leader < 0 ? "" : table->thread[row->leader].comm;
	char *container = container_of(table, row);
	int status;
	struct timeline_process out = {
	    .id = (int64_t)index + 1,
	    .node = run->node[row->node].id,
	    .pid = row->pid,
	    .ppid = row->ppid,
	    .comm = *comm ? comm : NULL,
	    .exe = row->exe < 0 ? NULL : texts_get(&table->exe, (size_t)row->exe),
	    .begin_ns = row->begin_ns,
	    .end_ns = row->end_ns,
	    .exit_status = exit_status(row),
	    .container = container};

	status = timeline_add_process(writer, &out, error);
	free(container);
	return status;
}

static int write_thread(const struct process_table *table, size_t index,
			const struct merge_run *run, struct timeline_writer *writer,
			struct error *error)
{
	const struct thread_row *row = &table->thread[index];
	struct timeline_thread out = {.id = (int64_t)index + 1,
				      .process = row->process < 0 ? TIMELINE_NONE
								  : row->process + 1,
				      .node = run->node[row->node].id,
				      .tid = row->tid,
				      .comm = *row->comm ? row->comm : NULL,
				      .begin_ns = row->begin_ns,
				      .end_ns = row->end_ns};

	return timeline_add_thread(writer, &out, error);
}

int processes_write(const struct processes *processes, const struct merge_run *run,
		    struct timeline_writer *writer, struct error *error)
{
	const struct process_table *table = &processes->table;

	for (size_t i = 0; i < table->processes; i++)
		if (write_process(table, i, run, writer, error))
			return -1;
	for (size_t i = 0; i < table->threads; i++)
		if (write_thread(table, i, run, writer, error))
			return -1;
	return 0;
}

void processes_free(struct processes *processes)
{
	if (!processes)
		return;
	process_table_clear(&processes->table);
	free(processes);
}
