/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/print_private.h"
#include "base/utf8.h"

void print_json_text(FILE *file, const char *text, size_t size)
{
	fputc('"', file);
	for (size_t i = 0; i < size;) {
		unsigned char byte = (unsigned char)text[i];
		size_t length = utf8_length_within(text + i, size - i);

		if (byte == '"' || byte == '\\')
			fprintf(file, "\\%c", byte);
		else if (byte < 0x20 || byte == 0x7f)
			fprintf(file, "\\u%04x", byte);
		else if (length)
			fwrite(text + i, 1, length, file);
		else
			fputs(UTF8_REPLACEMENT, file);
		i += length ? length : 1;
	}
	fputc('"', file);
}

static void print_word(FILE *file, const char *text)
{
	print_json_text(file, text, strlen(text));
}

static void print_cell(FILE *file, const struct cell *cell)
{
	char text[PRINT_TEXT];

	if (cell->type == CELL_TEXT || cell->type == CELL_BLOB)
		print_json_text(file, cell->bytes, cell->size);
	else if (cell->type == CELL_NULL ||
		 (cell->type == CELL_REAL && !isfinite(cell->real)))
		fputs("null", file);
	else
		fputs(print_plain(text, cell), file);
}

static void print_rows(const struct result_table *table, FILE *file)
{
	for (size_t row = 0; row < table->rows; row++) {
		fputs(row ? ",\n    {" : "\n    {", file);
		for (size_t i = 0; i < table->columns; i++) {
			if (i)
				fputs(", ", file);
			print_word(file, table->column[i].key);
			fputs(": ", file);
			print_cell(file, &table->cell[row * table->columns + i]);
		}
		fputc('}', file);
	}
}

static void print_one(const struct result_table *table, FILE *file)
{
	fputs("  {\"name\": ", file);
	print_word(file, table->key);
	fputs(", \"title\": ", file);
	print_word(file, table->title);
	fputs(",\n   \"columns\": [", file);
	for (size_t i = 0; i < table->columns; i++) {
		fputs(i ? ",\n    {\"name\": " : "\n    {\"name\": ", file);
		print_word(file, table->column[i].key);
		fputs(", \"unit\": ", file);
		print_word(file, unit_name(table->column[i].unit));
		fputc('}', file);
	}
	fprintf(file, "],\n   \"found\": %" PRIu64 ",\n   \"rows\": [", table->added);
	print_rows(table, file);
	fputs("]}", file);
}

void print_json(const struct question *question, const struct result *result, FILE *file)
{
	const char *between = "\n";

	fputs("{\"analysis\": ", file);
	print_word(file, question->analysis->name);
	fputs(", \"timeline\": ", file);
	print_word(file, question->path);
	fprintf(file,
		",\n \"begin_ns\": %" PRId64 ", \"end_ns\": %" PRId64 ",\n \"tables\": [",
		result->begin_ns, result->end_ns);
	for (size_t i = 0; i < result->tables; i++) {
		if (!print_wants(result, result->table[i]))
			continue;
		fputs(between, file);
		print_one(result->table[i], file);
		between = ",\n";
	}
	fputs("],\n \"notes\": [", file);
	for (size_t i = 0; i < result->notes.count; i++) {
		fputs(i ? ",\n  " : "\n  ", file);
		print_word(file, result->notes.item[i]);
	}
	fputs("]}\n", file);
}
