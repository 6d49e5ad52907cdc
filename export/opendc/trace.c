/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/opendc_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/version.h"
#include "parquet/parquet.h"
#include "tables/dataset.h"
#include "timeline/reader.h"

struct form {
	enum opendc_field field;
	struct parquet_column column;
};

#define TEXT(word, ...)                                                                  \
	{                                                                                \
		.name = word, .type = PARQUET_BYTE_ARRAY, .logical = PARQUET_STRING,     \
		##__VA_ARGS__                                                            \
	}
#define TIME(word)                                                                       \
	{                                                                                \
		.name = word, .type = PARQUET_INT64, .logical = PARQUET_TIMESTAMP_MILLIS \
	}
#define NUMBER(word, kind, ...)                                                          \
	{                                                                                \
		.name = word, .type = PARQUET_##kind, ##__VA_ARGS__                      \
	}
#define OPTIONAL .optional = true
#define LIST     .list = true

/* As OpenDC's readers ask for them since 2.4g. */
static const struct form task_forms[] = {
    {OPENDC_ID, NUMBER("id", INT32)},
    {OPENDC_NAME, TEXT("name", OPTIONAL)},
    {OPENDC_SUBMISSION, TIME("submission_time")},
    {OPENDC_DURATION, NUMBER("duration", INT64)},
    {OPENDC_CPU_COUNT, NUMBER("cpu_count", INT32)},
    {OPENDC_CPU_CAPACITY, NUMBER("cpu_capacity", DOUBLE)},
    {OPENDC_MEM_CAPACITY, NUMBER("mem_capacity", INT64)},
    {OPENDC_GPU_COUNT, NUMBER("gpu_count", INT32, OPTIONAL)},
    {OPENDC_GPU_CAPACITY, NUMBER("gpu_capacity", DOUBLE, OPTIONAL)},
    {OPENDC_PARENTS, NUMBER("parents", INT32, LIST)},
    {OPENDC_CHILDREN, NUMBER("children", INT32, LIST)},
    {OPENDC_DEFERRABLE, NUMBER("deferrable", BOOLEAN, OPTIONAL)},
    {OPENDC_DEADLINE, NUMBER("deadline", INT64, OPTIONAL)},
    {OPENDC_NODE, TEXT("node", OPTIONAL)},
};

static const struct form fragment_forms[] = {
    {OPENDC_ID, NUMBER("id", INT32)},
    {OPENDC_DURATION, NUMBER("duration", INT64)},
    {OPENDC_CPU_USAGE, NUMBER("cpu_usage", DOUBLE)},
    {OPENDC_GPU_USAGE, NUMBER("gpu_usage", DOUBLE, OPTIONAL)},
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

enum { LISTS = 2 };

struct opendc_file {
	struct table_file table;
	enum opendc_field field[COUNT(task_forms)];
	struct parquet_column column[COUNT(task_forms)];
	struct cell *element[LISTS]; /* scratch */
	size_t capacity[LISTS];
};

/* Add key-value metadata that says how the file was made. */
static void add_facts(struct parquet_writer *writer, const char *tasks)
{
	static const char *const capacities[] = {"max", "p95", "allocated"};
	char interval[32];

	snprintf(interval, sizeof(interval), "%lld",
		 llround(opendc_options.interval_s * 1000));
	parquet_add_metadata(writer, "clustertrace.version", CT_VERSION);
	parquet_add_metadata(writer, "clustertrace.tasks", tasks);
	parquet_add_metadata(writer, "clustertrace.capacity",
			     capacities[opendc_options.capacity]);
	parquet_add_metadata(writer, "clustertrace.interval_ms", interval);
	parquet_add_metadata(writer, "clustertrace.schema", "5");
}

struct opendc_file *opendc_file_new(const char *directory, enum opendc_table table,
				    const char *tasks, struct error *error)
{
	static const char *const names[] = {"tasks", "fragments"};
	const struct table_style style = {.parquet =
					      opendc_options.format == OPENDC_PARQUET};
	const struct form *form = table == OPENDC_TASKS ? task_forms : fragment_forms;
	size_t forms = table == OPENDC_TASKS ? COUNT(task_forms) : COUNT(fragment_forms);
	struct opendc_file *file = mem_zalloc(sizeof(*file));

	for (size_t i = 0; i < forms; i++) {
		file->field[file->table.columns] = form[i].field;
		file->column[file->table.columns++] = form[i].column;
	}
	file->table.column = file->column;
	file->table.name = mem_printf("%s.%s", names[table], table_extension(&style));
	if (table_file_begin(&file->table, directory, &style, error)) {
		opendc_file_free(file);
		return NULL;
	}
	if (style.parquet)
		add_facts(file->table.writer, tasks);
	return file;
}

/* The integers of "1;2;3". */
static struct parquet_list list_of(struct opendc_file *file, size_t list,
				   const struct cell *text)
{
	bool any = text->type == CELL_TEXT;
	const char *at = any ? text->bytes : "", *end = at + (any ? text->size : 0);
	size_t count = 0;

	while (at < end) {
		char *next;

		*MEM_NEXT(file->element[list], count, file->capacity[list]) =
		    cell_of_integer(strtoll(at, &next, 10));
		at = next + 1;
	}
	return (struct parquet_list){.cell = file->element[list], .count = count};
}

int opendc_file_add(struct opendc_file *file, const struct cell *cell,
		    struct error *error)
{
	struct cell row[COUNT(task_forms)];
	struct parquet_list list[LISTS];
	size_t lists = 0;

	for (size_t i = 0; i < file->table.columns; i++) {
		row[i] = cell[file->field[i]];
		/* In CSV a list is text. */
		if (file->table.writer && file->column[i].list) {
			list[lists] = list_of(file, lists, &row[i]);
			lists++;
		}
	}
	return table_file_rows(&file->table, row, lists ? list : NULL, 1, error);
}

int opendc_file_finish(struct opendc_file *file, struct error *error)
{
	int status = table_file_end(&file->table, error);

	opendc_file_free(file);
	return status;
}

void opendc_file_free(struct opendc_file *file)
{
	if (!file)
		return;
	table_file_clear(&file->table);
	for (size_t i = 0; i < LISTS; i++)
		free(file->element[i]);
	free(file);
}

/* A task may last until 2068: a longer time than this without work is one fragment. */
enum { IDLE_MS = 3600 * 1000 };

struct opendc_work {
	uint64_t index; /* the fragment's index */
	double work;    /* MHz times nanoseconds; in the end MHz */
};

/* Round up to milliseconds. */
static int64_t ceil_ms(nsec_t span)
{
	return span / NSEC_PER_MSEC + (span % NSEC_PER_MSEC > 0);
}

static int64_t floor_to(nsec_t instant, nsec_t step)
{
	nsec_t rest = instant % step;

	return nsec_sub(instant, rest < 0 ? rest + step : rest);
}

int64_t opendc_floor_ms(nsec_t instant)
{
	return floor_to(instant, NSEC_PER_MSEC) / NSEC_PER_MSEC;
}

/* Set a task's fragments. They begin at the multiples of the interval since the epoch,
 * except the first, each a whole number of milliseconds, rounded up, after the task's
 * start. So their lengths add up to the task's, and the work in one never exceeds what
 * the processors can do in it. */
void opendc_add_task(struct opendc_fragments *fragments, struct opendc_task task,
		     nsec_t end_ns)
{
	int64_t interval_ms = fragments->interval_ms;
	nsec_t step = interval_ms * NSEC_PER_MSEC;
	int64_t all_ms = ceil_ms(nsec_sub(end_ns, task.begin_ns));

	task.first_ms = ceil_ms(
	    nsec_sub(nsec_add(floor_to(task.begin_ns, step), step), task.begin_ns));
	task.duration_ms = all_ms ? all_ms : 1;
	task.fragments = 1;
	if (task.duration_ms > task.first_ms)
		task.fragments +=
		    (uint64_t)((task.duration_ms - task.first_ms + interval_ms - 1) /
			       interval_ms);
	if (fragments->count <= UINT32_MAX)
		fragments->count += task.fragments;
	*MEM_NEXT(fragments->task, fragments->tasks, fragments->task_capacity) = task;
}

/* Return the length (ms) of `count` fragments of the current task. */
static int64_t length_of(const struct opendc_fragments *fragments, uint64_t index,
			 uint64_t count)
{
	const struct opendc_task *task = &fragments->task[fragments->at];
	int64_t step_ms = fragments->interval_ms;
	int64_t begin_ms = index ? task->first_ms + ((int64_t)index - 1) * step_ms : 0;
	int64_t end_ms = task->first_ms + ((int64_t)(index + count) - 1) * step_ms;

	return (end_ms < task->duration_ms ? end_ms : task->duration_ms) - begin_ms;
}

int opendc_add_work(struct opendc_fragments *fragments, size_t number, nsec_t begin_ns,
		    nsec_t end_ns, double mhz, struct error *error)
{
	const struct opendc_task *task = &fragments->task[number];
	nsec_t first = task->first_ms * NSEC_PER_MSEC;
	nsec_t step = fragments->interval_ms * NSEC_PER_MSEC;

	if (opendc_end_tasks(fragments, number, error))
		return -1;
	while (begin_ns < end_ns) {
		nsec_t since = nsec_sub(begin_ns, task->begin_ns);
		int64_t index = since < first ? 0 : 1 + (since - first) / step;
		nsec_t until = nsec_add(task->begin_ns, first + index * step);
		nsec_t to = until < end_ns ? until : end_ns;
		double work = (double)nsec_sub(to, begin_ns) * mhz;

		if ((uint64_t)index >= task->fragments)
			index = (int64_t)task->fragments - 1;
		if (!fragments->works ||
		    fragments->work[fragments->works - 1].index != (uint64_t)index) {
			*MEM_NEXT(fragments->work, fragments->works,
				  fragments->work_capacity) =
			    (struct opendc_work){(uint64_t)index, 0};
		}
		fragments->work[fragments->works - 1].work += work;
		begin_ns = to;
	}
	return 0;
}

static int compare_work(const void *a, const void *b)
{
	const struct opendc_work *one = a, *other = b;

	return COMPARE(one->index, other->index);
}

static int compare_usage(const void *a, const void *b)
{
	const struct opendc_work *one = a, *other = b;

	return COMPARE(one->work, other->work);
}

/* Sort and merge the work, so that each fragment occurs once, and convert it to MHz. */
static void sum_work(struct opendc_fragments *fragments)
{
	struct opendc_work *work = fragments->work;
	size_t count = 0;

	/* Several threads, or two kinds of samples, are not in order. */
	SORT(work, fragments->works, compare_work);
	for (size_t i = 0; i < fragments->works; i++)
		if (count && work[count - 1].index == work[i].index)
			work[count - 1].work += work[i].work;
		else
			work[count++] = work[i];
	for (size_t i = 0; i < count; i++)
		work[i].work /= (double)length_of(fragments, work[i].index, 1) *
				(double)NSEC_PER_MSEC;
	fragments->works = count;
}

/* Return the usage that only `above` of `count` fragments exceed. Fragments without work
 * have 0. */
static double usage_of(const struct opendc_fragments *fragments, uint64_t count,
		       uint64_t above)
{
	uint64_t rank = count - above, zeros = count - fragments->works;
	size_t size = fragments->works * sizeof(*fragments->work);
	struct opendc_work *sorted;
	double usage;

	if (rank <= zeros)
		return 0;
	sorted = mem_alloc(size);
	memcpy(sorted, fragments->work, size);
	SORT(sorted, fragments->works, compare_usage);
	usage = sorted[rank - zeros - 1].work;
	free(sorted);
	return usage;
}

/* Set the task's capacity. A task that never worked still needs a core. Rounding in the
 * last digit must not add one. */
static void set_capacity(const struct opendc_fragments *fragments,
			 struct opendc_task *task)
{
	enum { TWENTIETH = 20 };
	double cores;

	if (fragments->capacity == OPENDC_ALLOCATED) {
		cores = (double)(task->allocated ? task->allocated : task->cores);
		task->cpu_capacity = cores * task->mhz;
	} else {
		task->cpu_capacity = usage_of(
		    fragments, task->fragments,
		    fragments->capacity == OPENDC_P95 ? task->fragments / TWENTIETH : 0);
		if (task->cpu_capacity <= 0)
			task->cpu_capacity = task->mhz;
		cores = ceil(task->cpu_capacity / task->mhz * (1 - 1e-12));
		cores = fmin(cores, (double)task->cores);
	}
	/* Each slot is for one task. */
	task->cpu_count =
	    opendc_options.slots ? 1 : (int64_t)fmin(fmax(cores, 1), INT32_MAX);
}

/* Write the fragments of the current task and go to the next. A long time without work is
 * one fragment. */
static int end_task(struct opendc_fragments *fragments, struct error *error)
{
	const uint64_t idle = (uint64_t)(IDLE_MS / fragments->interval_ms);
	struct opendc_task *task = &fragments->task[fragments->at];
	const struct opendc_work *next, *end;
	struct cell cell[OPENDC_FIELDS] = {{0}};
	uint64_t count;

	sum_work(fragments);
	set_capacity(fragments, task);
	cell[OPENDC_ID] = cell_of_integer((int64_t)fragments->at + 1);
	next = fragments->work;
	end = next + fragments->works;
	for (uint64_t i = 0; i < task->fragments; i += count) {
		bool works = next < end && next->index == i;
		uint64_t until = next < end ? next->index : task->fragments;
		double mhz = works ? (next++)->work : 0;
		int64_t length;

		count = !works && until - i > idle ? until - i : 1;
		length = length_of(fragments, i, count);
		cell[OPENDC_DURATION] = cell_of_integer(length);
		cell[OPENDC_CPU_USAGE] = (struct cell){.type = CELL_REAL, .real = mhz};
		if (opendc_file_add(fragments->file, cell, error))
			return -1;
	}
	fragments->works = 0;
	if (++fragments->at % 64 == 0)
		progress_update(fragments->progress, "tasks", fragments->at, 0, 0);
	return 0;
}

int opendc_end_tasks(struct opendc_fragments *fragments, size_t before,
		     struct error *error)
{
	while (fragments->at < before)
		if (end_task(fragments, error))
			return -1;
	return 0;
}
