/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctsync: the clocks of a cluster from its traces. */
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/order.h"
#include "base/output.h"
#include "sync/apply/apply.h"
#include "sync/arguments.h"
#include "sync/claims.h"
#include "sync/fit/lp.h"
#include "sync/fit/regression.h"
#include "sync/limits.h"
#include "sync/messages_out.h"
#include "sync/observe/extract.h"
#include "sync/observe/messages_csv.h"
#include "sync/plot/plot.h"
#include "sync/print.h"
#include "sync/steering.h"
#include "sync/trust.h"

static struct {
	struct text_list traces, runs;
	char *output, *messages, *plot, *apply, *extract, *messages_out;
	bool json, quiet, verbose, stats, local_time;
} options;

static const struct option_row rows[] = {
    {'t', "trace", OPTION_LIST, &options.traces, "[NAME=]PATH",
     "read this CTF trace, capture or .packets file; may be repeated", 0, 0},
    {0, "json", OPTION_FLAG, &options.json, NULL, "print the clock map as JSON", 0, 0},
    {'o', "output", OPTION_STRING, &options.output, "FILE",
     "write the clock map as JSON to FILE", 0, 0},
    {0, "messages", OPTION_STRING, &options.messages, "FILE",
     "read messages from a CSV file instead of traces", 0, 0},
    {0, "messages-out", OPTION_STRING, &options.messages_out, "DIR",
     "write the messages of each node to DIR/NODE.messages", 0, 0},
    {0, "plot", OPTION_STRING, &options.plot, "DIR",
     "draw each pair and the graph of all clocks as SVG into DIR", 0, 0},
    {0, "apply", OPTION_STRING, &options.apply, "DIR",
     "write each trace and capture again, on the reference clock, into DIR", 0, 0},
    {0, "extract", OPTION_STRING, &options.extract, "FILE",
     "only write the packet events that matching needs to FILE (.packets), from the "
     "traces of -t or of a node's directory",
     0, 0},
    {0, "stats", OPTION_FLAG, &options.stats, NULL,
     "also print a line per pair, and what limits the bounds of each clock", 0, 0},
    {0, "local-time", OPTION_FLAG, &options.local_time, NULL,
     "print times of day in this machine's time zone instead of UTC", 0, 0},
    {'v', "verbose", OPTION_FLAG, &options.verbose, NULL,
     "like --stats, and print the messages rejected as false", 0, 0},
    {'q', "quiet", OPTION_FLAG, &options.quiet, NULL,
     "show no progress, and print no text beside --json", 0, 0},
    {0},
};

static void print_versions(FILE *file)
{
	AUTOFREE char *glpk = lp_library_version(), *gsl = statistics_library_version();

	fprintf(file, "with %s, %s, jansson %s\n", glpk, gsl, json_library_version());
}

static const struct command command = {
    .name = "ctsync",
    .usage = "[OPTION...] RUN | -t TRACE -t TRACE... | --messages FILE |\n"
	     "              --extract FILE NODE/ | --extract FILE -t TRACE...",
    .summary = "synchronize the clocks of a cluster from its traces",
    .versions = print_versions,
    .rows = rows,
    .more_rows = sync_rows,
};

/* Check that the options fit together. Return 0, or -1 with error (misuse). */
static int check_request(struct error *error)
{
	bool traces = options.traces.count || options.runs.count;

	if (options.messages && traces)
		return error_misuse(error, "--messages takes the place of traces");
	if (!options.messages && !traces)
		return error_misuse(
		    error, "missing RUN, -t TRACE or --messages FILE (see --help)");
	if (options.messages && sync_arguments.trust.count)
		return error_misuse(error, "--trust cannot be used with --messages");
	if (options.messages && options.apply)
		return error_misuse(error, "--apply cannot be used with --messages");
	if (options.messages && options.messages_out)
		return error_misuse(
		    error,
		    "--messages-out requires traces, because it writes their events");
	if (options.extract && (options.output || options.messages || options.plot ||
				options.apply || options.messages_out || options.json))
		return error_misuse(error,
				    "--extract writes packets and no clocks, so it "
				    "does not go with -o, --json, --plot, --apply, "
				    "--messages or --messages-out");
	return 0;
}

static void collect_sources(struct source_list *sources, struct problem_list *problems)
{
	struct error error = ERROR_INIT;

	/* A directory is a run's or, for an extract, a node's. */
	for (size_t i = 0; i < options.runs.count; i++)
		if ((options.extract ? source_add_node : source_add_run)(
			sources, options.runs.item[i], problems, &error))
			problem_add(problems, "", PROBLEM_UNREADABLE, 1, "%s",
				    error_text(&error));
	for (size_t i = 0; i < options.traces.count; i++)
		if (source_add_trace(sources, options.traces.item[i], problems, &error))
			problem_add(problems, "", PROBLEM_UNREADABLE, 1, "%s",
				    error_text(&error));
	error_clear(&error);
}

/*
 * Sort by name, node2 before node10, as in a run directory, so that the order of the
 * arguments does not matter.
 */
static int by_name(const void *a, const void *b)
{
	const struct source *p = a, *q = b;
	int order = strverscmp(p->name ? p->name : p->path, q->name ? q->name : q->path);

	return order ? order : strverscmp(p->path, q->path);
}

/* An extract has no events to correct. */
static int check_apply(const struct source_list *sources, struct error *error)
{
	for (size_t i = 0; i < sources->count && options.apply; i++)
		if (sources->item[i].extract)
			return error_misuse(
			    error,
			    "--apply requires traces, but %s has only their packets",
			    sources->item[i].path);
	return 0;
}

/* The input and the result of the program. */
struct work {
	struct source_list sources;
	struct sync_options how;
	struct observations seen;
	struct synchronization sync;
	struct clock_map map;
	struct problem_list problems;
};

static int read_input(struct work *work, struct error *error)
{
	struct source_list *sources = &work->sources;
	struct progress progress;
	int status;

	if (options.messages)
		return observe_messages(options.messages, &work->seen, &work->problems,
					error);
	progress_init(&progress, options.quiet);
	collect_sources(sources, &work->problems);
	SORT(sources->item, sources->count, by_name);
	status =
	    sync_arguments_set_sources(sources, error) || check_apply(sources, error) ||
	    (options.extract
		 ? extract_packets(sources, work->how.observe.threads, options.extract,
				   &work->problems, &progress, error)
		 : observe_sources(sources, &work->how.observe, &work->seen,
				   &work->problems, &progress, error));
	return status;
}

static int write_map(const struct clock_map *map, const char *path, struct error *error)
{
	struct output output;

	if (output_open(&output, path, error))
		return -1;
	clock_map_write(map, output.file);
	return output_commit(&output, error);
}

static void print_text(const struct synchronization *sync, const struct clock_map *map)
{
	print_clocks(sync, map, options.local_time, stdout);
	if (options.verbose || options.stats) {
		putchar('\n');
		print_pairs(map, stdout);
	}
	if (map->limits) {
		putchar('\n');
		print_limits(map, stdout);
	}
	putchar('\n');
	print_matching(sync, map, stdout);
	claims_print(map, stdout);
	steering_print(map, stdout);
}

/* A directory of one file per trace or node is only written from a whole run: nothing in
 * it would show that one is missing. */
static int check_whole(const struct problem_list *problems, struct error *error)
{
	const char *directory = options.messages_out ? options.messages_out
				: options.apply      ? options.apply
						     : options.plot;

	for (size_t i = 0; i < problems->count && directory; i++)
		if (problems->item[i].kind == PROBLEM_UNREADABLE)
			return error_set(error,
					 "%s: not written, as some input cannot be read",
					 directory);
	return 0;
}

/* Print first, so that no file is delivered if standard output cannot be written. */
static int write_results(struct work *work, struct error *error)
{
	struct synchronization *sync = &work->sync;
	const struct plot_run drawn = {&sync->network, &sync->verdict,
				       work->seen.matching.matched};
	struct clock_map *map = &work->map;
	const struct apply_request applied = {&work->seen, &work->sources, map,
					      options.apply};
	int status = 0;

	if (options.stats || options.verbose)
		limits_find(sync, map);
	if (options.json && !options.output)
		clock_map_write(map, stdout);
	else if (!options.json && !options.quiet)
		print_text(sync, map);
	if (options.verbose && !options.json)
		status = print_rejected(&sync->network, stdout, error);
	status = status ? status : output_flush_stdout(error);
	status = status ? status : check_whole(&work->problems, error);
	if (!status && options.output)
		status = write_map(map, options.output, error);
	if (!status && options.plot)
		status = plot_run_write(&drawn, options.plot, error);
	if (!status && options.messages_out)
		status = messages_out_write(&work->seen, &sync->network.log, map,
					    options.messages_out, error);
	if (!status && options.apply)
		status = apply_run(&applied, options.json ? stderr : stdout,
				   &work->problems, error);
	return status;
}

/* Print all problems. Return true if some input was not used. */
static bool print_report(const struct work *work)
{
	bool failed = problem_print(&work->problems, "ctsync", stderr);

	if (work->seen.given_up)
		fprintf(stderr,
			"ctsync: %llu packets were given up before their other side was "
			"read (--in-flight)\n",
			(unsigned long long)work->seen.given_up);
	return failed;
}

static int ctsync_main(struct error *error)
{
	struct work work = {.sources.accepts_extracts = !options.extract};
	struct synchronization *sync = &work.sync;
	int status;

	if (check_request(error) || sync_arguments_parse(&work.how, error))
		return -1;
	work.how.observe.alone = options.messages_out; /* the only node left, say */
	work.how.observe.keeps_ends = options.messages_out;
	status = read_input(&work, error);
	if (!status && !options.extract)
		status = synchronize_sources(&work.seen, &work.how.fit, sync, &work.map,
					     &work.problems, error) ||
			 write_results(&work, error);
	if (print_report(&work) && !status)
		status = EXIT_FAILED;
	else if (!status && !options.extract &&
		 !verdict_is_whole(&sync->network, &sync->verdict))
		status = EXIT_NOT_TIED;
	clock_map_clear(&work.map);
	synchronization_clear(sync);
	observations_clear(&work.seen);
	source_list_clear(&work.sources);
	problem_clear(&work.problems);
	return status;
}

int main(int argc, const char **argv)
{
	struct error error = ERROR_INIT;
	int status;

	/* One thread frees what another read: in arenas of their own both would be kept.
	 */
	mallopt(M_ARENA_MAX, 1);
	output_catch_signals();
	output_catch_pipe();
	status = options_parse(&command, argc, argv, &options.runs, &error);
	if (status == OPTIONS_GO)
		status = ctsync_main(&error);
	return program_end("ctsync", status, &error);
}
