/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/dataset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/csv_text.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/nsec.h"
#include "base/output.h"

FILE *export_create(const char *directory, const char *name, struct error *error)
{
	AUTOFREE char *path = mem_printf("%s/%s", directory, name), *made = NULL;
	FILE *file = NULL;

	if (output_make_above(path, strlen(directory) + 1, &made) == 0)
		file = fopen(path, "wxe");
	if (!file)
		error_errno(error, name);
	return file;
}

int export_close(FILE *file, const char *name, struct error *error)
{
	bool failed = fflush(file) || ferror(file);
	int cause = errno;

	if (fclose(file) && !failed) {
		failed = true;
		cause = errno;
	}
	errno = cause;
	return failed ? error_errno(error, name) : 0;
}

/* A file that is open. */
struct table_file {
	struct bytes key; /* of a dataset: values of the keys, as key_of makes them */
	uint64_t used;    /* the row that it had last */
	FILE *file;       /* NULL: none is */
	bool is_given;    /* it is not ours to close */
	char *name;
	struct parquet_writer *writer; /* NULL: CSV */
};

struct dataset {
	const char *directory;
	const struct table_job *job;
	const struct table_style *style;
	const struct table_query_column **column; /* those that are no keys */
	size_t columns;
	struct cell *cell; /* a row of these; NULL: there are no keys */
	struct table_file *file;
	size_t files, most;
	struct table_file *last;
	struct bytes wanted; /* the key of the row at hand */
	uint64_t rows;
};

static struct parquet_column parquet_column_of(const struct table_query_column *column,
					       bool timestamps)
{
	struct parquet_column result = {.name = column->name,
					.optional = !column->required,
					.type = PARQUET_INT64,
					.is_utf8 = true};

	if (column->type == CELL_REAL) {
		result.type = PARQUET_DOUBLE;
	} else if (column->type != CELL_INTEGER) {
		result.type = PARQUET_BYTE_ARRAY;
		if (column->type != CELL_BLOB)
			result.logical = PARQUET_STRING;
	} else if (column->instant && timestamps) {
		result.logical = PARQUET_TIMESTAMP_NANOS;
	}
	return result;
}

static int begin_parquet(const struct dataset *dataset, struct table_file *table,
			 struct error *error)
{
	AUTOFREE struct parquet_column *column =
	    mem_alloc((dataset->columns + 1) * sizeof(*column));

	for (size_t i = 0; i < dataset->columns; i++)
		column[i] =
		    parquet_column_of(dataset->column[i], dataset->style->timestamps);
	table->writer = parquet_writer_new(table->file, column, dataset->columns,
					   &dataset->style->settings, error);
	return table->writer ? 0 : error_prefix(error, "%s", table->name);
}

static void begin_csv(const struct dataset *dataset, FILE *file)
{
	for (size_t i = 0; i < dataset->columns; i++) {
		const char *name = dataset->column[i]->name;

		if (i)
			csv_put_comma(file);
		csv_put_text(file, name, strlen(name));
	}
	csv_put_end(file);
}

/* "2026-11-21T02:38:57.738293189Z" */
static void put_instant(FILE *file, nsec_t instant)
{
	char text[NSEC_TEXT];
	char *blank;

	nsec_format_utc(text, instant);
	blank = strchr(text, ' ');
	if (blank)
		*blank = 'T';
	fputs_unlocked(text, file);
	putc_unlocked('Z', file);
}

static int put_csv(const struct dataset *dataset, const struct table_file *table,
		   const struct cell *row, struct error *error)
{
	for (size_t i = 0; i < dataset->columns; i++) {
		if (i)
			csv_put_comma(table->file);
		if (dataset->style->timestamps && dataset->column[i]->instant &&
		    row[i].type == CELL_INTEGER)
			put_instant(table->file, row[i].integer);
		else
			csv_put(table->file, &row[i]);
	}
	csv_put_end(table->file);
	return ferror(table->file) ? error_errno(error, table->name) : 0;
}

/* Rows without keys. */
static int put_rows(const struct dataset *dataset, struct table_file *table,
		    const struct cell *row, size_t rows, struct error *error)
{
	int status = 0;

	if (table->writer)
		return parquet_add_rows(table->writer, row, NULL, rows, error)
			   ? error_prefix(error, "%s", table->name)
			   : 0;
	for (size_t i = 0; i < rows && !status; i++)
		status = put_csv(dataset, table, &row[i * dataset->columns], error);
	return status;
}

/* But for its key, which has its memory. */
static void clear_file(struct table_file *table)
{
	parquet_writer_free(table->writer);
	if (table->file && !table->is_given)
		fclose(table->file);
	free(table->name);
	*table = (struct table_file){.key = table->key, .used = table->used};
}

/* Write the end. 0, or -1 with error. */
static int close_file(struct table_file *table, struct error *error)
{
	FILE *file = table->file;
	int status = 0;

	if (table->writer && parquet_writer_finish(table->writer, error)) {
		status = error_prefix(error, "%s", table->name);
	} else if (!table->is_given) {
		table->file = NULL;
		status = export_close(file, table->name, error);
	} else if (fflush(file) || ferror(file)) {
		status = error_errno(error, table->name);
	}
	clear_file(table);
	return status;
}

/* Type and value of each key, which tells rows apart and is quick to compare. */
static void key_of(struct bytes *bytes, const struct dataset *dataset,
		   const struct cell *row)
{
	bytes_empty(bytes, SIZE_MAX);
	for (size_t i = 0; i < dataset->job->keys; i++) {
		const struct cell *cell = &row[dataset->job->key[i].column];

		if (dataset->job->key[i].text)
			continue;
		bytes_add_byte(bytes, (uint8_t)cell->type);
		if (cell->type == CELL_INTEGER || cell->type == CELL_REAL) {
			bytes_add(bytes, &cell->integer, sizeof(cell->integer));
		} else if (cell->type != CELL_NULL) {
			bytes_add(bytes, &cell->size, sizeof(cell->size));
			bytes_add(bytes, cell->bytes, cell->size);
		}
	}
}

static char *value_text(const struct dataset_key *key, const struct cell *row)
{
	const struct cell *cell = &row[key->column];
	char number[NUMBER_TEXT];

	if (key->text)
		return file_name_escape(key->text, strlen(key->text));
	switch (cell->type) {
	case CELL_INTEGER:
	case CELL_REAL:
		return file_name_escape(number, csv_number(number, cell));
	case CELL_TEXT:
	case CELL_BLOB:
		return file_name_escape(cell->bytes, cell->size);
	case CELL_NULL:
		break;
	}
	return file_name_escape("", 0);
}

/* "node=n1/class=sched_switch/" */
static char *path_of(const struct dataset *dataset, const struct cell *row)
{
	char *path = mem_strdup("");

	for (size_t i = 0; i < dataset->job->keys; i++) {
		const struct dataset_key *key = &dataset->job->key[i];
		AUTOFREE char *name = file_name_escape(key->name, strlen(key->name));
		AUTOFREE char *value = value_text(key, row);
		char *longer = mem_printf("%s%s=%s/", path, name, value);

		free(path);
		path = longer;
	}
	return path;
}

/* A place for one more open file: the one that was not used for longest goes. */
static struct table_file *free_place(struct dataset *dataset, struct error *error)
{
	struct table_file *oldest = &dataset->file[0];

	if (dataset->files < dataset->most)
		return &dataset->file[dataset->files++];
	for (size_t i = 1; i < dataset->files; i++)
		if (dataset->file[i].used < oldest->used)
			oldest = &dataset->file[i];
	return oldest->file && close_file(oldest, error) ? NULL : oldest;
}

static bool is_there(const struct dataset *dataset, const char *name)
{
	AUTOFREE char *path = mem_printf("%s/%s", dataset->directory, name);

	return access(path, F_OK) == 0;
}

/* The first part of this path that is not there yet. */
static char *part_name(const struct dataset *dataset, const char *path)
{
	for (unsigned part = 0;; part++) {
		char *name =
		    mem_printf("%spart-%u.%s", path, part, dataset->style->extension);

		if (!is_there(dataset, name))
			return name;
		free(name);
	}
}

/* A file of the job: a given one, or one of this name, which it takes. */
static int open_file(struct dataset *dataset, struct table_file *file, char *name,
		     struct error *error)
{
	const struct table_job *job = dataset->job;

	file->name = name ? name : mem_strdup(job->file_name);
	file->is_given = !name;
	file->file = name ? export_create(dataset->directory, name, error) : job->file;
	if (!file->file)
		return -1;
	if (dataset->style->parquet)
		return begin_parquet(dataset, file, error);
	begin_csv(dataset, file->file);
	return 0;
}

static struct table_file *open_part(struct dataset *dataset, const struct cell *row,
				    struct error *error)
{
	struct table_file *file = free_place(dataset, error);
	char *path;

	if (!file)
		return NULL;
	bytes_empty(&file->key, SIZE_MAX);
	bytes_add(&file->key, dataset->wanted.data, dataset->wanted.size);
	path = path_of(dataset, row);
	if (open_file(dataset, file, part_name(dataset, path), error))
		file = NULL;
	free(path);
	return file;
}

struct dataset *dataset_new(const char *directory, const struct table_job *job,
			    const struct table_style *style, struct error *error)
{
	const struct table_query *wanted = job->wanted;
	struct dataset *dataset = mem_zalloc(sizeof(*dataset));

	dataset->directory = directory;
	dataset->job = job;
	dataset->style = style;
	dataset->column = mem_alloc((wanted->columns + 1) * sizeof(*dataset->column));
	for (size_t i = 0; i < wanted->columns; i++)
		if (!wanted->column[i].is_key)
			dataset->column[dataset->columns++] = &wanted->column[i];
	if (dataset->columns < wanted->columns)
		dataset->cell =
		    mem_alloc((dataset->columns + 1) * sizeof(*dataset->cell));
	dataset->most = job->keys ? job->most_files : 1;
	dataset->file = mem_zalloc(dataset->most * sizeof(*dataset->file));
	if (job->keys)
		return dataset;
	dataset->files = 1;
	if (open_file(dataset, dataset->file, job->name ? mem_strdup(job->name) : NULL,
		      error) == 0)
		return dataset;
	dataset_free(dataset);
	return NULL;
}

static bool has_key(const struct table_file *file, const struct bytes *key)
{
	return file->file && file->key.size == key->size &&
	       (key->size == 0 || memcmp(file->key.data, key->data, key->size) == 0);
}

static const struct cell *without_keys(const struct dataset *dataset,
				       const struct cell *row)
{
	const struct table_query *wanted = dataset->job->wanted;
	size_t at = 0;

	if (!dataset->cell)
		return row;
	for (size_t i = 0; i < wanted->columns; i++)
		if (!wanted->column[i].is_key)
			dataset->cell[at++] = row[i];
	return dataset->cell;
}

static int put_by_key(struct dataset *dataset, const struct cell *row,
		      struct error *error)
{
	struct table_file *file = dataset->last;

	key_of(&dataset->wanted, dataset, row);
	if (!file || !has_key(file, &dataset->wanted)) {
		file = NULL;
		for (size_t i = 0; i < dataset->files && !file; i++)
			if (has_key(&dataset->file[i], &dataset->wanted))
				file = &dataset->file[i];
	}
	if (!file)
		file = open_part(dataset, row, error);
	dataset->last = file;
	if (!file)
		return -1;
	file->used = ++dataset->rows;
	return put_rows(dataset, file, without_keys(dataset, row), 1, error);
}

int dataset_rows(struct dataset *dataset, const struct cell *row, size_t rows,
		 struct error *error)
{
	if (!dataset->job->keys)
		return put_rows(dataset, dataset->file, row, rows, error);
	for (size_t i = 0; i < rows; i++)
		if (put_by_key(dataset, &row[i * dataset->job->wanted->columns], error))
			return -1;
	return 0;
}

int dataset_end(struct dataset *dataset, struct error *error)
{
	for (size_t i = 0; i < dataset->files; i++)
		if (dataset->file[i].file && close_file(&dataset->file[i], error))
			return -1;
	return 0;
}

void dataset_free(struct dataset *dataset)
{
	if (!dataset)
		return;
	for (size_t i = 0; i < dataset->files; i++) {
		clear_file(&dataset->file[i]);
		bytes_clear(&dataset->file[i].key);
	}
	bytes_clear(&dataset->wanted);
	free(dataset->column);
	free(dataset->cell);
	free(dataset->file);
	free(dataset);
}
