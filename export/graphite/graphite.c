/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples, and what events say of processors and messages, for Graphite. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/output.h"
#include "export/formats.h"
#include "export/graphite/dashboard.h"
#include "export/graphite/send.h"
#include "timeline/query.h"

struct graphite_options {
	char *to, *prefix, *state, *dashboard;
	bool pickle;
	struct text_list activities;
	int interval, batch, retry;
};

static void *new_options(void)
{
	struct graphite_options *graphite = mem_zalloc(sizeof(*graphite));

	graphite->interval = 1;
	graphite->batch = 20000;
	graphite->retry = 60;
	return graphite;
}

static size_t option_rows(void *options, struct option_row *row)
{
	struct graphite_options *graphite = options;
	const struct option_row rows[] = {
	    {0, "to", OPTION_STRING, &graphite->to, "HOST[:PORT]",
	     "send to a carbon server (ports: 2003, with --pickle 2004)", 0, 0},
	    {0, "pickle", OPTION_FLAG, &graphite->pickle, NULL,
	     "by the pickle protocol instead of lines of text", 0, 0},
	    {0, "prefix", OPTION_STRING, &graphite->prefix, "NAME",
	     "first part of names (default: the run's name, or cluster)", 0, 0},
	    {0, "activity", OPTION_LIST, &graphite->activities, "GLOB",
	     "only such activities (default: all but process)", 0, 0},
	    {0, "interval", OPTION_INT, &graphite->interval, "SECONDS",
	     "of what events say (default: 1)", 1, 86400},
	    {0, "batch", OPTION_INT, &graphite->batch, "POINTS",
	     "points a connection, which are there or come again (default: 20000)", 1,
	     1e6},
	    {0, "retry", OPTION_INT, &graphite->retry, "SECONDS",
	     "how long to try to send a batch (default: 60)", 0, 1e6},
	    {0, "state", OPTION_STRING, &graphite->state, "FILE",
	     "remember in FILE how much was sent, and go on from there", 0, 0},
	    {0, "dashboard", OPTION_STRING, &graphite->dashboard, "FILE",
	     "write a dashboard for Grafana, too", 0, 0},
	};

	memcpy(row, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}

static void free_options(void *options)
{
	struct graphite_options *graphite = options;

	free(graphite->to);
	free(graphite->prefix);
	free(graphite->state);
	free(graphite->dashboard);
	text_list_clear(&graphite->activities);
	free(graphite);
}

/* Parts with dots between them. */
static bool is_prefix(const char *text)
{
	bool in_part = false;

	for (; *text; text++) {
		char *part = graphite_part(text, 1);
		bool plain = part[0] == *text && !part[1];

		free(part);
		if (*text == '.' ? !in_part : !plain)
			return false;
		in_part = *text != '.';
	}
	return in_part;
}

static int make_plan(const void *options, const char *output, struct export_plan *plan,
		     struct error *error)
{
	const struct graphite_options *graphite = options;
	char *host, *port;

	if (graphite->prefix && !is_prefix(graphite->prefix))
		return error_misuse(error,
				    "--prefix: '%s', want letters, digits, - and _, "
				    "with dots between parts",
				    graphite->prefix);
	if (graphite->to && output)
		return error_misuse(error, "--to and --output exclude each other");
	if (graphite->state && !graphite->to)
		return error_misuse(error, "--state wants --to");
	plan->target = graphite->to ? EXPORT_TO_ITSELF : EXPORT_TO_FILE;
	plan->binary = graphite->pickle && !graphite->to;
	if (!graphite->to)
		return 0;
	if (connection_split(graphite->to, &host, &port, error))
		return error_prefix(error, "--to");
	free(host);
	free(port);
	return 0;
}

static int take_name(void *context, const struct cell *row, struct error *error)
{
	(void)error;
	if (row->type == CELL_TEXT && row->size)
		*(char **)context = graphite_part(row->bytes, row->size);
	return 0;
}

/* The run's name as a part of a path; for free(). */
static char *cluster_name(struct export *export, const struct graphite_options *graphite)
{
	struct error error = ERROR_INIT;
	char *name = NULL;

	if (graphite->prefix)
		return mem_strdup(graphite->prefix);
	query_rows(export->timeline, "SELECT value FROM meta WHERE key = 'name'", NULL,
		   take_name, &name, &error);
	error_clear(&error);
	return name ? name : mem_strdup("cluster");
}

struct writing {
	struct export *export;
	struct graphite_text text;
	struct graphite_sender *sender; /* NULL: to the file */
	uint64_t points;
};

static int put_text(struct writing *writing, struct error *error)
{
	struct bytes *bytes = &writing->text.bytes;
	FILE *file = writing->export->file;

	if (fwrite(bytes->data, 1, bytes->size, file) != bytes->size)
		return error_errno(error, writing->export->file_name);
	bytes_empty(bytes, SIZE_MAX);
	return 0;
}

static int take_point(void *context, const struct graphite_point *point,
		      struct error *error)
{
	struct writing *writing = context;

	if (++writing->points % 1000 == 0)
		progress_update(&writing->export->progress, "points", writing->points, 0,
				0);
	if (writing->sender)
		return graphite_send(writing->sender, point, error);
	graphite_text_add(&writing->text, point);
	/* Messages are whole between two of them. */
	if (writing->text.bytes.size < 65536 || writing->text.points)
		return 0;
	return put_text(writing, error);
}

static int write_points(struct export *export, const struct graphite_wish *wish,
			bool pickle, struct error *error)
{
	struct writing writing = {.export = export, .text.pickle = pickle};
	int status = graphite_walk(export, wish, take_point, &writing, error);

	graphite_text_end(&writing.text);
	if (!status && writing.text.bytes.size)
		status = put_text(&writing, error);
	bytes_clear(&writing.text.bytes);
	return status;
}

/* What tells one export from another: the timeline as it is, and what is taken of it. */
static char *export_key(const struct export *export,
			const struct graphite_options *graphite, const char *cluster)
{
	struct stat status = {0};
	char *path = realpath(export->path, NULL), *key, *globs = mem_strdup("");

	for (size_t i = 0; i < graphite->activities.count; i++) {
		char *more = mem_printf("%s,%s", globs, graphite->activities.item[i]);

		free(globs);
		globs = more;
	}
	for (size_t i = 0; i < export->scope.nodes; i++) {
		char *more = mem_printf("%s %d", globs, export->scope.node[i].chosen);

		free(globs);
		globs = more;
	}
	stat(export->path, &status);
	key = mem_printf("%s of %lld bytes at %lld.%09ld to %s: %s %" PRId64 " %" PRId64
			 " %d%s",
			 path ? path : export->path, (long long)status.st_size,
			 (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
			 graphite->to, cluster, export->scope.begin_ns,
			 export->scope.end_ns, graphite->interval, globs);
	free(path);
	free(globs);
	return key;
}

static int send_points(struct export *export, const struct graphite_wish *wish,
		       const struct graphite_options *graphite, struct error *error)
{
	char *key = export_key(export, graphite, wish->cluster);
	const struct graphite_target target = {
	    .address = graphite->to,
	    .port = graphite->pickle ? "2004" : "2003",
	    .pickle = graphite->pickle,
	    .batch = (unsigned)graphite->batch,
	    .patience_s = graphite->retry,
	    .state = graphite->state,
	    .key = key,
	    .notes = &export->notes,
	};
	struct writing writing = {.export = export};
	int status = -1;

	writing.sender = graphite_sender_new(&target, error);
	if (writing.sender)
		status = graphite_walk(export, wish, take_point, &writing, error) ||
				 graphite_sender_end(writing.sender, error)
			     ? -1
			     : 0;
	graphite_sender_free(writing.sender);
	free(key);
	return status;
}

static int write_dashboard(const struct export *export, const char *path,
			   const char *cluster, struct error *error)
{
	struct output output;

	if (output_open(&output, path, error))
		return -1;
	graphite_dashboard(output.file, cluster, export->scope.begin_ns,
			   export->scope.end_ns);
	return output_commit(&output, error);
}

static int run(struct export *export, struct error *error)
{
	const struct graphite_options *graphite = export->options;
	char *cluster = cluster_name(export, graphite);
	const struct graphite_wish wish = {.cluster = cluster,
					   .activities = &graphite->activities,
					   .interval = graphite->interval};
	int status = graphite->to ? send_points(export, &wish, graphite, error)
				  : write_points(export, &wish, graphite->pickle, error);

	if (!status && graphite->dashboard)
		status = write_dashboard(export, graphite->dashboard, cluster, error);
	free(cluster);
	return status;
}

const struct export_format export_graphite = {
    .name = "graphite",
    .summary = "samples as points for Graphite, and a dashboard for Grafana",
    .usage = "[OPTION...] RUN.db [--to HOST:PORT | -o FILE]",
    .options_new = new_options,
    .rows = option_rows,
    .options_free = free_options,
    .plan = make_plan,
    .run = run,
};
