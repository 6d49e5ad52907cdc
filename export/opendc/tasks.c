/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int64_t opendc_add_task(struct opendc_tasks *tasks, const struct opendc_task *task)
{
	tasks->task =
	    mem_grow(tasks->task, tasks->tasks, &tasks->room, sizeof(*tasks->task));
	tasks->task[tasks->tasks] = *task;
	tasks->task[tasks->tasks].rss_peak = -1;
	tasks->task[tasks->tasks].process = OPENDC_NONE;
	tasks->task[tasks->tasks].rss_first = OPENDC_NONE;
	tasks->task[tasks->tasks].pages_peak = -1;
	return (int64_t)tasks->tasks++;
}

void opendc_add_edge(struct opendc_tasks *tasks, int64_t parent, int64_t child)
{
	tasks->edge =
	    mem_grow(tasks->edge, tasks->edges, &tasks->edge_room, sizeof(*tasks->edge));
	tasks->edge[tasks->edges++] =
	    (struct opendc_edge){(uint32_t)parent, (uint32_t)child};
}

/* Ancestors that began at the same time, as all do that were there before: so that
 * parents come first in the order of tasks. */
static int64_t depth_of(const struct opendc_cluster *cluster, size_t process)
{
	int64_t at = cluster->process[process].parent, depth = 0;

	while (at >= 0 &&
	       cluster->process[at].begin_ns == cluster->process[process].begin_ns) {
		at = cluster->process[at].parent;
		depth++;
	}
	return depth;
}

/* A process is a task of its own. */
static void add_processes(struct opendc_tasks *tasks, struct opendc_cluster *cluster,
			  const struct opendc_choice *choice)
{
	for (size_t i = 0; i < cluster->processes; i++) {
		struct opendc_process *process = &cluster->process[i];
		const struct opendc_task task = {.node = process->node,
						 .name = mem_strdup(process->comm),
						 .submit_ns = process->begin_ns,
						 .begin_ns = process->begin_ns,
						 .end_ns = process->end_ns,
						 .deadline_ns = NSEC_MIN,
						 .row = depth_of(cluster, i) << 32 |
							(int64_t)i};

		if (process->kernel && !choice->kernel_threads) {
			free(task.name);
			tasks->kernels++;
			continue;
		}
		process->task = opendc_add_task(tasks, &task);
	}
	for (size_t i = 0; i < cluster->processes; i++) {
		const struct opendc_process *process = &cluster->process[i];

		if (process->task >= 0 && process->parent >= 0 &&
		    cluster->process[process->parent].task >= 0)
			opendc_add_edge(tasks, cluster->process[process->parent].task,
					process->task);
	}
}

/* Processes in the order of their group: node, then name. */
struct member {
	const char *group;
	int64_t node, process;
};

static int compare_members(const void *a, const void *b)
{
	const struct member *one = a, *other = b;
	int order = one->node < other->node ? -1 : one->node > other->node;

	if (!order)
		order = strcmp(one->group, other->group);
	return order                           ? order
	       : one->process < other->process ? -1
					       : one->process > other->process;
}

static int64_t add_group(struct opendc_tasks *tasks, const struct opendc_cluster *cluster,
			 const struct member *member)
{
	const struct opendc_process *process = &cluster->process[member->process];
	const struct opendc_task task = {
	    .node = member->node,
	    .name = mem_printf("%s@%s", member->group,
			       cluster->node[member->node].fact->name),
	    .submit_ns = process->begin_ns,
	    .begin_ns = process->begin_ns,
	    .end_ns = process->end_ns,
	    .deadline_ns = NSEC_MIN,
	    .row = member->process};

	return opendc_add_task(tasks, &task);
}

/* Processes of one group on one node are a task together. */
static void add_groups(struct opendc_tasks *tasks, struct opendc_cluster *cluster,
		       const struct opendc_choice *choice)
{
	struct member *member = mem_zalloc((cluster->processes + 1) * sizeof(*member));
	size_t members = 0;

	for (size_t i = 0; i < cluster->processes; i++) {
		const struct opendc_process *process = &cluster->process[i];
		const char *group =
		    tasks->kind == OPENDC_COMMS ? process->comm : process->label;

		if (process->kernel && !choice->kernel_threads)
			tasks->kernels++;
		else if (!group)
			tasks->ungrouped++;
		else
			member[members++] =
			    (struct member){group, process->node, (int64_t)i};
	}
	qsort(member, members, sizeof(*member), compare_members);
	for (size_t i = 0; i < members; i++) {
		struct opendc_process *process = &cluster->process[member[i].process];
		struct opendc_task *task;

		if (i && member[i].node == member[i - 1].node &&
		    strcmp(member[i].group, member[i - 1].group) == 0)
			process->task = cluster->process[member[i - 1].process].task;
		else
			process->task = add_group(tasks, cluster, &member[i]);
		task = &tasks->task[process->task];
		if (process->begin_ns < task->begin_ns)
			task->submit_ns = task->begin_ns = process->begin_ns;
		if (process->end_ns > task->end_ns)
			task->end_ns = process->end_ns;
	}
	free(member);
}

/* For the order of tasks, by pointers into them. */
static int compare_tasks(const void *a, const void *b)
{
	const struct opendc_task *one = *(const struct opendc_task *const *)a;
	const struct opendc_task *other = *(const struct opendc_task *const *)b;

	if (one->submit_ns != other->submit_ns)
		return one->submit_ns < other->submit_ns ? -1 : 1;
	if (one->begin_ns != other->begin_ns)
		return one->begin_ns < other->begin_ns ? -1 : 1;
	if (one->node != other->node)
		return one->node < other->node ? -1 : 1;
	return one->row < other->row ? -1 : one->row > other->row;
}

static int compare_by_child(const void *a, const void *b)
{
	const struct opendc_edge *one = a, *other = b;

	if (one->child != other->child)
		return one->child < other->child ? -1 : 1;
	return one->parent < other->parent ? -1 : one->parent > other->parent;
}

static int compare_by_parent(const void *a, const void *b)
{
	const struct opendc_edge *one = a, *other = b;

	if (one->parent != other->parent)
		return one->parent < other->parent ? -1 : 1;
	return one->child < other->child ? -1 : one->child > other->child;
}

static int compare_claims(const void *a, const void *b)
{
	const struct opendc_claim *one = a, *other = b;

	if (one->process != other->process)
		return one->process < other->process ? -1 : 1;
	if (one->begin_ns != other->begin_ns)
		return one->begin_ns < other->begin_ns ? -1 : 1;
	return one->task < other->task ? -1 : one->task > other->task;
}

/* Ids are numbers in the order of submission; all that names a task goes with it. */
static void sort_tasks(struct opendc_tasks *tasks, struct opendc_cluster *cluster)
{
	size_t count = tasks->tasks;
	struct opendc_task **order =
	    mem_zalloc((count + 1) * sizeof(struct opendc_task *));
	struct opendc_task *sorted = mem_zalloc((count + 1) * sizeof(*sorted));
	uint32_t *place = mem_zalloc((count + 1) * sizeof(*place));

	for (size_t i = 0; i < count; i++)
		order[i] = &tasks->task[i];
	qsort(order, count, sizeof(*order), compare_tasks);
	for (size_t i = 0; i < count; i++) {
		sorted[i] = *order[i];
		place[order[i] - tasks->task] = (uint32_t)i;
	}
	for (size_t i = 0; i < cluster->processes; i++) {
		struct opendc_process *process = &cluster->process[i];

		if (process->task < 0)
			continue;
		process->task = place[process->task];
		process->next_of_task = sorted[process->task].process;
		sorted[process->task].process = (int64_t)i;
	}
	for (size_t i = 0; i < tasks->claims; i++)
		tasks->claim[i].task = place[tasks->claim[i].task];
	for (size_t i = 0; i < tasks->edges; i++)
		tasks->edge[i] = (struct opendc_edge){place[tasks->edge[i].parent],
						      place[tasks->edge[i].child]};
	free(tasks->task);
	tasks->task = sorted;
	free(order);
	free(place);
}

/* A parent is submitted before its child, which also leaves no circles: what is not so
 * counts as a stray. */
static void keep_edges(struct opendc_tasks *tasks)
{
	size_t kept = 0;

	if (tasks->edges)
		qsort(tasks->edge, tasks->edges, sizeof(*tasks->edge), compare_by_child);
	for (size_t i = 0; i < tasks->edges; i++) {
		struct opendc_edge edge = tasks->edge[i];

		if (edge.parent >= edge.child)
			tasks->strays += edge.parent > edge.child;
		else if (!kept || compare_by_child(&edge, &tasks->edge[kept - 1]))
			tasks->edge[kept++] = edge;
	}
	tasks->edges = kept;
}

static void sort_edges(struct opendc_tasks *tasks)
{
	size_t count;

	keep_edges(tasks);
	count = tasks->edges;
	tasks->by_parent = mem_zalloc((count + 1) * sizeof(*tasks->by_parent));
	if (count)
		memcpy(tasks->by_parent, tasks->edge, count * sizeof(*tasks->edge));
	qsort(tasks->by_parent, count, sizeof(*tasks->by_parent), compare_by_parent);
	for (size_t i = count; i-- > 0;) {
		tasks->task[tasks->edge[i].child].parents++;
		tasks->task[tasks->edge[i].child].first_parent = i;
		tasks->task[tasks->by_parent[i].parent].children++;
		tasks->task[tasks->by_parent[i].parent].first_child = i;
	}
}

/* Where each process's own claims begin, and whose claims hold where it has none. */
static void sort_claims(struct opendc_tasks *tasks, struct opendc_cluster *cluster)
{
	if (tasks->claims)
		qsort(tasks->claim, tasks->claims, sizeof(*tasks->claim), compare_claims);
	for (size_t i = 0; i < tasks->claims; i++) {
		struct opendc_claim *claim = &tasks->claim[i];
		struct opendc_process *process = &cluster->process[claim->process];

		if (!process->claims++)
			process->claim = i;
		claim->latest_ns = claim->end_ns;
		if (process->claims > 1 && claim[-1].latest_ns > claim->latest_ns)
			claim->latest_ns = claim[-1].latest_ns;
	}
	for (size_t i = 0; i < cluster->processes; i++) {
		int64_t keeper = (int64_t)i, at = (int64_t)i;

		while (keeper >= 0 && !cluster->process[keeper].claims &&
		       cluster->process[keeper].keeper < 0)
			keeper = cluster->process[keeper].parent;
		if (keeper >= 0 && !cluster->process[keeper].claims)
			keeper = cluster->process[keeper].keeper;
		/* All on the way have the same one: each is walked once. */
		for (; at >= 0 && keeper >= 0 && cluster->process[at].keeper < 0;
		     at = cluster->process[at].parent) {
			cluster->process[at].keeper = keeper;
			if (at == keeper)
				break;
		}
	}
}

static int find_kind(struct opendc_tasks *tasks, const struct opendc_choice *choice,
		     struct export *export, struct error *error)
{
	int has = 0;

	tasks->kind = choice->kind;
	if (choice->kind == OPENDC_ANY || choice->kind == OPENDC_INVOCATIONS)
		has = opendc_has_invocations(export, error);
	if (has < 0)
		return -1;
	if (choice->kind == OPENDC_INVOCATIONS && !has)
		return error_set(error,
				 "%s: no invocations, want --tasks process or a run "
				 "with invocations.jsonl",
				 export->path);
	if (choice->kind == OPENDC_ANY) {
		tasks->kind = has ? OPENDC_INVOCATIONS : OPENDC_PROCESSES;
		if (!has)
			problem_add(&export->notes, export->path, "tasks", 1,
				    "no invocations, so each process is a task");
	}
	return 0;
}

static int add_tasks(struct opendc_tasks *tasks, struct opendc_cluster *cluster,
		     const struct opendc_choice *choice, struct export *export,
		     struct error *error)
{
	switch (tasks->kind) {
	case OPENDC_INVOCATIONS:
		return opendc_invocations_load(tasks, cluster, export, error);
	case OPENDC_CGROUPS:
	case OPENDC_SESSIONS:
		if (opendc_label_processes(cluster, tasks->kind, export, error))
			return -1;
		add_groups(tasks, cluster, choice);
		break;
	case OPENDC_COMMS:
		add_groups(tasks, cluster, choice);
		break;
	default:
		add_processes(tasks, cluster, choice);
	}
	return 0;
}

int opendc_tasks_load(struct opendc_tasks *tasks, struct opendc_cluster *cluster,
		      const struct opendc_choice *choice, struct export *export,
		      struct error *error)
{
	if (find_kind(tasks, choice, export, error) ||
	    add_tasks(tasks, cluster, choice, export, error))
		return -1;
	if (!tasks->tasks)
		return error_set(error,
				 "%s: no %s of the chosen nodes and time, so "
				 "there is no task",
				 export->path, opendc_kind_name(tasks->kind));
	if (tasks->tasks > INT32_MAX)
		return error_set(error,
				 "%zu tasks, want 2^31 - 1 at most: ids have 32 "
				 "bits",
				 tasks->tasks);
	if (!choice->parents)
		tasks->edges = 0;
	sort_tasks(tasks, cluster);
	sort_edges(tasks);
	sort_claims(tasks, cluster);
	return 0;
}

static void clear_task(struct opendc_task *task)
{
	free(task->name);
	free(task->work);
}

void opendc_tasks_clear(struct opendc_tasks *tasks)
{
	for (size_t i = 0; i < tasks->tasks; i++)
		clear_task(&tasks->task[i]);
	free(tasks->task);
	free(tasks->claim);
	free(tasks->edge);
	free(tasks->by_parent);
	*tasks = (struct opendc_tasks){0};
}
