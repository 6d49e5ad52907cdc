/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_RECORD_READ_H
#define CT_TEST_RECORD_READ_H

#include <inttypes.h>
#include <stdio.h>

#include "../select.h"
#include "base/mem.h"

/* Records as lines of text: "STAMP stream S.ORDINAL cpu C CLASS name=value ...". */
struct record_lines {
	struct trace_reader *source;
	FILE *file;
	char *text;
	size_t size;
};

static inline void print_cell(FILE *file, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_NULL:
		fputs("null", file);
		break;
	case CELL_INTEGER:
		fprintf(file, "%" PRId64, cell->integer);
		break;
	case CELL_REAL:
		fprintf(file, "%g", cell->real);
		break;
	case CELL_TEXT:
		fprintf(file, "'%.*s'", (int)cell->size, cell->bytes);
		break;
	case CELL_BLOB:
		for (uint32_t i = 0; i < cell->size; i++)
			fprintf(file, "%s%02x", i ? "" : "x",
				(unsigned char)cell->bytes[i]);
		break;
	}
}

static inline void print_record(void *context, const struct trace_event *record)
{
	struct record_lines *lines = context;
	const struct trace_class *class =
	    trace_reader_class(lines->source, record->class);

	fprintf(lines->file, "%" PRId64 " stream %u.%" PRIu64 " cpu %d %s",
		record->local_ns, (unsigned)record->stream, record->ordinal,
		(int)record->cpu, class->name);
	for (size_t i = 0; record->cell && i < class->columns; i++) {
		fprintf(lines->file, " %s%s=", class->column[i].context ? "@" : "",
			class->column[i].name);
		print_cell(lines->file, &record->cell[i]);
	}
	fputc('\n', lines->file);
}

/* Read all of a source; the text and the source are the caller's to free. */
static inline struct record_lines read_records(struct trace_reader *source)
{
	struct record_lines lines = {.source = source};

	assert_non_null(source);
	lines.file = open_memstream(&lines.text, &lines.size);
	while (trace_reader_step(source, UINT64_MAX, print_record, &lines))
		;
	assert_false(trace_reader_step(source, UINT64_MAX, print_record, &lines));
	fclose(lines.file);
	return lines;
}

/* All of a source, which has no problem, is these lines; it is freed. */
static inline void assert_records(struct trace_reader *source, const char *wanted)
{
	struct record_lines lines = read_records(source);

	assert_string_equal(lines.text, wanted);
	assert_int_equal(trace_reader_problems(source)->count, 0);
	trace_reader_free(source);
	free(lines.text);
}

#endif
