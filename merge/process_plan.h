/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_PROCESS_PLAN_H
#define CT_MERGE_PROCESS_PLAN_H

#include "ctf/reader.h"

/* What an event class tells of processes, and in which columns; -1: none. */
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
	PROCESS_CLONE_ENTRY,
	PROCESS_CLONE_EXIT,
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
	FIELD_FLAGS,
	FIELD_RET,
	FIELD_NAMESPACE,
	FIELD_CONTEXT_PID, /* of the thread that runs, by the event's context */
	FIELD_CONTEXT_PPID,
	FIELD_CONTEXT_COMM,
	FIELD_CONTEXT_CGROUP, /* namespaces, by their inodes */
	FIELD_CONTEXT_NETWORK,
	PROCESS_FIELDS,
};

struct process_plan {
	enum process_kind kind;
	int column[PROCESS_FIELDS];
};

/* What a class tells of threads and processes, or-ed. */
enum process_tells {
	PROCESS_TELLS_FIELDS = 1,  /* its own fields do */
	PROCESS_TELLS_CONTEXT = 2, /* the context of each of its events does */
};

unsigned process_plan_tells(const struct process_plan *plan);
unsigned process_class_tells(const struct ctf_class *class);

struct process_plans;

struct process_plans *process_plans_new(void);

/* The plan of a class, valid until the next call; NULL: it tells nothing of them. */
const struct process_plan *process_plans_find(struct process_plans *plans,
					      const struct ctf_class *class);

void process_plans_free(struct process_plans *plans);

#endif
