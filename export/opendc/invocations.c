/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Invocations: what a scheduler or a server recorded that it ran. Their records may name
 * each other; by which members stands in docs/opendc.md.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "export/opendc/tasks.h"
#include "export/query.h"

/* That an invocation has an identity, or names a parent by it. */
struct name {
	char *key; /* of its trace, and its own */
	int64_t task;
};

struct names {
	struct name *name;
	size_t count, room;
};

struct loading {
	struct opendc_tasks *tasks;
	struct opendc_cluster *cluster;
	struct export *export;
	struct names own, parents;
};

int opendc_has_invocations(struct export *export, struct error *error)
{
	int64_t any;

	return query_integer(export->timeline, "SELECT 1 FROM invocation LIMIT 1", NULL,
			     &any, error);
}

/* A text or a number; others are no identities. For free(). */
static char *identity_of(const json_t *value)
{
	if (json_is_string(value) && *json_string_value(value))
		return mem_strdup(json_string_value(value));
	if (json_is_integer(value))
		return mem_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
	return NULL;
}

static void add_name(struct names *names, const json_t *data, const json_t *value,
		     int64_t task)
{
	char *trace = identity_of(json_object_get(data, "trace_id"));
	char *own = identity_of(value);

	if (own) {
		names->name = mem_grow(names->name, names->count, &names->room,
				       sizeof(*names->name));
		names->name[names->count++] =
		    (struct name){mem_printf("%s\n%s", trace ? trace : "", own), task};
	}
	free(trace);
	free(own);
}

static void add_names(struct loading *loading, const json_t *data, int64_t task)
{
	static const char *const own[] = {"span_id", "invocation_id", "id"};
	static const char *const parent[] = {"parent_id", "parent_span_id", "parent"};
	const json_t *all = json_object_get(data, "parents");
	size_t count = sizeof(own) / sizeof(*own);

	for (size_t i = 0; i < count; i++)
		if (json_object_get(data, own[i])) {
			add_name(&loading->own, data, json_object_get(data, own[i]),
				 task);
			break;
		}
	for (size_t i = 0; i < count; i++)
		if (json_object_get(data, parent[i])) {
			add_name(&loading->parents, data,
				 json_object_get(data, parent[i]), task);
			break;
		}
	for (size_t i = 0; i < json_array_size(all); i++)
		add_name(&loading->parents, data, json_array_get(all, i), task);
}

/* What its record says of it besides its columns. */
static void take_data(struct opendc_task *task, const json_t *data)
{
	const json_t *cpus = json_object_get(data, "cpus");
	const json_t *deadline = json_object_get(data, "deadline_ns");

	if (json_is_integer(cpus) && json_integer_value(cpus) > 0 &&
	    json_integer_value(cpus) <= INT32_MAX)
		task->allocated = json_integer_value(cpus);
	if (json_is_integer(deadline) && json_integer_value(deadline) > 0)
		task->deadline_ns = json_integer_value(deadline);
}

static json_t *parse_data(const struct cell *cell)
{
	struct error error = ERROR_INIT;
	json_t *data = cell->type == CELL_TEXT
			   ? json_parse_object(cell->bytes, cell->size, &error)
			   : NULL;

	error_clear(&error);
	return data;
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
	json_t *data;
	int64_t index, process;

	(void)error;
	if (!take_times(loading, row, &task))
		return 0;
	data = parse_data(&row[8]);
	task.name = cell_text(&row[3]);
	take_data(&task, data);
	index = opendc_add_task(loading->tasks, &task);
	add_names(loading, data, index);
	json_decref(data);
	process = process_of(loading, row, &task);
	if (process >= 0)
		add_claim(loading->tasks, process, index);
	else
		loading->tasks->processless++;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct name *one = a, *other = b;
	int order = strcmp(one->key, other->key);

	return order ? order : one->task < other->task ? -1 : one->task > other->task;
}

static int compare_keys(const void *key, const void *name)
{
	return strcmp(key, ((const struct name *)name)->key);
}

static void join_names(struct loading *loading)
{
	struct names *own = &loading->own;

	if (own->count)
		qsort(own->name, own->count, sizeof(*own->name), compare_names);
	for (size_t i = 0; i < loading->parents.count; i++) {
		const struct name *child = &loading->parents.name[i];
		const struct name *parent =
		    own->count ? bsearch(child->key, own->name, own->count,
					 sizeof(*own->name), compare_keys)
			       : NULL;

		if (parent && parent->task != child->task)
			opendc_add_edge(loading->tasks, parent->task, child->task);
		else
			loading->tasks->strays++;
	}
}

static void clear_names(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->name[i].key);
	free(names->name);
}

int opendc_invocations_load(struct opendc_tasks *tasks, struct opendc_cluster *cluster,
			    struct export *export, struct error *error)
{
	struct loading loading = {.tasks = tasks, .cluster = cluster, .export = export};
	int status =
	    query_rows(export->timeline,
		       "SELECT id, node, pid, name, enqueue_ns, begin_ns, end_ns,"
		       " process, data FROM invocation ORDER BY id",
		       NULL, take_row, &loading, error);

	join_names(&loading);
	clear_names(&loading.own);
	clear_names(&loading.parents);
	return status;
}
