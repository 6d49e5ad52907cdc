/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_EVENT_CLASS_H
#define CT_MERGE_EVENT_CLASS_H

#include "ctf/reader.h"
#include "merge/run.h"

/*
 * What a merge knows of an event class of a source, found once, when the source is
 * opened: what its events are used for, and in which columns stands what they tell.
 */
enum event_use {
	EVENT_SELECTED = 1, /* becomes a row */
	EVENT_FOLLOWED = 2, /* threads or processes are followed by its fields */
	EVENT_CONTEXT = 4,  /* or by its context */
	EVENT_CELLS = 8,    /* its cells are of use to who merges */
	EVENT_LINKED = 16,  /* it can be what a message was made of */
	EVENT_PAYLOAD = 32, /* its cells become a row of its class */
};

enum process_kind {
	PROCESS_OTHER,
	PROCESS_SWITCH,
	PROCESS_FORK,
	PROCESS_EXEC,
	PROCESS_EXIT,
	PROCESS_FREE,
	PROCESS_DUMP,
	PROCESS_DUMP_CGROUP,
	PROCESS_DUMP_NETWORK,
	PROCESS_EXIT_CALL,
	PROCESS_EXIT_GROUP_CALL,
	PROCESS_KINDS,
};

enum process_field {
	FIELD_TID, /* of a switch: the thread that goes, of a fork: the parent */
	FIELD_PID,
	FIELD_PPID,
	FIELD_COMM,
	FIELD_STATE,
	FIELD_CHILD_TID, /* of a switch: the thread that comes */
	FIELD_CHILD_PID,
	FIELD_CHILD_COMM,
	FIELD_FILE,
	FIELD_OLD_TID,
	FIELD_GROUP_DEAD,
	FIELD_EXIT_CODE,
	FIELD_STATUS,
	FIELD_NAMESPACE,
	FIELD_CONTEXT_PID, /* of the thread that runs, by the event's context */
	FIELD_CONTEXT_PPID,
	FIELD_CONTEXT_COMM,
	FIELD_CONTEXT_CGROUP, /* namespaces, by their inodes */
	FIELD_CONTEXT_NETWORK,
	PROCESS_FIELDS,
};

/* What it tells of processes, and in which columns; -1: none. */
struct process_plan {
	enum process_kind kind;
	int column[PROCESS_FIELDS];
};

struct event_class {
	const struct ctf_class *of; /* borrowed */
	unsigned use;
	int tid;        /* the column of the context that tells its thread */
	int prev, next; /* of sched_switch; -1: none */
	struct process_plan *process; /* NULL: it tells nothing of processes */
	enum cell_type *type;         /* of the columns of its table; NULL: it has none */
	size_t columns;

	/* While rows are written: as the timeline and others number them. */
	uint32_t id; /* 0: not added yet */
	int sent_class, span_class;
};

/* What the classes of a run are used for. */
struct event_wish {
	const struct selection *selection;
	bool payload; /* rows of classes */
	bool spans;
};

void event_class_init(struct event_class *class, const struct ctf_class *of,
		      const struct event_wish *wish);

/* Whether it was recorded with any of its cells. */
bool event_class_wants_cells(const struct event_class *class);

/* Of what use an event is by its time, or-ed; 0: of none. */
unsigned event_class_use(const struct event_class *class,
			 const struct selection *selection, nsec_t ts_ns);

/* Of what use it is before the selection's begin. */
enum ctf_use event_class_use_before(const struct event_class *class);

/* The column of a field, or of the context; -1: none. */
int event_column(const struct ctf_class *class, const char *name, bool context);

void event_class_clear(struct event_class *class);

#endif
