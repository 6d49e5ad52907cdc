/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/tables/table_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/directory.h"
#include "export/tables/row_pipe.h"
#include "export/tables/row_store.h"

enum { ROWS_A_COUNT = 4096 };

/* Where rows go: a file or a dataset. */
struct writing {
	struct table_work *work;
	struct table_job *job;
	FILE *made; /* by us, to be closed */
	struct table_file *table;
	struct dataset *dataset;
	struct row_pipe *pipe;
	struct cell *room; /* for a row with names of nodes, else NULL */
	uint64_t uncounted;
};

static const char *name_of(const struct table_job *job)
{
	return job->name ? job->name : job->file_name;
}

static int begin_writing(struct writing *writing, struct error *error)
{
	const struct table_job *job = writing->job;
	const struct table_style *style = writing->work->style;
	const char *directory = writing->work->export->directory;

	if (job->keys) {
		writing->dataset = dataset_new(directory, job->question, job->key,
					       job->keys, style, job->most_files);
		return 0;
	}
	if (job->name) {
		writing->made = export_create(directory, job->name, error);
		if (!writing->made)
			return -1;
	}
	writing->table = table_file_new(writing->made ? writing->made : job->file,
					name_of(job), job->question, style, error);
	return writing->table ? 0 : -1;
}

static int take_rows(void *context, const struct cell *row, size_t rows,
		     struct error *error)
{
	struct writing *writing = context;
	size_t columns = writing->job->question->columns;

	if (!writing->dataset)
		return table_file_rows(writing->table, row, rows, error);
	for (size_t i = 0; i < rows; i++)
		if (dataset_row(writing->dataset, &row[i * columns], error))
			return -1;
	return 0;
}

static int end_writing(struct writing *writing, struct error *error)
{
	struct table_work *work = writing->work;
	FILE *made = writing->made;

	work->rows += writing->uncounted;
	if (writing->dataset) {
		if (dataset_end(writing->dataset, error))
			return -1;
		work->mended += dataset_mended(writing->dataset);
		return 0;
	}
	if (table_file_end(writing->table, error))
		return -1;
	work->mended += table_file_mended(writing->table);
	writing->made = NULL;
	return made ? export_close(made, name_of(writing->job), error) : 0;
}

static void clear_writing(struct writing *writing)
{
	table_file_free(writing->table);
	dataset_free(writing->dataset);
	free(writing->room);
	if (writing->made)
		fclose(writing->made);
}

/* The row with nodes' names for their numbers. */
static const struct cell *name_nodes(const struct writing *writing,
				     const struct cell *row)
{
	const struct question *question = writing->job->question;
	struct cell *room = writing->room;

	memcpy(room, row, question->columns * sizeof(*row));
	for (size_t i = 0; i < question->columns; i++) {
		const struct scope_node *node;

		if (!question->column[i].is_node || row[i].type != CELL_INTEGER)
			continue;
		node = scope_find(&writing->work->export->scope, row[i].integer);
		if (node)
			cell_set_bytes(&room[i], CELL_TEXT, node->name,
				       strlen(node->name));
	}
	return room;
}

static int pass_row(void *context, const struct cell *row, struct error *error)
{
	struct writing *writing = context;
	struct table_work *work = writing->work;

	if (++writing->uncounted == ROWS_A_COUNT) {
		work->rows += writing->uncounted;
		writing->uncounted = 0;
		if (work->stopped)
			return error_set(error, "stopped");
	}
	return row_pipe_put(writing->pipe,
			    writing->room ? name_nodes(writing, row) : row);
}

static bool has_nodes(const struct question *question)
{
	for (size_t i = 0; i < question->columns; i++)
		if (question->column[i].is_node)
			return true;
	return false;
}

/* All rows of the query, or of the store where there is one. */
static int pass_rows(struct writing *writing, struct timeline_query *query,
		     struct row_store *store, struct error *error)
{
	int more;

	if (!store && writing->job->question->walk)
		return timeline_query_each(query, pass_row, writing, error);
	while ((more = store ? row_store_next(store, error)
			     : timeline_query_next(query, error)) > 0)
		if (pass_row(writing,
			     store ? row_store_row(store) : timeline_query_row(query),
			     error))
			return -1;
	return more;
}

/* Where a column has no type before its values are known, keep them first. */
static int store_rows(struct table_job *job, struct timeline_query *query,
		      struct row_store **store, struct error *error)
{
	int more;

	*store = row_store_new(job->question->columns, error);
	if (!*store)
		return -1;
	while ((more = timeline_query_next(query, error)) > 0)
		if (row_store_add(*store, timeline_query_row(query), error))
			return -1;
	if (more == 0)
		row_store_decide(*store, job->question);
	return more;
}

static bool is_typed(const struct question *question)
{
	for (size_t i = 0; i < question->columns; i++)
		if (question->column[i].type == QUESTION_ANY)
			return false;
	return true;
}

int table_write(struct table_work *work, struct table_job *job,
		struct timeline_reader *timeline, struct error *error)
{
	struct writing writing = {.work = work, .job = job};
	const struct question *question = job->question;
	bool stored = work->style->parquet && !is_typed(question);
	struct row_store *store = NULL;
	struct timeline_query *query = question_ask(
	    question, question->walk && !stored, timeline, &work->export->scope, error);
	int status = -1;

	if (!query)
		return -1;
	if (stored && store_rows(job, query, &store, error))
		goto out;
	if (begin_writing(&writing, error))
		goto out;
	if (has_nodes(question))
		writing.room = mem_alloc(question->columns * sizeof(*writing.room));
	writing.pipe = row_pipe_new(question->columns, work->pipe, take_rows, &writing);
	status = pass_rows(&writing, query, store, error);
	if (row_pipe_end(writing.pipe, error))
		status = -1;
	if (!status)
		status = end_writing(&writing, error);
out:
	clear_writing(&writing);
	row_store_free(store);
	timeline_query_free(query);
	return status;
}
