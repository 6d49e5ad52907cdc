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
#include <unistd.h>

#include "base/mem.h"
#include "base/names.h"
#include "base/number.h"
#include "base/output.h"
#include "export/perfetto/ftrace.h"
#include "export/perfetto/paths.h"
#include "export/perfetto/tracks.h"
#include "tables/dataset.h"
#include "timeline/reader.h"

int perfetto_write(struct perfetto *perfetto, const struct perfetto_event *event,
		   struct error *error)
{
	perfetto->events++;
	perfetto->form->event(perfetto, event);
	return export_write(perfetto->export, &perfetto->out, EXPORT_BUFFER, error);
}

static void clear_perfetto(struct perfetto *perfetto)
{
	for (size_t i = 0; i < PERFETTO_SORTS; i++)
		texts_clear(&perfetto->known[i]);
	for (size_t i = 0; i < perfetto->machines; i++)
		for (size_t sort = 0; sort < PERFETTO_SORTS; sort++)
			bytes_clear(&perfetto->machine[i].told[sort]);
	free(perfetto->machine);
	bytes_clear(&perfetto->news);
	bytes_clear(&perfetto->out);
	perfetto_clear_tracks(perfetto);
}

void perfetto_add(struct perfetto_event *event, struct perfetto_name *name,
		  const struct cell *cell)
{
	if (cell->type != CELL_INTEGER && (cell->type != CELL_TEXT || !*cell->bytes))
		return;
	assert(event->values < PERFETTO_VALUES);
	event->value[event->values++] = (struct perfetto_value){name, *cell};
}

/* The first columns of a slice; what the others are follows from their names. */
enum { NODE, BEGIN, END, WHICH, NAME, MORE };

enum role { VALUE, THREAD, SENT, RECEIVED, CUT, ARROW, LABEL, TRACK, CATEGORY };

/* A statement on its way. */
struct part {
	struct perfetto *perfetto;
	/* converts a row */
	int (*write_row)(struct part *part, const struct cell *row, struct error *error);
	enum perfetto_row track;
	const char *category;
	size_t columns;
	struct perfetto_name name[MORE + 2 * PERFETTO_VALUES]; /* names of the columns */
	enum role role[MORE + 2 * PERFETTO_VALUES];
	int cut;           /* how the scope clips the current row */
	uint64_t infinite; /* values of counters */
	struct bytes text; /* the name of a system call */
};

static const char *text_of(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? cell->bytes : NULL;
}

static const char *name_of(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? cell->bytes : "";
}

static enum perfetto_row row_kind(const struct cell *cell)
{
	return perfetto_row_named(name_of(cell));
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

/* A further column, with a value. */
static void set_column(struct part *part, size_t column, const struct cell *row,
		       struct perfetto_event *event, struct perfetto_slot *slot)
{
	static const char *const cuts[] = {NULL,
					   "begin",
					   "end",
					   "begin and end",
					   "maybe several",
					   "begin, maybe several",
					   "end, maybe several",
					   "begin and end, maybe several"};
	const struct cell *cell = &row[column];
	struct cell text = cell_of_null();

	switch (part->role[column]) {
	case VALUE:
	case SENT:
	case RECEIVED:
		perfetto_add(event, &part->name[column], cell);
		break;
	case THREAD:
		if (cell_integer(cell, -1) >= 0)
			text = cell_of_text(perfetto_thread_name(
			    part->perfetto, slot->node, cell->integer, event->end_ns));
		perfetto_add(event, &part->name[column], &text);
		break;
	case CUT:
		text = cell_of_text(cuts[(cell_integer(cell, 0) | part->cut) & 7]);
		perfetto_add(event, &part->name[column], &text);
		break;
	case ARROW:
		event->arrow = cell_integer(cell, 0);
		break;
	case LABEL:
		slot->name = text_of(cell);
		break;
	case TRACK:
		slot->kind = row_kind(cell);
		break;
	case CATEGORY:
		event->category = text_of(cell);
	}
}

/* Return a slice's name as the form has it: in Perfetto's own, system calls have the
 * names that it gives them. It is valid until the next call. */
static const char *slice_name(struct part *part, const char *name)
{
	if (part->track != ROW_SYSCALLS || !part->perfetto->form->has_kernel)
		return name;
	part->text.size = 0;
	bytes_add_text(&part->text, "sys_");
	bytes_add(&part->text, name, strlen(name) + 1);
	return (const char *)part->text.data;
}

static int check_slot(const struct part *part, const struct perfetto_slot *slot,
		      struct error *error)
{
	const struct export *export = part->perfetto->export;

	if (slot->kind != ROW_KINDS && scope_find(&export->scope, slot->node))
		return 0;
	return error_set(error, "%s: an unknown word or node; " TIMELINE_MAKE_AGAIN,
			 export->path);
}

static int write_slice(struct part *part, const struct cell *row, struct error *error)
{
	struct perfetto *perfetto = part->perfetto;
	const struct scope *scope = &perfetto->export->scope;
	nsec_t begin_ns = cell_integer(&row[BEGIN], 0),
	       end_ns = cell_integer(&row[END], begin_ns);
	bool late = begin_ns<scope->begin_ns, early = end_ns> scope->end_ns;
	bool is_slice = row[END].type == CELL_INTEGER;
	struct perfetto_event event = {.kind =
					   is_slice ? PERFETTO_SLICE : PERFETTO_INSTANT,
				       .begin_ns = late ? scope->begin_ns : begin_ns,
				       .end_ns = early ? scope->end_ns : end_ns,
				       .category = part->category,
				       .name = slice_name(part, name_of(&row[NAME]))};
	struct perfetto_slot slot = {.kind = part->track,
				     .node = cell_integer(&row[NODE], -1),
				     .of = cell_integer(&row[WHICH], 0),
				     .begin_ns = event.begin_ns};

	part->cut = late | early << 1;
	for (size_t i = MORE; i < part->columns; i++)
		if (row[i].type != CELL_NULL)
			set_column(part, i, row, &event, &slot);
	if (check_slot(part, &slot, error))
		return -1;
	event.track = is_slice ? perfetto_lane(perfetto, &slot, event.end_ns)
			       : perfetto_track(perfetto, &slot);
	return perfetto_write(perfetto, &event, error);
}

/* Add the ends of a message that are within the scope. The node and the time of an end
 * are the row's first columns, and the arrow is that of the sending end. */
static int write_ends(struct part *part, const struct cell *row, struct error *error)
{
	const struct scope *scope = &part->perfetto->export->scope;

	for (int end = 0; end < 2; end++) {
		const struct cell *node = &row[2 * end], *at = &row[2 * end + 1];
		struct perfetto_event event = {.kind = PERFETTO_INSTANT,
					       .begin_ns = at->integer,
					       .end_ns = at->integer,
					       .category = part->category,
					       .name = name_of(&row[NAME])};
		struct perfetto_slot slot = {.kind = end ? ROW_RECEIVED : ROW_SENT,
					     .node = node->integer};

		if (node->type != CELL_INTEGER || !scope_has_node(scope, node->integer) ||
		    at->type != CELL_INTEGER || at->integer < scope->begin_ns ||
		    at->integer > scope->end_ns)
			continue;
		for (size_t i = MORE; i < part->columns; i++)
			if (row[i].type != CELL_NULL &&
			    part->role[i] != (end ? SENT : RECEIVED))
				set_column(part, i, row, &event, &slot);
		if (end)
			event.arrow = -event.arrow;
		event.track = perfetto_track(part->perfetto, &slot);
		if (perfetto_write(part->perfetto, &event, error))
			return -1;
	}
	return 0;
}

static int write_counter(struct part *part, const struct cell *row, struct error *error)
{
	enum { COUNTER_NODE, AT, NUMBER, KIND, OF, ITEM, GROUP, GROUP_NAME, TITLE, UNIT };
	const struct perfetto_slot slot = {.kind = row_kind(&row[KIND]),
					   .node = cell_integer(&row[COUNTER_NODE], -1),
					   .of = cell_integer(&row[OF], -1),
					   .item = cell_integer(&row[ITEM], -1),
					   .name = text_of(&row[TITLE]),
					   .unit = text_of(&row[UNIT]),
					   .group = cell_integer(&row[GROUP], 0),
					   .group_name = text_of(&row[GROUP_NAME])};
	struct perfetto_event event = {.kind = PERFETTO_COUNT,
				       .begin_ns = cell_integer(&row[AT], 0),
				       .count = cell_number(&row[NUMBER])};

	if (check_slot(part, &slot, error))
		return -1;
	part->infinite += isinf(event.count) != 0;
	if (!isfinite(event.count)) /* also for text */
		return 0;
	event.track = perfetto_track(part->perfetto, &slot);
	return perfetto_write(part->perfetto, &event, error);
}

/* A row of a statement, if it is of a node of the scope. */
static int write_part_row(struct part *part, const struct cell *row, struct error *error)
{
	struct perfetto *perfetto = part->perfetto;

	if (perfetto->events % 4096 == 0)
		progress_update(&perfetto->export->progress, "ctexport perfetto",
				perfetto->events, 0, 0);
	if (part->write_row != write_ends &&
	    !scope_has_node(&perfetto->export->scope, row->integer))
		return 0;
	return part->write_row(part, row, error);
}

static int add_rows(struct part *part, const struct statement *statement,
		    const struct cell *value, struct error *error)
{
	struct export *export = part->perfetto->export;
	struct timeline_query *query =
	    query_start(export->timeline, statement->sql, value, error);
	int more = query ? 1 : -1;

	part->columns = query ? timeline_query_columns(query) : 0;
	for (size_t i = 0; i < part->columns; i++) {
		const char *name = timeline_query_name(query, i);

		part->role[i] = role_of(name);
		part->name[i].text = name + (part->role[i] != VALUE);
	}
	while (more > 0 && (more = timeline_query_next(query, error)) > 0)
		if (write_part_row(part, timeline_query_row(query), error))
			more = -1;
	timeline_query_free(query);
	bytes_clear(&part->text);
	if (part->infinite)
		problem_add(&export->notes, "", PROBLEM_NOTE, part->infinite,
			    "%" PRIu64 " infinite samples omitted", part->infinite);
	return more;
}

/* Return true if --tracks names one of the parts "a,b". */
static bool is_chosen(char *names, const struct text_list *parts)
{
	bool is_chosen = !parts->count;
	char *rest;

	for (char *name = strtok_r(names, ",", &rest); name;
	     name = strtok_r(NULL, ",", &rest))
		is_chosen |= text_list_has(parts, name);
	return is_chosen;
}

/* "threads", "machines", or "PARTS KIND TRACK CATEGORY". */
static int add_statement(void *context, const struct statement *statement,
			 struct error *error)
{
	struct perfetto *perfetto = context;
	struct export *export = perfetto->export;
	static const char chrome[] = "chrome-";
	bool has_kernel = perfetto->form->has_kernel;
	const struct cell value[] = {cell_of_integer(export->scope.begin_ns),
				     cell_of_integer(export->scope.end_ns),
				     cell_of_integer(has_kernel),
				     cell_of_integer(perfetto->request)};
	char *rest, *parts = strtok_r(statement->name, " ", &rest);
	const char *kind = strtok_r(NULL, " ", &rest);
	const char *track = strtok_r(NULL, " ", &rest);
	struct part part = {.perfetto = perfetto,
			    .track = track ? perfetto_row_named(track) : ROW_KINDS,
			    .category = strtok_r(NULL, " ", &rest)};

	if (!kind && strcmp(parts, "machines") == 0)
		return has_kernel ? ftrace_add_machines(perfetto, statement->sql, error)
				  : 0;
	if (!kind)
		return query_rows(export->timeline, statement->sql, NULL,
				  perfetto_add_thread, perfetto, error);
	if (!is_chosen(parts, perfetto->parts))
		return 0;
	if (ftrace_has_kind(kind))
		return has_kernel
			   ? ftrace_add(perfetto, kind, statement->sql, value, error)
			   : 0;
	if (strncmp(kind, chrome, strlen(chrome)) == 0) {
		if (has_kernel)
			return 0;
		kind += strlen(chrome);
	}
	if (strcmp(kind, "paths") == 0)
		return perfetto_add_paths(perfetto, statement->sql, value, error);
	if (strcmp(kind, "notes") == 0)
		return statement_notes(export, statement, value, error);
	part.write_row = strcmp(kind, "counters") == 0 ? write_counter
			 : strcmp(kind, "ends") == 0   ? write_ends
						       : write_slice;
	return add_rows(&part, statement, value, error);
}

/* Write the parts within the scope, by the statements of perfetto.sql with their names.
 * Return 0, or -1 with error. */
static int write_parts(struct perfetto *perfetto, struct error *error)
{
	return (!perfetto->is_later && statement_chosen(perfetto->export, error)) ||
		       statement_each(perfetto->export->timeline, perfetto_sql, NULL,
				      add_statement, perfetto, error)
		   ? -1
		   : 0;
}

enum form { FORM_PROTO, FORM_JSON };

static struct {
	int form;
	struct text_list tracks;
	char *split, *manifest;
	int64_t split_bytes, request;
	nsec_t split_ns;
} options;

static const struct option_row rows[] = {
    {0, "format", OPTION_WORD, &options.form, "proto|json",
     "Perfetto's own format (default), or Chrome's JSON", 0, 0},
    {0, "tracks", OPTION_WORDS, &options.tracks, "PART,...",
     "only these: states, cpus, interrupts, syscalls, disks, messages, requests, "
     "paths, samples, clocks, tasks",
     0, 0},
    {0, "manifest", OPTION_STRING, &options.manifest, "FILE",
     "also write Perfetto's trace manifest, which aligns traces of your own "
     "(NODE.pftrace) "
     "with this one by the offsets of their nodes' clocks",
     0, 0},
    {0, "split", OPTION_STRING, &options.split, "SIZE|SECONDSs|request=ID",
     "several traces in a directory: of at most SIZE bytes (k, M, G), or of so many "
     "seconds each; or one of the time of a request",
     0, 0},
    {0},
};

/* Parse 50M, 2.5s or request=12. Return 0, or -1 with error. */
static int parse_split(const char *text, struct error *error)
{
	static const char units[] = "kMG";
	size_t length = strspn(text, ".0123456789");
	AUTOFREE char *digits = mem_strndup(text, length);
	const char *unit = text[length] && !text[length + 1] ? text + length : NULL;
	const char *size = unit ? strchr(units, *unit) : NULL;
	static const char request[] = "request=";

	if (!strncmp(text, request, strlen(request)) &&
	    number_integer(text + strlen(request), &options.request) == 0 &&
	    options.request > 0)
		return 0;
	if (unit && *unit == 's' && number_seconds(digits, &options.split_ns) == 0 &&
	    options.split_ns >= NSEC_PER_MSEC)
		return 0;
	if (size && number_integer(digits, &options.split_bytes) == 0 &&
	    options.split_bytes > 0 && options.split_bytes <= 1 << 20) {
		options.split_bytes <<= 10 * (size - units + 1);
		return 0;
	}
	return error_set(error,
			 "--split: invalid value '%s' (expected a size such as 50M, a "
			 "time of at least 0.001s such as 10s, or request=ID)",
			 text);
}

static int make_plan(const char *output, struct export_plan *plan, struct error *error)
{
	static const char *const parts[] = {
	    "states",   "cpus",  "interrupts", "syscalls", "disks", "messages",
	    "requests", "paths", "samples",    "clocks",   "tasks"};
	enum { PARTS = sizeof(parts) / sizeof(*parts) };

	plan->binary = options.form == FORM_PROTO;
	if (options.manifest && (!output || options.split || options.form != FORM_PROTO))
		return error_set(error, "--manifest: only for a trace in Perfetto's own "
					"format with -o FILE, without --split");
	if (options.manifest && strcmp(options.manifest, output) == 0)
		return error_set(error, "--manifest: %s is the output itself", output);
	if (options.split && parse_split(options.split, error))
		return -1;
	if (options.split)
		plan->target = EXPORT_TO_DIRECTORY;
	for (size_t i = 0; i < options.tracks.count; i++) {
		const char *name = options.tracks.item[i];
		size_t at = 0;

		while (at < PARTS && strcmp(parts[at], name) != 0)
			at++;
		if (at < PARTS)
			continue;
		return error_unknown_word(error, "--tracks: unknown part", name, parts,
					  PARTS, NULL);
	}
	return 0;
}

static int write_trace(struct export *export, bool is_later, struct error *error)
{
	struct perfetto perfetto = {.export = export,
				    .form = options.form == FORM_JSON ? &perfetto_json
								      : &perfetto_proto,
				    .parts = &options.tracks,
				    .is_later = is_later,
				    .request = options.request};
	int status;

	perfetto_begin(&perfetto);
	status = write_parts(&perfetto, error);
	bytes_add_text(&perfetto.out, perfetto.form->end);
	if (!status)
		status = export_write(export, &perfetto.out, 0, error);
	clear_perfetto(&perfetto);
	return status;
}

/* Write the selected time as a file. Set its size. Return 0, or -1 with error. */
static int write_piece(struct export *export, size_t number, bool is_later,
		       int64_t *bytes, struct error *error)
{
	AUTOFREE char *name = mem_printf("%04zu.%s", number,
					 options.form == FORM_JSON ? "json" : "pftrace");
	AUTOFREE char *path = mem_printf("%s/%s", export->directory, name);

	unlink(path); /* one that became too large */
	export->file = export_create(export->directory, name, error);
	export->file_name = name;
	if (!export->file)
		return -1;
	if (write_trace(export, is_later, error)) {
		fclose(export->file);
		return -1;
	}
	*bytes = ftell(export->file);
	return export_close(export->file, name, error);
}

/* Select the time of --split request=ID, within the selected time. Return 0, or -1 with
 * error. */
static int select_request(struct export *export, struct error *error)
{
	static const char *const ends[] = {
	    "SELECT coalesce(given_ns, begin_ns) FROM request WHERE id = ?1",
	    "SELECT coalesce(end_ns, responded_ns, arrived_ns) FROM request WHERE id = "
	    "?1"};
	const struct cell id = cell_of_integer(options.request);
	struct scope *scope = &export->scope;
	nsec_t time_ns[2];

	for (size_t i = 0; i < 2; i++) {
		int found =
		    query_integer(export->timeline, ends[i], &id, &time_ns[i], error);

		if (found < 0)
			return -1;
		if (!found)
			return error_set(error,
					 "--split: no request %" PRId64
					 "; `ctanalyze requests --top` lists them",
					 options.request);
	}
	if (time_ns[0] > scope->end_ns || time_ns[1] < scope->begin_ns)
		return error_set(
		    error, "--split: request %" PRId64 " is outside of the selected time",
		    options.request);
	if (time_ns[0] > scope->begin_ns)
		scope->begin_ns = time_ns[0];
	if (time_ns[1] < scope->end_ns)
		scope->end_ns = time_ns[1];
	return 0;
}

/* Write pieces one after the other. One that becomes too large is written again, of a
 * shorter time; by its size follows the time of the next one. */
static int write_pieces(struct export *export, struct error *error)
{
	struct scope *scope = &export->scope;
	nsec_t end_ns = scope->end_ns, whole_ns = end_ns - scope->begin_ns + 1;
	nsec_t length_ns = options.split_ns ? options.split_ns : whole_ns;
	int64_t most = options.split_bytes, bytes;
	size_t number = 1;
	bool is_later = false;

	if (options.request) {
		if (select_request(export, error))
			return -1;
		return write_piece(export, number, is_later, &bytes, error);
	}
	while (scope->begin_ns <= end_ns) {
		scope->end_ns = end_ns - scope->begin_ns < length_ns
				    ? end_ns
				    : scope->begin_ns + length_ns - 1;
		if (write_piece(export, number, is_later, &bytes, error))
			return -1;
		is_later = true;
		if (!most || bytes <= most || length_ns <= NSEC_PER_MSEC) {
			scope->begin_ns = scope->end_ns + 1;
			number++;
		}
		if (most && bytes) {
			double fits = 0.9 * (double)most / (double)bytes;

			length_ns = nsec_round((double)length_ns * (fits > 2 ? 2 : fits));
			length_ns = length_ns > whole_ns        ? whole_ns
				    : length_ns < NSEC_PER_MSEC ? NSEC_PER_MSEC
								: length_ns;
		}
	}
	return 0;
}

static int write_manifest_row(void *context, const struct cell *row, struct error *error)
{
	struct export *export = context;

	return output_open(&export->second, options.manifest, error)
		   ? -1
		   : statement_json(export->second.file, row, error);
}

static int write_manifest(void *context, const struct statement *statement,
			  struct error *error)
{
	struct export *export = context;
	const char *slash = strrchr(export->output, '/');
	const struct cell file = cell_of_text(slash ? slash + 1 : export->output);

	if (strcmp(statement->name, "notes") == 0)
		return statement_notes(export, statement, NULL, error);
	return query_rows(export->timeline, statement->sql, &file, write_manifest_row,
			  export, error);
}

static int run_perfetto_export(struct export *export, struct error *error)
{
	if (export->scope.without_spans)
		problem_add(&export->notes, export->path, PROBLEM_NOTE, 1,
			    "no spans of threads, processors and disks; run ctmerge "
			    "without --no-spans");
	if (options.split)
		return write_pieces(export, error);
	if (write_trace(export, false, error))
		return -1;
	return options.manifest ? statement_each(export->timeline, manifest_sql, NULL,
						 write_manifest, export, error)
				: 0;
}

const struct export_format export_perfetto = {
    .name = "perfetto",
    .summary = "a trace for Perfetto's viewer (ui.perfetto.dev)",
    .usage = "[OPTION...] RUN.db [-o FILE | --split PIECE -o DIR]",
    .rows = rows,
    .plan = make_plan,
    .run = run_perfetto_export,
};
