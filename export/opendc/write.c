/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/write.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/version.h"
#include "export/opendc/schema.h"
#include "tables/directory.h"
#include "timeline/query.h"

enum { BYTES_PER_KIB = 1024, BYTES_PER_KB = 1000 };

/* Where nothing says how much memory a node has: what its tasks may want at once, and
 * not less than this. */
#define MEMORY_LEAST ((int64_t)1 << 30)

/* A task may last until 2068: a longer time than this without work is one fragment. */
enum { IDLE_MS = 3600 * 1000 };

struct writing {
	struct opendc_charger *charger;
	struct opendc_tasks *tasks;
	const struct opendc_cluster *cluster;
	const struct opendc_choice *choice;
	struct export *export;
	uint64_t fragments;
	double work; /* of all fragments, in MHz times nanoseconds */
	struct opendc_sink *sink;
	struct opendc_work *used; /* scratch: fragments in which a task worked, in MHz */
	double *usage;            /* scratch: the same, to be sorted */
	size_t used_room, usage_room;
	struct cell *element; /* scratch: parents, children, and their texts */
	char *text;
	size_t elements;
};

enum { ID_TEXT = 12 };

static struct cell real(double number)
{
	return (struct cell){.type = CELL_REAL, .real = number};
}

/* Schemas up to 3 have texts. */
static struct cell id_cell(const struct writing *writing, int64_t index, char *text)
{
	struct cell cell = cell_of_integer(index + 1);

	if (writing->choice->schema <= 3) {
		int length = snprintf(text, ID_TEXT, "%" PRId64, index + 1);

		cell_set_bytes(&cell, CELL_TEXT, text, (size_t)length);
	}
	return cell;
}

static int64_t floor_ms(nsec_t instant)
{
	nsec_t rest = instant % NSEC_PER_MSEC;

	return (instant - (rest < 0 ? rest + NSEC_PER_MSEC : rest)) / NSEC_PER_MSEC;
}

static double core_mhz(const struct writing *writing, const struct opendc_task *task)
{
	double mhz = writing->cluster->node[task->node].mhz;

	return mhz > 0 ? mhz : writing->choice->cpu_mhz;
}

static int64_t cores_of(const struct writing *writing, const struct opendc_task *task)
{
	int64_t cpus = writing->cluster->node[task->node].cpus;

	return cpus > 0 ? cpus : 1;
}

static int compare_reals(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return one < other ? -1 : one > other;
}

/* The least that 95 % of all fragments do not exceed: those without work are 0. */
static double percentile95(double *usage, size_t count, uint64_t fragments)
{
	uint64_t rank = fragments - fragments / 20; /* from 1 on, rounded up */
	uint64_t zeros = fragments - count;

	if (rank <= zeros)
		return 0;
	qsort(usage, count, sizeof(*usage), compare_reals);
	return usage[rank - zeros - 1];
}

static double highest(const double *usage, size_t count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++)
		most = usage[i] > most ? usage[i] : most;
	return most;
}

/* A task that never worked is still to be placed: it gets a core. Rounding in the last
 * digit does not make it need another one. */
static void set_capacity(struct writing *writing, struct opendc_task *task, double *usage,
			 size_t count, const struct opendc_cuts *cuts)
{
	double mhz = core_mhz(writing, task), cores;
	int64_t most = cores_of(writing, task);

	task->duration_ms = cuts->all_ms;
	if (writing->choice->capacity == OPENDC_ALLOCATED) {
		cores = (double)(task->allocated ? task->allocated : most);
		task->cpu_capacity = cores * mhz;
	} else {
		task->cpu_capacity = writing->choice->capacity == OPENDC_P95
					 ? percentile95(usage, count, cuts->fragments)
					 : highest(usage, count);
		if (task->cpu_capacity <= 0)
			task->cpu_capacity = mhz;
		cores = ceil(task->cpu_capacity / mhz * (1 - 1e-12));
		cores = cores > (double)most ? (double)most : cores;
	}
	task->cpu_count = cores < 1 ? 1 : cores > INT32_MAX ? INT32_MAX : (int32_t)cores;
}

/* MHz of the fragments in which a task worked. What it worked after its last one, as a
 * stamp's rounding may have it, goes to that. */
static size_t find_used(struct writing *writing, const struct opendc_cuts *cuts,
			const struct opendc_work *work, size_t count)
{
	size_t have = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t last = cuts->fragments - 1;
		uint64_t index = work[i].index < last ? work[i].index : last;
		double mhz = work[i].work /
			     ((double)opendc_length(cuts, index) * (double)NSEC_PER_MSEC);

		if (have && writing->used[have - 1].index == index) {
			writing->used[have - 1].work += mhz;
			continue;
		}
		writing->used = mem_grow(writing->used, have, &writing->used_room,
					 sizeof(*writing->used));
		writing->used[have++] = (struct opendc_work){(uint32_t)index, mhz};
	}
	writing->usage = have > writing->usage_room
			     ? mem_realloc(writing->usage, have, sizeof(double))
			     : writing->usage;
	writing->usage_room = have > writing->usage_room ? have : writing->usage_room;
	for (size_t i = 0; i < have; i++)
		writing->usage[i] = writing->used[i].work;
	return have;
}

/* From the begin of the first of some fragments to that of the one behind them. */
static int64_t length_of(const struct opendc_cuts *cuts, uint64_t index, uint64_t count)
{
	int64_t length = opendc_length(cuts, index);

	if (count > 1)
		length += ((int64_t)count - 2) * cuts->interval_ms +
			  opendc_length(cuts, index + count - 1);
	return length;
}

/* How many fragments are written as one: those of a long time without work. */
static uint64_t count_idle(const struct opendc_cuts *cuts, uint64_t index, uint64_t next)
{
	uint64_t count = next - index;

	return count > (uint64_t)(IDLE_MS / cuts->interval_ms) ? count : 1;
}

static int add_fragments(struct writing *writing, int64_t index,
			 const struct opendc_cuts *cuts, size_t used, struct error *error)
{
	const struct opendc_task *task = &writing->tasks->task[index];
	const struct opendc_work *next = writing->used, *end = next + used;
	struct cell cell[OPENDC_FIELDS] = {{0}};
	char text[ID_TEXT];

	cell[OPENDC_ID] = id_cell(writing, index, text);
	cell[OPENDC_CPU_COUNT] = cell_of_integer(task->cpu_count);
	cell[OPENDC_TIMESTAMP] = cell_of_integer(floor_ms(task->begin_ns));
	for (uint64_t i = 0, count; i < cuts->fragments; i += count) {
		bool works = next < end && next->index == i;
		int64_t length;

		count = works ? 1
			      : count_idle(cuts, i,
					   next < end ? next->index : cuts->fragments);
		length = length_of(cuts, i, count);
		cell[OPENDC_DURATION] = cell_of_integer(length);
		cell[OPENDC_TIMESTAMP].integer += length;
		cell[OPENDC_CPU_USAGE] = real(works ? (next++)->work : 0);
		writing->work +=
		    cell[OPENDC_CPU_USAGE].real * (double)length * (double)NSEC_PER_MSEC;
		writing->fragments++;
		if (opendc_sink_add(writing->sink, cell, NULL, error))
			return -1;
	}
	return 0;
}

/* What a task's processes ran; invocations share theirs, so that all are charged before.
 */
static int charge_task(struct writing *writing, const struct opendc_task *task,
		       struct error *error)
{
	const struct opendc_process *process = writing->cluster->process;

	for (int64_t at = task->process; at >= 0; at = process[at].next_of_task)
		if (opendc_charge_process(writing->charger, at, error))
			return -1;
	return 0;
}

/* Those that no task is to be charged for, but that count in the accounts; of invocations
 * all. */
static int charge_others(struct writing *writing, struct error *error)
{
	for (size_t i = 0; i < writing->cluster->processes; i++)
		if (writing->cluster->process[i].task < 0 &&
		    opendc_charge_process(writing->charger, (int64_t)i, error))
			return -1;
	return 0;
}

static int write_fragments(struct writing *writing, struct error *error)
{
	if (charge_others(writing, error))
		return -1;
	for (size_t i = 0; i < writing->tasks->tasks; i++) {
		struct opendc_task *task = &writing->tasks->task[i];
		struct opendc_cuts cuts;
		size_t used;

		if (charge_task(writing, task, error))
			return -1;
		opendc_cut(task, writing->choice->interval_ms, &cuts);
		used = find_used(writing, &cuts, task->work, opendc_sum_work(task));
		free(task->work);
		task->work = NULL;
		set_capacity(writing, task, writing->usage, used, &cuts);
		if (add_fragments(writing, (int64_t)i, &cuts, used, error))
			return -1;
		if (i % 64 == 0)
			progress_update(&writing->export->progress, "fragments",
					writing->fragments, 0, 0);
	}
	/* Work in is work out. */
	if (fabs(writing->work - writing->charger->work) > writing->charger->work * 1e-6)
		return error_set(
		    error, "%s: tasks worked %.17g MHz ns, and their fragments %.17g",
		    writing->export->path, writing->charger->work, writing->work);
	return opendc_check_accounts(writing->charger, error);
}

static int64_t memory_kb(const struct opendc_task *task,
			 const struct opendc_choice *choice)
{
	int64_t bytes = task->rss_peak >= 0 ? task->rss_peak : task->pages_peak;

	return bytes < 0 ? choice->memory_kb
			 : bytes / BYTES_PER_KB + (bytes % BYTES_PER_KB > 0);
}

/* Cells of the other ends of a task's edges; they stand in the scratch. */
static struct parquet_list list_of(struct writing *writing,
				   const struct opendc_edge *edge, size_t count,
				   bool parents, size_t *used)
{
	struct parquet_list list = {.cell = &writing->element[*used], .count = count};

	for (size_t i = 0; i < count; i++, (*used)++)
		writing->element[*used] =
		    id_cell(writing, parents ? edge[i].parent : edge[i].child,
			    writing->text + *used * ID_TEXT);
	return list;
}

static void reserve_elements(struct writing *writing, size_t count)
{
	if (count <= writing->elements)
		return;
	writing->elements = count;
	writing->element = mem_realloc(writing->element, count, sizeof(struct cell));
	writing->text = mem_realloc(writing->text, count, ID_TEXT);
}

static int add_task(struct writing *writing, int64_t index, struct error *error)
{
	const struct opendc_tasks *tasks = writing->tasks;
	const struct opendc_task *task = &tasks->task[index];
	const char *node = writing->cluster->node[task->node].fact->name;
	struct cell cell[OPENDC_FIELDS] = {{0}};
	struct parquet_list list[2];
	char text[ID_TEXT];
	size_t used = 0;

	cell[OPENDC_ID] = id_cell(writing, index, text);
	if (*task->name)
		cell_set_text(&cell[OPENDC_NAME], task->name, strlen(task->name));
	cell[OPENDC_SUBMISSION] = cell_of_integer(floor_ms(task->submit_ns));
	if (writing->choice->schema == 1)
		cell[OPENDC_SUBMISSION] = cell_of_integer(floor_ms(task->begin_ns));
	cell[OPENDC_STOP] = cell_of_integer(floor_ms(task->begin_ns) + task->duration_ms);
	cell[OPENDC_DURATION] = cell_of_integer(task->duration_ms);
	cell[OPENDC_CPU_COUNT] = cell_of_integer(task->cpu_count);
	cell[OPENDC_CPU_CAPACITY] = real(task->cpu_capacity);
	cell[OPENDC_MEM_CAPACITY] = cell_of_integer(memory_kb(task, writing->choice));
	if (task->deadline_ns != NSEC_MIN)
		cell[OPENDC_DEADLINE] = cell_of_integer(floor_ms(task->deadline_ns));
	cell_set_text(&cell[OPENDC_NODE], node, strlen(node));
	reserve_elements(writing, task->parents + task->children + 1);
	list[0] = list_of(writing, &tasks->edge[task->first_parent], task->parents, true,
			  &used);
	list[1] = list_of(writing, &tasks->by_parent[task->first_child], task->children,
			  false, &used);
	return opendc_sink_add(writing->sink, cell, list, error);
}

/* What a reader of the file may want to know of how it came about. */
static void tell_facts(struct opendc_sink *sink, const struct writing *writing)
{
	static const char *const capacities[] = {"max", "p95", "allocated"};
	char number[32];

	opendc_sink_tell(sink, "clustertrace.version", CT_VERSION);
	opendc_sink_tell(sink, "clustertrace.tasks",
			 opendc_kind_name(writing->tasks->kind));
	opendc_sink_tell(sink, "clustertrace.capacity",
			 capacities[writing->choice->capacity]);
	snprintf(number, sizeof(number), "%" PRId64, writing->choice->interval_ms);
	opendc_sink_tell(sink, "clustertrace.interval_ms", number);
	snprintf(number, sizeof(number), "%d", writing->choice->schema);
	opendc_sink_tell(sink, "clustertrace.schema", number);
}

static int open_sink(struct writing *writing, const struct opendc_table *table,
		     struct error *error)
{
	writing->sink = opendc_sink_new(writing->export->directory, table,
					writing->choice->csv, error);
	if (!writing->sink)
		return -1;
	tell_facts(writing->sink, writing);
	return 0;
}

static int close_sink(struct writing *writing, struct error *error)
{
	struct opendc_sink *sink = writing->sink;

	writing->sink = NULL;
	return opendc_sink_finish(sink, error);
}

static int write_tables(struct writing *writing, struct error *error)
{
	struct opendc_table tasks = opendc_tasks_table(writing->choice->schema);
	struct opendc_table fragments = opendc_fragments_table(writing->choice->schema);

	if (open_sink(writing, &fragments, error) || write_fragments(writing, error) ||
	    close_sink(writing, error) || open_sink(writing, &tasks, error))
		return -1;
	for (size_t i = 0; i < writing->tasks->tasks; i++)
		if (add_task(writing, (int64_t)i, error))
			return -1;
	return close_sink(writing, error);
}

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
		    __builtin_add_overflow(sum, memory_kb(&tasks->task[i], choice), &sum))
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

static int take_name(void *context, const struct cell *row, struct error *error)
{
	(void)error;
	if (row->type == CELL_TEXT && row->size)
		*(char **)context = cell_text(row);
	return 0;
}

/* The run's name, where it has one. For free(). */
static char *name_of_run(struct export *export)
{
	struct error error = ERROR_INIT;
	char *name = NULL;

	query_rows(export->timeline, "SELECT value FROM meta WHERE key = 'name'", NULL,
		   take_name, &name, &error);
	error_clear(&error);
	return name ? name : mem_strdup("C01");
}

/* topology.json: the nodes, by the names of their hosts. */
static int write_topology(const struct opendc_cluster *cluster,
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

int opendc_write(struct opendc_charger *charger, struct error *error)
{
	struct writing writing = {.charger = charger,
				  .tasks = charger->tasks,
				  .cluster = charger->cluster,
				  .choice = charger->choice,
				  .export = charger->export};
	int status = write_tables(&writing, error);

	if (!status)
		status = write_topology(charger->cluster, charger->tasks, charger->choice,
					charger->export, error);
	opendc_sink_free(writing.sink);
	free(writing.used);
	free(writing.usage);
	free(writing.element);
	free(writing.text);
	return status;
}
