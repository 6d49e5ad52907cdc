/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_TASKS_H
#define CT_EXPORT_OPENDC_TASKS_H

#include "export/opendc/cluster.h"
#include "export/opendc/opendc.h"

struct opendc_work {
	uint32_t index; /* of the fragment */
	double work;    /* MHz times nanoseconds */
};

/* A task of the trace. Its id is its index, plus 1. */
struct opendc_task {
	int64_t node; /* index */
	char *name;
	nsec_t submit_ns, begin_ns, end_ns; /* begin_ns <= end_ns */
	int64_t allocated;        /* processors that it was given; 0: not recorded */
	nsec_t deadline_ns;       /* NSEC_MIN: none */
	int64_t row;              /* where it stood in the timeline: order among equals */
	size_t parents, children; /* how many, and the first of each in the edges */
	size_t first_parent, first_child;
	/* Memory: bytes that its processes have now, and had at most; -1: not known. */
	int64_t rss, rss_peak;
	int64_t rss_first; /* its processes of which that is the sum */
	int64_t pages, pages_peak;
	int64_t process; /* the first one of its processes; OPENDC_NONE: of invocations */
	struct opendc_work *work; /* by fragment, as it comes (opendc/charge.h) */
	size_t works, work_room;
	/* What its fragments came to. */
	int32_t cpu_count;
	double cpu_capacity; /* MHz */
	int64_t duration_ms;
};

/* That a task of one index is the parent of one of another. */
struct opendc_edge {
	uint32_t parent, child;
};

/* That a process works for a task for some time. */
struct opendc_claim {
	int64_t process;
	nsec_t begin_ns, end_ns;
	nsec_t
	    latest_ns; /* the last end of this one and those of the process before it */
	int64_t task;
};

struct opendc_tasks {
	enum opendc_kind kind;
	struct opendc_task *task;
	size_t tasks, room;
	struct opendc_claim *claim; /* of invocations: by process, begin */
	size_t claims, claim_room;
	struct opendc_edge *edge; /* by child, then parent; twice by parent, then child */
	size_t edges, edge_room;
	struct opendc_edge *by_parent;
	size_t outside;     /* invocations outside of the scope */
	size_t unplaced;    /* without a node, or without a begin */
	size_t processless; /* whose process is not known */
	size_t unended;     /* whose end was not recorded */
	size_t ungrouped;   /* processes without a group, of the kind of the tasks */
	size_t kernels;     /* kernel threads left out */
	size_t strays;      /* parents that are not there, or begin later */
};

/*
 * The tasks of a timeline, sorted by submission, and what processes do for them. The
 * kind OPENDC_ANY becomes the one that is there. 0, or -1 with error.
 */
int opendc_tasks_load(struct opendc_tasks *tasks, struct opendc_cluster *cluster,
		      const struct opendc_choice *choice, struct export *export,
		      struct error *error);

/* Add one; its index until they are sorted. Takes the name. */
int64_t opendc_add_task(struct opendc_tasks *tasks, const struct opendc_task *task);

/* Whether the timeline has invocations at all: 1, 0, or -1 with error. */
int opendc_has_invocations(struct export *export, struct error *error);

/* Those of the timeline, with claims and edges. 0, or -1 with error. */
int opendc_invocations_load(struct opendc_tasks *tasks, struct opendc_cluster *cluster,
			    struct export *export, struct error *error);

/* Which group each process is of: its label. 0, or -1 with error. */
int opendc_label_processes(struct opendc_cluster *cluster, enum opendc_kind kind,
			   struct export *export, struct error *error);

void opendc_add_edge(struct opendc_tasks *tasks, int64_t parent, int64_t child);

void opendc_tasks_clear(struct opendc_tasks *tasks);

#endif
