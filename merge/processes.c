/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/processes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "timeline/reader.h"

/* The lifetime of one owner of a pid or tid. Rows stay in order of appearance; the node's
 * maps give the current owner. TIMELINE_NONE is unknown. Pointers to rows are valid until
 * the next row is added. */
struct life {
	int64_t number;
	int64_t previous; /* index of the row that had the number before, or -1 */
	uint32_t node;
	nsec_t begin_ns, end_ns;
};

struct thread_row {
	struct life life;
	int64_t process; /* index, -1: not known yet */
	bool gone;       /* it ended, and its tid is free again */
	char comm[16];   /* as long as the kernel has it, the last one seen */
};

/* Namespaces that identify a container, by their inodes; 0: not known. */
enum { NAMESPACE_CGROUP, NAMESPACE_NETWORK, NAMESPACES, CONTAINER = 32 /* its name */ };

struct process_row {
	struct life life;
	int64_t ppid;
	int64_t leader;                      /* index of its first thread, -1: not seen */
	int64_t exe;                         /* index in texts; -1 if unknown */
	int64_t group_status, leader_status; /* what was passed to exit(2) */
	uint32_t alive;                      /* threads known, and not ended */
	int64_t namespace[NAMESPACES];
	bool is_inherited[NAMESPACES]; /* so far only its parent's is known */
};

struct process_node {
	struct intmap thread, process; /* by tid and pid: the latest */
	bool has_exits;                /* such events occurred */
	int64_t namespace[NAMESPACES]; /* namespaces of the node itself */
};

struct processes {
	struct thread_row *thread;
	struct process_row *process;
	size_t threads, thread_capacity, count, capacity;
	struct process_node *node;
	size_t nodes;
	struct texts exe;
	const struct merged_event *event; /* the current event */
	struct process_node *here;        /* its node */
};

struct processes *processes_new(size_t nodes)
{
	struct processes *all = mem_zalloc(sizeof(*all));

	all->nodes = nodes;
	all->node = mem_zalloc((nodes + 1) * sizeof(*all->node));
	return all;
}

/* Start the lifetime of a new row: make it the current owner of `number`, linked to the
 * previous owner. */
static struct life begin_lifetime(const struct processes *all, struct intmap *map,
				  int64_t number, size_t row)
{
	struct life life = {number, -1, all->event->node, TIMELINE_NONE, TIMELINE_NONE};

	if (!intmap_get(map, (uint64_t)number, &life.previous))
		life.previous = -1;
	intmap_put(map, (uint64_t)number, (int64_t)row);
	return life;
}

static struct thread_row *add_thread(struct processes *all, int64_t tid)
{
	struct life life = begin_lifetime(all, &all->here->thread, tid, all->threads);
	struct thread_row *row =
	    MEM_NEXT(all->thread, all->threads, all->thread_capacity);

	*row = (struct thread_row){.life = life, .process = -1};
	return row;
}

static int64_t add_process(struct processes *all, int64_t pid)
{
	struct life life = begin_lifetime(all, &all->here->process, pid, all->count);

	*MEM_NEXT(all->process, all->count, all->capacity) =
	    (struct process_row){.life = life,
				 .ppid = TIMELINE_NONE,
				 .leader = -1,
				 .exe = -1,
				 .group_status = TIMELINE_NONE,
				 .leader_status = TIMELINE_NONE};
	return (int64_t)all->count - 1;
}

static struct thread_row *find_thread(struct processes *all, int64_t tid)
{
	int64_t index;

	return intmap_get(&all->here->thread, (uint64_t)tid, &index) ? &all->thread[index]
								     : NULL;
}

static struct process_row *process_of(struct processes *all,
				      const struct thread_row *thread)
{
	return thread->process < 0 ? NULL : &all->process[thread->process];
}

/* A thread joins a process, which lives on by that. */
static void set_thread_process(struct processes *all, struct thread_row *thread,
			       int64_t process)
{
	struct process_row *row = &all->process[process];

	thread->process = process;
	if (thread->life.number == row->life.number)
		row->leader = thread - all->thread;
	if (thread->life.end_ns == TIMELINE_NONE) {
		row->alive++;
		row->life.end_ns = TIMELINE_NONE;
	} else if (!row->alive && row->life.end_ns == TIMELINE_NONE) {
		row->life.end_ns = thread->life.end_ns;
	}
}

/* Set a thread's process, once it is known; ppid may be TIMELINE_NONE. */
static void resolve_thread_process(struct processes *all, struct thread_row *thread,
				   int64_t pid, int64_t ppid)
{
	int64_t process = thread->process;

	if (process < 0) {
		/* A first thread that lives is not of a process that ended. */
		if (!intmap_get(&all->here->process, (uint64_t)pid, &process) ||
		    (thread->life.number == pid && thread->life.end_ns == TIMELINE_NONE &&
		     all->process[process].life.end_ns != TIMELINE_NONE))
			process = add_process(all, pid);
		set_thread_process(all, thread, process);
	}
	if (all->process[process].life.number == pid &&
	    all->process[process].ppid == TIMELINE_NONE)
		all->process[process].ppid = ppid;
}

/* Return the thread with a tid. An unknown one existed before the recording. */
static struct thread_row *thread_of(struct processes *all, int64_t tid)
{
	struct thread_row *thread = find_thread(all, tid);

	if (thread && !thread->gone)
		return thread;
	thread = add_thread(all, tid);
	if (tid == 0) { /* every processor has one of this number */
		resolve_thread_process(all, thread, 0, TIMELINE_NONE);
		strcpy(thread->comm, "swapper");
	}
	return thread;
}

static void end_thread(struct processes *all, struct thread_row *thread)
{
	struct process_row *process = process_of(all, thread);

	if (thread->life.end_ns != TIMELINE_NONE)
		return;
	thread->life.end_ns = all->event->ts_ns;
	if (process && process->alive && --process->alive == 0)
		process->life.end_ns = all->event->ts_ns;
}

/* Add a new thread; if tid and pid are equal, also its process. */
static struct thread_row *begin_thread(struct processes *all, int64_t tid, int64_t pid,
				       int64_t ppid)
{
	struct thread_row *thread = find_thread(all, tid);
	nsec_t now = all->event->ts_ns;
	int64_t process;

	/* Two sessions recorded it: no tid is reused so soon with its end lost. */
	if (thread && thread->life.end_ns == TIMELINE_NONE &&
	    thread->life.begin_ns != TIMELINE_NONE &&
	    nsec_sub(now, thread->life.begin_ns) < NSEC_PER_MSEC / 2)
		return thread;
	if (thread)
		end_thread(all, thread);
	thread = add_thread(all, tid);
	thread->life.begin_ns = now;
	if (pid == tid) {
		/* The process that had the pid has ended, even if its end was not
		 * recorded. */
		if (intmap_get(&all->here->process, (uint64_t)pid, &process)) {
			all->process[process].alive = 0;
			if (all->process[process].life.end_ns == TIMELINE_NONE)
				all->process[process].life.end_ns = now;
		}
		set_thread_process(all, thread, add_process(all, pid));
		process_of(all, thread)->life.begin_ns = now;
	}
	if (pid != TIMELINE_NONE)
		resolve_thread_process(all, thread, pid,
				       pid == tid ? ppid : TIMELINE_NONE);
	return thread;
}

/* Return a tid, or TIMELINE_NONE if it is not one. */
static int64_t tid_of(const struct cell *cell)
{
	int64_t tid = cell_integer(cell, TIMELINE_NONE);

	return tid < 0 ? TIMELINE_NONE : tid;
}

static int64_t tid_field(const struct processes *all, int place)
{
	return tid_of(event_field(all->event, place));
}

/* A name that is not UTF-8 is a blob. */
static void set_comm(struct thread_row *thread, const struct cell *cell)
{
	size_t size = cell_has_bytes(cell) ? strnlen(cell->bytes, cell->size) : 0;

	if (!size || thread->life.number == 0)
		return;
	memset(thread->comm, 0, sizeof(thread->comm));
	memcpy(thread->comm, cell->bytes,
	       size < sizeof(thread->comm) ? size : sizeof(thread->comm) - 1);
}

/* Return the thread of a field, with the name in another field; or NULL. */
static struct thread_row *thread_of_field(struct processes *all, int tid, int comm)
{
	int64_t is = tid_field(all, tid);
	struct thread_row *thread;

	if (is == TIMELINE_NONE)
		return NULL;
	thread = thread_of(all, is);
	set_comm(thread, event_field(all->event, comm));
	return thread;
}

static void on_switch(struct processes *all)
{
	/* Zombie, dead, and TASK_DEAD, which was 64 before Linux 4.14. */
	const int64_t over = 16 | 32 | 64 | 128;
	int64_t state = event_integer(all->event, PREV_STATE, TIMELINE_NONE);
	bool is_over = state > 0 && (state & over);
	struct thread_row *prev = find_thread(all, tid_field(all, PREV_TID));

	/* Its last switch: after that the tid is another thread's. */
	if (!prev || !prev->gone || !is_over) /* otherwise another session recorded it */
		prev = thread_of_field(all, PREV_TID, PREV_COMM);
	if (prev && prev->life.end_ns != TIMELINE_NONE && is_over)
		prev->gone = true;
	thread_of_field(all, NEXT_TID, NEXT_COMM);
}

/* Numbers up to `host` are of idle, the first process and kthreadd, which are in no
 * container. An inode that is not known is 0 or TIMELINE_NONE. */
static void set_namespace(struct processes *all, int64_t tid, int64_t host, int kind,
			  int64_t inode)
{
	const struct thread_row *thread = find_thread(all, tid);
	struct process_row *process = thread ? process_of(all, thread) : NULL;

	if (inode <= 0)
		return;
	if (tid >= 0 && tid <= host)
		all->here->namespace[kind] = inode;
	if (!process)
		return;
	process->namespace[kind] = inode;
	process->is_inherited[kind] = false;
}

static void on_dumped_namespace(struct processes *all)
{
	enum { KTHREADD = 2 };
	int kind = all->event->class->tag == AT_DUMP_CGROUP ? NAMESPACE_CGROUP
							    : NAMESPACE_NETWORK;

	set_namespace(all, tid_field(all, DUMP_TID), KTHREADD, kind,
		      event_integer(all->event, DUMP_NAMESPACE, TIMELINE_NONE));
}

/* A new process has its parent's program and namespaces. */
static void inherit_facts(const struct processes *all, struct process_row *child,
			  const struct process_row *parent)
{
	if (child->exe < 0)
		child->exe = parent->exe;
	for (size_t i = 0; i < NAMESPACES && child->life.begin_ns == all->event->ts_ns;
	     i++) {
		child->namespace[i] = parent->namespace[i];
		child->is_inherited[i] = true;
	}
}

static void on_fork(struct processes *all)
{
	int64_t tid = tid_field(all, CHILD_TID), ppid = tid_field(all, PARENT_PID);
	struct thread_row *thread = thread_of_field(all, PARENT_TID, PARENT_COMM);
	int64_t parent;

	if (thread && ppid != TIMELINE_NONE)
		resolve_thread_process(all, thread, ppid, TIMELINE_NONE);
	parent = thread ? thread->process : -1;
	if (tid == TIMELINE_NONE)
		return;
	thread = begin_thread(all, tid, tid_field(all, CHILD_PID), ppid);
	set_comm(thread, event_field(all->event, CHILD_COMM));
	if (parent >= 0 && thread->process >= 0 && parent != thread->process)
		inherit_facts(all, &all->process[thread->process], &all->process[parent]);
}

/* A thread executes another program. It is its process's first thread from now on,
 * and so has its tid, whatever its own was before. */
static void on_exec(struct processes *all)
{
	int64_t tid = tid_field(all, EXEC_TID), old = tid_field(all, EXEC_OLD_TID);
	const struct cell *file = event_field(all->event, EXEC_FILE);
	bool is_other = old != TIMELINE_NONE && old != tid;
	struct thread_row *thread;
	struct process_row *process;

	if (tid == TIMELINE_NONE)
		return;
	thread = find_thread(all, tid);
	if (is_other && (!thread || thread->life.end_ns != TIMELINE_NONE)) {
		int64_t of = thread ? thread->process : -1;

		thread = add_thread(all, tid);
		thread->life.begin_ns = all->event->ts_ns;
		if (of >= 0)
			set_thread_process(all, thread, of);
	}
	thread = thread_of(all, tid);
	resolve_thread_process(all, thread, tid, TIMELINE_NONE);
	if (is_other && find_thread(all, old))
		end_thread(all, find_thread(all, old));
	process = process_of(all, thread);
	if (cell_has_bytes(file) && process)
		process->exe = (int64_t)texts_put_bytes(&all->exe, file->bytes,
							strnlen(file->bytes, file->size));
}

static void on_exit_event(struct processes *all)
{
	struct thread_row *thread = thread_of_field(all, EXIT_TID, EXIT_COMM);
	int64_t last = event_integer(all->event, EXIT_GROUP_DEAD, TIMELINE_NONE),
		code = event_integer(all->event, EXIT_CODE, TIMELINE_NONE);
	struct process_row *process;

	all->here->has_exits = true;
	if (!thread || thread->life.number == 0)
		return;
	end_thread(all, thread);
	process = process_of(all, thread);
	if (!process)
		return;
	if (last != TIMELINE_NONE)
		process->life.end_ns = last ? all->event->ts_ns : TIMELINE_NONE;
	/* task->exit_code, as in wait(2): 0 if it exited */
	if (process->life.end_ns != TIMELINE_NONE && code != TIMELINE_NONE &&
	    (code & 0x7f) == 0 && process->group_status == TIMELINE_NONE)
		process->group_status = code >> 8;
}

static void on_free(struct processes *all)
{
	int64_t tid = tid_field(all, FREE_TID);
	struct thread_row *thread = find_thread(all, tid);

	/* The event can be so late that another thread has the tid. */
	if (!thread || tid <= 0 ||
	    (thread->life.end_ns == TIMELINE_NONE && all->here->has_exits))
		return;
	end_thread(all, thread);
	thread->gone = true;
}

static void on_dump(struct processes *all)
{
	struct thread_row *thread = find_thread(all, tid_field(all, DUMP_TID));
	int64_t pid = tid_field(all, DUMP_PID);

	/* One that ended and was not waited for is dumped, too: it is the same. */
	thread = thread ? thread : thread_of_field(all, DUMP_TID, DUMP_COMM);
	if (!thread)
		return;
	set_comm(thread, event_field(all->event, DUMP_COMM));
	if (pid != TIMELINE_NONE)
		resolve_thread_process(all, thread, pid, tid_field(all, DUMP_PPID));
}

/* exit(2) ends a thread, exit_group(2) all of its process; the first one counts. */
static void on_exit_call(struct processes *all)
{
	int64_t status = event_integer(all->event, ENTRY_STATUS, TIMELINE_NONE);
	struct process_row *process;

	if (all->event->tid <= 0 || status == TIMELINE_NONE)
		return;
	process = process_of(all, thread_of(all, all->event->tid));
	if (!process)
		return;
	if (strcmp(all->event->class->call, "exit") == 0 &&
	    all->event->tid == process->life.number)
		process->leader_status = status & 0xff;
	if (strcmp(all->event->class->call, "exit") != 0 &&
	    process->group_status == TIMELINE_NONE)
		process->group_status = status & 0xff;
}

/* The context has the name and the process of the thread that runs. */
static void on_context(struct processes *all)
{
	const struct cell *cell[CONTEXT_FIELDS];
	struct thread_row *thread;
	int64_t pid;

	if (all->event->tid < 0)
		return;
	for (int i = 0; i < CONTEXT_FIELDS; i++)
		cell[i] = event_cell(all->event->cell, all->event->class->context[i]);
	thread = thread_of(all, all->event->tid);
	set_comm(thread, cell[CONTEXT_COMM]);
	pid = tid_of(cell[CONTEXT_PID]);
	if (thread->process < 0 && pid != TIMELINE_NONE)
		resolve_thread_process(all, thread, pid, tid_of(cell[CONTEXT_PPID]));
	/* But for idle's, these may be a container's own numbers. */
	set_namespace(all, all->event->tid, 0, NAMESPACE_CGROUP,
		      cell_integer(cell[CONTEXT_CGROUP], 0));
	set_namespace(all, all->event->tid, 0, NAMESPACE_NETWORK,
		      cell_integer(cell[CONTEXT_NETWORK], 0));
}

void processes_event(struct processes *all, const struct merged_event *event)
{
	static void (*const on[])(struct processes *) = {
	    [AT_SWITCH] = on_switch,
	    [AT_FORK] = on_fork,
	    [AT_EXEC] = on_exec,
	    [AT_EXIT] = on_exit_event,
	    [AT_FREE] = on_free,
	    [AT_DUMP] = on_dump,
	    [AT_DUMP_CGROUP] = on_dumped_namespace,
	    [AT_DUMP_NETWORK] = on_dumped_namespace,
	    [AT_SYSCALL_ENTRY] = on_exit_call};

	all->event = event;
	all->here = &all->node[event->node];
	if (event->class->use & EVENT_CONTEXT)
		on_context(all);
	if (event->class->use & EVENT_FOLLOWED)
		on[event->class->tag](all);
}

int64_t processes_thread(const struct processes *all, uint32_t node, int64_t tid,
			 nsec_t ts_ns, const char **comm)
{
	const struct thread_row *row, *before;
	int64_t index;

	*comm = NULL;
	if (node >= all->nodes ||
	    !intmap_get(&all->node[node].thread, (uint64_t)tid, &index))
		return 0;
	/* The latest that began by then, or the first. */
	for (row = &all->thread[index]; row->life.previous >= 0; row = before) {
		before = &all->thread[row->life.previous];
		if (row->life.begin_ns == TIMELINE_NONE ? before->life.end_ns < ts_ns
							: row->life.begin_ns <= ts_ns)
			break;
	}
	if (*row->comm)
		*comm = row->comm;
	return row - all->thread + 1;
}

/* Return the namespace that identifies a container; "host" if none does; NULL if unknown.
 * A process outside containers may have put its child into one. */
static const char *container_of(const struct processes *all,
				const struct process_row *row, char text[CONTAINER])
{
	static const char *const names[NAMESPACES] = {"cgroup", "net"};
	const int64_t *host = all->node[row->life.node].namespace;
	bool is_in_none = false;

	for (size_t i = 0; i < NAMESPACES; i++) {
		if (row->namespace[i] && row->namespace[i] != host[i])
			return snprintf(text, CONTAINER, "%s:%" PRId64, names[i],
					row->namespace[i]) > 0
				   ? text
				   : NULL;
		is_in_none |= row->namespace[i] && !row->is_inherited[i];
	}
	return is_in_none ? "host" : NULL;
}

static int write_process(const struct processes *all, const struct process_row *row,
			 int64_t node, struct timeline_writer *writer,
			 struct error *error)
{
	const char *comm = row->leader < 0 ? "" : all->thread[row->leader].comm;
	char container[CONTAINER];
	const struct timeline_process out = {
	    .id = row - all->process + 1,
	    .node = node,
	    .pid = row->life.number,
	    .ppid = row->ppid,
	    .comm = *comm ? comm : NULL,
	    .exe = row->exe < 0 ? NULL : texts_get(&all->exe, (size_t)row->exe),
	    .begin_ns = row->life.begin_ns,
	    .end_ns = row->life.end_ns,
	    .exit_status = row->life.end_ns == TIMELINE_NONE    ? TIMELINE_NONE
			   : row->group_status != TIMELINE_NONE ? row->group_status
								: row->leader_status,
	    .container = container_of(all, row, container)};

	return timeline_add_process(writer, &out, error);
}

int processes_write(const struct processes *all, const struct merge_run *run,
		    struct timeline_writer *writer, struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < all->count && !status; i++)
		status =
		    write_process(all, &all->process[i],
				  run->node[all->process[i].life.node].id, writer, error);
	for (size_t i = 0; i < all->threads && !status; i++) {
		const struct thread_row *row = &all->thread[i];
		struct timeline_thread out = {
		    .id = (int64_t)i + 1,
		    .process = row->process < 0 ? TIMELINE_NONE : row->process + 1,
		    .node = run->node[row->life.node].id,
		    .tid = row->life.number,
		    .comm = *row->comm ? row->comm : NULL,
		    .begin_ns = row->life.begin_ns,
		    .end_ns = row->life.end_ns};

		status = timeline_add_thread(writer, &out, error);
	}
	return status;
}

void processes_free(struct processes *all)
{
	if (!all)
		return;
	for (size_t i = 0; i < all->nodes; i++) {
		intmap_clear(&all->node[i].thread);
		intmap_clear(&all->node[i].process);
	}
	free(all->node);
	free(all->thread);
	free(all->process);
	texts_clear(&all->exe);
	free(all);
}
