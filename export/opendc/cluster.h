/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_CLUSTER_H
#define CT_EXPORT_OPENDC_CLUSTER_H

#include "base/intmap.h"
#include "export/format.h"

/* The nodes of a timeline, with the processes and threads that ran there. */
enum { OPENDC_NONE = -1 };

/*
 * Processor time of a node, in nanoseconds, and where it went. Sums of integers, which a
 * double holds without loss for a hundred days; shares of samples are none.
 */
struct opendc_account {
	double idle_ns;
	double busy_ns; /* all other; the sum of the following, to 1 ppm */
	double task_ns;
	double kernel_ns;  /* of kernel threads, left out */
	double outside_ns; /* of processes outside of every task */
	double unknown_ns; /* of threads whose process is not known */
};

struct opendc_node {
	const struct scope_node *fact;
	nsec_t begin_ns, end_ns; /* what was recorded, within the scope */
	int64_t cpus;            /* 0: not known */
	double mhz;              /* of a core, at most; 0: not known */
	bool switches;           /* whether it has events of its scheduler */
	struct opendc_account account;
};

struct opendc_process {
	int64_t node; /* index */
	int64_t pid, ppid;
	char *comm;
	nsec_t begin_ns, end_ns; /* within what was recorded */
	bool sampled;            /* known by samples only */
	bool kernel;             /* a kernel thread */
	int64_t parent;          /* index; OPENDC_NONE: not known */
	char *label;             /* its group: cgroup, session; NULL: not recorded */
	int64_t thread;          /* index of its first one; OPENDC_NONE */
	int64_t task;            /* index, where a process has one; OPENDC_NONE */
	int64_t next_of_task;    /* the task's next process; OPENDC_NONE */
	/* Of invocations: its own, an array's part; and itself or the nearest ancestor
	 * that has some. */
	size_t claim, claims;
	int64_t keeper;
	/* Memory that it was last seen with, counted in which task. */
	int64_t rss, rss_task, rss_next;
};

struct opendc_thread {
	int64_t id;        /* thread.id of the timeline */
	int64_t node, tid; /* index, and the number */
	nsec_t begin_ns;
	int64_t process; /* index */
	int64_t next;    /* of the process; OPENDC_NONE */
};

struct opendc_cluster {
	struct opendc_node *node;
	size_t nodes;
	struct opendc_process *process;
	size_t processes, process_room;
	struct intmap process_of_id;     /* process.id of the timeline: index */
	struct intmap process_of_thread; /* the same by thread.id, of its own */
	struct opendc_thread *thread;    /* by node, tid, begin */
	size_t threads, thread_room;
	struct intmap thread_of_id;  /* thread.id: index */
	struct intmap first;         /* of a node and tid in `thread` */
	struct intmap newest, older; /* of a node and pid: by begin, the last first */
	size_t outside; /* processes that ended before the scope, or began after it */
};

/* Read all of them. 0, or -1 with error. */
int opendc_cluster_load(struct opendc_cluster *cluster, struct export *export,
			struct error *error);

/* The index of a node by its id; OPENDC_NONE where it was not chosen. */
int64_t opendc_node_of(const struct opendc_cluster *cluster, int64_t id);

/* The process of a thread of a node (an index) at a time; OPENDC_NONE. */
int64_t opendc_process_of_thread(const struct opendc_cluster *cluster, int64_t node,
				 int64_t tid, nsec_t when);

/* The process with a pid at a time; OPENDC_NONE. */
int64_t opendc_process_of_pid(const struct opendc_cluster *cluster, int64_t node,
			      int64_t pid, nsec_t when);

/* Add one, without its parent; its index. Takes comm. */
int64_t opendc_add_process(struct opendc_cluster *cluster,
			   const struct opendc_process *process);

/* Once all processes are there: who is whose parent, and which are kernel threads. */
void opendc_find_parents(struct opendc_cluster *cluster);

void opendc_cluster_clear(struct opendc_cluster *cluster);

#endif
