/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctexport: the timeline in the formats that other tools read. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/output.h"
#include "base/output_directory.h"
#include "base/process.h"
#include "base/version.h"
#include "export/format.h"
#include "timeline/writer.h"

static struct {
	const struct export_format *format;
	struct text_list words, nodes;
	char *begin, *end;
	struct export_plan plan;
	struct export export;
} request;

/* The output; at most one of the two is open. */
struct target {
	struct output file;
	struct output_directory directory;
};

/* In the order of --help. */
static const struct export_format *const formats[] = {
    &export_opendc,   &export_parquet,  &export_csv,      &export_json,
    &export_graphite, &export_perfetto, &export_tracekit,
};

enum { FORMATS = sizeof(formats) / sizeof(*formats) };

/* By name; NULL with an error that suggests the nearest. */
static const struct export_format *find_format(const char *name, struct error *error)
{
	const char *names[FORMATS];

	for (size_t i = 0; i < FORMATS; i++) {
		names[i] = formats[i]->name;
		if (strcmp(name, names[i]) == 0)
			return formats[i];
	}
	error_unknown_word(error, "unknown format", name, names, FORMATS, NULL);
	return NULL;
}

static void print_versions(FILE *file)
{
	fprintf(file, "with SQLite %s, %s\n", timeline_library_version(),
		CT_HAVE_SNAPPY ? "snappy" : "no snappy");
}

/* List the formats for --help, one per line. The caller frees the result. */
static char *list_formats(void)
{
	char *all;
	size_t size;
	FILE *out = mem_stream(&all, &size);

	fputs("Formats:", out);
	for (size_t i = 0; i < FORMATS; i++)
		fprintf(out, "\n  %-10s%s", formats[i]->name, formats[i]->summary);
	fclose(out);
	return all;
}

/* `ctexport --help`, `--version`, or no format. */
static int parse_top(int argc, const char **argv, struct error *error)
{
	static const struct option_row none[] = {{0}};
	AUTOFREE char *list = list_formats();
	const struct command command = {
	    .name = "ctexport",
	    .usage = "FORMAT [OPTION...] RUN.db [-o OUT]",
	    .summary = "export a timeline in the formats of other tools",
	    .more = list,
	    .versions = print_versions,
	    .rows = none,
	};
	int status = options_parse(&command, argc, argv, &request.words, error);

	if (status != OPTIONS_GO)
		return status;
	error_set(error, "missing FORMAT, the first argument (see --help)");
	return EXIT_MISUSE;
}

static const struct option_row common_rows[] = {
    {'o', "output", OPTION_STRING, &request.export.output, "OUT", "write to OUT", 0, 0},
    {0, "force", OPTION_FLAG, &request.export.force, NULL,
     "replace what an earlier export wrote to a directory", 0, 0},
    {0, "begin", OPTION_STRING, &request.begin, "TIME",
     "ignore everything before this: nanoseconds, seconds, +seconds of the run, or UTC",
     0, 0},
    {0, "end", OPTION_STRING, &request.end, "TIME", "ignore everything after this", 0, 0},
    {0, "node", OPTION_LIST, &request.nodes, "GLOB",
     "only nodes whose names match GLOB; may be repeated", 0, 0},
    {'q', "quiet", OPTION_FLAG, &request.export.quiet, NULL, "show no progress", 0, 0},
    {0},
};

/* The options of a format: `ctexport FORMAT ...` is argv[0 .. argc). */
static int parse_format(int argc, const char **argv, struct error *error)
{
	AUTOFREE char *name = mem_printf("ctexport %s", request.format->name);
	const struct command command = {
	    .name = name,
	    .usage = request.format->usage,
	    .summary = request.format->summary,
	    .versions = print_versions,
	    .rows = common_rows,
	    .more_rows = request.format->rows,
	};

	argv[0] = name;
	return options_parse(&command, argc, argv, &request.words, error);
}

/* Check that the options fit together. Return 0, or -1 with error (misuse). */
static int check_request(struct error *error)
{
	const struct export *export = &request.export;
	struct export_plan *plan = &request.plan;

	plan->target = request.format->target;
	if (request.format->plan && request.format->plan(export->output, plan, error))
		return -1;
	if (request.words.count != 1)
		return error_set(error, "expected one RUN.db, got %zu (see --help)",
				 request.words.count);
	if (plan->target == EXPORT_TO_DIRECTORY && !export->output)
		return error_set(error, "missing --output DIR");
	if (export->force && plan->target != EXPORT_TO_DIRECTORY)
		return error_misuse(error, "--force applies only to output directories");
	return plan->target == EXPORT_TO_FILE && !export->output
		   ? output_check_stdout(plan->binary, error)
		   : 0;
}

static int open_timeline(struct error *error)
{
	struct export *export = &request.export;

	export->path = request.words.item[0];
	export->timeline = timeline_reader_open(export->path, error);
	if (!export->timeline)
		return -1;
	return scope_init(&export->scope, export->timeline, request.begin, request.end,
			  &request.nodes, error);
}

static void open_stdout(struct export *export)
{
	output_catch_pipe();
	output_atomic_stdout();
	export->file = stdout;
	export->file_name = "standard output";
}

static int open_directory(struct export *export, struct output_directory *directory,
			  struct error *error)
{
	static const struct output_kind kinds[] = {
	    {OUTPUT_EMPTY, ".ctexport", "an empty directory or --force", true, NULL},
	    {OUTPUT_REPLACE, ".ctexport", NULL, true, NULL},
	};

	if (output_directory_open(directory, export->output, &kinds[export->force],
				  error))
		return -1;
	export->directory = directory->temporary;
	return 0;
}

static int open_target(struct target *target, struct error *error)
{
	struct export *export = &request.export;

	switch (request.plan.target) {
	case EXPORT_TO_ITSELF:
		return 0;
	case EXPORT_TO_DIRECTORY:
		return open_directory(export, &target->directory, error);
	case EXPORT_TO_FILE:
		if (!export->output) {
			open_stdout(export);
			return 0;
		}
		if (output_open(&target->file, export->output, error))
			return -1;
		export->file = target->file.file;
		export->file_name = export->output;
	}
	return 0;
}

/* The export is complete: from here on a signal does not undo it. */
static int commit_target(struct target *target, struct error *error)
{
	signals_hold(NULL);
	if (request.export.directory)
		return output_directory_commit(&target->directory, error);
	if (request.export.second.file)
		return output_commit_both(&request.export.second, &target->file, error);
	if (target->file.file)
		return output_commit(&target->file, error);
	return output_flush_stdout(error);
}

/* If the reader of standard output is gone, end as SIGPIPE does: threads that write do
 * not get the signal. */
static void end_without_reader(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	if (poll(&out, 1, 0) == 1 && (out.revents & POLLERR))
		raise(SIGPIPE);
}

/* Remove the output of a failed export. */
static void discard_target(struct export *export, struct target *target)
{
	if (export->file == stdout)
		end_without_reader();
	output_directory_discard(&target->directory);
	output_discard(&export->second);
	output_discard(&target->file);
	output_truncate_stdout();
}

static int export_timeline(struct error *error)
{
	struct export *export = &request.export;
	struct target target = {0};
	int status = open_timeline(error) || open_target(&target, error);

	progress_init(&export->progress, export->quiet);
	if (!status)
		status = request.format->run(export, error);
	progress_end(&export->progress);
	if (!status)
		status = commit_target(&target, error);
	if (status)
		discard_target(export, &target);
	problem_print(&export->notes, "ctexport", stderr);
	problem_clear(&export->notes);
	scope_clear(&export->scope);
	timeline_reader_free(export->timeline);
	return status;
}

int main(int argc, const char **argv)
{
	struct error error = ERROR_INIT;
	int status;

	output_catch_signals();
	options_expand_help(argc, argv);
	if (argc < 2 || argv[1][0] == '-')
		status = parse_top(argc, argv, &error);
	else if (!(request.format = find_format(argv[1], &error)))
		status = EXIT_MISUSE;
	else
		status = parse_format(argc - 1, argv + 1, &error);
	if (status == OPTIONS_GO)
		status = check_request(&error) ? EXIT_MISUSE : export_timeline(&error);
	return program_end("ctexport", status, &error);
}
