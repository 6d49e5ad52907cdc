/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analyze/print_private.h"
#include "base/utf8.h"

/* A text in a cell of a table: nothing in it may end the cell or begin markup. */
static void print_text(FILE *file, const char *text)
{
	while (*text) {
		size_t length = utf8_length(text);

		if (*text == '\n' || *text == '\r')
			fputs("<br>", file);
		else if (*text == '<')
			fputs("&lt;", file);
		else if (*text == '&')
			fputs("&amp;", file);
		else if (strchr("|\\`*_[]~", *text))
			fprintf(file, "\\%c", *text);
		else if (length && !utf8_is_control(text))
			fwrite(text, 1, length, file);
		else
			for (size_t i = 0; i < (length ? length : 1); i++)
				fprintf(file, "\\\\x%02x", (unsigned char)text[i]);
		text += length ? length : 1;
	}
}

static void print_head(const struct result *result, const struct result_table *table,
		       FILE *file)
{
	for (size_t i = 0; i < table->columns; i++) {
		char *title = print_title(result, &table->column[i]);

		fputs("| ", file);
		print_text(file, title);
		fputc(' ', file);
		free(title);
	}
	fputs("|\n", file);
	for (size_t i = 0; i < table->columns; i++)
		fputs(print_is_right(table->column[i].unit) ? "|---:" : "|---", file);
	fputs("|\n", file);
}

static void print_one(const struct result *result, const struct result_table *table,
		      FILE *file)
{
	char text[PRINT_TEXT];

	print_head(result, table, file);
	for (size_t row = 0; row < table->rows; row++) {
		for (size_t i = 0; i < table->columns; i++) {
			fputs("| ", file);
			print_text(file, print_cell_of(text, result, table, row, i));
			fputc(' ', file);
		}
		fputs("|\n", file);
	}
}

void print_markdown(const struct question *question, const struct result *result,
		    FILE *file)
{
	(void)question;
	for (size_t i = 0; i < result->tables; i++) {
		const struct result_table *table = result->table[i];
		char *left_out;

		if (!print_wants(result, table))
			continue;
		fputs("## ", file);
		print_text(file, table->title);
		fputs("\n\n", file);
		if (table->rows)
			print_one(result, table, file);
		else
			fputs("nothing\n", file);
		left_out = print_left_out(table);
		if (left_out)
			fprintf(file, "\n%s\n", left_out);
		free(left_out);
		fputc('\n', file);
	}
	for (size_t i = 0; i < result->notes.count; i++) {
		fputs("- ", file);
		print_text(file, result->notes.item[i]);
		fputc('\n', file);
	}
}
