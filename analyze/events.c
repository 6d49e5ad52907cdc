/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/output.h"
#include "base/table.h"
#include "base/utf8.h"
#include "timeline/events.h"
#include "timeline/reader.h"

/*
 * The analysis `events`: print a line for each event, in the format of babeltrace2:
 *
 * [07:38:16.502240713] (+0.000001234) node1 sched_waking: { cpu_id = 0 }, { tid = 1 }, {
 * comm = "sh", ... }
 */

struct listing {
	const struct request *request;
	FILE *out;
	struct zone zone; /* time zone of printed times */
	nsec_t last_ns;   /* time of the previous line; or NSEC_MIN */
	size_t lines;
};

/* Print a string like a C literal, on one line. */
static void print_text(FILE *out, const char *bytes, size_t size)
{
	char *text = mem_strndup(bytes, size), *at = text;

	fputc('"', out);
	while (*at) {
		size_t plain = strcspn(at, "\"\\");
		char end = at[plain];

		at[plain] = '\0';
		utf8_print(out, at);
		if (end)
			fprintf(out, "\\%c", end);
		at += plain + (end != '\0');
	}
	fputc('"', out);
	free(text);
}

static void print_cell(FILE *out, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_NULL:
		break;
	case CELL_INTEGER:
		fprintf(out, "%lld", (long long)cell->integer);
		break;
	case CELL_REAL:
		fprintf(out, "%.17g", cell->real);
		break;
	case CELL_TEXT:
		print_text(out, cell->bytes, cell->size);
		break;
	case CELL_BLOB:
		fputs("0x", out);
		for (uint32_t i = 0; i < cell->size; i++)
			fprintf(out, "%02x", (unsigned char)cell->bytes[i]);
		break;
	}
}

/* ", { NAME = VALUE, ... }" of the fields of a context, or of a payload. */
static void print_fields(FILE *out, const struct event_row *row, bool of_context)
{
	const char *before = ", { ";

	for (size_t i = 0; i < row->fields; i++) {
		if (row->field[i].of_context != of_context ||
		    row->cell[i].type == CELL_NULL)
			continue;
		fputs(before, out);
		utf8_print(out, row->field[i].name);
		fputs(" = ", out);
		print_cell(out, &row->cell[i]);
		before = ", ";
	}
	if (before[2])
		fputs(of_context ? "" : ", { }", out);
	else
		fputs(" }", out);
}

static void print_event(struct listing *listing, const struct query *query,
			const struct event_row *row)
{
	char text[NSEC_TEXT];
	FILE *out = listing->out;
	nsec_t step = nsec_sub(row->ts_ns, listing->last_ns);

	zone_format(text, &listing->zone, row->ts_ns);
	fprintf(out, "[%s] ", strchr(text, ' ') ? strchr(text, ' ') + 1 : text);
	if (listing->last_ns == NSEC_MIN)
		fputs("(+\?.\?\?\?\?\?\?\?\?\?) ", out);
	else
		fprintf(out, "(+%lld.%09lld) ", (long long)(step / NSEC_PER_SEC),
			(long long)(step % NSEC_PER_SEC));
	listing->last_ns = row->ts_ns;
	utf8_print(out, query_node_name(query, row->node));
	fputc(' ', out);
	utf8_print(out, row->class);
	if (row->cpu < 0)
		fputs(": { }", out);
	else
		fprintf(out, ": { cpu_id = %lld }", (long long)row->cpu);
	print_fields(out, row, true);
	print_fields(out, row, false);
	fputc('\n', out);
}

static int print_events(struct listing *listing, struct query *query,
			struct events *events, struct error *error)
{
	const struct request *request = listing->request;
	const size_t most = request->limit_given > 0 ? (size_t)request->limit_given : 0;
	struct event_row row;
	int more = 1;

	while ((!most || listing->lines < most) &&
	       (more = events_next(events, &row, error)) > 0) {
		if ((request->cpus.count && !range_list_has(&request->cpus, row.cpu)) ||
		    !query_has_thread(query, row.node, row.tid, row.ts_ns))
			continue;
		listing->lines++;
		print_event(listing, query, &row);
		if (ferror(listing->out))
			break; /* the close reports why */
	}
	return more < 0 ? -1 : 0;
}

static void report_unknown_class(struct query *query, const char *glob,
				 struct error *error)
{
	struct text_list names = {0};

	if (!query_texts(query->reader, "SELECT name FROM event_class ORDER BY name",
			 NULL, &names, error))
		error_unknown_word(error, "--events: unknown class", glob,
				   (const char *const *)names.item, names.count,
				   "see ctanalyze nodes --table classes");
	text_list_clear(&names);
}

static int list_events(const struct analysis *self, const struct request *request,
		       const struct text_list *words, struct error *error)
{
	struct listing listing = {.request = request, .last_ns = NSEC_MIN};
	struct output output = {0};
	struct events *events = NULL;
	struct query query;
	int status = -1;

	if (words->count != 1)
		return error_misuse(error, "expected one TIMELINE, got %zu (see --help)",
				    words->count),
		       2;
	if (query_open(&query, self, request, words->item[0], error))
		return 1;
	progress_end(&query.progress); /* lines are printed as they are found */
	events = events_new(query.reader, &query.scope, &request->events, error);
	if (!events && !error->text)
		report_unknown_class(&query, request->events.item[0], error);
	if (!events)
		goto out;
	if (request->output && output_open(&output, request->output, error))
		goto out;
	listing.out = output.file ? output.file : stdout;
	listing.zone = zone_at(request->local_time, query.scope.begin_ns);
	if (request->local_time || table_on_terminal(listing.out))
		fprintf(listing.out, "times of day are %s\n", listing.zone.name);
	status = print_events(&listing, &query, events, error);
	if (!status)
		status = output.file ? output_commit(&output, error)
				     : output_flush_stdout(error);
out:
	output_discard(&output);
	events_free(events);
	query_close(&query);
	return status ? 1 : 0;
}

const struct analysis analysis_events = {
    .name = "events",
    .summary = "the timeline as text, one event per line",
    .description =
	"A line has the time of day (in UTC, unless --local-time), the time since the\n"
	"previous line, node and class, then processor, context and fields. --events\n"
	"selects classes; --limit stops after so many lines; --tid, --pid and\n"
	"--procname select by the thread that ran. For other programs, use ctexport.",
    .heeds = HEEDS_SCOPE | HEEDS_CPU | HEEDS_THREAD | HEEDS_EVENTS | HEEDS_LIMIT,
    .act = list_events,
};
