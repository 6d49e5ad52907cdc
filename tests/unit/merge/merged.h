/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_MERGED_H
#define CT_TEST_MERGED_H

/* A timeline that ctmerge wrote, with a query for each table of a class. */
#include <inttypes.h>

#include "../scratch.h"
#include "base/nsec.h"
#include "clock/clock.h"
#include "timeline/reader.h"

struct merged_column {
	char *name; /* as the source has it */
	bool is_context;
};

struct merged_class {
	char *kind, *name, *table;
	int64_t events; /* by its own row */
	struct merged_column *column;
	size_t columns;
	struct timeline_query *by_id; /* all columns, `id` first */
	int64_t seen;                 /* for the test to count */
};

struct merged_source {
	int64_t node;
	char *name, *path;
	bool is_capture;
	int64_t events;
	struct clock clock; /* segments alone */
};

struct merged {
	struct timeline_reader *reader;
	struct merged_class *class; /* by id - 1 */
	size_t classes;
	struct merged_source *source; /* by id - 1 */
	size_t sources;
};

/* Run a program of this build; its words are the tests' own. */
static inline int merged_run(const char *words)
{
	char *command = mem_printf("PATH=\"$CT_BUILD/bin:$PATH\" && %s", words);
	int status = system(command);

	free(command);
	return WEXITSTATUS(status);
}

static inline struct timeline_query *merged_ask(const struct merged *merged,
						const char *sql, int64_t value)
{
	struct error error = ERROR_INIT;
	struct cell cell = {.type = CELL_INTEGER, .integer = value};
	struct timeline_query *query = timeline_query_new(merged->reader, sql, &error);

	assert_string_equal(error_text(&error), "");
	timeline_query_ask(query, &cell, timeline_query_parameters(query), &error);
	assert_string_equal(error_text(&error), "");
	return query;
}

/* The next row, or NULL at the end. */
static inline const struct cell *merged_next(struct timeline_query *query)
{
	struct error error = ERROR_INIT;
	int status = timeline_query_next(query, &error);

	assert_string_equal(error_text(&error), "");
	return status == 1 ? timeline_query_row(query) : NULL;
}

/* The number that a query answers. */
static inline int64_t merged_number(const struct merged *merged, const char *sql,
				    int64_t value)
{
	struct timeline_query *query = merged_ask(merged, sql, value);
	const struct cell *cell = merged_next(query);
	int64_t number;

	assert_non_null(cell);
	assert_int_equal(cell->type, CELL_INTEGER);
	number = cell->integer;
	timeline_query_free(query);
	return number;
}

/* Null is an empty text. */
static inline char *merged_text(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? mem_strndup(cell->bytes, cell->size)
				       : mem_strdup("");
}

static inline bool merged_is(const struct cell *cell, const char *text)
{
	return cell->type == CELL_TEXT && strlen(text) == cell->size &&
	       memcmp(cell->bytes, text, cell->size) == 0;
}

static inline void merged_open_class(const struct merged *merged,
				     struct merged_class *class, int64_t id)
{
	struct timeline_query *columns = merged_ask(
	    merged,
	    "SELECT name, column_name, context FROM event_column WHERE class = ? "
	    "ORDER BY position",
	    id);
	char *sql = mem_printf("SELECT * FROM \"%s\" WHERE id = ?", class->table);
	const struct cell *cell;

	class->by_id = merged_ask(merged, sql, 0);
	while ((cell = merged_next(columns))) {
		struct merged_column *column;

		class->column = mem_realloc(class->column, class->columns + 1,
					    sizeof(*class->column));
		column = &class->column[class->columns++];
		column->name = merged_text(&cell[0]);
		column->is_context = cell[2].integer != 0;
		assert_true(merged_is(&cell[1],
				      timeline_query_name(class->by_id, class->columns)));
	}
	/* Behind them stand those that queries name and that were not recorded. */
	assert_true(timeline_query_columns(class->by_id) >= class->columns + 1);
	timeline_query_free(columns);
	free(sql);
}

static inline void merged_open_classes(struct merged *merged)
{
	struct timeline_query *classes =
	    merged_ask(merged,
		       "SELECT id, kind, name, table_name, events FROM event_class "
		       "ORDER BY id",
		       0);
	const struct cell *cell;

	while ((cell = merged_next(classes))) {
		struct merged_class *class;

		merged->class = mem_realloc(merged->class, merged->classes + 1,
					    sizeof(*merged->class));
		class = &merged->class[merged->classes++];
		assert_int_equal(cell[0].integer, merged->classes);
		*class = (struct merged_class){.kind = merged_text(&cell[1]),
					       .name = merged_text(&cell[2]),
					       .table = merged_text(&cell[3]),
					       .events = cell[4].integer};
		merged_open_class(merged, class, (int64_t)merged->classes);
	}
	timeline_query_free(classes);
}

static inline void merged_open_clock(const struct merged *merged, struct clock *clock,
				     int64_t source)
{
	struct timeline_query *segments =
	    merged_ask(merged,
		       "SELECT local_ns, ref_ns, rate_ppb FROM clock "
		       "WHERE source = ? ORDER BY local_ns",
		       source);
	const struct cell *cell;

	while ((cell = merged_next(segments))) {
		clock->segment = mem_realloc(clock->segment, clock->segments + 1,
					     sizeof(*clock->segment));
		clock->segment[clock->segments++] = (struct clock_segment){
		    cell[0].integer, cell[1].integer, cell[2].real};
	}
	assert_true(clock->segments > 0);
	timeline_query_free(segments);
}

static inline void merged_open_sources(struct merged *merged)
{
	struct timeline_query *sources = merged_ask(
	    merged, "SELECT id, node, name, path, kind, events FROM source ORDER BY id",
	    0);
	const struct cell *cell;

	while ((cell = merged_next(sources))) {
		struct merged_source *source;

		merged->source = mem_realloc(merged->source, merged->sources + 1,
					     sizeof(*merged->source));
		source = &merged->source[merged->sources++];
		assert_int_equal(cell[0].integer, merged->sources);
		*source =
		    (struct merged_source){.node = cell[1].integer,
					   .name = merged_text(&cell[2]),
					   .path = merged_text(&cell[3]),
					   .is_capture = merged_is(&cell[4], "capture"),
					   .events = cell[5].integer};
		merged_open_clock(merged, &source->clock, (int64_t)merged->sources);
	}
	timeline_query_free(sources);
}

/* Merge a run into ./run.db, and open that. Clocks that are not tied are fine. */
static inline void merged_open(struct merged *merged, const char *run)
{
	struct error error = ERROR_INIT;
	char *words = mem_printf("ctmerge -q '%s' -o run.db --force", run);
	int status = merged_run(words);

	assert_true(status == 0 || status == 3);
	*merged = (struct merged){.reader = timeline_reader_open("run.db", &error)};
	assert_string_equal(error_text(&error), "");
	merged_open_classes(merged);
	merged_open_sources(merged);
	free(words);
}

/* The cells of a class's columns of one event. */
static inline const struct cell *merged_event(struct merged_class *class, int64_t id)
{
	struct error error = ERROR_INIT;
	const struct cell filter = {.type = CELL_INTEGER, .integer = id}, *cell;

	timeline_query_ask(class->by_id, &filter, 1, &error);
	assert_string_equal(error_text(&error), "");
	cell = merged_next(class->by_id);
	if (!cell || cell[0].integer != id)
		fail_msg("%s has no row %" PRId64, class->table, id);
	return cell + 1;
}

/* The index of a column, -1: none. */
static inline int merged_column(const struct merged_class *class, const char *name)
{
	for (size_t i = 0; i < class->columns; i++)
		if (strcmp(class->column[i].name, name) == 0)
			return (int)i;
	return -1;
}

static inline void merged_close(struct merged *merged)
{
	for (size_t i = 0; i < merged->classes; i++) {
		struct merged_class *class = &merged->class[i];

		for (size_t j = 0; j < class->columns; j++)
			free(class->column[j].name);
		timeline_query_free(class->by_id);
		free(class->column);
		free(class->kind);
		free(class->name);
		free(class->table);
	}
	for (size_t i = 0; i < merged->sources; i++) {
		clock_clear(&merged->source[i].clock);
		free(merged->source[i].name);
		free(merged->source[i].path);
	}
	timeline_reader_free(merged->reader);
	free(merged->class);
	free(merged->source);
}

/*
 * Check the runs named as arguments or, without one, the recorded and some simulated
 * ones; `simulate` lists scenarios with options of ctsim, up to NULL.
 */
static inline void merged_check_each(const char *const *simulate,
				     void (*check)(const char *run))
{
	static const char *const recorded[] = {"tests/fixtures/net3", "datasets/sample"};

	for (char **named = test_arguments; *named; named++)
		check(*named);
	if (*test_arguments)
		return;
	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++) {
		char *run = mem_printf("%s/%s", getenv("CT_SOURCE"), recorded[i]);

		check(run);
		free(run);
	}
	for (; *simulate; simulate++) {
		char *words = mem_printf("rm -rf run && ctsim -q %s -o run", *simulate);

		print_message("ctsim %s\n", *simulate);
		assert_int_equal(merged_run(words), 0);
		check("run");
		free(words);
	}
}

#endif
