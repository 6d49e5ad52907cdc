/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a cluster did, as a workload for OpenDC. */
#include "export/opendc/opendc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/formats.h"
#include "export/opendc/schema.h"
#include "export/opendc/write.h"

static void *new_options(void)
{
	struct opendc_options *options = mem_zalloc(sizeof(*options));

	options->interval_s = 1;
	options->cpu_mhz = 1000;
	options->memory_mib = 16;
	return options;
}

static size_t option_rows(void *given, struct option_row *row)
{
	struct opendc_options *options = given;
	const struct option_row rows[] = {
	    {0, "tasks", OPTION_STRING, &options->tasks, "KIND",
	     "what is a task: invocation, process, cgroup, session or comm (invocation, "
	     "if there are any, else process)",
	     0, 0},
	    {0, "interval", OPTION_DOUBLE, &options->interval_s, "SECONDS",
	     "length of a fragment (1)", 0.001, 86400},
	    {0, "capacity", OPTION_STRING, &options->capacity, "HOW",
	     "of a task: max or p95 of its fragments' usage, or what was allocated (max)",
	     0, 0},
	    {0, "cpu-mhz", OPTION_DOUBLE, &options->cpu_mhz, "MHZ",
	     "speed of cores of which none is recorded (1000)", 1, 1e6},
	    {0, "memory", OPTION_INT, &options->memory_mib, "MIB",
	     "memory of tasks of which none is recorded (16)", 0, 1 << 30},
	    {0, "no-kernel-threads", OPTION_FLAG, &options->no_kernel_threads, NULL,
	     "leave out kernel threads", 0, 0},
	    {0, "no-parents", OPTION_FLAG, &options->no_parents, NULL,
	     "do not say which task is whose child", 0, 0},
	    {0, "schema", OPTION_STRING, &options->schema, "VERSION",
	     "v1 to v5, for older simulators (v5)", 0, 0},
	    {0, "format", OPTION_STRING, &options->format, "FORMAT",
	     "parquet or csv (parquet)", 0, 0},
	};
	size_t count = sizeof(rows) / sizeof(*rows);

	for (size_t i = 0; i < count; i++)
		row[i] = rows[i];
	return count;
}

static void free_options(void *given)
{
	struct opendc_options *options = given;

	free(options->tasks);
	free(options->capacity);
	free(options->schema);
	free(options->format);
	free(options);
}

enum { BYTES_PER_KB = 1000, MS_PER_S = 1000 };

static const char *const tasks_names[] = {"invocation", "process", "cgroup", "session",
					  "comm"};
static const char *const capacity_names[] = {"max", "p95", "allocated"};
static const char *const schema_names[] = {"v1", "v2", "v3", "v4", "v5"};
static const char *const format_names[] = {"parquet", "csv"};

#define COUNT(names) (sizeof(names) / sizeof(*(names)))

const char *opendc_kind_name(enum opendc_kind kind)
{
	return kind < OPENDC_ANY ? tasks_names[kind] : "task";
}

/* The place of a word among those that an option takes, `otherwise` where it was not
 * given; -1 with error: "--tasks: 'x', want a, b or c". */
static int choose_word(const char *option, const char *word, const char *const *names,
		       size_t count, int otherwise, struct error *error)
{
	char *text;
	size_t size;
	FILE *wanted;

	for (size_t i = 0; word && i < count; i++)
		if (strcmp(word, names[i]) == 0)
			return (int)i;
	if (!word)
		return otherwise;
	wanted = open_memstream(&text, &size);
	for (size_t i = 0; i < count; i++)
		fprintf(wanted, "%s%s",
			!i               ? ""
			: i + 1 == count ? " or "
					 : ", ",
			names[i]);
	fclose(wanted);
	error_misuse(error, "--%s: '%s', want %s", option, word, text);
	free(text);
	return -1;
}

#define CHOOSE(word, otherwise)                                                          \
	choose_word(#word, options->word, word##_names, COUNT(word##_names), otherwise,  \
		    error)

static int choose_words(const struct opendc_options *options,
			struct opendc_choice *choice, struct error *error)
{
	int tasks = CHOOSE(tasks, OPENDC_ANY), capacity = -1, schema = -1, csv = -1;

	if (tasks >= 0)
		capacity = CHOOSE(capacity, OPENDC_MAX);
	if (capacity >= 0)
		schema = CHOOSE(schema, OPENDC_LAST_SCHEMA - 1);
	if (schema >= 0)
		csv = CHOOSE(format, 0);
	if (csv < 0)
		return -1;
	choice->kind = (enum opendc_kind)tasks;
	choice->capacity = (enum opendc_capacity)capacity;
	choice->schema = schema + 1;
	choice->csv = csv;
	return 0;
}

static int choose(const struct opendc_options *options, struct opendc_choice *choice,
		  struct error *error)
{
	double interval_ms = options->interval_s * MS_PER_S;

	*choice = (struct opendc_choice){
	    .cpu_mhz = options->cpu_mhz,
	    .memory_kb = ((int64_t)options->memory_mib * 1024 * 1024 + BYTES_PER_KB - 1) /
			 BYTES_PER_KB,
	    .interval_ms = llround(interval_ms),
	    .kernel_threads = !options->no_kernel_threads,
	    .parents = !options->no_parents,
	};
	if (choose_words(options, choice, error))
		return -1;
	if (fabs(interval_ms - (double)choice->interval_ms) > 1e-6)
		return error_misuse(error,
				    "--interval: %g s, want a whole number of "
				    "milliseconds",
				    options->interval_s);
	return 0;
}

static int make_plan(const void *given, const char *output, struct export_plan *plan,
		     struct error *error)
{
	const struct opendc_options *options = given;
	struct opendc_choice choice;

	(void)output;
	plan->target = EXPORT_TO_DIRECTORY;
	return choose(options, &choice, error);
}

struct work {
	struct opendc_cluster cluster;
	struct opendc_tasks tasks;
	struct opendc_charger charger;
};

/* Fall-backs, which change what the numbers are worth. */
static void note_sources(const struct work *work, const struct opendc_choice *choice,
			 struct export *export)
{
	for (size_t i = 0; i < work->cluster.nodes; i++) {
		const struct opendc_node *node = &work->cluster.node[i];

		if (!node->fact->chosen)
			continue;
		if (!node->switches)
			problem_add(&export->notes, node->fact->name, "fallback", 1,
				    "no scheduling events, so processor time is %s",
				    work->charger.sampled
					? "by samples of processes, where there are any"
				    : export->scope.without_spans
					? "not known: want a timeline with spans "
					  "(ctmerge without --no-spans), or proc.csv"
					: "not known: want sched_switch, or proc.csv");
		if (!(node->mhz > 0))
			problem_add(&export->notes, node->fact->name, "fallback", 1,
				    "neither node.json nor events tell the speed of its "
				    "cores, %g MHz is taken",
				    choice->cpu_mhz);
	}
}

static void note_count(struct export *export, size_t count, const char *text)
{
	if (count)
		problem_add(&export->notes, export->path, "left_out", count, "%zu %s",
			    count, text);
}

/* Their fragments have to fill their duration, so they are there, without usage. */
static void note_unrecorded(const struct work *work, struct export *export)
{
	size_t count = 0;
	double unknown = 0;

	for (size_t i = 0; i < work->tasks.tasks; i++) {
		const struct opendc_task *task = &work->tasks.task[i];
		const struct opendc_node *node =
		    task->node < 0 ? NULL : &work->cluster.node[task->node];
		nsec_t whole = nsec_sub(task->end_ns, task->begin_ns), recorded;

		if (!node || !node->switches)
			continue;
		recorded = recorded_within(&export->scope.recorded, node->fact->id,
					   task->begin_ns, task->end_ns);
		count += recorded < whole;
		unknown += (double)(whole - recorded);
	}
	if (count)
		problem_add(&export->notes, export->path, "unknown", count,
			    "of %zu tasks %.6f s lie where their node's kernel was not "
			    "traced: what they used then is not known, and 0 in their "
			    "fragments",
			    count, unknown / (double)NSEC_PER_SEC);
}

static void note_tasks(const struct work *work, const struct opendc_choice *choice,
		       struct export *export)
{
	const struct opendc_tasks *tasks = &work->tasks;
	size_t memory = 0;

	for (size_t i = 0; i < tasks->tasks; i++)
		memory += tasks->task[i].rss_peak < 0 && tasks->task[i].pages_peak < 0;
	note_count(export, tasks->outside, "invocations outside of the time, left out");
	note_count(export, tasks->unplaced,
		   "invocations without a begin or a node, left out");
	note_count(export, tasks->processless,
		   "invocations whose process is not known, without processor time");
	note_count(export, tasks->unended,
		   "invocations without an end, taken to last as long as the trace");
	note_count(export, tasks->ungrouped, "processes without a group, left out");
	note_count(export, tasks->kernels, "kernel threads left out");
	note_count(export, tasks->strays,
		   "parents left out that are no task, or begin after the child");
	note_count(export, work->cluster.outside,
		   "processes outside of the time, left out");
	if (memory)
		problem_add(&export->notes, export->path, "fallback", memory,
			    "of %zu tasks no memory is recorded, %lld kB are taken",
			    memory, (long long)choice->memory_kb);
}

static double seconds(double nanoseconds)
{
	return nanoseconds / (double)NSEC_PER_SEC;
}

/* Where all busy time went, so that sums can be held against the timeline. */
static void note_accounts(const struct work *work, struct export *export)
{
	for (size_t i = 0; i < work->cluster.nodes; i++) {
		const struct opendc_node *node = &work->cluster.node[i];
		const struct opendc_account *account = &node->account;

		if (node->fact->chosen && account->busy_ns > 0)
			problem_add(
			    &export->notes, node->fact->name, "account", 1,
			    "%.6f s busy (and %.6f s idle): %.6f s in tasks; left "
			    "out are %.6f s outside of tasks, %.6f s of kernel "
			    "threads, %.6f s of unknown threads",
			    seconds(account->busy_ns), seconds(account->idle_ns),
			    seconds(account->task_ns), seconds(account->outside_ns),
			    seconds(account->kernel_ns), seconds(account->unknown_ns));
	}
}

static int gather(struct work *work, const struct opendc_choice *choice,
		  struct export *export, struct error *error)
{
	struct opendc_charger *charger = &work->charger;

	if (opendc_cluster_load(&work->cluster, export, error) ||
	    opendc_find_sampled(&work->cluster, export, error))
		return -1;
	opendc_find_parents(&work->cluster);
	if (opendc_tasks_load(&work->tasks, &work->cluster, choice, export, error))
		return -1;
	*charger = (struct opendc_charger){.cluster = &work->cluster,
					   .tasks = &work->tasks,
					   .export = export,
					   .choice = choice};
	return opendc_charger_init(charger, error) ||
		       opendc_charge_samples(charger, error) ||
		       opendc_hold_samples(charger, error) ||
		       opendc_hold_pages(charger, error)
		   ? -1
		   : 0;
}

static int export_run(struct export *export, const struct opendc_choice *choice,
		      struct error *error)
{
	struct work work = {0};
	int status = gather(&work, choice, export, error);

	if (!status)
		status = opendc_write(&work.charger, error);
	if (!status) {
		note_sources(&work, choice, export);
		note_tasks(&work, choice, export);
		note_unrecorded(&work, export);
		note_accounts(&work, export);
	}
	opendc_charger_clear(&work.charger);
	opendc_tasks_clear(&work.tasks);
	opendc_cluster_clear(&work.cluster);
	return status;
}

static int run(struct export *export, struct error *error)
{
	const struct opendc_options *options = export->options;
	struct opendc_choice choice;

	if (choose(options, &choice, error))
		return -1;
	return export_run(export, &choice, error);
}

const struct export_format export_opendc = {
    .name = "opendc",
    .summary = "tasks and fragments for OpenDC, a simulator of data centers",
    .usage = "[OPTION...] RUN.db -o DIR",
    .options_new = new_options,
    .rows = option_rows,
    .options_free = free_options,
    .plan = make_plan,
    .run = run,
};
