/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "analyze/print_private.h"

/* RFC 4180: quotes where they are needed, those within doubled. An empty text is in
 * quotes, which tells it from what is not known. */
static void print_text(FILE *file, const char *text, size_t size)
{
	bool plain = size > 0;

	for (size_t i = 0; i < size && plain; i++)
		plain = !strchr("\",\r\n", text[i]) || !text[i];
	if (plain) {
		fwrite(text, 1, size, file);
		return;
	}
	fputc('"', file);
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '"')
			fputc('"', file);
		fputc(text[i], file);
	}
	fputc('"', file);
}

static void print_cell(FILE *file, const struct cell *cell)
{
	char text[PRINT_TEXT];

	if (cell->type == CELL_TEXT || cell->type == CELL_BLOB)
		print_text(file, cell->bytes, cell->size);
	else
		fputs(print_plain(text, cell), file);
}

static void print_one(const struct result_table *table, FILE *file)
{
	for (size_t i = 0; i < table->columns; i++) {
		if (i)
			fputc(',', file);
		print_text(file, table->column[i].key, strlen(table->column[i].key));
	}
	fputs("\r\n", file);
	for (size_t row = 0; row < table->rows; row++) {
		for (size_t i = 0; i < table->columns; i++) {
			if (i)
				fputc(',', file);
			print_cell(file, &table->cell[row * table->columns + i]);
		}
		fputs("\r\n", file);
	}
}

void print_csv(const struct question *question, const struct result *result, FILE *file)
{
	(void)question;
	for (size_t i = 0; i < result->tables; i++)
		if (print_wants(result, result->table[i])) {
			print_one(result->table[i], file);
			return;
		}
}
