/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Invocations: what a scheduler or a server recorded that it ran. Their records may name
 * each other; by which members stands in docs/opendc.md.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/opendc/tasks.h"
#include "timeline/query.h"

/* What a record says besides its columns, as `d`. */
#define RECORDS                                                                          \
	"WITH record AS (SELECT *, CASE WHEN json_valid(data) THEN CASE json_type(data)" \
	" WHEN 'object' THEN data ELSE '{}' END ELSE '{}' END AS d FROM invocation) "
#define INTEGER_OF(member)                                                               \
	"CASE json_type(d, '$." member "') WHEN 'integer'"                               \
	" THEN json_extract(d, '$." member "') END"

static const char tasks_sql[] = RECORDS
    "SELECT id, node, pid, name, enqueue_ns, begin_ns, end_ns, process, " INTEGER_OF(
	"cpus") ", " INTEGER_OF("deadline_ns") " FROM record ORDER BY id";

/* Who names whom as its parent, by identities within a trace; NULL: nobody has that. */
static const char edges_sql[] = RECORDS
    ", named AS (SELECT id, d, coalesce(json_extract(d, '$.trace_id'), '') || '' AS "
    "trace,"
    " coalesce(json_extract(d, '$.span_id'), json_extract(d, '$.invocation_id'),"
    "  json_extract(d, '$.id')) || '' AS own,"
    " coalesce(json_extract(d, '$.parent_id'), json_extract(d, '$.parent_span_id'),"
    "  json_extract(d, '$.parent')) || '' AS parent FROM record),"
    " child AS (SELECT id, trace, parent FROM named WHERE parent <> ''"
    "  UNION ALL SELECT n.id, n.trace, e.value || '' FROM named AS n"
    "  JOIN json_each(n.d, '$.parents') AS e WHERE e.value IS NOT NULL),"
    " owner AS (SELECT trace, own, min(id) AS id FROM named WHERE own <> ''"
    "  GROUP BY trace, own) "
    "SELECT o.id, c.id FROM child AS c LEFT JOIN owner AS o ON o.trace = c.trace"
    " AND o.own = c.parent ORDER BY c.id, o.id";

struct loading {
	struct opendc_tasks *tasks;
	struct opendc_cluster *cluster;
	struct export *export;
	struct intmap of_id; /* invocation.id: index of its task */
};

int opendc_has_invocations(struct export *export, struct error *error)
{
	int64_t any;

	return query_integer(export->timeline, "SELECT 1 FROM invocation LIMIT 1", NULL,
			     &any, error);
}

/* Its process by its own row, else by its pid half way through. */
static int64_t process_of(const struct loading *loading, const struct cell *row,
			  const struct opendc_task *task)
{
	const struct opendc_cluster *cluster = loading->cluster;
	nsec_t middle = task->begin_ns + nsec_sub(task->end_ns, task->begin_ns) / 2;
	int64_t index, pid = cell_integer(&row[2], -1);

	if (row[7].type == CELL_INTEGER &&
	    intmap_get(&cluster->process_of_id, (uint64_t)row[7].integer, &index))
		return index;
	if (pid < 0)
		return OPENDC_NONE;
	index = opendc_process_of_pid(cluster, task->node, pid, middle);
	return index < 0 ? opendc_process_of_pid(cluster, task->node, pid, task->begin_ns)
			 : index;
}

static void add_claim(struct opendc_tasks *tasks, int64_t process, int64_t index)
{
	const struct opendc_task *task = &tasks->task[index];

	tasks->claim = mem_grow(tasks->claim, tasks->claims, &tasks->claim_room,
				sizeof(*tasks->claim));
	tasks->claim[tasks->claims++] = (struct opendc_claim){.process = process,
							      .begin_ns = task->begin_ns,
							      .end_ns = task->end_ns,
							      .task = index};
}

/* Its times, cut to the scope; false where it is no task. */
static bool take_times(struct loading *loading, const struct cell *row,
		       struct opendc_task *task)
{
	struct opendc_tasks *tasks = loading->tasks;
	const struct scope *scope = &loading->export->scope;
	const struct opendc_node *node;

	task->node = row[1].type == CELL_INTEGER
			 ? opendc_node_of(loading->cluster, row[1].integer)
			 : OPENDC_NONE;
	if (task->node < 0) {
		tasks->unplaced += row[1].type != CELL_INTEGER;
		return false;
	}
	node = &loading->cluster->node[task->node];
	if (row[5].type != CELL_INTEGER) {
		tasks->unplaced++;
		return false;
	}
	task->begin_ns = row[5].integer;
	task->end_ns = cell_integer(&row[6], node->end_ns);
	if (task->begin_ns > scope->end_ns || task->end_ns < scope->begin_ns) {
		tasks->outside++;
		return false;
	}
	tasks->unended += row[6].type != CELL_INTEGER;
	if (task->end_ns > scope->end_ns)
		task->end_ns = scope->end_ns;
	if (task->begin_ns < scope->begin_ns)
		task->begin_ns = scope->begin_ns;
	if (task->end_ns < task->begin_ns) /* stamps in disorder */
		task->end_ns = task->begin_ns;
	task->submit_ns = cell_integer(&row[4], task->begin_ns);
	if (task->submit_ns > task->begin_ns || task->submit_ns < scope->begin_ns)
		task->submit_ns = task->begin_ns;
	return true;
}

static int take_row(void *context, const struct cell *row, struct error *error)
{
	struct loading *loading = context;
	struct opendc_task task = {.deadline_ns = NSEC_MIN,
				   .row = cell_integer(&row[0], 0)};
	int64_t cpus = cell_integer(&row[8], 0), deadline = cell_integer(&row[9], 0);
	int64_t index, process;

	(void)error;
	if (!take_times(loading, row, &task))
		return 0;
	task.name = cell_text(&row[3]);
	if (cpus > 0 && cpus <= INT32_MAX)
		task.allocated = cpus;
	if (deadline > 0)
		task.deadline_ns = deadline;
	index = opendc_add_task(loading->tasks, &task);
	intmap_put(&loading->of_id, (uint64_t)task.row, index);
	process = process_of(loading, row, &task);
	if (process >= 0)
		add_claim(loading->tasks, process, index);
	else
		loading->tasks->processless++;
	return 0;
}

static int take_edge(void *context, const struct cell *row, struct error *error)
{
	struct loading *loading = context;
	int64_t parent, child;

	(void)error;
	if (!intmap_get(&loading->of_id, (uint64_t)row[1].integer, &child))
		return 0;
	if (row[0].type == CELL_INTEGER &&
	    intmap_get(&loading->of_id, (uint64_t)row[0].integer, &parent) &&
	    parent != child)
		opendc_add_edge(loading->tasks, parent, child);
	else
		loading->tasks->strays++;
	return 0;
}

int opendc_invocations_load(struct opendc_tasks *tasks, struct opendc_cluster *cluster,
			    struct export *export, struct error *error)
{
	struct loading loading = {.tasks = tasks, .cluster = cluster, .export = export};
	int status =
	    query_rows(export->timeline, tasks_sql, NULL, take_row, &loading, error) ||
	    query_rows(export->timeline, edges_sql, NULL, take_edge, &loading, error);

	intmap_clear(&loading.of_id);
	return status ? -1 : 0;
}
