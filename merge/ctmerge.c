/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctmerge: merge a run into one timeline. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/output.h"
#include "base/output_directory.h"
#include "base/process.h"
#include "input/messages_file.h"
#include "input/run_files.h"
#include "merge/clocks.h"
#include "merge/load.h"
#include "merge/node_messages.h"
#include "merge/parts.h"
#include "merge/requests.h"
#include "merge/tables.h"
#include "sync/arguments.h"
#include "timeline/schema_check.h"
#include "timeline/writer.h"

static struct {
	struct text_list runs;
	struct selection selection; /* but for its times */
	char *output, *clocks, *messages, *part, *parquet, *begin, *end;
	bool no_sync, no_payload, no_spans, force, describe, json, join, quiet, verbose,
	    local_time;
	bool is_part;  /* one node alone, by what ctsync says of the others */
	char *command; /* how it was called */
} options;

/* The parts of a merge; clear_merge() clears all. */
struct merge {
	struct sync_options sync;
	struct merge_run run;
	struct selection selection;
	struct progress progress;
	struct message_log messages;
	struct output output;
	struct output_directory part; /* where `output` becomes one, or of --parquet */
	struct timeline_writer *writer;
	struct load load;
	struct requests *requests;
	bool is_written;
	nsec_t begun_ns; /* nsec_monotonic() */
};

static const struct option_row rows[] = {
    {'o', "output", OPTION_STRING, &options.output, "FILE",
     "write the timeline to FILE instead of standard output", 0, 0},
    {0, "force", OPTION_FLAG, &options.force, NULL,
     "replace FILE if it is a timeline or empty", 0, 0},
    {0, "describe", OPTION_FLAG, &options.describe, NULL,
     "print what the run contains without merging it", 0, 0},
    {0, "json", OPTION_FLAG, &options.json, NULL, "with --describe: print JSON", 0, 0},
    {0, "local-time", OPTION_FLAG, &options.local_time, NULL,
     "with --describe: print times of day in this machine's time zone instead of UTC", 0,
     0},
    {0, "events", OPTION_WORDS, &options.selection.events, "GLOB,...",
     "only events of classes whose names match GLOB", 0, 0},
    {0, "skip", OPTION_WORDS, &options.selection.skip, "GLOB,...",
     "no events of classes whose names match GLOB", 0, 0},
    {0, "node", OPTION_WORDS, &options.selection.nodes, "GLOB,...",
     "only what belongs to nodes whose names match GLOB", 0, 0},
    {0, "begin", OPTION_STRING, &options.begin, "TIME",
     "ignore everything before this: nanoseconds, seconds, +seconds of the run, or UTC",
     0, 0},
    {0, "end", OPTION_STRING, &options.end, "TIME", "ignore everything after this", 0, 0},
    {0, "no-payload", OPTION_FLAG, &options.no_payload, NULL,
     "keep events without their fields", 0, 0},
    {0, "no-spans", OPTION_FLAG, &options.no_spans, NULL,
     "leave the tables of what threads, processors and disks did empty", 0, 0},
    {0, "clocks", OPTION_STRING, &options.clocks, "FILE",
     "take the corrections from a clock map that ctsync wrote", 0, 0},
    {0, "messages", OPTION_STRING, &options.messages, "FILE",
     "add the messages of a CSV file, or use those of the one node that ctsync wrote", 0,
     0},
    {0, "part", OPTION_STRING, &options.part, "DIR",
     "write the tables of the one node to DIR, as a part for --join", 0, 0},
    {0, "parquet", OPTION_STRING, &options.parquet, "DIR",
     "write only events with their fields, as Parquet files in DIR, and no timeline", 0,
     0},
    {0, "join", OPTION_FLAG, &options.join, NULL,
     "join parts into Parquet tables in the directory of --output", 0, 0},
    {0, "no-sync", OPTION_FLAG, &options.no_sync, NULL,
     "leave every clock at its own epoch", 0, 0},
    {'v', "verbose", OPTION_FLAG, &options.verbose, NULL,
     "say at the end how much was merged", 0, 0},
    {'q', "quiet", OPTION_FLAG, &options.quiet, NULL, "show no progress", 0, 0},
    {0},
};

static void print_versions(FILE *file)
{
	fprintf(file, "with SQLite %s, jansson %s\n", timeline_library_version(),
		json_library_version());
}

static const struct command command = {
    .name = "ctmerge",
    .usage = "[OPTION...] RUN | TRACE... | --join -o DIR PART...",
    .summary = "merge a run into one timeline, a SQLite file",
    .versions = print_versions,
    .rows = rows,
    .more_rows = sync_rows,
};

/* Return an option of the synchronization that was given although there is none, or NULL.
 */
static const char *unused_option(void)
{
	const struct sync_arguments *sync = &sync_arguments;

	if (!options.clocks && !options.no_sync)
		return NULL;
	return sync->reference     ? "--reference"
	       : sync->trust.count ? "--trust"
	       : sync->method      ? "--method"
	       : sync->segments    ? "--segments"
	       : sync->bounds      ? "--bounds"
				   : NULL;
}

/* Check the options of a part. Return 0, or -1 with error: misuse. */
static int check_part(struct error *error)
{
	const char *word = options.part ? "--part" : "--messages";

	if (options.selection.nodes.count != 1 || !(options.clocks || options.no_sync))
		return error_misuse(
		    error, "%s requires one --node NAME, and --clocks FILE or --no-sync",
		    word);
	if (options.describe)
		return error_misuse(error, "%s and --describe cannot be used together",
				    word);
	if (options.part &&
	    (options.output || options.begin || options.end ||
	     options.selection.events.count || options.selection.skip.count))
		return error_misuse(error, "--part takes all of a node, and no --output");
	return 0;
}

static int check_join(struct error *error)
{
	if (!options.output || !*options.output || !options.runs.count)
		return error_misuse(
		    error, "--join requires --output DIR and parts (see --help)");
	if (options.clocks || options.is_part || options.selection.nodes.count ||
	    options.selection.events.count || options.selection.skip.count ||
	    options.begin || options.end || options.no_sync || options.describe ||
	    options.force || options.parquet)
		return error_misuse(error,
				    "--join takes no option but --output and --quiet");
	return 0;
}

/* Check that the options can be used together. Return 0, or -1 with error: misuse. */
static int check_request(struct error *error)
{
	if (options.join)
		return check_join(error);
	if (!options.runs.count)
		return error_misuse(
		    error,
		    "missing RUN (expected one RUN, or traces and captures; see --help)");
	if (options.runs.count > 1 && options.is_part)
		return error_misuse(error, "--part requires one RUN");
	if (options.output && !*options.output)
		return error_misuse(error, "--output: empty name (expected a file)");
	if (options.clocks && options.no_sync)
		return error_misuse(error,
				    "--clocks and --no-sync cannot be used together");
	if (unused_option())
		return error_misuse(error, "%s cannot be used with --clocks or --no-sync",
				    unused_option());
	if ((options.json || options.local_time) && !options.describe)
		return error_misuse(error, "--json and --local-time require --describe");
	if (options.describe && options.output)
		return error_misuse(error, "--describe cannot be used with --output");
	if (options.force && !options.output)
		return error_misuse(error, "--force requires --output FILE");
	if (options.is_part && check_part(error))
		return -1;
	if (options.parquet &&
	    (options.describe || options.output || options.is_part || !*options.parquet))
		return error_misuse(error,
				    "--parquet requires a directory, and cannot be used "
				    "with --describe, --output or parts");
	return options.describe || options.output || options.part || options.parquet
		   ? 0
		   : output_check_stdout(true, error);
}

/* Select a time range. Times that count from the start of the run need its `origin`. */
static int select_times(struct merge *merge, nsec_t origin, struct error *error)
{
	struct selection *selection = &merge->selection;

	selection->begin_ns = NSEC_MIN;
	selection->end_ns = NSEC_MAX;
	if (options.begin &&
	    instant_parse(options.begin, origin, &selection->begin_ns, error))
		return error_prefix(error, "--begin");
	if (options.end && instant_parse(options.end, origin, &selection->end_ns, error))
		return error_prefix(error, "--end");
	if (selection->begin_ns > selection->end_ns)
		return error_misuse(error, "--begin is after --end");
	return 0;
}

static int find_clocks(struct merge *merge, struct error *error)
{
	struct merge_clock_options clock_options = {
	    .file = options.clocks,
	    .messages = options.is_part ? NULL : options.messages,
	    .none = options.no_sync,
	    .sync = merge->sync,
	};

	progress_init(&merge->progress, options.quiet);
	if (options.is_part)
		message_log_init(&merge->messages);
	/* A part's messages are read from a file; those of a whole run are found. */
	return merge_clocks_find(&merge->run, &clock_options,
				 options.is_part ? NULL : &merge->messages,
				 &merge->progress, error) ||
		       (options.is_part &&
			node_messages_read(&merge->run, options.messages,
					   &merge->messages, error))
		   ? -1
		   : 0;
}

static int open_target(struct merge *merge, struct error *error)
{
	const char *path = options.output;
	struct output *output = &merge->output;

	if (options.part) {
		if (output_directory_open(&merge->part, options.part, &part_directory,
					  error) ||
		    output_open_spooled(output, -1, error))
			return -1;
		path = output->temporary;
	} else if (path && (timeline_check_target(path, options.force, error) ||
			    output_open(output, path, error)))
		return -1;
	if (!path && output_open_spooled(output, STDOUT_FILENO, error))
		return -1;
	merge->writer =
	    timeline_writer_new(output->temporary, path ? path : output->temporary,
				!options.no_payload, error);
	if (merge->writer && options.is_part)
		timeline_writer_set_part(merge->writer);
	return merge->writer ? 0 : -1;
}

/* Events first: what follows refers to them. */
static int write_rows(struct merge *merge, struct error *error)
{
	progress_init(&merge->progress, options.quiet);
	merge->run.command = options.command;
	merge->run.without_spans = options.no_spans;
	merge->requests = requests_new(&merge->run);
	merge->load = (struct load){.run = &merge->run,
				    .selection = &merge->selection,
				    .writer = merge->writer,
				    .messages = &merge->messages,
				    .requests = merge->requests,
				    .progress = &merge->progress,
				    .threads = merge->sync.observe.threads,
				    .payload = !options.no_payload,
				    .has_spans = !options.no_spans};
	return load_events(&merge->load, error) ||
	       tables_write(&merge->run, merge->writer, error);
}

/* Move the timeline to its place. Once it is there, the merge has succeeded. */
static int put_in_place(struct merge *merge, struct error *error)
{
	const char *path = options.output;

	if (path) {
		signals_hold(NULL);
		/* Another program may have made the file meanwhile. */
		if (timeline_check_target(path, options.force, error))
			return -1;
	}
	return output_commit(&merge->output, error);
}

static int write_part(struct merge *merge, struct error *error)
{
	const struct part part = {.timeline = merge->output.temporary,
				  .directory = merge->part.temporary,
				  .run = &merge->run,
				  .requests = merge->requests,
				  .threads = merge->sync.observe.threads,
				  .progress = &merge->progress};

	if (!part_write(&part, error))
		return output_directory_commit(&merge->part, error);
	output_directory_explain(&merge->part, error);
	return -1;
}

/* Write events to files. Return 0, or -1 with error. */
static int write_files(struct merge *merge, struct error *error)
{
	struct load *load = &merge->load;
	int status;

	*load = (struct load){.run = &merge->run,
			      .selection = &merge->selection,
			      .progress = &merge->progress,
			      .threads = merge->sync.observe.threads,
			      .payload = !options.no_payload};
	if (output_directory_open(&merge->part, options.parquet, &event_files_directory,
				  error))
		return -1;
	progress_init(&merge->progress, options.quiet);
	load->files =
	    event_files_new(merge->part.temporary, &merge->run, load->payload, error);
	status = load->files ? load_events(load, error) : -1;
	if (load->files &&
	    event_files_end(load->files, !status, &merge->run.problems, error))
		status = -1;
	merge->is_written = !status && !output_directory_commit(&merge->part, error);
	if (merge->is_written)
		return 0;
	output_directory_explain(&merge->part, error);
	return -1;
}

static int merge_all(struct merge *merge, struct error *error)
{
	nsec_t first, last;

	if ((!options.parquet && open_target(merge, error)) || find_clocks(merge, error))
		return -1;
	if (!merge_run_extent(&merge->run, NULL, &first, &last))
		first = 0; /* the origin of relative times such as --begin +1.5 */
	if (select_times(merge, first, error))
		return -1;
	if (options.parquet)
		return write_files(merge, error);
	if (write_rows(merge, error) || timeline_writer_finish(merge->writer, error) ||
	    tables_derive(merge->output.temporary, options.output, error))
		return -1;
	timeline_writer_free(merge->writer);
	merge->writer = NULL;
	merge->is_written = true;
	return options.part ? write_part(merge, error) : put_in_place(merge, error);
}

static int describe_run(struct merge *merge, struct error *error)
{
	if (find_clocks(merge, error))
		return -1;
	if (options.json)
		describe_json(&merge->run, stdout);
	else
		describe_text(&merge->run, options.local_time, stdout);
	return output_flush_stdout(error);
}

/* Say what was odd; returns whether anything was not used. */
static bool print_problems(const struct merge *merge)
{
	bool failed = problem_print(&merge->run.problems, "ctmerge", stderr);

	if (merge->selection.events.count && merge->is_written && !merge->load.events)
		fprintf(stderr,
			"ctmerge: --events: no event of a class with a matching name%s\n",
			options.begin || options.end ? " in that time" : "");
	if (options.verbose && !options.describe)
		fprintf(stderr,
			"ctmerge: %llu events of %zu sources, %llu messages, %zu nodes\n",
			(unsigned long long)merge->load.events, merge->run.count,
			(unsigned long long)merge->load.linked, merge->run.nodes);
	return failed;
}

/* The widest side of any clock's bound; -1: of one, a side is open or nothing is stated.
 */
static nsec_t widest_bound(const struct merge_run *run)
{
	nsec_t widest = 0;

	for (size_t i = 0; i < run->count; i++) {
		const struct clock *clock = &run->source[i].clock;

		if (!clock->bounds && clock->quality != CLOCK_EXACT)
			return -1;
		for (size_t k = 0; k < clock->bounds; k++) {
			const struct clock_bound *bound = &clock->bound[k];

			if (bound->low_ns == NSEC_MIN || bound->high_ns == NSEC_MAX)
				return -1;
			if (-bound->low_ns > widest)
				widest = -bound->low_ns;
			if (bound->high_ns > widest)
				widest = bound->high_ns;
		}
	}
	return widest;
}

/* On a terminal, what was made: "run.db: 150159 events of 3 nodes, ...". */
static void print_summary(const struct merge *merge)
{
	const char *path = options.output;
	nsec_t bound = widest_bound(&merge->run);
	char text[NSEC_TEXT];
	struct stat about;

	if (options.quiet || !merge->is_written || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "%s: %llu events of %zu nodes, ",
		path              ? path
		: options.parquet ? options.parquet
				  : "timeline",
		(unsigned long long)merge->load.events, merge->run.nodes);
	if (bound >= 0)
		fprintf(stderr, "clocks within +-%s, ",
			nsec_format_span(text, (double)bound));
	else
		fputs("not every clock bounded, ", stderr);
	if (path && stat(path, &about) == 0)
		fprintf(stderr, "%.1f MB, ", (double)about.st_size / 1e6);
	fprintf(stderr, "%.1f s\n", (double)(nsec_monotonic() - merge->begun_ns) / 1e9);
}

static void clear_merge(struct merge *merge)
{
	timeline_writer_free(merge->writer);
	output_discard(&merge->output);
	output_directory_discard(&merge->part);
	message_log_clear(&merge->messages);
	requests_free(merge->requests);
	merge_run_clear(&merge->run);
}

static int join_parts(struct error *error)
{
	struct progress progress;
	int status;

	progress_init(&progress, options.quiet);
	status =
	    parts_join(&options.runs, options.output, options.command, &progress, error);
	progress_end(&progress);
	return status;
}

/* The checks of the command line that need the run. */
static int open_run(struct merge *merge, struct error *error)
{
	merge->selection = options.selection;
	if (options.is_part)
		merge->selection.nodes.count = 0;
	return sync_arguments_parse(&merge->sync, error) ||
	       select_times(merge, 0, error) ||
	       merge_run_open(&merge->run, &options.runs,
			      options.is_part ? options.selection.nodes.item[0] : NULL,
			      error) ||
	       selection_check_nodes(&merge->selection, &merge->run, error) ||
	       sync_arguments_set_sources(&merge->run.sources, error);
}

static int ctmerge_main(struct error *error)
{
	struct merge merge = {.output = {.stream = -1}};
	int status;

	merge.begun_ns = nsec_monotonic();
	status =
	    open_run(&merge, error) ||
	    (options.describe ? describe_run(&merge, error) : merge_all(&merge, error));
	progress_end(&merge.progress);
	if (!error->misuse && print_problems(&merge) && !status)
		status = EXIT_FAILED;
	else if (!status && !(options.no_sync || merge_clocks_are_tied(&merge.run)))
		status = EXIT_NOT_TIED;
	print_summary(&merge);
	clear_merge(&merge);
	return status;
}

int main(int argc, const char **argv)
{
	struct error error = ERROR_INIT;
	int status;

	output_catch_signals();
	output_catch_pipe();
	options.command = options_command_line("ctmerge", argc, argv);
	status = options_parse(&command, argc, argv, &options.runs, &error);
	options.is_part =
	    options.part ||
	    (options.messages && (path_has_suffix(options.messages, MESSAGES_SUFFIX) ||
				  messages_file_probe(options.messages)));
	if (status == OPTIONS_GO)
		status = check_request(&error) ? EXIT_MISUSE
			 : options.join        ? join_parts(&error)
					       : ctmerge_main(&error);
	return program_end("ctmerge", status, &error);
}
