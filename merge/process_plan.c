/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/process_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/intmap.h"
#include "base/mem.h"

static const struct {
	const char *class;
	enum process_kind kind;
} classes[] = {
    {"sched_switch", PROCESS_SWITCH},
    {"sched_process_fork", PROCESS_FORK},
    {"sched_process_exec", PROCESS_EXEC},
    {"sched_process_exit", PROCESS_EXIT},
    {"sched_process_free", PROCESS_FREE},
    {"lttng_statedump_process_state", PROCESS_DUMP},
    {"lttng_statedump_process_cgroup_ns", PROCESS_DUMP_CGROUP},
    {"lttng_statedump_process_net_ns", PROCESS_DUMP_NETWORK},
    {"syscall_entry_exit", PROCESS_EXIT_CALL},
    {"syscall_entry_exit_group", PROCESS_EXIT_GROUP_CALL},
    {"syscall_entry_clone", PROCESS_CLONE_ENTRY},
    {"syscall_exit_clone", PROCESS_CLONE_EXIT},
};

static const struct {
	enum process_kind kind;
	enum process_field field;
	const char *name;
} fields[] = {
    {PROCESS_SWITCH, FIELD_TID, "prev_tid"},
    {PROCESS_SWITCH, FIELD_COMM, "prev_comm"},
    {PROCESS_SWITCH, FIELD_STATE, "prev_state"},
    {PROCESS_SWITCH, FIELD_CHILD_TID, "next_tid"},
    {PROCESS_SWITCH, FIELD_CHILD_COMM, "next_comm"},
    {PROCESS_FORK, FIELD_TID, "parent_tid"},
    {PROCESS_FORK, FIELD_PID, "parent_pid"},
    {PROCESS_FORK, FIELD_COMM, "parent_comm"},
    {PROCESS_FORK, FIELD_CHILD_TID, "child_tid"},
    {PROCESS_FORK, FIELD_CHILD_PID, "child_pid"},
    {PROCESS_FORK, FIELD_CHILD_COMM, "child_comm"},
    {PROCESS_EXEC, FIELD_FILE, "filename"},
    {PROCESS_EXEC, FIELD_TID, "tid"},
    {PROCESS_EXEC, FIELD_OLD_TID, "old_tid"},
    {PROCESS_EXIT, FIELD_TID, "tid"},
    {PROCESS_EXIT, FIELD_COMM, "comm"},
    {PROCESS_EXIT, FIELD_GROUP_DEAD, "group_dead"},
    {PROCESS_EXIT, FIELD_EXIT_CODE, "exit_code"},
    {PROCESS_FREE, FIELD_TID, "tid"},
    {PROCESS_DUMP, FIELD_TID, "tid"},
    {PROCESS_DUMP, FIELD_PID, "pid"},
    {PROCESS_DUMP, FIELD_PPID, "ppid"},
    {PROCESS_DUMP, FIELD_COMM, "name"},
    {PROCESS_DUMP_CGROUP, FIELD_TID, "tid"},
    {PROCESS_DUMP_CGROUP, FIELD_NAMESPACE, "ns_inum"},
    {PROCESS_DUMP_NETWORK, FIELD_TID, "tid"},
    {PROCESS_DUMP_NETWORK, FIELD_NAMESPACE, "ns_inum"},
    {PROCESS_EXIT_CALL, FIELD_STATUS, "error_code"},
    {PROCESS_EXIT_GROUP_CALL, FIELD_STATUS, "error_code"},
    {PROCESS_CLONE_ENTRY, FIELD_FLAGS, "flags"},
    {PROCESS_CLONE_ENTRY, FIELD_FLAGS, "clone_flags"}, /* before LTTng 2.8 */
    {PROCESS_CLONE_EXIT, FIELD_RET, "ret"},
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Addresses of classes go here by some bits, in front of the map of all. */
enum { QUICK = 512 };

struct process_plans {
	struct entry {
		char *name;
		size_t columns;
		struct process_plan plan;
	} * entry;
	size_t count, room;
	struct intmap index; /* of entries, by address */
	struct quick {
		const struct ctf_class *class;
		const char *name; /* the entry's, as the rest */
		size_t columns, entry;
		bool tells;
	} quick[QUICK];
};

struct process_plans *process_plans_new(void)
{
	return mem_zalloc(sizeof(struct process_plans));
}

static int column_of(const struct ctf_class *class, const char *name, bool context)
{
	for (size_t i = 0; i < class->columns; i++)
		if (class->column[i].context == context &&
		    strcmp(class->column[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void make_plan(struct process_plan *plan, const struct ctf_class *class)
{
	plan->kind = PROCESS_OTHER;
	for (size_t i = 0; i < PROCESS_FIELDS; i++)
		plan->column[i] = -1;
	for (size_t i = 0; i < COUNT(classes); i++)
		if (strcmp(class->name, classes[i].class) == 0)
			plan->kind = classes[i].kind;
	for (size_t i = 0; i < COUNT(fields); i++)
		if (fields[i].kind == plan->kind && plan->column[fields[i].field] < 0)
			plan->column[fields[i].field] =
			    column_of(class, fields[i].name, false);
	plan->column[FIELD_CONTEXT_PID] = column_of(class, "pid", true);
	plan->column[FIELD_CONTEXT_PPID] = column_of(class, "ppid", true);
	plan->column[FIELD_CONTEXT_COMM] = column_of(class, "procname", true);
	plan->column[FIELD_CONTEXT_CGROUP] = column_of(class, "cgroup_ns", true);
	plan->column[FIELD_CONTEXT_NETWORK] = column_of(class, "net_ns", true);
	if (plan->column[FIELD_CONTEXT_PID] < 0) /* what user space has */
		plan->column[FIELD_CONTEXT_PID] = column_of(class, "vpid", true);
}

unsigned process_plan_tells(const struct process_plan *plan)
{
	unsigned tells = 0;

	if (plan->kind != PROCESS_OTHER)
		tells |= PROCESS_TELLS_FIELDS;
	for (int i = FIELD_CONTEXT_PID; i < PROCESS_FIELDS; i++)
		if (i != FIELD_CONTEXT_PPID && plan->column[i] >= 0)
			tells |= PROCESS_TELLS_CONTEXT;
	return tells;
}

unsigned process_class_tells(const struct ctf_class *class)
{
	struct process_plan plan;

	make_plan(&plan, class);
	return process_plan_tells(&plan);
}

/* An address may come again as another class, after its source was freed. */
static bool is_same(const struct ctf_class *class, const char *name, size_t columns)
{
	return class->columns == columns && strcmp(class->name, name) == 0;
}

static size_t look_up(struct process_plans *plans, const struct ctf_class *class)
{
	struct entry *entry;
	int64_t index;

	if (intmap_get(&plans->index, (uintptr_t) class, &index) &&
	    is_same(class, plans->entry[index].name, plans->entry[index].columns))
		return (size_t)index;
	plans->entry =
	    mem_grow(plans->entry, plans->count, &plans->room, sizeof(*plans->entry));
	entry = &plans->entry[plans->count];
	entry->name = mem_strdup(class->name);
	entry->columns = class->columns;
	make_plan(&entry->plan, class);
	intmap_put(&plans->index, (uintptr_t) class, (int64_t)plans->count);
	return plans->count++;
}

const struct process_plan *process_plans_find(struct process_plans *plans,
					      const struct ctf_class *class)
{
	struct quick *quick = &plans->quick[((uintptr_t) class >> 4) % QUICK];
	const struct entry *entry;

	if (quick->class != class || !is_same(class, quick->name, quick->columns)) {
		quick->class = class;
		quick->entry = look_up(plans, class);
		entry = &plans->entry[quick->entry];
		quick->name = entry->name;
		quick->columns = entry->columns;
		quick->tells = process_plan_tells(&entry->plan) != 0;
	}
	return quick->tells ? &plans->entry[quick->entry].plan : NULL;
}

void process_plans_free(struct process_plans *plans)
{
	if (!plans)
		return;
	for (size_t i = 0; i < plans->count; i++)
		free(plans->entry[i].name);
	free(plans->entry);
	intmap_clear(&plans->index);
	free(plans);
}
