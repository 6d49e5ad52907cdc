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

/* The first columns of a slice; what the others are follows from their names. */
enum { NODE, BEGIN, END, WHICH, NAME, MORE };

enum role { VALUE, THREAD, CUT, ARROW, LABEL, TRACK, CATEGORY };

/* A statement on its way. */
struct part {
	struct perfetto *perfetto;
	struct timeline_query *query;
	enum perfetto_row track;
	const char *category;
	size_t columns;
	const char *name[MORE + PERFETTO_VALUES]; /* of the columns */
	enum role role[MORE + PERFETTO_VALUES];
	uint64_t infinite; /* values of counters */
};

static const char *text_of(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? cell->bytes : NULL;
}

static enum role role_of(const char *name)
{
	static const char *const names[] = {
	    [CUT] = "=cut",     [ARROW] = "=arrow",       [LABEL] = "=label",
	    [TRACK] = "=track", [CATEGORY] = "=category",
	};

	for (enum role role = CUT; role <= CATEGORY; role++)
		if (strcmp(name, names[role]) == 0)
			return role;
	return *name == '@' ? THREAD : VALUE;
}

static void add_value(struct perfetto_event *event, const char *name,
		      const struct cell *cell)
{
	if (cell->type == CELL_INTEGER)
		perfetto_add_integer(event, name, cell->integer);
	else
		perfetto_add_text(event, name, text_of(cell));
}

/* A further column, with a value; a text that is made here is for free(). */
static char *take_column(struct part *part, size_t column, const struct cell *row,
			 struct perfetto_event *event, struct perfetto_slot *slot)
{
	static const char *const cuts[] = {NULL, "begin", "end", "begin and end"};
	const struct cell *cell = &row[column];
	char *text = NULL;

	switch (part->role[column]) {
	case VALUE:
		add_value(event, part->name[column], cell);
		break;
	case THREAD:
		if (cell->integer >= 0)
			text = perfetto_rows_thread(part->perfetto->rows, slot->node,
						    cell->integer, event->end_ns);
		perfetto_add_text(event, part->name[column] + 1, text);
		break;
	case CUT:
		perfetto_add_text(event, "cut", cuts[cell->integer & 3]);
		break;
	case ARROW:
		event->end = cell->integer > 0 ? PERFETTO_FIRST_END : PERFETTO_LAST_END;
		event->flow = (uint64_t)llabs(cell->integer);
		break;
	case LABEL:
		slot->name = cell->bytes;
		break;
	case TRACK:
		slot->kind = perfetto_row_named(cell->bytes);
		break;
	case CATEGORY:
		event->category = cell->bytes;
	}
	return text;
}

static int take_slice(struct part *part, const struct cell *row)
{
	struct perfetto *perfetto = part->perfetto;
	struct perfetto_event event = {.begin_ns = row[BEGIN].integer,
				       .end_ns =
					   cell_integer(&row[END], row[BEGIN].integer),
				       .instant = row[END].type != CELL_INTEGER,
				       .category = part->category,
				       .name = row[NAME].bytes};
	struct perfetto_slot slot = {.kind = part->track,
				     .node = row[NODE].integer,
				     .of = cell_integer(&row[WHICH], 0),
				     .begin_ns =
					 event.instant ? NSEC_MAX : event.begin_ns,
				     .end_ns = event.instant ? NSEC_MIN : event.end_ns};
	char *text[PERFETTO_VALUES];
	size_t texts = 0;
	int status;

	for (size_t i = MORE; i < part->columns; i++)
		if (row[i].type != CELL_NULL) {
			text[texts] = take_column(part, i, row, &event, &slot);
			texts += text[texts] != NULL;
		}
	event.place = *perfetto_rows_lane(perfetto->rows, &slot);
	status = perfetto_write_event(perfetto->writer, &event);
	while (texts)
		free(text[--texts]);
	return status;
}

static int take_counter(struct part *part, const struct cell *row)
{
	enum { COUNTER_NODE, AT, NUMBER, KIND, OF, ITEM, GROUP, GROUP_NAME, TITLE, UNIT };
	struct perfetto *perfetto = part->perfetto;
	struct perfetto_counter counter = {.kind = perfetto_row_named(row[KIND].bytes),
					   .node = row[COUNTER_NODE].integer,
					   .of = cell_integer(&row[OF], -1),
					   .item = cell_integer(&row[ITEM], -1),
					   .name = text_of(&row[TITLE]),
					   .unit = text_of(&row[UNIT]),
					   .group = cell_integer(&row[GROUP], 0),
					   .group_name = text_of(&row[GROUP_NAME])};
	double value = cell_number(&row[NUMBER]);

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
static int add_rows(struct part *part, const char *sql, bool slices, struct error *error)
{
	struct perfetto *perfetto = part->perfetto;
	struct export *export = perfetto->export;
	const struct cell value[] = {cell_of_integer(export->scope.begin_ns),
				     cell_of_integer(export->scope.end_ns)};
	int more = -1;

	part->query = timeline_query_new(export->timeline, sql, error);
	part->columns = part->query ? timeline_query_columns(part->query) : 0;
	for (size_t i = 0; i < part->columns; i++)
		part->role[i] =
		    role_of(part->name[i] = timeline_query_name(part->query, i));
	if (part->query &&
	    timeline_query_ask(part->query, value, timeline_query_parameters(part->query),
			       error) == 0)
		while ((more = timeline_query_next(part->query, error)) > 0) {
			const struct cell *row = timeline_query_row(part->query);

			if (perfetto->writer->events % 4096 == 0)
				progress_update(&export->progress, "ctexport perfetto",
						perfetto->writer->events, 0, 0);
			if (scope_has_node(&export->scope, row->integer) &&
			    (slices ? take_slice(part, row) : take_counter(part, row))) {
				more = -1;
				break;
			}
		}
	timeline_query_free(part->query);
	if (part->infinite)
		problem_add(&export->notes, "", "samples", part->infinite,
			    "%" PRIu64 " samples are infinite, and left out",
			    part->infinite);
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

struct parts {
	struct perfetto *perfetto;
	unsigned chosen;
};

static int add_statement(void *context, const struct statement *statement,
			 struct error *error)
{
	const struct parts *parts = context;
	struct perfetto *perfetto = parts->perfetto;
	struct export *export = perfetto->export;
	char *kind = strchr(statement->name, ' ') + 1, *track = strchr(kind, ' ');
	struct part part = {.perfetto = perfetto, .track = ROW_KINDS};

	if (!is_chosen(statement->name, parts->chosen))
		return 0;
	if (strcmp(kind, "notes") == 0)
		return query_scope(export->timeline, &export->scope, statement->sql,
				   take_note, export, error);
	if (track) {
		*track++ = '\0';
		part.category = track + strcspn(track, " ");
		if (*part.category)
			track[part.category++ - track] = '\0';
		part.track = perfetto_row_named(track);
	}
	return add_rows(&part, statement->sql, strcmp(kind, "slices") == 0, error);
}

int perfetto_add_parts(struct perfetto *perfetto, unsigned parts, struct error *error)
{
	struct parts all = {perfetto, parts};

	return statement_chosen(perfetto->export, error) ||
		       statement_each(perfetto->export->timeline, perfetto_sql, NULL,
				      add_statement, &all, error)
		   ? -1
		   : 0;
}
