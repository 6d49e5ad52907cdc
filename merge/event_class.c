/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/event_class.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "merge/links.h"
#include "merge/spans/spans.h"
#include "timeline/writer.h"

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
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

int event_column(const struct ctf_class *class, const char *name, bool context)
{
	for (size_t i = 0; i < class->columns; i++)
		if (class->column[i].context == context &&
		    strcmp(class->column[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* The context of the kernel, or else that of user space. */
static int context_column(const struct ctf_class *class, const char *name,
			  const char *user_name)
{
	int column = event_column(class, name, true);

	return column < 0 ? event_column(class, user_name, true) : column;
}

static void find_process_columns(struct process_plan *plan, const struct ctf_class *class)
{
	plan->kind = PROCESS_OTHER;
	for (size_t i = 0; i < PROCESS_FIELDS; i++)
		plan->column[i] = -1;
	for (size_t i = 0; i < COUNT(classes); i++)
		if (strcmp(class->name, classes[i].class) == 0)
			plan->kind = classes[i].kind;
	for (size_t i = 0; i < COUNT(fields); i++)
		if (fields[i].kind == plan->kind)
			plan->column[fields[i].field] =
			    event_column(class, fields[i].name, false);
	plan->column[FIELD_CONTEXT_PID] = context_column(class, "pid", "vpid");
	plan->column[FIELD_CONTEXT_PPID] = event_column(class, "ppid", true);
	plan->column[FIELD_CONTEXT_COMM] = event_column(class, "procname", true);
	plan->column[FIELD_CONTEXT_CGROUP] = event_column(class, "cgroup_ns", true);
	plan->column[FIELD_CONTEXT_NETWORK] = event_column(class, "net_ns", true);
}

/* What it tells of threads and processes. */
static void plan_processes(struct event_class *class)
{
	struct process_plan plan;

	find_process_columns(&plan, class->of);
	if (plan.kind != PROCESS_OTHER)
		class->use |= EVENT_FOLLOWED;
	for (int i = FIELD_CONTEXT_PID; i < PROCESS_FIELDS; i++)
		if (i != FIELD_CONTEXT_PPID && plan.column[i] >= 0)
			class->use |= EVENT_CONTEXT;
	if (!(class->use & (EVENT_FOLLOWED | EVENT_CONTEXT)))
		return;
	class->process = mem_alloc(sizeof(plan));
	*class->process = plan;
}

/* Contexts such as `tid` tell the thread without the rest of the payload. */
static bool has_context(const struct ctf_class *class)
{
	for (size_t i = 0; i < class->columns; i++)
		if (class->column[i].context)
			return true;
	return false;
}

void event_class_init(struct event_class *class, const struct ctf_class *of,
		      const struct event_wish *wish)
{
	bool is_switch = strcmp(of->name, "sched_switch") == 0;

	*class = (struct event_class){
	    .of = of,
	    .tid = context_column(of, "tid", "vtid"),
	    .prev = is_switch ? event_column(of, "prev_tid", false) : -1,
	    .next = is_switch ? event_column(of, "next_tid", false) : -1,
	    .use = links_wants(of) ? EVENT_LINKED : 0,
	};
	plan_processes(class);
	if (selection_has_class(wish->selection, of->name))
		class->use |= EVENT_SELECTED;
	if (class->use & EVENT_FOLLOWED || has_context(of) ||
	    (wish->payload && class->use & EVENT_LINKED) ||
	    (wish->spans && spans_want(of->name)))
		class->use |= EVENT_CELLS;
	if (!wish->payload || !(class->use & EVENT_SELECTED))
		return;
	class->use |= EVENT_PAYLOAD;
	class->columns =
	    of->columns < TIMELINE_COLUMNS_MOST ? of->columns : TIMELINE_COLUMNS_MOST;
	class->type = mem_zalloc(class->columns * sizeof(*class->type));
	for (size_t i = 0; i < class->columns; i++)
		class->type[i] = of->column[i].type;
}

bool event_class_wants_cells(const struct event_class *class)
{
	return class->use & EVENT_PAYLOAD ||
	       (class->use & EVENT_CELLS &&
		class->use & (EVENT_SELECTED | EVENT_FOLLOWED));
}

unsigned event_class_use(const struct event_class *class,
			 const struct selection *selection, nsec_t ts_ns)
{
	unsigned use = class->use;

	if (ts_ns < selection->begin_ns) {
		/* What selected events tell of processes holds before them, too. */
		if (use & EVENT_SELECTED && use & EVENT_CONTEXT)
			use |= EVENT_FOLLOWED;
		use &= ~(unsigned)(EVENT_SELECTED | EVENT_PAYLOAD);
	}
	return ts_ns > selection->end_ns || !(use & (EVENT_SELECTED | EVENT_FOLLOWED))
		   ? 0
		   : use;
}

enum ctf_use event_class_use_before(const struct event_class *class)
{
	if (class->use & EVENT_FOLLOWED ||
	    (class->use & EVENT_SELECTED && class->use & EVENT_CONTEXT))
		return CTF_NEEDED;
	return class->use & EVENT_LINKED ? CTF_COUNTED : CTF_UNUSED;
}

void event_class_clear(struct event_class *class)
{
	free(class->process);
	free(class->type);
}
