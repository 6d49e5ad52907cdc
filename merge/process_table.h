/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_PROCESS_TABLE_H
#define CT_MERGE_PROCESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/nsec.h"

/*
 * Threads and processes as they came up, of all nodes. Rows stay; which of them
 * a number means now is in the maps of its node. TIMELINE_NONE is what is not
 * known. Pointers to rows hold until the next row comes.
 */
struct thread_row {
	int64_t tid;
	int64_t process;  /* index, -1: not known yet */
	int64_t previous; /* index of the thread that had the tid before, or -1 */
	uint32_t node;
	bool gone; /* it ended, and its tid is free again */
	nsec_t begin_ns, end_ns;
	char comm[16]; /* as the kernel keeps it, the last one seen */
};

/* Namespaces that tell a container, by their inodes; 0: not known. */
enum { NAMESPACE_CGROUP, NAMESPACE_NETWORK, NAMESPACES };

struct process_row {
	int64_t pid, ppid;
	int64_t leader;   /* index of its first thread, -1: not seen */
	int64_t previous; /* index of the process that had the pid before, or -1 */
	int64_t exe;      /* in texts, -1: not known */
	int64_t group_status, leader_status; /* what was passed to exit(2) */
	nsec_t begin_ns, end_ns;
	uint32_t node;
	uint32_t alive; /* threads known, and not ended */
	int64_t namespace[NAMESPACES];
	bool is_inherited[NAMESPACES]; /* so far only its parent's is known */
};

struct process_table {
	struct thread_row *thread;
	struct process_row *process;
	size_t threads, thread_room, processes, process_room;
	struct process_node {
		struct intmap thread, process; /* by tid and pid: the latest */
		bool tells_exits;              /* such events came */
		int64_t namespace[NAMESPACES]; /* of the node itself */
	} * node;
	size_t nodes;
	struct texts exe;
};

struct process_node *process_table_node(struct process_table *table, uint32_t node);

/* The thread that has a tid, or NULL. */
struct thread_row *process_table_find(struct process_table *table, uint32_t node,
				      int64_t tid);

/* The same, one that was there already where none is known. */
struct thread_row *process_table_thread(struct process_table *table, uint32_t node,
					int64_t tid);

/* A thread's process, or NULL. */
struct process_row *process_table_process(struct process_table *table,
					  const struct thread_row *thread);

/* It came out to which process a thread belongs; ppid may be TIMELINE_NONE. */
void process_table_adopt(struct process_table *table, struct thread_row *thread,
			 int64_t pid, int64_t ppid);

/* A thread begins; as a process of its own where both numbers are the same. */
struct thread_birth {
	uint32_t node;
	int64_t tid, pid, ppid; /* pid may be TIMELINE_NONE */
	nsec_t ts_ns;
};
struct thread_row *process_table_begin(struct process_table *table,
				       const struct thread_birth *birth);

void process_table_end(struct process_table *table, struct thread_row *thread,
		       nsec_t ts_ns);

/*
 * A thread executes another program. It is its process's first thread from now on,
 * and so has its tid, whatever its own was before.
 */
struct thread_row *process_table_exec(struct process_table *table, uint32_t node,
				      int64_t tid, int64_t old_tid, nsec_t ts_ns);

/* The process that had a pid at a time: index, or -1. */
int64_t process_table_at(const struct process_table *table, uint32_t node, int64_t pid,
			 nsec_t ts_ns);

/* The thread that had a tid at a time, the first one before that: index, or -1. */
int64_t process_table_thread_at(const struct process_table *table, uint32_t node,
				int64_t tid, nsec_t ts_ns);

void process_table_clear(struct process_table *table);

#endif
