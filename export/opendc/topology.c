/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/json.h"
#include "export/directory.h"
#include "export/opendc/rows.h"
#include "export/opendc/write.h"

/* Where nothing says how much memory a node has: what its tasks may want at once, and
 * not less than this. */
#define MEMORY_LEAST ((int64_t)1 << 30)

enum { BYTES_PER_KIB = 1024, BYTES_PER_KB = 1000 };

static int64_t memory_of(const struct opendc_cluster *cluster, size_t node,
			 const struct opendc_tasks *tasks,
			 const struct opendc_choice *choice)
{
	const struct scope_node *fact = cluster->node[node].fact;
	int64_t sum = 0;

	if (fact->mem_kib > 0 && fact->mem_kib <= INT64_MAX / BYTES_PER_KIB)
		return fact->mem_kib * BYTES_PER_KIB;
	for (size_t i = 0; i < tasks->tasks; i++)
		if (tasks->task[i].node == (int64_t)node &&
		    __builtin_add_overflow(sum, opendc_memory_kb(&tasks->task[i], choice),
					   &sum))
			sum = INT64_MAX / BYTES_PER_KB;
	if (sum > INT64_MAX / BYTES_PER_KB)
		sum = INT64_MAX / BYTES_PER_KB;
	return sum * BYTES_PER_KB > MEMORY_LEAST ? sum * BYTES_PER_KB : MEMORY_LEAST;
}

static json_t *host_of(const struct opendc_cluster *cluster, size_t at,
		       const struct opendc_tasks *tasks,
		       const struct opendc_choice *choice)
{
	const struct opendc_node *node = &cluster->node[at];

	return json_pack("{s:s, s:i, s:{s:I, s:f}, s:{s:I}}", "name", node->fact->name,
			 "count", 1, "cpu", "coreCount",
			 (json_int_t)(node->cpus > 0 ? node->cpus : 1), "coreSpeed",
			 node->mhz > 0 ? node->mhz : choice->cpu_mhz, "memory",
			 "memorySize", (json_int_t)memory_of(cluster, at, tasks, choice));
}

/* The run's name, where it has one. For free(). */
static char *name_of_run(struct export *export)
{
	struct error error = ERROR_INIT;
	struct timeline_query *query = timeline_query_new(
	    export->timeline, "SELECT value FROM meta WHERE key = 'name'", &error);
	char *name = NULL;

	if (query && !timeline_query_ask(query, NULL, 0, &error) &&
	    timeline_query_next(query, &error) > 0)
		name = rows_text(timeline_query_row(query));
	timeline_query_free(query);
	error_clear(&error);
	if (name && *name)
		return name;
	free(name);
	return mem_strdup("C01");
}

int opendc_write_topology(const struct opendc_cluster *cluster,
			  const struct opendc_tasks *tasks,
			  const struct opendc_choice *choice, struct export *export,
			  struct error *error)
{
	static const char file_name[] = "topology.json";
	json_t *hosts = json_array(), *topology;
	char *name = name_of_run(export);
	FILE *file = export_create(export->directory, file_name, error);
	int status = -1;

	for (size_t i = 0; i < cluster->nodes; i++)
		if (cluster->node[i].fact->chosen)
			json_array_append_new(hosts, host_of(cluster, i, tasks, choice));
	topology =
	    json_pack("{s:[{s:s, s:o}]}", "clusters", "name", name, "hosts", hosts);
	if (file && topology) {
		/* What could not be written is told at the close. */
		json_dumpf(topology, file, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
		putc('\n', file);
		status = export_close(file, file_name, error);
	} else if (file) {
		fclose(file);
		error_set(error, "%s: a name that is no UTF-8", file_name);
	}
	json_decref(topology);
	free(name);
	return status;
}
