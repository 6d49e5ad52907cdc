/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The timeline as a trace that Perfetto's viewer opens (ui.perfetto.dev): rows of
 * perfetto.sql become slices and counters on options.tracks.
 */
#include "export/perfetto/perfetto.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "timeline/query.h"

int perfetto_write_event(struct perfetto_writer *writer,
			 const struct perfetto_event *event, struct error *error)
{
	writer->events++;
	writer->form->event(writer, event);
	return export_write(writer->export, &writer->out, EXPORT_BUFFER, error);
}

int perfetto_write_counter(struct perfetto_writer *writer,
			   const struct perfetto_track *track, nsec_t at_ns, double value,
			   struct error *error)
{
	writer->events++;
	writer->form->counter(writer, track, at_ns, value);
	return export_write(writer->export, &writer->out, EXPORT_BUFFER, error);
}

int perfetto_write_end(struct perfetto_writer *writer, struct error *error)
{
	bytes_add_text(&writer->out, writer->form->end);
	return export_write(writer->export, &writer->out, 0, error);
}

void perfetto_writer_clear(struct perfetto_writer *writer)
{
	for (size_t i = 0; i < PERFETTO_SORTS; i++)
		texts_clear(&writer->known[i]);
	bytes_clear(&writer->news);
	bytes_clear(&writer->out);
}

void perfetto_add(struct perfetto_event *event, struct perfetto_word *name,
		  const struct cell *cell)
{
	if (cell->type != CELL_INTEGER && (cell->type != CELL_TEXT || !*cell->bytes))
		return;
	assert(event->values < PERFETTO_VALUES);
	event->value[event->values++] = (struct perfetto_value){name, *cell};
}

/* The first columns of a slice; what the others are follows from their names. */
enum { NODE, BEGIN, END, WHICH, NAME, MORE };

/* Values, of both ends of a message, and what else a row says. */
enum { MOST_MORE = 2 * PERFETTO_VALUES };

enum role { VALUE, THREAD, SENT, RECEIVED, CUT, ARROW, LABEL, TRACK, CATEGORY };

/* A statement on its way. */
struct part {
	struct perfetto *perfetto;
	struct timeline_query *query;
	enum perfetto_row track;
	const char *category;
	size_t columns;
	struct perfetto_word name[MORE + MOST_MORE]; /* of the columns */
	enum role role[MORE + MOST_MORE];
	int cut;           /* the row at hand, by the scope */
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
	return *name == '@'   ? THREAD
	       : *name == '<' ? SENT
	       : *name == '>' ? RECEIVED
			      : VALUE;
}

static void add_text(struct perfetto_event *event, struct perfetto_word *name,
		     const char *text)
{
	struct cell cell = {.type = CELL_NULL};

	if (text)
		cell_set_text(&cell, text, strlen(text));
	perfetto_add(event, name, &cell);
}

/* A further column, with a value. */
static void take_column(struct part *part, size_t column, const struct cell *row,
			struct perfetto_event *event, struct perfetto_slot *slot)
{
	static const char *const cuts[] = {NULL, "begin", "end", "begin and end"};
	const struct cell *cell = &row[column];

	switch (part->role[column]) {
	case VALUE:
	case SENT:
	case RECEIVED:
		perfetto_add(event, &part->name[column], cell);
		break;
	case THREAD:
		if (cell->integer >= 0)
			add_text(event, &part->name[column],
				 perfetto_rows_thread(part->perfetto->rows, slot->node,
						      cell->integer, event->end_ns));
		break;
	case CUT:
		add_text(event, &part->name[column],
			 cuts[(cell->integer | part->cut) & 3]);
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
}

static int take_slice(struct part *part, const struct cell *row, struct error *error)
{
	struct perfetto *perfetto = part->perfetto;
	const struct scope *scope = &perfetto->export->scope;
	nsec_t begin_ns = row[BEGIN].integer, end_ns = cell_integer(&row[END], begin_ns);
	bool late = begin_ns<scope->begin_ns, early = end_ns> scope->end_ns;
	struct perfetto_event event = {.begin_ns = late ? scope->begin_ns : begin_ns,
				       .end_ns = early ? scope->end_ns : end_ns,
				       .instant = row[END].type != CELL_INTEGER,
				       .category = part->category,
				       .name = row[NAME].bytes};
	struct perfetto_slot slot = {.kind = part->track,
				     .node = row[NODE].integer,
				     .of = cell_integer(&row[WHICH], 0),
				     .begin_ns =
					 event.instant ? NSEC_MAX : event.begin_ns,
				     .end_ns = event.instant ? NSEC_MIN : event.end_ns};

	part->cut = late | early << 1;
	for (size_t i = MORE; i < part->columns; i++)
		if (row[i].type != CELL_NULL)
			take_column(part, i, row, &event, &slot);
	event.place = *perfetto_rows_lane(perfetto->rows, &slot);
	return perfetto_write_event(perfetto->writer, &event, error);
}

/* Of a message's ends those that are within the scope. */
static int take_ends(struct part *part, const struct cell *row, struct error *error)
{
	const struct scope *scope = &part->perfetto->export->scope;

	for (int end = 0; end < 2; end++) {
		const struct cell *node = &row[2 * end], *at = &row[2 * end + 1];
		struct perfetto_event event = {.begin_ns = at->integer,
					       .end_ns = at->integer,
					       .instant = true,
					       .category = part->category,
					       .name = row[NAME].bytes};
		struct perfetto_slot slot = {.kind = end ? ROW_RECEIVED : ROW_SENT,
					     .node = node->integer,
					     .begin_ns = NSEC_MAX,
					     .end_ns = NSEC_MIN};

		if (node->type != CELL_INTEGER || !scope_has_node(scope, node->integer) ||
		    at->type != CELL_INTEGER || at->integer < scope->begin_ns ||
		    at->integer > scope->end_ns)
			continue;
		for (size_t i = MORE; i < part->columns; i++)
			if (row[i].type != CELL_NULL &&
			    part->role[i] != (end ? SENT : RECEIVED))
				take_column(part, i, row, &event, &slot);
		if (event.end != PERFETTO_NO_END && end)
			event.end = event.end == PERFETTO_FIRST_END ? PERFETTO_LAST_END
								    : PERFETTO_FIRST_END;
		event.place = *perfetto_rows_lane(part->perfetto->rows, &slot);
		if (perfetto_write_event(part->perfetto->writer, &event, error))
			return -1;
	}
	return 0;
}

static int take_counter(struct part *part, const struct cell *row, struct error *error)
{
	enum { COUNTER_NODE, AT, NUMBER, KIND, OF, ITEM, GROUP, GROUP_NAME, TITLE, UNIT };
	struct perfetto *perfetto = part->perfetto;
	struct perfetto_slot counter = {.kind = perfetto_row_named(row[KIND].bytes),
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
				      row[AT].integer, value, error);
}

/* A row of a statement, if it is of a node of the scope. */
static int take_row(struct part *part, const char *kind, const struct cell *row,
		    struct error *error)
{
	if (strcmp(kind, "ends") == 0)
		return take_ends(part, row, error);
	if (!scope_has_node(&part->perfetto->export->scope, row->integer))
		return 0;
	return *kind == 's' ? take_slice(part, row, error)
			    : take_counter(part, row, error);
}

static int add_rows(struct part *part, const char *sql, const char *kind,
		    struct error *error)
{
	struct perfetto *perfetto = part->perfetto;
	struct export *export = perfetto->export;
	const struct cell value[] = {cell_of_integer(export->scope.begin_ns),
				     cell_of_integer(export->scope.end_ns)};
	int more = -1;

	part->query = timeline_query_new(export->timeline, sql, error);
	part->columns = part->query ? timeline_query_columns(part->query) : 0;
	for (size_t i = 0; i < part->columns; i++) {
		const char *name = timeline_query_name(part->query, i);

		part->role[i] = role_of(name);
		part->name[i].text = name + (part->role[i] != VALUE);
	}
	if (part->query &&
	    timeline_query_ask(part->query, value, timeline_query_parameters(part->query),
			       error) == 0)
		while ((more = timeline_query_next(part->query, error)) > 0) {
			const struct cell *row = timeline_query_row(part->query);

			if (perfetto->writer->events % 4096 == 0)
				progress_update(&export->progress, "ctexport perfetto",
						perfetto->writer->events, 0, 0);
			if (take_row(part, kind, row, error)) {
				more = -1;
				break;
			}
		}
	timeline_query_free(part->query);
	if (part->infinite)
		problem_add(&export->notes, "", PROBLEM_NOTE, part->infinite,
			    "%" PRIu64 " samples are infinite, and left out",
			    part->infinite);
	return more;
}

/* Whether one of the parts that stand before a statement's kind was chosen. */
static bool is_chosen(const char *name, const struct text_list *parts)
{
	char *words = mem_strndup(name, strcspn(name, " ")), *rest;
	bool is_chosen = !parts->count;

	for (char *word = strtok_r(words, ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest))
		is_chosen |= text_list_has(parts, word);
	free(words);
	return is_chosen;
}

static int add_statement(void *context, const struct statement *statement,
			 struct error *error)
{
	struct perfetto *perfetto = context;
	struct export *export = perfetto->export;
	char *kind = strchr(statement->name, ' ') + 1, *track = strchr(kind, ' ');
	struct part part = {.perfetto = perfetto, .track = ROW_KINDS};
	const struct cell value[] = {cell_of_integer(export->scope.begin_ns),
				     cell_of_integer(export->scope.end_ns)};

	if (!is_chosen(statement->name, perfetto->parts))
		return 0;
	if (strcmp(kind, "notes") == 0)
		return statement_notes(export, statement, value, error);
	if (track) {
		*track++ = '\0';
		part.category = track + strcspn(track, " ");
		if (*part.category)
			track[part.category++ - track] = '\0';
		part.track = perfetto_row_named(track);
	}
	return add_rows(&part, statement->sql, kind, error);
}

int perfetto_add_parts(struct perfetto *perfetto, struct error *error)
{
	return statement_chosen(perfetto->export, error) ||
		       statement_each(perfetto->export->timeline, perfetto_sql, NULL,
				      add_statement, perfetto, error)
		   ? -1
		   : 0;
}

enum form { FORM_PROTO, FORM_JSON };

static struct {
	int form;
	struct text_list tracks;
} options;

static const struct option_row rows[] = {
    {0, "format", OPTION_WORD, &options.form, "proto|json",
     "Perfetto's own form (default), or Chrome's JSON", 0, 0},
    {0, "tracks", OPTION_WORDS, &options.tracks, "PART,...",
     "only these: states, cpus, interrupts, syscalls, disks, messages, samples, clocks, "
     "tasks",
     0, 0},
    {0},
};

static int make_plan(const char *output, struct export_plan *plan, struct error *error)
{
	static const char *const parts[] = {"states",   "cpus",   "interrupts",
					    "syscalls", "disks",  "messages",
					    "samples",  "clocks", "tasks"};
	enum { PARTS = sizeof(parts) / sizeof(*parts) };

	(void)output;
	plan->binary = options.form == FORM_PROTO;
	for (size_t i = 0; i < options.tracks.count; i++) {
		const char *name = options.tracks.item[i];
		size_t at = 0;

		while (at < PARTS && strcmp(parts[at], name) != 0)
			at++;
		if (at < PARTS)
			continue;
		return near_refuse(error, "--tracks: no part", name, parts, PARTS, NULL);
	}
	return 0;
}

static int run(struct export *export, struct error *error)
{
	struct perfetto_writer writer = {
	    .form = options.form == FORM_JSON ? &perfetto_json : &perfetto_proto,
	    .export = export,
	    .origin_ns = export->scope.origin_ns};
	struct perfetto perfetto = {
	    .export = export, .writer = &writer, .parts = &options.tracks};
	int status = -1;

	writer.form->begin(&writer);
	if (export->scope.without_spans)
		problem_add(&export->notes, export->path, PROBLEM_NOTE, 1,
			    "no spans of threads, processors and disks, want ctmerge "
			    "without --no-spans");
	perfetto.rows =
	    perfetto_rows_new(&writer, &export->scope, export->timeline, error);
	if (perfetto.rows && perfetto_add_parts(&perfetto, error) == 0)
		status = perfetto_write_end(&writer, error);
	perfetto_rows_free(perfetto.rows);
	perfetto_writer_clear(&writer);
	return status;
}

const struct export_format export_perfetto = {
    .name = "perfetto",
    .summary = "a trace for Perfetto's viewer (ui.perfetto.dev)",
    .usage = "[OPTION...] RUN.db [-o FILE]",
    .rows = rows,
    .plan = make_plan,
    .run = run,
};
