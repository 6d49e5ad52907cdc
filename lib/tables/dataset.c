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
#include "base/output_directory.h"

FILE *export_create(const char *directory, const char *name, struct error *error)
{
	AUTOFREE char *path = mem_printf("%s/%s", directory, name), *made = NULL;
	FILE *file = NULL;

	if (make_parent_directories(path, strlen(directory) + 1, &made) == 0)
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

const char *table_extension(const struct table_style *style)
{
	return style->parquet ? "parquet" : "csv";
}

static void begin_csv(const struct table_file *file)
{
	for (size_t i = 0; i < file->columns; i++) {
		const char *name = file->column[i].name;

		if (i)
			csv_put_comma(file->file);
		csv_put_text(file->file, name, strlen(name));
	}
	csv_put_end(file->file);
}

int table_file_begin(struct table_file *file, const char *directory,
		     const struct table_style *style, struct error *error)
{
	file->is_given = file->file != NULL;
	if (!file->is_given)
		file->file = export_create(directory, file->name, error);
	if (!file->file)
		return -1;
	if (!style->parquet) {
		begin_csv(file);
		return 0;
	}
	file->writer = parquet_writer_new(file->file, file->column, file->columns,
					  &style->settings, error);
	return file->writer ? 0 : error_prefix(error, "%s", file->name);
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

static int put_csv(const struct table_file *file, const struct cell *row,
		   struct error *error)
{
	for (size_t i = 0; i < file->columns; i++) {
		if (i)
			csv_put_comma(file->file);
		if (file->column[i].logical == PARQUET_TIMESTAMP_NANOS &&
		    row[i].type == CELL_INTEGER)
			put_instant(file->file, row[i].integer);
		else
			csv_put(file->file, &row[i]);
	}
	csv_put_end(file->file);
	return ferror(file->file) ? error_errno(error, file->name) : 0;
}

int table_file_rows(struct table_file *file, const struct cell *row,
		    const struct parquet_list *list, size_t rows, struct error *error)
{
	int status = 0;

	if (file->writer)
		return parquet_add_rows(file->writer, row, list, rows, error)
			   ? error_prefix(error, "%s", file->name)
			   : 0;
	for (size_t i = 0; i < rows && !status; i++)
		status = put_csv(file, &row[i * file->columns], error);
	return status;
}

int table_file_end(struct table_file *file, struct error *error)
{
	FILE *written = file->file;
	int status = 0;

	if (file->writer && parquet_writer_finish(file->writer, error)) {
		status = error_prefix(error, "%s", file->name);
	} else if (!file->is_given) {
		file->file = NULL;
		status = export_close(written, file->name, error);
	} else if (fflush(written) || ferror(written)) {
		status = error_errno(error, file->name);
	}
	table_file_clear(file);
	return status;
}

void table_file_clear(struct table_file *file)
{
	parquet_writer_free(file->writer);
	if (file->file && !file->is_given)
		fclose(file->file);
	free(file->name);
	*file = (struct table_file){0};
}

/* A file of a dataset. */
struct keyed_file {
	struct table_file table; /* not open if its `file` is NULL */
	struct bytes key;        /* values of the keys, encoded by key_of() */
	uint64_t used;           /* number of the last row written to it */
};

struct dataset {
	const char *directory;
	const struct table_job *job;
	const struct table_style *style;
	struct parquet_column *column; /* columns that are not keys */
	size_t columns;
	struct cell *cell; /* a row of these; NULL if there are no keys */
	struct keyed_file *file;
	size_t files, most;
	struct keyed_file *last;
	struct bytes wanted; /* key of the current row */
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

/* Encode type and value of each key as bytes that are fast to compare. */
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

/* Return a slot for one more open file; the least recently used file is closed if there
 * is no free one. Return NULL with error. */
static struct keyed_file *free_place(struct dataset *dataset, struct error *error)
{
	struct keyed_file *oldest = &dataset->file[0];

	if (dataset->files < dataset->most)
		return &dataset->file[dataset->files++];
	for (size_t i = 1; i < dataset->files; i++)
		if (dataset->file[i].used < oldest->used)
			oldest = &dataset->file[i];
	return oldest->table.file && table_file_end(&oldest->table, error) ? NULL
									   : oldest;
}

static bool is_there(const struct dataset *dataset, const char *name)
{
	AUTOFREE char *path = mem_printf("%s/%s", dataset->directory, name);

	return access(path, F_OK) == 0;
}

/* Return the name of the first part below a path that does not exist yet. */
static char *part_name(const struct dataset *dataset, const char *path)
{
	for (unsigned part = 0;; part++) {
		char *name = mem_printf("%spart-%u.%s", path, part,
					table_extension(dataset->style));

		if (!is_there(dataset, name))
			return name;
		free(name);
	}
}

/* Begin a file, or use the open one `given`. Takes ownership of `name`. Return 0, or -1
 * with error. */
static int begin_file(struct dataset *dataset, struct keyed_file *file, char *name,
		      FILE *given, struct error *error)
{
	file->table = (struct table_file){.name = name,
					  .file = given,
					  .column = dataset->column,
					  .columns = dataset->columns};
	return table_file_begin(&file->table, dataset->directory, dataset->style, error);
}

static struct keyed_file *open_part(struct dataset *dataset, const struct cell *row,
				    struct error *error)
{
	struct keyed_file *file = free_place(dataset, error);
	AUTOFREE char *path = path_of(dataset, row);

	if (!file)
		return NULL;
	bytes_empty(&file->key, SIZE_MAX);
	bytes_add(&file->key, dataset->wanted.data, dataset->wanted.size);
	return begin_file(dataset, file, part_name(dataset, path), NULL, error) ? NULL
										: file;
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
			dataset->column[dataset->columns++] =
			    parquet_column_of(&wanted->column[i], style->timestamps);
	if (dataset->columns < wanted->columns)
		dataset->cell =
		    mem_alloc((dataset->columns + 1) * sizeof(*dataset->cell));
	dataset->most = job->keys ? job->most_files : 1;
	dataset->file = mem_zalloc(dataset->most * sizeof(*dataset->file));
	if (job->keys)
		return dataset;
	dataset->files = 1;
	if (begin_file(dataset, dataset->file, mem_strdup(job->name), job->file, error) ==
	    0)
		return dataset;
	dataset_free(dataset);
	return NULL;
}

static bool has_key(const struct keyed_file *file, const struct bytes *key)
{
	return file->table.file && file->key.size == key->size &&
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
	struct keyed_file *file = dataset->last;

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
	return table_file_rows(&file->table, without_keys(dataset, row), NULL, 1, error);
}

int dataset_rows(struct dataset *dataset, const struct cell *row, size_t rows,
		 struct error *error)
{
	if (!dataset->job->keys)
		return table_file_rows(&dataset->file->table, row, NULL, rows, error);
	for (size_t i = 0; i < rows; i++)
		if (put_by_key(dataset, &row[i * dataset->job->wanted->columns], error))
			return -1;
	return 0;
}

int dataset_end(struct dataset *dataset, struct error *error)
{
	for (size_t i = 0; i < dataset->files; i++)
		if (dataset->file[i].table.file &&
		    table_file_end(&dataset->file[i].table, error))
			return -1;
	return 0;
}

void dataset_free(struct dataset *dataset)
{
	if (!dataset)
		return;
	for (size_t i = 0; i < dataset->files; i++) {
		table_file_clear(&dataset->file[i].table);
		bytes_clear(&dataset->file[i].key);
	}
	bytes_clear(&dataset->wanted);
	free(dataset->column);
	free(dataset->cell);
	free(dataset->file);
	free(dataset);
}
