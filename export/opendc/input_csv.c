/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "export/opendc/input_private.h"

int opendc_open_csv(struct opendc_input *input, struct error *error)
{
	int more;

	input->csv = csv_reader_open(input->path, error);
	if (!input->csv)
		return -1;
	more = csv_reader_next(input->csv, error);
	if (more == 0)
		return error_set(error, "%s: empty, want a line of names", input->path);
	for (size_t i = 0; more > 0 && i < csv_reader_fields(input->csv); i++) {
		input->header = mem_grow(input->header, input->columns,
					 &input->column_room, sizeof(*input->header));
		input->header[input->columns++] =
		    mem_strdup(csv_reader_field(input->csv, i)->text);
	}
	return more > 0 ? 0 : -1;
}

void opendc_take_csv(struct opendc_input *input, struct report *report)
{
	for (size_t i = 0; i < input->table.columns; i++) {
		const struct opendc_column *column = &input->table.column[i];
		struct opendc_source *source = &input->source[column->field];

		for (size_t j = 0; j < input->columns && !source->column; j++) {
			source->place = j;
			if (strcmp(input->header[j], column->parquet.name) == 0)
				source->column = column;
		}
		if (!source->column && column->wanted)
			report_add(report, REPORT_ERROR, "column", "%s: no column %s",
				   input->name, column->parquet.name);
	}
}

static struct cell text_cell(struct opendc_input *input, const char *text, size_t size)
{
	struct cell cell = {.type = CELL_TEXT, .size = (uint32_t)size};

	cell.integer = (int64_t)input->text.size;
	bytes_add(&input->text, text, size);
	return cell;
}

/* By the type that Parquet would have. */
static bool parse(struct opendc_input *input, enum parquet_type type, const char *text,
		  struct cell *cell)
{
	*cell = (struct cell){.type = CELL_INTEGER};
	switch (type) {
	case PARQUET_BOOLEAN:
		cell->integer = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
		return cell->integer || strcmp(text, "false") == 0 ||
		       strcmp(text, "0") == 0;
	case PARQUET_INT32:
		return number_integer(text, &cell->integer) == 0 &&
		       cell->integer >= INT32_MIN && cell->integer <= INT32_MAX;
	case PARQUET_INT64:
		return number_integer(text, &cell->integer) == 0;
	case PARQUET_DOUBLE:
		cell->type = CELL_REAL;
		return number_real(text, &cell->real) == 0;
	default:
		*cell = text_cell(input, text, strlen(text));
		return true;
	}
}

static bool parse_list(struct opendc_input *input, const struct parquet_column *column,
		       const char *text, struct parquet_list *list)
{
	while (*text) {
		size_t size = strcspn(text, ";");
		char *one = mem_strndup(text, size);
		struct cell cell;
		bool good = parse(input, column->type, one, &cell);

		free(one);
		if (!good)
			return false;
		opendc_add_element(input, &cell);
		list->count++;
		text += size;
		text += *text == ';';
	}
	return true;
}

static void read_field(struct opendc_input *input, enum opendc_field field,
		       struct opendc_row *row, struct report *report)
{
	const struct opendc_source *source = &input->source[field];
	const struct parquet_column *column = &source->column->parquet;
	const struct csv_field *given;
	bool good = true;

	if (source->place >= csv_reader_fields(input->csv))
		return;
	given = csv_reader_field(input->csv, source->place);
	if (column->list)
		good = parse_list(input, column, given->text,
				  &row->list[field - OPENDC_PARENTS]);
	else if (given->size || given->quoted)
		good = parse(input, column->type, given->text, &row->cell[field]);
	if (good)
		return;
	report_add(report, REPORT_ERROR, "type", "%s:%" PRIu64 ": column %s: '%s'",
		   input->name, row->number, column->name, given->text);
	row->cell[field].type = CELL_NULL;
}

int opendc_next_csv(struct opendc_input *input, struct opendc_row *row,
		    struct report *report, struct error *error)
{
	int more = csv_reader_next(input->csv, error);

	if (more <= 0)
		return more;
	row->number = csv_reader_line(input->csv);
	if (csv_reader_fields(input->csv) != input->columns)
		report_add(report, REPORT_ERROR, "fields",
			   "%s:%" PRIu64 ": %zu fields, and %zu names", input->name,
			   row->number, csv_reader_fields(input->csv), input->columns);
	for (int i = 0; i < OPENDC_FIELDS; i++)
		if (input->source[i].column)
			read_field(input, (enum opendc_field)i, row, report);
	for (int i = 0; i < OPENDC_FIELDS; i++)
		if (row->cell[i].type == CELL_TEXT)
			row->cell[i].bytes =
			    (const char *)input->text.data + row->cell[i].integer;
	return 1;
}
