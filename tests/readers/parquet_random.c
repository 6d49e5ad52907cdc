/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parquet-random SEED FILE: write random columns and rows to FILE.parquet, and
 * what is in it to FILE.jsonl for the reader's side: the schema in a line, then
 * a line a row. Integers are in decimal; reals are the bits, and bytes the
 * bytes, in hexadecimal.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/random.h"
#include "base/mem.h"
#include "parquet_draw.h"

enum { LONGEST_LIST = 40 };

struct file {
	uint64_t state;
	struct draw_column column[DRAW_COLUMNS];
	struct parquet_column schema[DRAW_COLUMNS];
	size_t columns;
	struct parquet_settings settings;
	uint64_t rows;
	struct parquet_writer *writer;
	FILE *json;
	char *text; /* of a row: DRAW_TEXT for each cell that it may have */
};

static void draw_schema(struct file *file)
{
	static const uint64_t rows[] = {0, 1, 2, 9, 100, 1000, 3000, 8000};
	uint64_t *state = &file->state;

	file->columns = 1 + draw_below(state, DRAW_COLUMNS);
	for (size_t i = 0; i < file->columns; i++) {
		draw_column(state, &file->column[i], i);
		file->schema[i] = file->column[i].column;
	}
	file->rows = rows[draw_below(state, 8)];
	file->settings.codec = (enum parquet_codec)draw_below(state, 3);
	file->settings.level = (int)draw_below(state, 5);
	if (draw_below(state, 2))
		file->settings.group_rows = 1 + draw_below(state, 3000);
	if (draw_below(state, 3) == 0)
		file->settings.group_bytes = 50000 + draw_below(state, 1000000);
	if (draw_below(state, 2))
		file->settings.page_rows = 1 + (uint32_t)draw_below(state, 1000);
	if (draw_below(state, 3) == 0)
		file->settings.page_bytes = 1 + draw_below(state, 10000);
	if (draw_below(state, 2))
		file->settings.dictionary_bytes = 1 + draw_below(state, 2000);
}

static void print_schema(const struct file *file)
{
	fprintf(file->json, "{\"codec\":%d,\"rows\":%" PRIu64 ",\"columns\":[",
		(int)file->settings.codec, file->rows);
	for (size_t i = 0; i < file->columns; i++) {
		const struct parquet_column *column = &file->schema[i];

		fprintf(file->json,
			"%s{\"type\":%d,\"logical\":%d,"
			"\"optional\":%d,\"list\":%d}",
			i ? "," : "", (int)column->type, (int)column->logical,
			column->optional, column->list);
	}
	fprintf(file->json, "]}\n");
}

static void print_real(FILE *json, double real)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	if (isnan(real))
		fputs("\"nan\"", json);
	else
		fprintf(json, "\"%016" PRIx64 "\"", bits);
}

static void print_cell(FILE *json, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_NULL:
		fputs("null", json);
		break;
	case CELL_INTEGER:
		fprintf(json, "\"%" PRId64 "\"", cell->integer);
		break;
	case CELL_REAL:
		print_real(json, cell->real);
		break;
	case CELL_TEXT:
	case CELL_BLOB:
		putc('"', json);
		for (uint32_t i = 0; i < cell->size; i++) {
			uint8_t byte = (uint8_t)cell->bytes[i];

			putc("0123456789abcdef"[byte >> 4], json);
			putc("0123456789abcdef"[byte & 15], json);
		}
		putc('"', json);
	}
}

static void print_list(FILE *json, const struct parquet_list *list)
{
	putc('[', json);
	for (size_t i = 0; i < list->count; i++) {
		if (i)
			putc(',', json);
		print_cell(json, &list->cell[i]);
	}
	putc(']', json);
}

/* A row, written and printed. 0, or -1 with error. */
static int add_row(struct file *file, struct error *error)
{
	struct cell cell[DRAW_COLUMNS] = {0}, element[DRAW_COLUMNS][LONGEST_LIST];
	struct parquet_list list[DRAW_COLUMNS];
	size_t lists = 0, texts = 0;

	putc('[', file->json);
	for (size_t i = 0; i < file->columns; i++) {
		struct draw_column *column = &file->column[i];
		const struct parquet_column *schema = &file->schema[i];
		struct parquet_list *next = &list[lists];

		if (i)
			putc(',', file->json);
		if (!schema->list) {
			cell[i] = draw_cell(&file->state, column, schema->optional,
					    file->text + DRAW_TEXT * texts++);
			print_cell(file->json, &cell[i]);
			continue;
		}
		*next = (struct parquet_list){.cell = element[lists++]};
		if (draw_below(&file->state, 5))
			next->count = draw_below(&file->state, 4);
		if (draw_below(&file->state, 300) == 0)
			next->count = LONGEST_LIST;
		for (size_t j = 0; j < next->count; j++)
			element[next - list][j] = draw_cell(
			    &file->state, column, true, file->text + DRAW_TEXT * texts++);
		print_list(file->json, next);
	}
	fputs("]\n", file->json);
	return parquet_add_rows(file->writer, cell, lists ? list : NULL, 1, error);
}

static int write_rows(struct file *file, FILE *out, struct error *error)
{
	file->writer =
	    parquet_writer_new(out, file->schema, file->columns, &file->settings, error);
	if (!file->writer)
		return -1;
	parquet_add_metadata(file->writer, "key", "value \xe2\x82\xac");
	for (uint64_t i = 0; i < file->rows; i++)
		if (add_row(file, error))
			return -1;
	return parquet_writer_finish(file->writer, error);
}

int main(int argc, char **argv)
{
	struct file file = {0};
	struct error error = ERROR_INIT;
	char *path;
	FILE *out;
	int status;

	if (argc != 3 || strtoull(argv[1], NULL, 0) == 0) {
		fputs("usage: parquet-random SEED FILE\n", stderr);
		return 2;
	}
	file.state = strtoull(argv[1], NULL, 0) * RANDOM_SEED;
	path = mem_printf("%s.parquet", argv[2]);
	out = fopen(path, "w");
	free(path);
	path = mem_printf("%s.jsonl", argv[2]);
	file.json = fopen(path, "w");
	free(path);
	if (!out || !file.json) {
		perror(argv[2]);
		return 1;
	}
	file.text = mem_alloc((size_t)DRAW_TEXT * DRAW_COLUMNS * LONGEST_LIST);
	draw_schema(&file);
	print_schema(&file);
	status = write_rows(&file, out, &error);
	if (status)
		fprintf(stderr, "parquet-random: %s\n", error_text(&error));
	error_clear(&error);
	parquet_writer_free(file.writer);
	free(file.text);
	return fclose(out) || fclose(file.json) || status;
}
