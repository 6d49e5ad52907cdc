/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of perfetto.sql become slices and counters. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/perfetto/perfetto.h"
#include "export/statements.h"
#include "timeline/query.h"

/* A statement on its way. */
struct part {
	struct perfetto *perfetto;
	struct timeline_query *query;
	uint64_t infinite; /* values of counters */
};

static const char *text_of(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? cell->bytes : NULL;
}

/* A further column of a slice; a text that is made here is for free(). */
static char *add_value(struct part *part, struct perfetto_event *event, int64_t node,
		       size_t column, const struct cell *cell)
{
	const char *name = timeline_query_name(part->query, column);
	char *text = NULL;

	if (*name == '@' && cell->type == CELL_INTEGER) {
		if (cell->integer >= 0)
			text = perfetto_rows_thread(part->perfetto->rows, node,
						    cell->integer, event->end_ns);
		perfetto_add_text(event, name + 1, text);
	} else if (cell->type == CELL_INTEGER) {
		perfetto_add_integer(event, name, cell->integer);
	} else {
		perfetto_add_text(event, name, text_of(cell));
	}
	return text;
}

static int take_slice(struct part *part, const struct cell *row)
{
	enum { NODE, BEGIN, END, CUT, TRACK, OF, LABEL, CATEGORY, NAME, ARROW, VALUES };
	static const char *const cuts[] = {NULL, "begin", "end", "begin and end"};
	struct perfetto *perfetto = part->perfetto;
	size_t columns = timeline_query_columns(part->query), texts = 0;
	struct perfetto_event event = {.begin_ns = row[BEGIN].integer,
				       .end_ns =
					   cell_integer(&row[END], row[BEGIN].integer),
				       .instant = row[END].type != CELL_INTEGER,
				       .category = row[CATEGORY].bytes,
				       .name = row[NAME].bytes};
	struct perfetto_slot slot = {.kind = perfetto_row_named(row[TRACK].bytes),
				     .node = row[NODE].integer,
				     .of = cell_integer(&row[OF], 0),
				     .name = text_of(&row[LABEL]),
				     .begin_ns =
					 event.instant ? NSEC_MAX : event.begin_ns,
				     .end_ns = event.instant ? NSEC_MIN : event.end_ns};
	char *text[PERFETTO_VALUES] = {NULL};
	int status;

	for (size_t i = VALUES; i < columns; i++)
		if (row[i].type != CELL_NULL)
			text[texts++] = add_value(part, &event, slot.node, i, &row[i]);
	perfetto_add_text(&event, "cut", cuts[row[CUT].integer & 3]);
	if (row[ARROW].type == CELL_INTEGER) {
		event.end =
		    row[ARROW].integer > 0 ? PERFETTO_FIRST_END : PERFETTO_LAST_END;
		event.flow = (uint64_t)llabs(row[ARROW].integer);
	}
	event.place = *perfetto_rows_lane(perfetto->rows, &slot);
	status = perfetto_write_event(perfetto->writer, &event);
	while (texts)
		free(text[--texts]);
	return status;
}

static int take_counter(struct part *part, const struct cell *row)
{
	enum { NODE, AT, VALUE, TRACK, OF, ITEM, GROUP, GROUP_NAME, NAME, UNIT };
	struct perfetto *perfetto = part->perfetto;
	struct perfetto_counter counter = {.kind = perfetto_row_named(row[TRACK].bytes),
					   .node = row[NODE].integer,
					   .of = cell_integer(&row[OF], -1),
					   .item = cell_integer(&row[ITEM], -1),
					   .name = text_of(&row[NAME]),
					   .unit = text_of(&row[UNIT]),
					   .group = cell_integer(&row[GROUP], 0),
					   .group_name = text_of(&row[GROUP_NAME])};
	double value = cell_number(&row[VALUE]);

	if (isnan(value)) /* a text */
		return 0;
	if (!isfinite(value)) {
		part->infinite++;
		return 0;
	}
	return perfetto_write_counter(perfetto->writer,
				      perfetto_rows_counter(perfetto->rows, &counter),
				      row[AT].integer, value);
}

/* All rows of a statement that are of a node of the scope. */
static int add_rows(struct perfetto *perfetto, const char *sql, bool slices,
		    struct error *error)
{
	struct export *export = perfetto->export;
	const struct cell value[] = {cell_of_integer(export->scope.begin_ns),
				     cell_of_integer(export->scope.end_ns)};
	struct part part = {.perfetto = perfetto};
	int more = -1;

	part.query = timeline_query_new(export->timeline, sql, error);
	if (part.query &&
	    timeline_query_ask(part.query, value, timeline_query_parameters(part.query),
			       error) == 0)
		while ((more = timeline_query_next(part.query, error)) > 0) {
			const struct cell *row = timeline_query_row(part.query);

			if (perfetto->writer->events % 4096 == 0)
				progress_update(&export->progress, "ctexport perfetto",
						perfetto->writer->events, 0, 0);
			if (scope_has_node(&export->scope, row->integer) &&
			    (slices ? take_slice(&part, row)
				    : take_counter(&part, row))) {
				more = -1;
				break;
			}
		}
	timeline_query_free(part.query);
	if (part.infinite)
		problem_add(&export->notes, "", "samples", part.infinite,
			    "%" PRIu64 " samples are infinite, and left out",
			    part.infinite);
	return more;
}

/* kind, count, text */
static int take_note(void *context, const struct cell *row, struct error *error)
{
	struct export *export = context;

	(void)error;
	problem_add(&export->notes, "", row[0].bytes, (uint64_t)row[1].integer, "%s",
		    row[2].bytes);
	return 0;
}

const char *const perfetto_parts[] = {"states", "cpus",     "interrupts", "syscalls",
				      "disks",  "messages", "samples",    "clocks",
				      "tasks",  NULL};

/* Whether one of the parts that stand before a statement's kind was chosen. */
static bool is_chosen(const char *name, unsigned parts)
{
	size_t length;

	for (;; name += length + 1) {
		length = strcspn(name, ", ");
		for (unsigned i = 0; perfetto_parts[i]; i++)
			if (parts & 1u << i && strlen(perfetto_parts[i]) == length &&
			    memcmp(perfetto_parts[i], name, length) == 0)
				return true;
		if (name[length] != ',')
			return false;
	}
}

static int add_statement(struct perfetto *perfetto, const struct statement *statement,
			 struct error *error)
{
	struct export *export = perfetto->export;
	const char *kind = strchr(statement->name, ' ') + 1;

	if (strcmp(kind, "notes") == 0)
		return query_scope(export->timeline, &export->scope, statement->sql,
				   take_note, export, error);
	return add_rows(perfetto, statement->sql, strcmp(kind, "slices") == 0, error);
}

int perfetto_add_parts(struct perfetto *perfetto, unsigned parts, struct error *error)
{
	const char *at = perfetto_sql;
	struct statement statement;
	int status = statement_chosen(perfetto->export, error);

	while (!status && statement_next(&at, &statement)) {
		if (is_chosen(statement.name, parts))
			status = add_statement(perfetto, &statement, error);
		statement_clear(&statement);
	}
	return status;
}
