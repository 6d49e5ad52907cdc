/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/csv.h"

#define NOWHERE SIZE_MAX

struct csv_table {
	struct csv *csv;
	struct faults *faults;
	const struct csv_columns *columns;
	size_t *where; /* which field each column is */
	size_t width;  /* fields a row */
	char **cell;
	struct csv_record first; /* a row, where there is no header */
	bool waiting;            /* it is still to be handed out */
};

static size_t find(const struct csv_columns *columns, const char *name)
{
	for (size_t k = 0; k < columns->count; k++)
		if (strcmp(columns->name[k], name) == 0)
			return k;
	return NOWHERE;
}

static char *wanted(const struct csv_columns *columns)
{
	char *text = mem_strdup(columns->name[0]);

	for (size_t k = 1; k < columns->count; k++) {
		char *longer = mem_printf("%s,%s", text, columns->name[k]);

		free(text);
		text = longer;
	}
	return text;
}

static void place_columns(struct csv_table *table, const struct csv_record *header)
{
	table->width = header->fields;
	for (size_t i = 0; i < header->fields; i++) {
		size_t k = find(table->columns, header->field[i]);

		if (k == NOWHERE)
			faults_add(table->faults, "foreign", header->line,
				   "column '%s' is not known, left out",
				   header->field[i]);
		else if (table->where[k] != NOWHERE)
			faults_add(table->faults, "twice", header->line,
				   "column '%s' again, left out", header->field[i]);
		else
			table->where[k] = i;
	}
}

static bool is_header(const struct csv_table *table, const struct csv_record *record)
{
	for (size_t i = 0; i < record->fields; i++)
		if (strcmp(record->field[i], table->columns->name[0]) == 0)
			return true;
	return false;
}

/* The first record says where the columns are. -1 where it does not. */
static int read_header(struct csv_table *table)
{
	const struct csv_columns *columns = table->columns;
	char *want = NULL;
	int status = 0;

	if (!csv_next(table->csv, &table->first))
		return 0;
	/* Spreadsheets begin with a byte order mark. */
	if (strncmp(table->first.field[0], "\xef\xbb\xbf", 3) == 0)
		table->first.field[0] += 3;
	if (is_header(table, &table->first)) {
		place_columns(table, &table->first);
	} else if (columns->header_may_lack) {
		/* As many as the first line has, where those beyond may lack. */
		table->width = table->first.fields;
		if (table->width < columns->needed || table->width > columns->count)
			table->width = columns->needed;
		for (size_t k = 0; k < table->width; k++)
			table->where[k] = k;
		table->waiting = true;
	}
	for (size_t k = 0; k < columns->needed && !status; k++)
		if (table->where[k] == NOWHERE) {
			want = wanted(columns);
			faults_add(table->faults, "headless", table->first.line,
				   "no column '%s', want a header line: %s",
				   columns->name[k], want);
			status = -1;
		}
	free(want);
	return status;
}

struct csv_table *csv_table_open(const char *path, const struct csv_columns *columns,
				 struct faults *faults)
{
	struct csv *csv = csv_open(path, faults);
	struct csv_table *table;

	if (!csv)
		return NULL;
	table = mem_zalloc(sizeof(*table));
	table->csv = csv;
	table->faults = faults;
	table->columns = columns;
	table->cell = mem_realloc(NULL, columns->count, sizeof(*table->cell));
	table->where = mem_realloc(NULL, columns->count, sizeof(*table->where));
	for (size_t k = 0; k < columns->count; k++)
		table->where[k] = NOWHERE;
	if (read_header(table)) {
		csv_table_close(table);
		return NULL;
	}
	return table;
}

static bool next_record(struct csv_table *table, struct csv_record *record)
{
	if (!table->waiting)
		return csv_next(table->csv, record);
	table->waiting = false;
	*record = table->first;
	return true;
}

/* Point the cells at the fields; false where one that is needed is not there. */
static bool place(struct csv_table *table, const struct csv_record *record)
{
	for (size_t k = 0; k < table->columns->count; k++) {
		size_t i = table->where[k];

		table->cell[k] =
		    i == NOWHERE || !*record->field[i] ? NULL : record->field[i];
		if (k < table->columns->needed && !table->cell[k]) {
			faults_add(table->faults, "broken", record->line,
				   "%s is empty, left out", table->columns->name[k]);
			return false;
		}
	}
	return true;
}

bool csv_table_next(struct csv_table *table, struct csv_row *row)
{
	struct csv_record record;

	while (next_record(table, &record)) {
		if (record.fields != table->width)
			faults_add(table->faults, "broken", record.line,
				   "%zu fields, want %zu, left out", record.fields,
				   table->width);
		else if (place(table, &record)) {
			*row = (struct csv_row){table->cell, record.line};
			return true;
		}
	}
	return false;
}

void csv_table_close(struct csv_table *table)
{
	if (!table)
		return;
	csv_close(table->csv);
	free(table->cell);
	free(table->where);
	free(table);
}
