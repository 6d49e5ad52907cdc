/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/input.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"
#include "export/opendc/input_private.h"

static struct opendc_input *open_as(const char *directory, const char *stem,
				    const char *ending)
{
	struct opendc_input *input = mem_zalloc(sizeof(*input));

	input->name = mem_printf("%s.%s", stem, ending);
	input->path = mem_printf("%s/%s", directory, input->name);
	if (access(input->path, F_OK) == 0)
		return input;
	opendc_input_free(input);
	return NULL;
}

struct opendc_input *opendc_input_open(const char *directory, const char *stem,
				       bool *missing, struct error *error)
{
	struct opendc_input *input = open_as(directory, stem, "parquet");
	bool is_csv = !input;

	if (is_csv)
		input = open_as(directory, stem, "csv");
	*missing = !input;
	if (!input) {
		error_set(error, "%s: neither %s.parquet nor %s.csv", directory, stem,
			  stem);
		return NULL;
	}
	output_protect(input->path);
	if (!is_csv)
		input->parquet = parquet_reader_open(input->path, error);
	if (is_csv ? opendc_open_csv(input, error) : !input->parquet) {
		opendc_input_free(input);
		return NULL;
	}
	return input;
}

const char *opendc_input_name(const struct opendc_input *input)
{
	return input->name;
}

bool opendc_input_is_csv(const struct opendc_input *input)
{
	return input->csv != NULL;
}

bool opendc_input_has(const struct opendc_input *input, const char *name, bool *text)
{
	const struct parquet_leaf *leaf;

	*text = false;
	if (input->csv) {
		for (size_t i = 0; i < input->columns; i++)
			if (strcmp(input->header[i], name) == 0)
				return true;
		return false;
	}
	leaf = parquet_reader_find(input->parquet, name);
	*text = leaf && leaf->type == PARQUET_BYTE_ARRAY;
	return leaf != NULL;
}

void opendc_input_take(struct opendc_input *input, const struct opendc_table *table,
		       struct report *report)
{
	input->table = *table;
	if (input->csv)
		opendc_take_csv(input, report);
	else
		opendc_take_parquet(input, report);
}

bool opendc_input_took(const struct opendc_input *input, enum opendc_field field)
{
	return input->source[field].column != NULL;
}

const char *opendc_input_column(const struct opendc_input *input, enum opendc_field field)
{
	return input->source[field].column->parquet.name;
}

void opendc_add_element(struct opendc_input *input, const struct cell *cell)
{
	input->element = mem_grow(input->element, input->elements, &input->element_room,
				  sizeof(*input->element));
	input->element[input->elements++] = *cell;
}

int opendc_input_next(struct opendc_input *input, struct opendc_row *row,
		      struct report *report, struct error *error)
{
	size_t begin = 0;
	int more;

	memset(row, 0, sizeof(*row)); /* CELL_NULL, empty lists */
	input->text.size = 0;
	bytes_reserve(&input->text, 1); /* even empty texts have an address */
	input->elements = 0;
	more = input->csv ? opendc_next_csv(input, row, report, error)
			  : opendc_next_parquet(input, row, error);
	/* Elements and texts stand still by now. */
	for (int i = 0; i < 2; i++) {
		row->list[i].cell = input->element ? &input->element[begin] : NULL;
		begin += row->list[i].count;
	}
	for (size_t i = 0; i < input->elements; i++)
		if (input->element[i].type == CELL_TEXT)
			input->element[i].bytes =
			    (const char *)input->text.data + input->element[i].integer;
	return more;
}

void opendc_input_free(struct opendc_input *input)
{
	if (!input)
		return;
	for (int i = 0; i < OPENDC_FIELDS; i++)
		parquet_cursor_free(input->source[i].cursor);
	parquet_reader_free(input->parquet);
	csv_reader_free(input->csv);
	for (size_t i = 0; i < input->columns; i++)
		free(input->header[i]);
	free(input->header);
	free(input->element);
	bytes_clear(&input->text);
	free(input->name);
	free(input->path);
	free(input);
}
