/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/opendc/check.h"

/* Rounding in the last digits is nobody's mistake. */
#define TOLERANCE 1e-9

/* A deadline that is none, as OpenDC has it. */
enum { NO_DEADLINE = -1 };

static const char nulls[] = "null";

/* A number that must be there: NaN where it is not, which was told then. */
static double number(struct opendc_check *check, const struct opendc_input *input,
		     const struct opendc_row *row, enum opendc_field field)
{
	const struct cell *cell = &row->cell[field];

	if (cell->type == CELL_INTEGER)
		return (double)cell->integer;
	if (cell->type == CELL_REAL)
		return cell->real;
	if (opendc_input_took(input, field) && cell->type == CELL_NULL)
		report_add(&check->report, REPORT_ERROR, nulls,
			   "%s: row %" PRIu64 " lacks its %s", opendc_input_name(input),
			   row->number, opendc_input_column(input, field));
	return NAN;
}

static int64_t integer(struct opendc_check *check, const struct opendc_input *input,
		       const struct opendc_row *row, enum opendc_field field)
{
	double value;

	if (row->cell[field].type == CELL_INTEGER)
		return row->cell[field].integer;
	value = number(check, input, row, field);
	return fabs(value) < 9e18 ? (int64_t)value : 0;
}

/* What it is called in messages: "tasks.parquet: task 17". For free(). */
static char *place_of(const struct opendc_input *input, const struct opendc_row *row)
{
	char *id = opendc_id_text(&row->cell[OPENDC_ID]);
	char *place = mem_printf("%s: task %s", opendc_input_name(input), id);

	free(id);
	return place;
}

static void check_finite(struct opendc_check *check, const char *place, const char *what,
			 double value, bool is_there)
{
	if (is_there && !(isfinite(value) && value >= 0))
		report_add(&check->report, REPORT_ERROR, "number",
			   "%s: %s %g, want it finite and not negative", place, what,
			   value);
}

static void check_counts(struct opendc_check *check, const struct opendc_input *input,
			 const struct opendc_row *row, const char *place)
{
	static const struct {
		enum opendc_field field;
		int64_t least;
	} count[] = {
	    {OPENDC_CPU_COUNT, 1}, {OPENDC_MEM_CAPACITY, 0}, {OPENDC_GPU_COUNT, 0}};

	for (size_t i = 0; i < sizeof(count) / sizeof(*count); i++) {
		enum opendc_field field = count[i].field;
		int64_t value = row->cell[field].integer;

		if (row->cell[field].type != CELL_INTEGER) {
			if (field != OPENDC_GPU_COUNT)
				number(check, input, row,
				       field); /* tells that it lacks */
		} else if (value < count[i].least) {
			report_add(&check->report, REPORT_ERROR, "number",
				   "%s: %s %" PRId64 ", want %" PRId64 " at least", place,
				   opendc_input_column(input, field), value,
				   count[i].least);
		}
	}
}

static void check_deadline(struct opendc_check *check, const struct opendc_checked *task,
			   const struct opendc_row *row, const char *place)
{
	const struct cell *cell = &row->cell[OPENDC_DEADLINE];

	if (cell->type != CELL_INTEGER || cell->integer == NO_DEADLINE)
		return;
	if (cell->integer < task->submission_ms)
		report_add(&check->report, REPORT_ERROR, "deadline",
			   "%s: deadline %" PRId64 ", before its submission at %" PRId64,
			   place, cell->integer, task->submission_ms);
	else if (cell->integer - task->submission_ms < task->duration_ms)
		report_add(&check->report, REPORT_WARNING, "deadline",
			   "%s: deadline %" PRId64 " ms after its submission, and it "
			   "takes %" PRId64,
			   place, cell->integer - task->submission_ms, task->duration_ms);
}

/* Version 1 says when a task stops, version 2 may leave out how long it takes. */
static void take_duration(struct opendc_check *check, const struct opendc_input *input,
			  const struct opendc_row *row, struct opendc_checked *task)
{
	task->timed = true;
	if (opendc_input_took(input, OPENDC_DURATION))
		task->duration_ms = integer(check, input, row, OPENDC_DURATION);
	else if (!opendc_input_took(input, OPENDC_STOP))
		task->timed = false;
	else if (__builtin_sub_overflow(integer(check, input, row, OPENDC_STOP),
					task->submission_ms, &task->duration_ms))
		task->duration_ms = -1;
}

static void check_task(struct opendc_check *check, const struct opendc_input *input,
		       const struct opendc_row *row, struct opendc_checked *task)
{
	char *place = place_of(input, row);

	task->submission_ms = integer(check, input, row, OPENDC_SUBMISSION);
	take_duration(check, input, row, task);
	task->cpu_capacity = number(check, input, row, OPENDC_CPU_CAPACITY);
	task->gpu_capacity = row->cell[OPENDC_GPU_CAPACITY].type == CELL_REAL
				 ? row->cell[OPENDC_GPU_CAPACITY].real
				 : NAN;
	if (task->submission_ms < 0)
		report_add(&check->report, REPORT_ERROR, "time",
			   "%s: submitted at %" PRId64 " ms, before 1970", place,
			   task->submission_ms);
	if (task->timed && task->duration_ms <= 0)
		report_add(&check->report, REPORT_ERROR, "duration",
			   "%s: duration %" PRId64 ", want it positive", place,
			   task->duration_ms);
	check_finite(check, place, "cpu_capacity", task->cpu_capacity,
		     row->cell[OPENDC_CPU_CAPACITY].type != CELL_NULL);
	check_finite(check, place, "gpu_capacity", task->gpu_capacity,
		     row->cell[OPENDC_GPU_CAPACITY].type == CELL_REAL);
	if (task->cpu_capacity == 0)
		report_add(&check->report, REPORT_WARNING, "capacity",
			   "%s: cpu_capacity 0", place);
	check_counts(check, input, row, place);
	check_deadline(check, task, row, place);
	free(place);
}

static void add_task(struct opendc_check *check, const struct opendc_input *input,
		     const struct opendc_row *row)
{
	struct opendc_checked task = {.last_ms = INT64_MIN};

	check->report.tasks++;
	if (row->cell[OPENDC_ID].type == CELL_NULL) {
		if (opendc_input_took(input, OPENDC_ID))
			report_add(&check->report, REPORT_ERROR, nulls,
				   "%s: row %" PRIu64 " lacks its id",
				   opendc_input_name(input), row->number);
		return;
	}
	check_task(check, input, row, &task);
	if (opendc_ids_add(&check->ids, &row->cell[OPENDC_ID]) < 0) {
		char *place = place_of(input, row);

		report_add(&check->report, REPORT_ERROR, "id",
			   "%s comes twice, or more often", place);
		free(place);
		return;
	}
	check->task =
	    mem_grow(check->task, check->tasks, &check->task_room, sizeof(*check->task));
	check->task[check->tasks++] = task;
}

static void check_usage(struct opendc_check *check, const char *place, const char *what,
			const struct cell *cell, double capacity)
{
	if (cell->type != CELL_REAL)
		return;
	check_finite(check, place, what, cell->real, true);
	if (cell->real > capacity * (1 + TOLERANCE))
		report_add(&check->report, REPORT_WARNING, "usage",
			   "%s: %s %.15g, and its capacity is %.15g", place, what,
			   cell->real, capacity);
}

/* Stamps are of the ends of fragments, which come in the order of time. */
static void check_stamp(struct opendc_check *check, const char *place,
			struct opendc_checked *task, const struct cell *cell)
{
	if (cell->type != CELL_INTEGER)
		return;
	if (cell->integer < task->last_ms)
		report_add(&check->report, REPORT_ERROR, "order",
			   "%s: a fragment of %" PRId64 " ms comes after one of %" PRId64,
			   place, cell->integer, task->last_ms);
	task->last_ms = cell->integer;
}

static void add_fragment(struct opendc_check *check, const struct opendc_input *input,
			 const struct opendc_row *row)
{
	const struct cell *id = &row->cell[OPENDC_ID];
	int64_t index =
	    id->type == CELL_NULL ? OPENDC_NO_ID : opendc_ids_find(&check->ids, id);
	int64_t duration = integer(check, input, row, OPENDC_DURATION);
	struct opendc_checked *task;
	char *place = place_of(input, row);

	check->report.fragments++;
	number(check, input, row, OPENDC_CPU_USAGE); /* tells where it lacks */
	if (opendc_input_took(input, OPENDC_DURATION) && duration <= 0)
		report_add(&check->report, REPORT_ERROR, "duration",
			   "%s: row %" PRIu64 ": duration %" PRId64 ", want it positive",
			   place, row->number, duration);
	if (index < 0) {
		if (opendc_input_took(input, OPENDC_ID))
			report_add(&check->report, REPORT_ERROR, "orphan",
				   "%s: row %" PRIu64 ": there is no such task", place,
				   row->number);
		free(place);
		return;
	}
	task = &check->task[index];
	task->fragments++;
	if (__builtin_add_overflow(task->sum_ms, duration, &task->sum_ms))
		task->sum_ms = INT64_MAX;
	check_usage(check, place, "cpu_usage", &row->cell[OPENDC_CPU_USAGE],
		    task->cpu_capacity);
	check_usage(check, place, "gpu_usage", &row->cell[OPENDC_GPU_USAGE],
		    task->gpu_capacity);
	check_stamp(check, place, task, &row->cell[OPENDC_TIMESTAMP]);
	free(place);
}

/* What shows only when all fragments are there. */
static void check_sums(struct opendc_check *check)
{
	for (size_t i = 0; i < check->tasks; i++) {
		const struct opendc_checked *task = &check->task[i];
		char *name;

		if (task->fragments &&
		    (!task->timed || task->sum_ms == task->duration_ms))
			continue;
		name = opendc_ids_text(&check->ids, (int64_t)i);
		if (!task->fragments)
			report_add(&check->report, REPORT_ERROR, "fragment",
				   "task %s has no fragment: OpenDC leaves it out", name);
		else
			report_add(&check->report, REPORT_ERROR, "sum",
				   "task %s takes %" PRId64
				   " ms, and its fragments %" PRId64,
				   name, task->duration_ms, task->sum_ms);
		free(name);
	}
}

/* By the names of the files, the type of ids, and columns that came and went. */
static int find_schema(const struct opendc_input *tasks, bool is_first)
{
	bool text, unused, is_late;

	if (is_first)
		return 1;
	opendc_input_has(tasks, "id", &text);
	is_late = opendc_input_has(tasks, "deferrable", &unused);
	if (opendc_input_is_csv(tasks))
		text = !is_late && !opendc_input_has(tasks, "name", &unused);
	if (text)
		return opendc_input_has(tasks, "parents", &unused) ||
			       opendc_input_has(tasks, "gpu_count", &unused)
			   ? 3
			   : 2;
	return is_late || !opendc_input_has(tasks, "nature", &unused) ? 5 : 4;
}

/* The tasks' file by the names of either layout. */
static struct opendc_input *open_tasks(const char *directory, int schema, bool *is_first,
				       struct error *error)
{
	struct opendc_input *tasks = NULL;
	bool missing = true;

	*is_first = schema == 1;
	if (schema != 1)
		tasks = opendc_input_open(directory, "tasks", &missing, error);
	if (tasks || !missing || schema > 1)
		return tasks;
	tasks = opendc_input_open(directory, "trace/meta", &missing, error);
	if (!tasks && missing)
		error_set(error, "%s: no tasks.parquet, tasks.csv or trace/meta.parquet",
			  directory);
	*is_first = true;
	return tasks;
}

static int read_rows(struct opendc_check *check, struct opendc_input *input,
		     void (*take)(struct opendc_check *, const struct opendc_input *,
				  const struct opendc_row *),
		     struct error *error)
{
	struct opendc_row row;
	int more;

	while ((more = opendc_input_next(input, &row, &check->report, error)) > 0)
		take(check, input, &row);
	return more;
}

/* A second reading, when all ids are known. */
static int read_relations(struct opendc_check *check, const char *directory,
			  const struct opendc_table *table, struct error *error)
{
	struct report unheard = {0}; /* all of it was told the first time */
	struct opendc_input *input;
	struct opendc_row row;
	bool missing;
	int more = -1;

	input = opendc_input_open(directory, table->file, &missing, error);
	if (!input)
		return -1;
	opendc_input_take(input, table, &unheard);
	check->told[0] = opendc_input_took(input, OPENDC_PARENTS);
	check->told[1] = opendc_input_took(input, OPENDC_CHILDREN);
	if (!check->told[0] && !check->told[1])
		more = 0;
	while (more && (more = opendc_input_next(input, &row, &unheard, error)) > 0) {
		int64_t task = row.cell[OPENDC_ID].type == CELL_NULL
				   ? OPENDC_NO_ID
				   : opendc_ids_find(&check->ids, &row.cell[OPENDC_ID]);

		for (int i = 0; task >= 0 && i < 2; i++)
			opendc_check_list(check, task, i, &row.list[i]);
	}
	opendc_input_free(input);
	report_clear(&unheard);
	if (more == 0)
		opendc_check_relations(check);
	return more;
}

static int read_fragments(struct opendc_check *check, const char *directory,
			  struct error *error)
{
	struct opendc_table table = opendc_fragments_table(check->report.schema);
	struct opendc_input *input;
	bool missing;
	int status;

	input = opendc_input_open(directory, table.file, &missing, error);
	if (!input)
		return -1;
	opendc_input_take(input, &table, &check->report);
	status = read_rows(check, input, add_fragment, error);
	opendc_input_free(input);
	return status;
}

static int read_trace(struct opendc_check *check, const char *directory, int schema,
		      struct error *error)
{
	struct opendc_table table;
	bool is_first;
	struct opendc_input *tasks = open_tasks(directory, schema, &is_first, error);
	int status;

	if (!tasks)
		return -1;
	check->report.schema = schema ? schema : find_schema(tasks, is_first);
	check->report.format = opendc_input_is_csv(tasks) ? "csv" : "parquet";
	table = opendc_tasks_table(check->report.schema);
	opendc_input_take(tasks, &table, &check->report);
	status = read_rows(check, tasks, add_task, error);
	opendc_input_free(tasks);
	if (status || read_fragments(check, directory, error))
		return -1;
	check_sums(check);
	if (!check->report.tasks)
		report_add(&check->report, REPORT_WARNING, "empty", "there is no task");
	return read_relations(check, directory, &table, error);
}

static void clear_check(struct opendc_check *check)
{
	report_clear(&check->report);
	opendc_ids_clear(&check->ids);
	free(check->task);
	free(check->relation[0]);
	free(check->relation[1]);
}

int opendc_verify(const char *directory, int schema, bool json, FILE *out,
		  struct error *error)
{
	struct opendc_check check = {.report.directory = directory};
	struct error reading = ERROR_INIT;
	uint64_t errors;

	if (read_trace(&check, directory, schema, &reading))
		report_add(&check.report, REPORT_ERROR, "file", "%s",
			   error_text(&reading));
	error_clear(&reading);
	report_print(&check.report, json, out);
	errors = report_count(&check.report, REPORT_ERROR);
	clear_check(&check);
	return errors ? error_set(error, "%s: the trace has errors", directory) : 0;
}
