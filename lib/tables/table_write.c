/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/table_write.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/csv_text.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/process.h"
#include "base/utf8.h"
#include "base/worker.h"

enum { BATCHES = 4, BATCH_CELLS = 8192, BATCH_BYTES = 256 << 10 };

/* The bytes of texts and blobs are consecutive; cells point to them only after
 * place_bytes(). */
struct batch {
	struct cell *cell;
	size_t rows;
	bool has_bytes; /* texts or blobs, if only empty ones */
	struct bytes bytes;
};

struct row_pipe {
	row_batch_fn *on_rows;
	void *context;
	size_t columns, batch_rows;
	struct batch batch[BATCHES];
	uint64_t mended; /* number of texts that were not UTF-8 */
	struct worker worker;
	struct error error; /* the taker's, read after its thread has ended */
};

/* Set the pointers of the cells to their bytes. */
static void place_bytes(struct row_pipe *pipe, struct batch *batch)
{
	const char *at = (const char *)batch->bytes.data;
	size_t cells = batch->has_bytes ? batch->rows * pipe->columns : 0;

	for (size_t i = 0; i < cells; i++) {
		struct cell *cell = &batch->cell[i];

		if (cell->type != CELL_TEXT && cell->type != CELL_BLOB)
			continue;
		cell->bytes = cell->size ? at : "";
		at += cell->size;
	}
}

static int write_batch(void *context, size_t slot)
{
	struct row_pipe *pipe = context;
	struct batch *batch = &pipe->batch[slot];

	place_bytes(pipe, batch);
	return pipe->on_rows(pipe->context, batch->cell, batch->rows, &pipe->error);
}

struct row_pipe *row_pipe_new(size_t columns, bool thread, row_batch_fn *on_rows,
			      void *context)
{
	struct row_pipe *pipe = mem_zalloc(sizeof(*pipe));

	pipe->on_rows = on_rows;
	pipe->context = context;
	pipe->columns = columns;
	pipe->batch_rows = columns < BATCH_CELLS ? BATCH_CELLS / columns : 1;
	worker_init(&pipe->worker, thread ? BATCHES : 1, write_batch, pipe);
	for (size_t i = 0; i < pipe->worker.slots; i++)
		pipe->batch[i].cell =
		    mem_alloc(pipe->batch_rows * columns * sizeof(struct cell));
	return pipe;
}

/* Pass the current batch to the consumer and empty the next one. Return 0, or -1 if the
 * consumer failed. */
static int pass_batch(struct row_pipe *pipe)
{
	int failure = worker_pass(&pipe->worker);
	struct batch *batch = &pipe->batch[pipe->worker.at];

	batch->rows = 0;
	batch->has_bytes = false;
	bytes_empty(&batch->bytes, BATCH_BYTES * 2);
	return failure;
}

/* Append a text with U+FFFD for bytes that are not UTF-8. Return the number of bytes. */
static size_t add_mended(struct bytes *bytes, const char *text, size_t size)
{
	size_t before = bytes->size;

	for (size_t at = 0; at < size;) {
		size_t length = utf8_length_within(text + at, size - at);

		if (length)
			bytes_add(bytes, text + at, length);
		else
			bytes_add_text(bytes, UTF8_REPLACEMENT);
		at += length ? length : 1;
	}
	return bytes->size - before;
}

int row_pipe_put(struct row_pipe *pipe, const struct cell *row)
{
	struct batch *batch = &pipe->batch[pipe->worker.at];
	struct cell *at = &batch->cell[batch->rows * pipe->columns];

	for (size_t i = 0; i < pipe->columns; i++) {
		at[i] = row[i];
		if (row[i].type != CELL_TEXT && row[i].type != CELL_BLOB)
			continue;
		batch->has_bytes = true;
		if (row[i].type == CELL_BLOB ||
		    utf8_is_valid(row[i].bytes, row[i].size)) {
			bytes_add(&batch->bytes, row[i].bytes, row[i].size);
			continue;
		}
		at[i].size =
		    (uint32_t)add_mended(&batch->bytes, row[i].bytes, row[i].size);
		pipe->mended++;
	}
	if (++batch->rows < pipe->batch_rows && batch->bytes.size < BATCH_BYTES)
		return 0;
	return pass_batch(pipe);
}

int row_pipe_end(struct row_pipe *pipe, struct error *error)
{
	int status;

	if (pipe->batch[pipe->worker.at].rows)
		worker_pass(&pipe->worker);
	status = worker_end(&pipe->worker);
	if (status) {
		error_clear(error);
		*error = pipe->error;
	}
	for (size_t i = 0; i < BATCHES; i++) {
		free(pipe->batch[i].cell);
		bytes_clear(&pipe->batch[i].bytes);
	}
	free(pipe);
	return status;
}

struct table_sink {
	const struct table_query *wanted;
	const struct scope *scope;
	struct dataset *dataset;
	struct row_pipe *pipe;
	struct cell *changed; /* cells of a row that must be changed; otherwise NULL */
	char (*number)[NUMBER_TEXT]; /* texts of its numbers */
};

static int write_rows(void *context, const struct cell *row, size_t rows,
		      struct error *error)
{
	struct table_sink *sink = context;

	return dataset_rows(sink->dataset, row, rows, error);
}

/* Count rows and show the progress. Return true if a job failed, so that others end
 * early.
 */
static bool count_rows(struct table_work *work, uint64_t rows, uint64_t mended)
{
	uint64_t all = 0;
	bool failed;

	for (size_t i = 0; i < work->jobs; i++)
		all += (uint64_t)work->job[i].wanted->rows;
	pthread_mutex_lock(&work->lock);
	work->rows += rows;
	work->mended += mended;
	failed = work->failed != SIZE_MAX;
	progress_update(work->progress, "rows", work->rows, 0, all);
	pthread_mutex_unlock(&work->lock);
	return failed;
}

/* Return the row with nodes' ids replaced by names, and numbers converted to text in text
 * columns of mixed type. */
static const struct cell *fit_row(const struct table_sink *sink, const struct cell *row)
{
	const struct table_query *wanted = sink->wanted;
	struct cell *changed = sink->changed;

	memcpy(changed, row, wanted->columns * sizeof(*row));
	for (size_t i = 0; i < wanted->columns; i++) {
		const struct table_query_column *column = &wanted->column[i];
		const struct scope_node *node = NULL;

		if (column->is_node && row[i].type == CELL_INTEGER)
			node = scope_find(sink->scope, row[i].integer);
		if (node)
			changed[i] = cell_of_text(node->name);
		else if (column->mixed && column->type >= CELL_TEXT &&
			 (row[i].type == CELL_INTEGER || row[i].type == CELL_REAL))
			cell_set_bytes(&changed[i], CELL_TEXT, sink->number[i],
				       csv_number(sink->number[i], &row[i]));
		else if (column->mixed && column->type == CELL_TEXT &&
			 row[i].type == CELL_BLOB)
			changed[i].type = CELL_TEXT;
	}
	return changed;
}

static bool is_changed(const struct table_query *wanted)
{
	for (size_t i = 0; i < wanted->columns; i++)
		if (wanted->column[i].is_node || wanted->column[i].mixed)
			return true;
	return false;
}

struct table_sink *table_sink_new(const struct table_work *work,
				  const struct table_job *job, struct error *error)
{
	struct table_sink *sink = mem_zalloc(sizeof(*sink));
	size_t columns = job->wanted->columns;

	sink->wanted = job->wanted;
	sink->scope = work->scope;
	sink->dataset = dataset_new(work->directory, job, work->style, error);
	if (!sink->dataset) {
		free(sink);
		return NULL;
	}
	if (is_changed(sink->wanted)) {
		sink->changed = mem_alloc(columns * sizeof(*sink->changed));
		sink->number = mem_alloc(columns * sizeof(*sink->number));
	}
	sink->pipe = row_pipe_new(columns, work->pipe, write_rows, sink);
	return sink;
}

int table_sink_put(struct table_sink *sink, const struct cell *row)
{
	return row_pipe_put(sink->pipe, sink->changed ? fit_row(sink, row) : row);
}

int table_sink_end(struct table_sink *sink, bool complete, uint64_t *mended,
		   struct error *error)
{
	int status;

	*mended = sink->pipe->mended;
	status = row_pipe_end(sink->pipe, error);
	if (!status && complete)
		status = dataset_end(sink->dataset, error);
	dataset_free(sink->dataset);
	free(sink->changed);
	free(sink->number);
	free(sink);
	return status;
}

enum { ROWS_A_COUNT = 4096 };

struct writing {
	struct table_work *work;
	struct table_sink *sink;
	uint64_t uncounted;
};

static int pass_row(void *context, const struct cell *row, struct error *error)
{
	struct writing *writing = context;

	(void)error;
	if (++writing->uncounted == ROWS_A_COUNT) {
		writing->uncounted = 0;
		if (count_rows(writing->work, ROWS_A_COUNT, 0))
			return -1; /* without an error: another job has one */
	}
	return table_sink_put(writing->sink, row);
}

#define DOUBLE_MOST (INT64_C(1) << 53)

/* In addition to a bit for each type: an integer that no double represents exactly. */
enum { SEEN_LONG_INTEGER = 1 << 8 };

unsigned table_sorts(const struct cell *cell)
{
	bool is_long = cell->type == CELL_INTEGER &&
		       (cell->integer < -DOUBLE_MOST || cell->integer > DOUBLE_MOST);

	return cell->type == CELL_NULL
		   ? 0
		   : 1u << cell->type | (is_long ? SEEN_LONG_INTEGER : 0u);
}

/*
 * Return a type that can hold all values. Integers are numbers, also among reals if a
 * double represents each exactly. Numbers among strings, and numbers that no common type
 * represents, become strings as in CSV. If one value is a blob, all are bytes. Without
 * values the type is the declared one.
 */
enum cell_type table_type(const struct table_query_column *column, unsigned seen)
{
	if (seen & 1u << CELL_BLOB)
		return CELL_BLOB;
	if (!seen)
		return column->declared == CELL_NULL ? CELL_TEXT : column->declared;
	if (seen & 1u << CELL_TEXT)
		return CELL_TEXT;
	if (!(seen & 1u << CELL_REAL))
		return CELL_INTEGER;
	return seen & SEEN_LONG_INTEGER ? CELL_TEXT : CELL_REAL;
}

struct finding {
	const struct table_query *wanted;
	unsigned *sorts; /* by column */
};

static int note_sorts(void *context, const struct cell *row, struct error *error)
{
	const struct finding *finding = context;

	(void)error;
	for (size_t i = 0; i < finding->wanted->columns; i++)
		finding->sorts[i] |= table_sorts(&row[i]);
	return 0;
}

/*
 * Find the type of each column that has none: SQLite has types for values, not for
 * columns. So all rows are read once before they are written. They are the same the
 * second time, because timelines do not change.
 */
static int find_types(struct table_work *work, struct table_query *wanted,
		      struct timeline_reader *timeline, struct error *error)
{
	AUTOFREE unsigned *sorts = mem_zalloc(wanted->columns * sizeof(*sorts));
	struct finding finding = {wanted, sorts};
	bool any = false;

	for (size_t i = 0; i < wanted->columns; i++)
		any |= wanted->column[i].type == CELL_NULL;
	if (!any || !work->style->parquet)
		return 0;
	if (table_query_each(wanted, timeline, work->scope, note_sorts, &finding, error))
		return -1;
	for (size_t i = 0; i < wanted->columns; i++) {
		struct table_query_column *column = &wanted->column[i];

		if (column->type != CELL_NULL)
			continue;
		column->type = table_type(column, sorts[i]);
		column->mixed = true;
	}
	return 0;
}

static int write_table(struct table_work *work, struct table_job *job,
		       struct timeline_reader *timeline, struct error *error)
{
	struct writing writing = {.work = work};
	uint64_t mended;
	int status;

	if (find_types(work, job->wanted, timeline, error))
		return -1;
	writing.sink = table_sink_new(work, job, error);
	if (!writing.sink)
		return -1;
	status = table_query_each(job->wanted, timeline, work->scope, pass_row, &writing,
				  error);
	if (table_sink_end(writing.sink, !status, &mended, error))
		status = -1;
	count_rows(work, writing.uncounted, mended);
	return status;
}

/* Keep the error of the first failed job. Jobs that were stopped have none. */
static void note_failure(struct table_work *work, size_t job, struct error *error)
{
	pthread_mutex_lock(&work->lock);
	if (error->text && job < work->failed) {
		error_clear(&work->error);
		work->error = *error;
		*error = (struct error)ERROR_INIT;
		work->failed = job;
	}
	pthread_mutex_unlock(&work->lock);
	error_clear(error);
}

/* Return an idle reader or open one; opening reads the whole schema, so readers are
 * reused.
 */
static struct timeline_reader *borrow_reader(struct table_work *work, struct error *error)
{
	struct timeline_reader *reader = NULL;

	pthread_mutex_lock(&work->lock);
	if (work->idle_count)
		reader = work->idle[--work->idle_count];
	pthread_mutex_unlock(&work->lock);
	if (reader)
		return reader;
	return work->own ? timeline_reader_open_own(work->timeline, work->own, error)
			 : timeline_reader_open(work->timeline, error);
}

static void return_reader(struct table_work *work, struct timeline_reader *reader)
{
	if (!reader)
		return;
	pthread_mutex_lock(&work->lock);
	work->idle[work->idle_count++] = reader;
	pthread_mutex_unlock(&work->lock);
}

static void do_job(void *context, size_t index)
{
	struct table_work *work = context;
	size_t job = work->order[index];
	struct error error = ERROR_INIT;
	struct timeline_reader *timeline;

	if (count_rows(work, 0, 0))
		return;
	timeline = borrow_reader(work, &error);
	if (!timeline || write_table(work, &work->job[job], timeline, &error))
		note_failure(work, job, &error);
	return_reader(work, timeline);
}

struct table_job *table_work_add(struct table_work *work, struct table_query *wanted)
{
	work->job = mem_grow(work->job, work->jobs, &work->capacity, sizeof(*work->job));
	work->job[work->jobs] = (struct table_job){.wanted = wanted};
	return &work->job[work->jobs++];
}

void table_work_clear(struct table_work *work)
{
	for (size_t i = 0; i < work->jobs; i++) {
		table_query_free(work->job[i].wanted);
		free(work->job[i].name);
		free(work->job[i].key);
	}
	free(work->job);
}

void table_work_plan(struct table_work *work, int wanted)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	work->threads = wanted ? wanted : processors > 0 ? (int)processors : 1;
	/* Most rows are events': two threads for each of a few tables end sooner. */
	work->pipe = work->threads > (work->jobs == 1 ? 1 : 3);
	if (work->pipe)
		work->threads /= 2;
	if ((size_t)work->threads > work->jobs)
		work->threads = work->jobs ? (int)work->jobs : 1;
}

static int longest_first(const void *a, const void *b, void *context)
{
	const struct table_job *job = context;
	size_t left = *(const size_t *)a, right = *(const size_t *)b;

	return COMPARE(job[right].wanted->rows, job[left].wanted->rows)
		   ?: COMPARE(left, right);
}

int table_work_run(struct table_work *work, struct error *error)
{
	work->failed = SIZE_MAX;
	work->order = mem_alloc((work->jobs + 1) * sizeof(*work->order));
	for (size_t i = 0; i < work->jobs; i++)
		work->order[i] = i;
	qsort_r(work->order, work->jobs, sizeof(*work->order), longest_first, work->job);
	work->idle =
	    mem_zalloc(((size_t)work->threads + 1) * sizeof(struct timeline_reader *));
	pthread_mutex_init(&work->lock, NULL);
	parallel_run(work->threads, work->jobs, do_job, work);
	pthread_mutex_destroy(&work->lock);
	while (work->idle_count)
		timeline_reader_free(work->idle[--work->idle_count]);
	free(work->idle);
	free(work->order);
	if (work->failed == SIZE_MAX)
		return 0;
	error_clear(error);
	*error = work->error;
	return -1;
}
