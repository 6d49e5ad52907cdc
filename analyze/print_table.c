/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "analyze/print_private.h"
#include "base/mem.h"
#include "base/table.h"

static void print_one(const struct result *result, const struct result_table *table,
		      FILE *file)
{
	struct table_column *column = mem_zalloc((table->columns + 1) * sizeof(*column));
	const char **text = mem_zalloc((table->columns + 1) * sizeof(*text));
	char(*number)[PRINT_TEXT] = mem_zalloc((table->columns + 1) * sizeof(*number));
	struct table *printed;

	for (size_t i = 0; i < table->columns; i++)
		column[i] =
		    (struct table_column){.title = table->column[i].title,
					  .right = print_is_right(table->column[i].unit)};
	printed = table_new(column, table->columns);
	for (size_t row = 0; row < table->rows; row++) {
		for (size_t i = 0; i < table->columns; i++)
			text[i] = print_cell_of(number[i], result, table, row, i);
		table_add(printed, text);
	}
	table_print(printed, file);
	table_free(printed);
	free(number);
	free(text);
	free(column);
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
		fprintf(file, "%s\n", result->notes.item[i]);
}
