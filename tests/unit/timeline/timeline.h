/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_TIMELINE_H
#define CT_TEST_TIMELINE_H

/* Helpers of the timeline's tests: making one, and querying it. */
#include "../scratch.h"
#include "timeline/reader.h"
#include "timeline/rows.h"

#define INTEGER(number)                                                                  \
	{                                                                                \
		.type = CELL_INTEGER, .integer = (number)                                \
	}
#define REAL(number)                                                                     \
	{                                                                                \
		.type = CELL_REAL, .real = (number)                                      \
	}
#define TEXT(text)                                                                       \
	{                                                                                \
		.type = CELL_TEXT, .size = sizeof(text) - 1, .bytes = (text)             \
	}
#define BLOB(text)                                                                       \
	{                                                                                \
		.type = CELL_BLOB, .size = sizeof(text) - 1, .bytes = (text)             \
	}

/* A writer with node 1 and source 1 in it. */
static inline struct timeline_writer *write_timeline(const char *path, bool payload)
{
	static const struct timeline_node node = {
	    .id = 1, .name = "n1", .cpus = 2, .cpu_mhz = 2400.5, .mem_kib = 1024};
	static const struct timeline_source source = {.id = 1,
						      .node = 1,
						      .kind = "kernel",
						      .name = "n1",
						      .reference = 1,
						      .problems = 0};
	struct error error = ERROR_INIT;
	struct timeline_writer *writer = timeline_writer_new(path, NULL, payload, &error);

	assert_string_equal(error_text(&error), "");
	assert_non_null(writer);
	assert_int_equal(timeline_add_node(writer, &node, &error), 0);
	assert_int_equal(timeline_add_source(writer, &source, &error), 0);
	return writer;
}

static inline void finish_timeline(struct timeline_writer *writer)
{
	struct error error = ERROR_INIT;

	assert_int_equal(timeline_writer_finish(writer, &error), 0);
	timeline_writer_free(writer);
}

/* All that a query gives: cells parted by |, rows by newlines; for free(). */
static inline char *ask(const char *path, const char *sql)
{
	struct error error = ERROR_INIT;
	struct timeline_reader *reader = timeline_reader_open_own(path, path, &error);
	struct timeline_query *query;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int status;

	assert_string_equal(error_text(&error), "");
	query = timeline_query_new(reader, sql, &error);
	assert_string_equal(error_text(&error), "");
	while ((status = timeline_query_next(query, &error)) == 1) {
		const struct cell *cell = timeline_query_row(query);

		if (ftell(out) > 0)
			fputc('\n', out);
		for (size_t i = 0; i < timeline_query_columns(query); i++) {
			if (i)
				fputc('|', out);
			if (cell[i].type == CELL_INTEGER)
				fprintf(out, "%lld", (long long)cell[i].integer);
			else if (cell[i].type == CELL_REAL)
				fprintf(out, "%.17g", cell[i].real);
			else if (cell[i].type != CELL_NULL)
				fwrite(cell[i].bytes, 1, cell[i].size, out);
		}
	}
	assert_string_equal(error_text(&error), "");
	assert_int_equal(status, 0);
	timeline_query_free(query);
	timeline_reader_free(reader);
	fclose(out);
	return text;
}

#define assert_answer(path, sql, wanted)                                                 \
	do {                                                                             \
		char *answer_ = ask((path), (sql));                                      \
		assert_string_equal(answer_, (wanted));                                  \
		free(answer_);                                                           \
	} while (0)

/* Every test ends with this: what was written is whole, by SQLite's own word. */
static inline void assert_whole(const char *path)
{
	assert_answer(path, "PRAGMA integrity_check", "ok");
	assert_answer(path, "PRAGMA foreign_key_check", "");
}

#endif
