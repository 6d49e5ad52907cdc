/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples, and what events say of processors and messages, for Graphite. */
#include "export/graphite/graphite.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/output.h"
#include "export/format.h"
#include "timeline/query.h"

static struct {
	char *to, *prefix, *state, *dashboard;
	bool pickle;
	struct text_list activities;
	int interval, batch, retry;
	char *host, *port; /* of `to` */
} options = {.interval = 1, .batch = 20000, .retry = 60};

static const struct option_row option_rows[] = {
    {0, "to", OPTION_STRING, &options.to, "HOST[:PORT]",
     "send to a carbon server (ports: 2003, with --pickle 2004)", 0, 0},
    {0, "pickle", OPTION_FLAG, &options.pickle, NULL,
     "by the pickle protocol instead of lines of text", 0, 0},
    {0, "prefix", OPTION_STRING, &options.prefix, "NAME",
     "first part of names (default: the run's name, or cluster)", 0, 0},
    {0, "activity", OPTION_LIST, &options.activities, "GLOB",
     "only such activities (default: all but process)", 0, 0},
    {0, "interval", OPTION_INT, &options.interval, "SECONDS",
     "of what events say (default: 1)", 1, 86400},
    {0, "batch", OPTION_INT, &options.batch, "POINTS",
     "points a connection, which are there or come again (default: 20000)", 1, 1e6},
    {0, "retry", OPTION_INT, &options.retry, "SECONDS",
     "how long to try to send a batch (default: 60)", 0, 1e6},
    {0, "state", OPTION_STRING, &options.state, "FILE",
     "remember in FILE how much was sent, and go on from there", 0, 0},
    {0, "dashboard", OPTION_STRING, &options.dashboard, "FILE",
     "write a dashboard for Grafana, too", 0, 0},
    {0},
};

/* Parts with dots between them. */
static bool is_prefix(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	size_t length;

	for (;; text += length + 1) {
		length = strspn(text, letters);
		if (!length || (text[length] && text[length] != '.'))
			return false;
		if (!text[length])
			return true;
	}
}

static int make_plan(const char *output, struct export_plan *plan, struct error *error)
{
	if (options.prefix && !is_prefix(options.prefix))
		return error_misuse(error,
				    "--prefix: '%s', want letters, digits, - and _, "
				    "with dots between parts",
				    options.prefix);
	if (options.to && output)
		return error_misuse(error, "--to and --output exclude each other");
	if (options.state && !options.to)
		return error_misuse(error, "--state wants --to");
	plan->target = options.to ? EXPORT_TO_ITSELF : EXPORT_TO_FILE;
	plan->binary = options.pickle && !options.to;
	if (options.to && graphite_split(options.to, &options.host, &options.port, error))
		return error_prefix(error, "--to");
	return 0;
}

enum { VALUES = 7 };

struct graphite {
	struct export *export;
	struct graphite_sender sender;
	uint64_t points, same_second;
	struct bytes path; /* of the point before, with a final 0 */
	int64_t seconds;
	struct cell value[VALUES]; /* of graphite.sql */
};

/* path, second, value; texts and infinite values are none */
static int take_point(void *context, const struct cell *row, struct error *error)
{
	struct graphite *graphite = context;
	const struct graphite_point point = {row[0].bytes, row[1].integer,
					     cell_number(&row[2])};
	struct bytes *path = &graphite->path;
	size_t size = row[0].size + 1;

	if (!isfinite(point.value))
		return 0;
	if (path->size != size || memcmp(path->data, point.path, size) != 0) {
		path->size = 0;
		bytes_add(path, point.path, size);
	} else {
		graphite->same_second += point.seconds == graphite->seconds;
	}
	graphite->seconds = point.seconds;
	if (++graphite->points % 1000 == 0)
		progress_update(&graphite->export->progress, "points", graphite->points,
				0, 0);
	return graphite_send(&graphite->sender, &point, error);
}

static int take_left(void *context, const struct cell *row, struct error *error)
{
	const struct graphite *graphite = context;

	(void)error;
	if (row->integer)
		problem_add(&graphite->export->notes, graphite->export->path, "left out",
			    (uint64_t)row->integer,
			    "%" PRId64 " samples of processes are left out, "
			    "--activity '*' has them",
			    row->integer);
	return 0;
}

static int take_dashboard(void *context, const struct cell *row, struct error *error)
{
	struct output output;

	(void)context;
	if (output_open(&output, options.dashboard, error))
		return -1;
	if (statement_json(output.file, row, error) == 0)
		return output_commit(&output, error);
	output_discard(&output);
	return -1;
}

/* What is left of the points, and notes of them. */
static int end_points(struct graphite *graphite, struct error *error)
{
	struct export *export = graphite->export;

	if (graphite->same_second)
		problem_add(&export->notes, export->path, "seconds",
			    graphite->same_second,
			    "%" PRIu64 " samples fall into the second of the one before, "
			    "Graphite keeps the last of a second",
			    graphite->same_second);
	if (!graphite->points)
		problem_add(&export->notes, export->path, "empty", 1,
			    "no sample, and no event that tells of processors or "
			    "messages");
	return graphite_sender_end(&graphite->sender, error);
}

/* The dashboard comes last, when all points are there. */
static int take_statement(void *context, const struct statement *statement,
			  struct error *error)
{
	struct graphite *graphite = context;
	timeline_take *take = strcmp(statement->name, "points") == 0 ? take_point
			      : strcmp(statement->name, "left") == 0 ? take_left
								     : take_dashboard;

	if (take == take_dashboard) {
		if (end_points(graphite, error))
			return -1;
		if (!options.dashboard)
			return 0;
	}
	return query_rows(graphite->export->timeline, statement->sql, graphite->value,
			  take, graphite, error);
}

/* What tells one export from another: the timeline as it is, and what is taken of it. */
static char *export_key(const struct export *export)
{
	struct stat status = {0};
	char *path = realpath(export->path, NULL);
	struct bytes key = {0};

	stat(export->path, &status);
	bytes_print(&key,
		    "%s of %lld bytes at %lld.%09ld to %s: %s %" PRId64 " %" PRId64 " %d",
		    path ? path : export->path, (long long)status.st_size,
		    (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec, options.to,
		    options.prefix ? options.prefix : "", export->scope.begin_ns,
		    export->scope.end_ns, options.interval);
	for (size_t i = 0; i < options.activities.count; i++)
		bytes_print(&key, ",%s", options.activities.item[i]);
	for (size_t i = 0; i < export->scope.nodes; i++)
		bytes_print(&key, " %d", export->scope.node[i].chosen);
	bytes_add_byte(&key, 0);
	free(path);
	return (char *)key.data;
}

/* "2026-11-21T02:38:57.738Z", as Grafana has times. */
static char *instant(nsec_t ns)
{
	char text[NSEC_TEXT];

	nsec_format_utc(text, ns);
	return mem_printf("%.10sT%.12sZ", text, text + 11);
}

static void set_text(struct cell *cell, const char *text)
{
	if (text)
		cell_set_text(cell, text, strlen(text));
}

/* ["net","cpu*"]; for free(). */
static char *make_list(const struct text_list *words)
{
	struct bytes list = {0};

	for (size_t i = 0; i < words->count; i++) {
		bytes_add_byte(&list, i ? ',' : '[');
		json_add_word(&list, words->item[i]);
	}
	bytes_add(&list, "]", sizeof("]"));
	return (char *)list.data;
}

/* Points that are written to a file at once: whole messages. */
enum { FILE_POINTS = 1000 };

static int run(struct export *export, struct error *error)
{
	const struct scope *scope = &export->scope;
	char *globs = make_list(&options.activities), *key = export_key(export);
	char *from = instant(scope->begin_ns), *to = instant(scope->end_ns);
	struct graphite graphite = {
	    .export = export,
	    .sender = {.pickle = options.pickle,
		       .batch = export->file ? FILE_POINTS : (unsigned)options.batch,
		       .file = export->file,
		       .file_name = export->file_name,
		       .address = options.to,
		       .host = options.host,
		       .port = options.port     ? options.port
			       : options.pickle ? "2004"
						: "2003",
		       .patience_s = options.retry,
		       .state = options.state,
		       .key = key,
		       .notes = &export->notes},
	    .value = {cell_of_integer(scope->begin_ns),
		      cell_of_integer(scope->end_ns),
		      {.type = CELL_NULL},
		      cell_of_integer(options.interval * NSEC_PER_SEC)}};
	int status;

	set_text(&graphite.value[2], options.prefix);
	set_text(&graphite.value[4], options.activities.count ? globs : NULL);
	set_text(&graphite.value[5], from);
	set_text(&graphite.value[6], to);
	status = (options.to && graphite_sender_begin(&graphite.sender, error)) ||
			 statement_chosen(export, error) ||
			 statement_each(export->timeline, graphite_sql, graphite.value,
					take_statement, &graphite, error)
		     ? -1
		     : 0;
	bytes_clear(&graphite.sender.bytes);
	bytes_clear(&graphite.path);
	free(globs);
	free(key);
	free(from);
	free(to);
	return status;
}

const struct export_format export_graphite = {
    .name = "graphite",
    .summary = "samples as points for Graphite, and a dashboard for Grafana",
    .usage = "[OPTION...] RUN.db [--to HOST:PORT | -o FILE]",
    .rows = option_rows,
    .plan = make_plan,
    .run = run,
};
