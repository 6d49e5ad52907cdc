/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "input/sadf/private.h"

/*
 * Columns that name the item of a line, and what sadf -p puts in front of the
 * number that stands there.
 */
static const struct item_column {
	const char *name, *prefix;
} item_columns[] = {
    {"CPU", "cpu"}, {"INTR", ""},       {"TTY", "ttyS"},    {"DEV", ""},
    {"IFACE", ""},  {"FAN", "fan"},     {"TEMP", "temp"},   {"IN", "in"},
    {"BUS", "bus"}, {"FILESYSTEM", ""}, {"MOUNTPOINT", ""}, {"FCHOST", ""},
    {"BAT", "bat"}, {NULL, NULL},
};

static const struct item_column *find_item(const char *name)
{
	const struct item_column *column = item_columns;

	while (column->name && strcmp(column->name, name) != 0)
		column++;
	return column->name ? column : NULL;
}

/* Cut a text at its semicolons into reader->column-like fields. */
static size_t cut_fields(char *text, char ***field, size_t *room)
{
	size_t fields = 0;

	while (text) {
		*field = mem_grow(*field, fields, room, sizeof(**field));
		(*field)[fields++] = text;
		text = strchr(text, ';');
		if (text)
			*text++ = '\0';
	}
	return fields;
}

void sadf_table_header(struct sadf_reader *reader, const struct line *line)
{
	static const char start[] = "# hostname;interval;timestamp;";

	reader->columns = 0;
	free(reader->header);
	reader->header = NULL;
	if (strncmp(line->text, start, strlen(start)) != 0) {
		faults_add(reader->faults, "broken", line->number,
			   "no header of sadf -d, want sadf -p, its lines left out");
	} else if (strstr(line->text, "[...]")) {
		faults_add(reader->faults, "broken", line->number,
			   "the header of sadf -d -h names no items, want sadf -p, its "
			   "lines left out");
	} else {
		reader->header = mem_strdup(line->text + strlen(start));
		reader->columns =
		    cut_fields(reader->header, &reader->column, &reader->room);
	}
}

/* The item as sadf -p writes it: -1 is all processors, 0 is cpu0. For free(). */
static char *item_name(const struct item_column *column, const char *text)
{
	int64_t number;

	if (!*column->prefix || number_integer(text, &number))
		return mem_strdup(text);
	if (number == -1)
		return mem_strdup("all");
	return mem_printf("%s%s", column->prefix, text);
}

/* Interrupts have a column for all processors, and one for each: CPU*. */
static int take_processors(struct sadf_reader *reader, struct sadf_row *row, char **field,
			   size_t fields)
{
	char name[32] = "all";
	int status = 0;

	row->metric = name;
	for (size_t i = 0; i < fields && !status; i++) {
		if (i)
			snprintf(name, sizeof(name), "cpu%zu", i - 1);
		row->text = field[i];
		status = sadf_value(reader, row);
	}
	return status;
}

static int take_fields(struct sadf_reader *reader, struct sadf_row *row, char **field,
		       size_t fields)
{
	char *item = NULL;
	int status = 0;

	for (size_t k = 0; k < reader->columns && !item; k++) {
		const struct item_column *column = find_item(reader->column[k]);

		if (column)
			item = item_name(column, field[k]);
	}
	row->item = item ? item : "-";
	for (size_t k = 0; k < reader->columns && !status; k++) {
		row->metric = reader->column[k];
		row->text = field[k];
		if (strcmp(row->metric, "CPU*") == 0)
			status = take_processors(reader, row, field + k, fields - k);
		else if (!find_item(row->metric))
			status = sadf_value(reader, row);
	}
	free(item);
	return status;
}

int sadf_table_values(struct sadf_reader *reader, struct sadf_row *row, char *text)
{
	char **field = NULL;
	size_t room = 0, fields;
	int status = 0;

	if (!reader->columns) {
		faults_add(reader->faults, "broken", row->line,
			   "a line of sadf -d without its header, left out");
		return 0;
	}
	fields = cut_fields(text, &field, &room);
	if (fields == reader->columns ||
	    (fields > reader->columns &&
	     strcmp(reader->column[reader->columns - 1], "CPU*") == 0))
		status = take_fields(reader, row, field, fields);
	else
		faults_add(reader->faults, "broken", row->line,
			   "%zu values, want %zu as in the header, left out", fields,
			   reader->columns);
	free(field);
	return status;
}
