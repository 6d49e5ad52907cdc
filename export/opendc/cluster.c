/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/query.h"

enum { KTHREADD = 2 };

/* Numbers of processes and threads are below 2^22; others share a key, and are told
 * apart by looking. */
static uint64_t key_of(int64_t node, int64_t number)
{
	return (uint64_t)node << 32 | (uint32_t)number;
}

int64_t opendc_node_of(const struct opendc_cluster *cluster, int64_t id)
{
	for (size_t i = 0; i < cluster->nodes; i++) {
		/* Ids are 1, 2, ... in what we write: look there first. */
		size_t at = id >= 1 && (uint64_t)id <= cluster->nodes
				? (i + (size_t)id - 1) % cluster->nodes
				: i;

		if (cluster->node[at].fact->id == id)
			return cluster->node[at].fact->chosen ? (int64_t)at : OPENDC_NONE;
	}
	return OPENDC_NONE;
}

/* A number that can be a core's speed in MHz, and no infinity. */
static bool is_speed(double mhz)
{
	return mhz > 0 && mhz < 1e9;
}

static int take_sources(void *context, const struct cell *row, struct error *error)
{
	struct opendc_cluster *cluster = context;
	int64_t at = opendc_node_of(cluster, cell_integer(&row[0], 0));
	struct opendc_node *node = at < 0 ? NULL : &cluster->node[at];

	(void)error;
	if (!node)
		return 0;
	node->switches = cell_integer(&row[3], 0) > 0;
	if (cell_integer(&row[1], NSEC_MIN) > node->begin_ns)
		node->begin_ns = row[1].integer;
	if (cell_integer(&row[2], NSEC_MAX) < node->end_ns)
		node->end_ns = row[2].integer;
	return 0;
}

/* Nodes begin and end with their kernel's trace: before it nobody knows what ran. */
static int load_nodes(struct opendc_cluster *cluster, struct export *export,
		      struct error *error)
{
	const struct scope *scope = &export->scope;

	cluster->nodes = scope->nodes;
	cluster->node = mem_zalloc((scope->nodes + 1) * sizeof(*cluster->node));
	for (size_t i = 0; i < scope->nodes; i++)
		cluster->node[i] = (struct opendc_node){
		    .fact = &scope->node[i],
		    .begin_ns = scope->begin_ns,
		    .end_ns = scope->end_ns,
		    .cpus = scope->node[i].cpus > 0 ? scope->node[i].cpus : 0,
		    .mhz = is_speed(scope->node[i].cpu_mhz) ? scope->node[i].cpu_mhz : 0,
		    .switches = true}; /* until it turns out that there are none */
	return query_rows(
	    export->timeline,
	    "SELECT node, min(begin_ns) FILTER (WHERE traced),"
	    " max(end_ns) FILTER (WHERE traced), max(traced) FROM"
	    " (SELECT *, kind IN ('kernel', 'trace') AND events > 0 AS traced"
	    " FROM source) GROUP BY node",
	    NULL, take_sources, cluster, error);
}

/* A kernel's trace may be without the events of its scheduler. */
static int find_switches(struct opendc_cluster *cluster, struct export *export,
			 struct error *error)
{
	for (size_t i = 0; i < cluster->nodes; i++) {
		struct opendc_node *node = &cluster->node[i];
		const struct cell id = cell_of_integer(node->fact->id);
		int64_t any;
		int found = node->switches && node->fact->chosen
				? query_integer(export->timeline,
						"SELECT 1 FROM thread_state "
						"WHERE node = ?1 LIMIT 1",
						&id, &any, error)
				: 0;

		if (found < 0)
			return -1;
		node->switches = found;
	}
	return 0;
}

/* Cut to what was recorded of its node: false where nothing is left. */
static bool cut(const struct opendc_node *node, struct opendc_process *process)
{
	if (process->begin_ns > node->end_ns || process->end_ns < node->begin_ns)
		return false;
	if (process->begin_ns < node->begin_ns)
		process->begin_ns = node->begin_ns;
	if (process->end_ns > node->end_ns)
		process->end_ns = node->end_ns;
	return true;
}

int64_t opendc_add_process(struct opendc_cluster *cluster,
			   const struct opendc_process *process)
{
	uint64_t key = key_of(process->node, process->pid);
	int64_t index = (int64_t)cluster->processes, before;

	cluster->process = mem_grow(cluster->process, cluster->processes,
				    &cluster->process_room, sizeof(*cluster->process));
	cluster->process[index] = *process;
	cluster->process[index].parent = OPENDC_NONE;
	cluster->process[index].thread = OPENDC_NONE;
	cluster->process[index].task = OPENDC_NONE;
	cluster->process[index].next_of_task = OPENDC_NONE;
	cluster->process[index].keeper = OPENDC_NONE;
	cluster->process[index].rss_task = OPENDC_NONE;
	cluster->process[index].rss_next = OPENDC_NONE;
	if (intmap_get(&cluster->newest, key, &before))
		intmap_put(&cluster->older, (uint64_t)index, before);
	intmap_put(&cluster->newest, key, index);
	cluster->processes++;
	return index;
}

/* A thread of which no process is known stands for one of its own. */
static const char processes_sql[] =
    "SELECT node, pid, ppid, comm, begin_ns, end_ns, id, 0 AS alone FROM process "
    "UNION ALL SELECT node, tid, -1, comm, begin_ns, end_ns, id, 1 FROM thread"
    " WHERE process IS NULL ORDER BY alone, node, pid, begin_ns, id";
static const char threads_sql[] = "SELECT node, tid, begin_ns, id, process FROM thread "
				  "ORDER BY node, tid, begin_ns, id";

static int take_process(void *context, const struct cell *row, struct error *error)
{
	struct opendc_cluster *cluster = context;
	bool alone = cell_integer(&row[7], 0);
	struct opendc_process process = {
	    .node = opendc_node_of(cluster, cell_integer(&row[0], 0)),
	    .pid = cell_integer(&row[1], -1),
	    .ppid = cell_integer(&row[2], -1),
	    .begin_ns = cell_integer(&row[4], NSEC_MIN),
	    .end_ns = cell_integer(&row[5], NSEC_MAX),
	};

	(void)error;
	if (process.node < 0 || process.pid == 0) /* what ran idle is no process */
		return 0;
	if (!cut(&cluster->node[process.node], &process)) {
		cluster->outside += !alone;
		return 0;
	}
	process.comm = cell_text(&row[3]);
	intmap_put(alone ? &cluster->process_of_thread : &cluster->process_of_id,
		   (uint64_t)cell_integer(&row[6], 0),
		   opendc_add_process(cluster, &process));
	return 0;
}

static int take_thread(void *context, const struct cell *row, struct error *error)
{
	struct opendc_cluster *cluster = context;
	bool alone = row[4].type != CELL_INTEGER;
	struct opendc_thread thread = {
	    .id = cell_integer(&row[3], 0),
	    .node = opendc_node_of(cluster, cell_integer(&row[0], 0)),
	    .tid = cell_integer(&row[1], -1),
	    .begin_ns = cell_integer(&row[2], NSEC_MIN),
	};
	int64_t index, at = (int64_t)cluster->threads;
	uint64_t key = key_of(thread.node, thread.tid);

	(void)error;
	if (!intmap_get(alone ? &cluster->process_of_thread : &cluster->process_of_id,
			(uint64_t)row[alone ? 3 : 4].integer, &thread.process))
		return 0;
	thread.next = cluster->process[thread.process].thread;
	cluster->process[thread.process].thread = at;
	intmap_put(&cluster->thread_of_id, (uint64_t)thread.id, at);
	if (!intmap_get(&cluster->first, key, &index))
		intmap_put(&cluster->first, key, at);
	cluster->thread = mem_grow(cluster->thread, cluster->threads,
				   &cluster->thread_room, sizeof(*cluster->thread));
	cluster->thread[cluster->threads++] = thread;
	return 0;
}

int opendc_cluster_load(struct opendc_cluster *cluster, struct export *export,
			struct error *error)
{
	return load_nodes(cluster, export, error) ||
	       find_switches(cluster, export, error) ||
	       query_rows(export->timeline, processes_sql, NULL, take_process, cluster,
			  error) ||
	       query_rows(export->timeline, threads_sql, NULL, take_thread, cluster,
			  error);
}

/* Of those with the number the last that had begun. A number is taken again only when
 * its thread is gone, so ends need not be asked. */
int64_t opendc_process_of_thread(const struct opendc_cluster *cluster, int64_t node,
				 int64_t tid, nsec_t when)
{
	int64_t found = OPENDC_NONE, at;

	if (!intmap_get(&cluster->first, key_of(node, tid), &at))
		return OPENDC_NONE;
	for (size_t i = (size_t)at; i < cluster->threads; i++) {
		const struct opendc_thread *thread = &cluster->thread[i];

		if (thread->node != node || thread->tid != tid ||
		    (thread->begin_ns > when && found >= 0))
			break;
		found = thread->process;
	}
	return found;
}

int64_t opendc_process_of_pid(const struct opendc_cluster *cluster, int64_t node,
			      int64_t pid, nsec_t when)
{
	int64_t at;
	bool more = intmap_get(&cluster->newest, key_of(node, pid), &at);

	for (; more; more = intmap_get(&cluster->older, (uint64_t)at, &at))
		if (cluster->process[at].pid == pid &&
		    cluster->process[at].begin_ns <= when)
			return cluster->process[at].end_ns >= when ? at : OPENDC_NONE;
	return OPENDC_NONE;
}

/* Whether the process is among its own ancestors. */
static bool is_circle(const struct opendc_cluster *cluster, int64_t process)
{
	int64_t slow = process, fast = process;

	do {
		slow = cluster->process[slow].parent;
		for (int i = 0; i < 2 && fast != OPENDC_NONE; i++)
			fast = cluster->process[fast].parent;
	} while (fast != OPENDC_NONE && slow != fast);
	return fast != OPENDC_NONE;
}

void opendc_find_parents(struct opendc_cluster *cluster)
{
	for (size_t i = 0; i < cluster->processes; i++) {
		struct opendc_process *process = &cluster->process[i];
		int64_t parent;

		if (process->ppid <= 0)
			continue;
		parent = opendc_process_of_pid(cluster, process->node, process->ppid,
					       process->begin_ns);
		if (parent == (int64_t)i)
			continue;
		process->parent = parent;
		/* Nobody begins after who begot it; so in a circle all begin at once. */
		if (parent >= 0 &&
		    cluster->process[parent].begin_ns == process->begin_ns &&
		    is_circle(cluster, (int64_t)i))
			process->parent = OPENDC_NONE;
	}
	for (size_t i = 0; i < cluster->processes; i++) {
		struct opendc_process *process = &cluster->process[i];

		process->kernel = process->ppid == KTHREADD ||
				  (process->pid == KTHREADD && process->ppid == 0);
	}
}

void opendc_cluster_clear(struct opendc_cluster *cluster)
{
	for (size_t i = 0; i < cluster->processes; i++) {
		free(cluster->process[i].comm);
		free(cluster->process[i].label);
	}
	free(cluster->process);
	free(cluster->thread);
	free(cluster->node);
	intmap_clear(&cluster->process_of_id);
	intmap_clear(&cluster->process_of_thread);
	intmap_clear(&cluster->thread_of_id);
	intmap_clear(&cluster->first);
	intmap_clear(&cluster->newest);
	intmap_clear(&cluster->older);
	*cluster = (struct opendc_cluster){0};
}
