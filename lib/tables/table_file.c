/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/table_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/nsec.h"
#include "base/utf8.h"
#include "tables/csv_text.h"

struct table_file {
	FILE *file;
	char *name;
	const struct question *question;
	const struct table_style *style;
	struct parquet_writer *writer; /* NULL: CSV */
	struct cell *cell;             /* the row's, but for the keys */
	char (*number)[CSV_NUMBER];    /* texts of numbers, a cell */
	char **mended;                 /* texts that were no UTF-8, a cell; else NULL */
	size_t columns;
	bool as_is; /* rows need no change */
	uint64_t rows, mended_texts;
};

static struct parquet_column parquet_column_of(const struct question_column *column,
					       bool timestamps)
{
	struct parquet_column result = {
	    .name = column->name, .optional = !column->required, .type = PARQUET_INT64};

	switch (column->type) {
	case QUESTION_INTEGER:
		if (column->instant && timestamps)
			result.logical = PARQUET_TIMESTAMP_NANOS;
		break;
	case QUESTION_REAL:
		result.type = PARQUET_DOUBLE;
		break;
	case QUESTION_ANY:
	case QUESTION_TEXT:
		result.type = PARQUET_BYTE_ARRAY;
		result.logical = PARQUET_STRING;
		break;
	case QUESTION_BLOB:
		result.type = PARQUET_BYTE_ARRAY;
	}
	return result;
}

static int begin_parquet(struct table_file *table, struct error *error)
{
	const struct question *question = table->question;
	struct parquet_column *column = mem_alloc((table->columns + 1) * sizeof(*column));
	size_t count = 0;

	for (size_t i = 0; i < question->columns; i++)
		if (!question->column[i].is_key)
			column[count++] = parquet_column_of(&question->column[i],
							    table->style->timestamps);
	table->writer = parquet_writer_new(table->file, column, count,
					   &table->style->settings, error);
	free(column);
	return table->writer ? 0 : error_prefix(error, "%s", table->name);
}

static void begin_csv(struct table_file *table)
{
	const struct question *question = table->question;
	bool is_first = true;

	for (size_t i = 0; i < question->columns; i++) {
		const char *name = question->column[i].name;

		if (question->column[i].is_key)
			continue;
		if (!is_first)
			csv_put_comma(table->file);
		csv_put_text(table->file, name, strlen(name));
		is_first = false;
	}
	csv_put_end(table->file);
}

struct table_file *table_file_new(FILE *file, const char *name,
				  const struct question *question,
				  const struct table_style *style, struct error *error)
{
	struct table_file *table = mem_zalloc(sizeof(*table));

	table->file = file;
	table->name = mem_strdup(name);
	table->question = question;
	table->style = style;
	table->as_is = true;
	for (size_t i = 0; i < question->columns; i++) {
		const struct question_column *column = &question->column[i];

		table->columns += !column->is_key;
		table->as_is = table->as_is && !column->is_key && !column->mixed;
	}
	table->cell = mem_zalloc((table->columns + 1) * sizeof(*table->cell));
	table->number = mem_alloc((table->columns + 1) * sizeof(*table->number));
	table->mended = mem_zalloc((table->columns + 1) * sizeof(*table->mended));
	if (!style->parquet)
		begin_csv(table);
	else if (begin_parquet(table, error)) {
		table_file_free(table);
		return NULL;
	}
	return table;
}

/* Bytes that are no UTF-8 would be refused. */
static void mend(struct table_file *table)
{
	for (size_t i = 0; i < table->columns; i++) {
		struct cell *cell = &table->cell[i];
		FILE *text;
		size_t size;

		if (cell->type != CELL_TEXT || utf8_is_valid(cell->bytes, cell->size))
			continue;
		text = open_memstream(&table->mended[i], &size);
		for (size_t at = 0; at < cell->size;) {
			size_t length =
			    utf8_length_within(cell->bytes + at, cell->size - at);

			if (length)
				fwrite(cell->bytes + at, 1, length, text);
			else
				fputs(UTF8_REPLACEMENT, text);
			at += length ? length : 1;
		}
		fclose(text);
		cell_set_bytes(cell, CELL_TEXT, table->mended[i], size);
		table->mended_texts++;
	}
}

static void forget_mended(struct table_file *table)
{
	for (size_t i = 0; i < table->columns; i++) {
		free(table->mended[i]);
		table->mended[i] = NULL;
	}
}

static int refused(const struct table_file *table, struct error *error)
{
	return error_prefix(error, "%s: row %" PRIu64, table->name, table->rows + 1);
}

static int put_parquet(struct table_file *table, const struct cell *row,
		       struct error *error)
{
	int status = parquet_add_row(table->writer, row, NULL, error);

	if (status == PARQUET_REFUSED) {
		error_clear(error);
		memmove(table->cell, row, table->columns * sizeof(*row));
		mend(table);
		status = parquet_add_row(table->writer, table->cell, NULL, error);
		forget_mended(table);
	}
	if (status == PARQUET_REFUSED)
		return refused(table, error);
	return status ? error_prefix(error, "%s", table->name) : 0;
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

static int put_csv(struct table_file *table, const struct cell *row, struct error *error)
{
	const struct question *question = table->question;
	bool is_first = true;

	for (size_t i = 0; i < question->columns; i++) {
		if (question->column[i].is_key)
			continue;
		if (!is_first)
			csv_put_comma(table->file);
		is_first = false;
		if (table->style->timestamps && question->column[i].instant &&
		    row[i].type == CELL_INTEGER)
			put_instant(table->file, row[i].integer);
		else
			csv_put(table->file, &row[i]);
	}
	csv_put_end(table->file);
	return ferror(table->file) ? error_errno(error, table->name) : 0;
}

/* A cell of a column of many types in its form of the one type. */
static void convert(const struct question_column *column, struct cell *cell,
		    char number[CSV_NUMBER])
{
	if (cell->type == CELL_NULL || column->type == QUESTION_INTEGER ||
	    column->type == QUESTION_REAL)
		return;
	if (cell->type == CELL_INTEGER || cell->type == CELL_REAL)
		cell_set_bytes(cell, CELL_TEXT, number, csv_number(number, cell));
}

/* The row without keys, and with values of many types in the form of one. */
static const struct cell *fit_row(struct table_file *table, const struct cell *row)
{
	const struct question *question = table->question;
	size_t at = 0;

	for (size_t i = 0; i < question->columns; i++) {
		if (question->column[i].is_key)
			continue;
		table->cell[at] = row[i];
		if (question->column[i].mixed)
			convert(&question->column[i], &table->cell[at],
				table->number[at]);
		at++;
	}
	return table->cell;
}

static int put_row(struct table_file *table, const struct cell *row, struct error *error)
{
	int status =
	    !table->writer
		? put_csv(table, row, error)
		: put_parquet(table, table->as_is ? row : fit_row(table, row), error);

	table->rows++;
	return status;
}

int table_file_rows(struct table_file *table, const struct cell *row, size_t rows,
		    struct error *error)
{
	size_t columns = table->question->columns;

	for (size_t at = 0, added = 0; at < rows; at += added) {
		const struct cell *next = &row[at * columns];
		int status = PARQUET_REFUSED;

		added = 0;
		if (table->writer && table->as_is)
			status = parquet_add_rows(table->writer, next, rows - at, &added,
						  error);
		table->rows += added;
		if (status < 0)
			return error_prefix(error, "%s", table->name);
		if (status == 0)
			continue;
		/* The next one is refused, or to be changed first. */
		error_clear(error);
		if (put_row(table, &next[added * columns], error))
			return -1;
		added++;
	}
	return 0;
}

int table_file_end(struct table_file *table, struct error *error)
{
	if (table->writer && parquet_writer_finish(table->writer, error))
		return error_prefix(error, "%s", table->name);
	return fflush(table->file) || ferror(table->file)
		   ? error_errno(error, table->name)
		   : 0;
}

uint64_t table_file_mended(const struct table_file *table)
{
	return table->mended_texts;
}

void table_file_free(struct table_file *table)
{
	if (!table)
		return;
	parquet_writer_free(table->writer);
	free(table->cell);
	free(table->number);
	free(table->mended);
	free(table->name);
	free(table);
}
