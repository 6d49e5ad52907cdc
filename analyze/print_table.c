/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analyze/print_private.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/utf8.h"

enum { WIDE = 80 }; /* what a terminal shows of a line, at the least */

/* How a table is laid out: which columns it has, and the rest in words. */
struct layout {
	const struct result *result;
	const struct result_table *table;
	bool *is_out; /* a column: it says the same in all rows, and room is wanted */
};

static const char *text_of(const struct layout *layout, char number[PRINT_TEXT],
			   size_t row, size_t column)
{
	return print_cell_of(number, layout->result, layout->table, row, column);
}

/* The width of a column with the space behind it; whether all its cells are the same. */
static size_t measure(const struct layout *layout, size_t column, bool *is_same)
{
	size_t width = strlen(layout->table->column[column].title);
	char number[PRINT_TEXT], first[PRINT_TEXT];
	const char *same = text_of(layout, first, 0, column);

	*is_same = true;
	for (size_t row = 0; row < layout->table->rows; row++) {
		const char *text = text_of(layout, number, row, column);
		size_t length = strlen(text);

		*is_same = *is_same && strcmp(text, same) == 0;
		if (length > width)
			width = length;
	}
	return width + 1;
}

/* What two columns are called tells nothing without the columns beside it. */
static bool has_own_title(const struct result_table *table, size_t column)
{
	for (size_t i = 0; i < table->columns; i++)
		if (i != column &&
		    !strcmp(table->column[i].title, table->column[column].title))
			return false;
	return true;
}

/* Of a table that is too wide, what is the same in all rows needs no column. */
static void lay_out(struct layout *layout)
{
	const struct result_table *table = layout->table;
	size_t width = 0;

	layout->is_out = mem_zalloc((table->columns + 1) * sizeof(*layout->is_out));
	for (size_t i = 0; i < table->columns; i++)
		width += measure(layout, i, &layout->is_out[i]);
	for (size_t i = 0; i < table->columns; i++)
		if (!i || width <= WIDE + 1 || table->rows < 2 ||
		    !has_own_title(table, i))
			layout->is_out[i] = false;
}

/* "in these rows: CPUS 1, CLOCK 2.596 GHz", in lines that are not too wide. */
static void print_same(const struct layout *layout, FILE *file)
{
	const struct result_table *table = layout->table;
	char number[PRINT_TEXT];
	size_t at = 0;

	for (size_t i = 0; i < table->columns; i++) {
		const char *text = text_of(layout, number, 0, i);
		size_t length = strlen(table->column[i].title) + 1 + strlen(text);

		if (!layout->is_out[i])
			continue;
		if (!at)
			at = (size_t)fprintf(file, "in these rows: ");
		else if (at + 2 + length > WIDE - 1)
			at = (size_t)fprintf(file, ",\n  ") - 2;
		else
			at += (size_t)fprintf(file, ", ");
		fprintf(file, "%s ", table->column[i].title);
		utf8_print(file, text);
		at += length;
	}
	if (at)
		fputc('\n', file);
}

static void print_columns(const struct layout *layout, FILE *file)
{
	const struct result_table *table = layout->table;
	struct table_column *column = mem_zalloc((table->columns + 1) * sizeof(*column));
	const char **text = mem_zalloc((table->columns + 1) * sizeof(*text));
	char(*number)[PRINT_TEXT] = mem_zalloc((table->columns + 1) * sizeof(*number));
	struct table *printed;
	size_t count = 0;

	for (size_t i = 0; i < table->columns; i++)
		if (!layout->is_out[i])
			column[count++] = (struct table_column){
			    .title = table->column[i].title,
			    .right = print_is_right(table->column[i].unit)};
	printed = table_new(column, count);
	for (size_t row = 0; row < table->rows; row++) {
		size_t at = 0;

		for (size_t i = 0; i < table->columns; i++)
			if (!layout->is_out[i])
				text[at++] = text_of(layout, number[i], row, i);
		table_add(printed, text);
	}
	table_print(printed, file);
	table_free(printed);
	free(number);
	free(text);
	free(column);
}

static void print_one(const struct result *result, const struct result_table *table,
		      FILE *file)
{
	struct layout layout = {.result = result, .table = table};

	lay_out(&layout);
	print_same(&layout, file);
	print_columns(&layout, file);
	free(layout.is_out);
}

static void print_line(FILE *file, const char *text)
{
	utf8_print(file, text);
	fputc('\n', file);
}

void print_tables(const struct question *question, const struct result *result,
		  FILE *file)
{
	bool first = true;

	(void)question;
	for (size_t i = 0; i < result->tables; i++) {
		const struct result_table *table = result->table[i];
		char *left_out;

		if (!print_wants(result, table))
			continue;
		left_out = print_left_out(table);
		fprintf(file, "%s%s%s%s\n", first ? "" : "\n", table->title,
			left_out ? ", " : "", left_out ? left_out : "");
		free(left_out);
		if (table->rows)
			print_one(result, table, file);
		else
			fputs("nothing\n", file);
		first = false;
	}
	if (result->notes.count && !first)
		fputc('\n', file);
	for (size_t i = 0; i < result->notes.count; i++)
		print_line(file, result->notes.item[i]);
}
