/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The activity of a cluster as a workload for OpenDC, by the statements of opendc.sql. */
#include "export/opendc/opendc_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/format.h"
#include "tables/dataset.h"
#include "timeline/reader.h"

struct opendc_options opendc_options = {
    .interval_s = 1, .cpu_mhz = 1000, .memory_mib = -1};

/* The words of options. */
static const char *const kinds[] = {"node",   "invocation", "process",
				    "cgroup", "session",    "comm"};

static const struct option_row option_rows[] = {
    {0, "tasks", OPTION_WORD, &opendc_options.tasks,
     "KIND=node|invocation|process|cgroup|session|comm",
     "what is a task: all that a node does, an invocation, a process, or the processes "
     "of "
     "a node of one cgroup, session or comm (default: node)",
     0, 0},
    {0, "interval", OPTION_DOUBLE, &opendc_options.interval_s, "SECONDS",
     "length of a fragment (default: 1)", 0.001, 86400},
    {0, "capacity", OPTION_WORD, &opendc_options.capacity, "HOW=max|p95|allocated",
     "capacity of a task: max or p95 of the usage of its fragments, or what was "
     "allocated (default: max)",
     0, 0},
    {0, "cpu-mhz", OPTION_DOUBLE, &opendc_options.cpu_mhz, "MHZ",
     "speed of cores whose speed was not recorded (default: 1000)", 1, 1e6},
    {0, "memory", OPTION_INT, &opendc_options.memory_mib, "MIB",
     "memory of tasks whose memory was not recorded (default: what fits, at most 16)", 0,
     1 << 30},
    {0, "slots", OPTION_INT, &opendc_options.slots, "N",
     "hosts with N slow cores of the same speed in all, for N tasks at a time", 1,
     1 << 20},
    {0, "no-kernel-threads", OPTION_FLAG, &opendc_options.no_kernel_threads, NULL,
     "leave out kernel threads", 0, 0},
    {0, "parents", OPTION_FLAG, &opendc_options.parents, NULL,
     "record the parents of tasks, whose end a simulator waits for", 0, 0},
    {0, "format", OPTION_WORD, &opendc_options.format, "FORMAT=parquet|csv",
     "parquet or csv (default: parquet)", 0, 0},
    {0},
};

/* Length of a fragment. */
static int64_t interval_ms(void)
{
	return llround(opendc_options.interval_s * 1000);
}

static int check_interval(const char *output, struct export_plan *plan,
			  struct error *error)
{
	(void)output;
	(void)plan;
	return fabs(opendc_options.interval_s * 1000 - (double)interval_ms()) > 1e-6
		   ? error_misuse(
			 error,
			 "--interval: invalid value %g s (expected whole milliseconds)",
			 opendc_options.interval_s)
		   : 0;
}

/* The processor time of a node in ns. Sums of integers are exact in a double for 100
 * days; shares of samples are not integers. */
struct account {
	double task_ns;
	double kernel_ns;  /* time of kernel threads, which are not exported */
	double outside_ns; /* time of processes outside all tasks */
};

enum { VALUES = 9 };

struct opendc {
	struct export *export;
	struct cell value[VALUES]; /* parameters of opendc.sql */
	struct opendc_fragments fragments;
	struct account *account; /* by the scope's nodes */
};

static struct account *account_of(const struct opendc *opendc, int64_t node)
{
	const struct scope *scope = &opendc->export->scope;

	return &opendc->account[scope_find(scope, node) - scope->node];
}

/* Row: task (0: none), node, whether it is a kernel thread, begin, end, share, MHz. */
static int add_worked(void *context, const struct cell *row, struct error *error)
{
	struct opendc *opendc = context;
	struct account *account = account_of(opendc, row[1].integer);
	nsec_t begin_ns = row[3].integer, end_ns = row[4].integer;
	double share = row[5].real;
	double time = (double)nsec_sub(end_ns, begin_ns) * share;

	if (row->integer == 0) {
		*(row[2].integer ? &account->kernel_ns : &account->outside_ns) += time;
		return 0;
	}
	account->task_ns += time;
	return opendc_add_work(&opendc->fragments, (size_t)row->integer - 1, begin_ns,
			       end_ns, cell_number(&row[6]) * share, error);
}

static int open_file(struct opendc *opendc, enum opendc_table table, struct error *error)
{
	opendc->fragments.file = opendc_file_new(opendc->export->directory, table,
						 kinds[opendc_options.tasks], error);
	return opendc->fragments.file ? 0 : -1;
}

static int close_file(struct opendc *opendc, struct error *error)
{
	struct opendc_file *file = opendc->fragments.file;

	opendc->fragments.file = NULL;
	return opendc_file_finish(file, error);
}

static int read_rows(struct opendc *opendc, const char *sql, timeline_row_fn *on_row,
		     struct error *error)
{
	return query_rows(opendc->export->timeline, sql, opendc->value, on_row, opendc,
			  error);
}

/* begin, end, allocated, cores, MHz */
static int add_task(void *context, const struct cell *row, struct error *error)
{
	struct opendc *opendc = context;

	(void)error;
	opendc_add_task(&opendc->fragments,
			(struct opendc_task){.begin_ns = row[0].integer,
					     .allocated = row[2].integer,
					     .cores = row[3].integer,
					     .mhz = cell_number(&row[4])},
			row[1].integer);
	return 0;
}

/* Fragments have 32 bits in files; one wrong timestamp can make tasks of years. */
static int read_tasks(struct opendc *opendc, const char *sql, struct error *error)
{
	const char *path = opendc->export->path;
	int kind = opendc_options.tasks;

	if (read_rows(opendc, sql, add_task, error))
		return -1;
	if (!opendc->fragments.tasks)
		return error_set(
		    error,
		    "%s: no %s of the selected nodes and time, so there are no tasks",
		    path, kind == OPENDC_NODE_KIND ? "processor time" : kinds[kind]);
	if (opendc->fragments.tasks > INT32_MAX)
		return error_set(error, "too many tasks: %zu (limit 2^31 - 1)",
				 opendc->fragments.tasks);
	if (opendc->fragments.count > UINT32_MAX)
		return error_set(error,
				 "%s: too many fragments (limit 2^32); use a longer "
				 "--interval, or less of the timeline",
				 path);
	return 0;
}

static int check_groups(struct opendc *opendc, const char *sql, struct error *error)
{
	bool is_cgroup = opendc_options.tasks == OPENDC_CGROUP;
	int64_t count;

	if (!is_cgroup && opendc_options.tasks != OPENDC_SESSION)
		return 0;
	if (query_integer(opendc->export->timeline, sql, opendc->value, &count, error) <
	    0)
		return -1;
	return count ? 0
		     : error_set(
			   error, "%s: no %s of any process was recorded (expected %s)",
			   opendc->export->path, kinds[opendc_options.tasks],
			   is_cgroup
			       ? "the context cgroup_ns, LTTng's statedump, or `cgroup` "
				 "of invocations"
			       : "the system call setsid, or `session` of invocations");
}

static int write_fragments(struct opendc *opendc, const char *sql, struct error *error)
{
	struct opendc_fragments *all = &opendc->fragments;

	return open_file(opendc, OPENDC_FRAGMENTS, error) ||
		       read_rows(opendc, sql, add_worked, error) ||
		       opendc_end_tasks(all, all->tasks, error) ||
		       close_file(opendc, error)
		   ? -1
		   : 0;
}

static double seconds_of(double nanoseconds)
{
	return nanoseconds / (double)NSEC_PER_SEC;
}

/* Check that all busy time of a node is accounted for, to 1 ppm. Row: node, idle, busy,
 * time of unknown threads. */
static int check_account(void *context, const struct cell *row, struct error *error)
{
	const struct opendc *opendc = context;
	struct export *export = opendc->export;
	const struct account *account = account_of(opendc, row->integer);
	const char *name = scope_find(&export->scope, row->integer)->name;
	double busy_ns = row[2].real, unknown_ns = row[3].real;
	double sum =
	    account->task_ns + account->kernel_ns + account->outside_ns + unknown_ns;

	if (fabs(sum - busy_ns) > busy_ns * 1e-6)
		return error_set(error,
				 "%s: %s ran for %.0f ns, but %.0f ns are accounted for",
				 export->path, name, busy_ns, sum);
	if (busy_ns > 0)
		problem_add(&export->notes, name, PROBLEM_NOTE, 1,
			    "%.6f s busy (and %.6f s idle): %.6f s in tasks; omitted: "
			    "%.6f s outside of tasks, %.6f s of kernel threads, %.6f s "
			    "of unknown threads",
			    seconds_of(busy_ns), seconds_of(row[1].real),
			    seconds_of(account->task_ns), seconds_of(account->outside_ns),
			    seconds_of(account->kernel_ns), seconds_of(unknown_ns));
	return 0;
}

/* place, name, submission, begin, memory, parents, children, deadline, node */
static int write_task_row(void *context, const struct cell *row, struct error *error)
{
	struct opendc *opendc = context;
	const struct opendc_task *task = &opendc->fragments.task[row->integer - 1];
	struct cell cell[OPENDC_FIELDS] = {{0}};

	cell[OPENDC_ID] = row[0];
	if (row[1].size)
		cell[OPENDC_NAME] = row[1];
	cell[OPENDC_SUBMISSION] = cell_of_integer(opendc_floor_ms(row[2].integer));
	cell[OPENDC_DURATION] = cell_of_integer(task->duration_ms);
	cell[OPENDC_CPU_COUNT] = cell_of_integer(task->cpu_count);
	cell[OPENDC_CPU_CAPACITY] =
	    (struct cell){.type = CELL_REAL, .real = task->cpu_capacity};
	cell[OPENDC_MEM_CAPACITY] = row[4];
	cell[OPENDC_PARENTS] = row[5];
	cell[OPENDC_CHILDREN] = row[6];
	if (row[7].type == CELL_INTEGER)
		cell[OPENDC_DEADLINE] = cell_of_integer(opendc_floor_ms(row[7].integer));
	cell[OPENDC_NODE] = row[8];
	return opendc_file_add(opendc->fragments.file, cell, error);
}

static int write_tasks(struct opendc *opendc, const char *sql, struct error *error)
{
	return open_file(opendc, OPENDC_TASKS, error) ||
		       read_rows(opendc, sql, write_task_row, error) ||
		       close_file(opendc, error)
		   ? -1
		   : 0;
}

static int write_json_row(void *context, const struct cell *row, struct error *error)
{
	return statement_json(context, row, error);
}

/* The one row of a statement that has the name of its file. */
static int write_json(struct opendc *opendc, const struct statement *statement,
		      struct error *error)
{
	FILE *file = export_create(opendc->export->directory, statement->name, error);

	if (!file)
		return -1;
	if (query_rows(opendc->export->timeline, statement->sql, opendc->value,
		       write_json_row, file, error) == 0)
		return export_close(file, statement->name, error);
	fclose(file);
	return error_prefix(error, "%s", statement->name);
}

/* A statement of opendc.sql. */
static int write_statement(void *context, const struct statement *statement,
			   struct error *error)
{
	struct opendc *opendc = context;
	const char *name = statement->name, *sql = statement->sql;

	if (strcmp(name, "task") == 0)
		return read_tasks(opendc, sql, error);
	if (strcmp(name, "labelled") == 0)
		return check_groups(opendc, sql, error);
	if (strcmp(name, "worked") == 0)
		return write_fragments(opendc, sql, error);
	if (strcmp(name, "tasks") == 0)
		return write_tasks(opendc, sql, error);
	if (strcmp(name, "notes") == 0)
		return statement_notes(opendc->export, statement, opendc->value, error);
	if (strstr(name, ".json"))
		return write_json(opendc, statement, error);
	return read_rows(opendc, sql, check_account, error);
}

static int check_invocations(struct opendc *opendc, struct error *error)
{
	struct export *export = opendc->export;
	int64_t any;
	int has;

	if (opendc_options.tasks != OPENDC_INVOCATION)
		return 0;
	has = query_integer(export->timeline, "SELECT 1 FROM invocation LIMIT 1", NULL,
			    &any, error);
	if (has < 0)
		return -1;
	return has ? 0
		   : error_set(error,
			       "%s: no invocations; use --tasks process, or a run with "
			       "invocations.jsonl",
			       export->path);
}

static int export_all(struct opendc *opendc, struct error *error)
{
	const struct opendc_options *options = &opendc_options;
	const struct export *export = opendc->export;
	const char *kind = kinds[options->tasks];

	if (check_invocations(opendc, error) || statement_chosen(export, error))
		return -1;
	opendc->value[0] = cell_of_integer(export->scope.begin_ns);
	opendc->value[1] = cell_of_integer(export->scope.end_ns);
	cell_set_text(&opendc->value[2], kind, strlen(kind));
	opendc->value[3] = cell_of_integer(!options->no_kernel_threads);
	opendc->value[4] = cell_of_integer(options->parents);
	opendc->value[5] = (struct cell){.type = CELL_REAL, .real = options->cpu_mhz};
	if (options->memory_mib >= 0)
		opendc->value[6] = cell_of_integer(
		    ((int64_t)options->memory_mib * 1024 * 1024 + 999) / 1000);
	opendc->value[7] = cell_of_integer(export->scope.without_spans);
	if (options->slots)
		opendc->value[8] = cell_of_integer(options->slots);
	return statement_each(export->timeline, opendc_sql, opendc->value,
			      write_statement, opendc, error);
}

static int run_opendc_export(struct export *export, struct error *error)
{
	struct opendc opendc = {
	    .export = export,
	    .fragments = {.interval_ms = interval_ms(),
			  .capacity = (enum opendc_capacity)opendc_options.capacity,
			  .progress = &export->progress}};
	int status;

	opendc.account = mem_zalloc((export->scope.nodes + 1) * sizeof(*opendc.account));
	status = export_all(&opendc, error);
	opendc_file_free(opendc.fragments.file);
	free(opendc.fragments.task);
	free(opendc.fragments.work);
	free(opendc.account);
	return status;
}

const struct export_format export_opendc = {
    .name = "opendc",
    .summary = "tasks and fragments for OpenDC, a simulator of data centers",
    .usage = "[OPTION...] RUN.db -o DIR",
    .rows = option_rows,
    .target = EXPORT_TO_DIRECTORY,
    .plan = check_interval,
    .run = run_opendc_export,
};
