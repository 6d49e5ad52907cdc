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
#include "base/process.h"
#include "export/format.h"
#include "timeline/writer.h"

enum exit_status { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_MISUSE = 2 };

struct request {
	const struct export_format *format;
	struct text_list words, nodes;
	char *begin, *end;
	struct export_plan plan;
	struct export export;
};

/* Where the export goes; at most one of them is open. */
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
	const char *names[FORMATS], *meant;
	struct bytes all = {0};

	for (size_t i = 0; i < FORMATS; i++)
		if (strcmp(name, formats[i]->name) == 0)
			return formats[i];
	for (size_t i = 0; i < FORMATS; i++) {
		names[i] = formats[i]->name;
		bytes_add(&all, ", ", i ? 2 : 0);
		bytes_add(&all, names[i], strlen(names[i]));
	}
	meant = near_find(name, names, FORMATS);
	if (meant)
		error_set(error, "%s: no such format, do you mean %s?", name, meant);
	else
		error_set(error, "%s: no such format, want one of %.*s", name,
			  (int)all.size, (char *)all.data);
	bytes_clear(&all);
	return NULL;
}

static char *make_versions(void)
{
	return mem_printf("with SQLite %s", timeline_library_version());
}

/* The help of the program itself: a line a format. For free(). */
static char *list_formats(void)
{
	char *all;
	size_t size;
	FILE *out = open_memstream(&all, &size);

	fputs("Formats:", out);
	for (size_t i = 0; i < FORMATS; i++)
		fprintf(out, "\n  %-10s%s", formats[i]->name, formats[i]->summary);
	fclose(out);
	return all;
}

/* `ctexport --help`, `--version`, or no format. */
static enum options_status parse_top(int argc, const char **argv, struct error *error)
{
	struct option_row none[] = {{0}};
	char *list = list_formats(), *versions = make_versions();
	const struct command command = {
	    .name = "ctexport",
	    .usage = "FORMAT [OPTION...] RUN.db [-o OUT]",
	    .summary = "a timeline in the formats that other tools read",
	    .more = list,
	    .versions = versions,
	    .rows = none,
	};
	struct text_list rest = {0};
	enum options_status status = options_parse(&command, argc, argv, &rest, error);

	if (status == OPTIONS_GO) {
		error_set(error, "no format given, want one as the first word (see "
				 "--help)");
		status = OPTIONS_WRONG;
	}
	text_list_clear(&rest);
	free(list);
	free(versions);
	return status;
}

/* The options of a format: `ctexport FORMAT ...` is argv[0 .. argc). */
static enum options_status parse_format(struct request *request, int argc,
					const char **argv, struct error *error)
{
	enum { COMMON_ROWS = 6 };
	struct export *export = &request->export;
	const struct option_row *own = request->format->rows;
	struct option_row rows[COMMON_ROWS + EXPORT_OPTIONS + 1] = {
	    {'o', "output", OPTION_STRING, &export->output, "OUT", "write to OUT", 0, 0},
	    {0, "force", OPTION_FLAG, &export->force, NULL,
	     "replace what an earlier export left in a directory", 0, 0},
	    {0, "begin", OPTION_STRING, &request->begin, "TIME",
	     "nothing before: nanoseconds, seconds, +seconds of the run, or UTC", 0, 0},
	    {0, "end", OPTION_STRING, &request->end, "TIME", "nothing after", 0, 0},
	    {0, "node", OPTION_LIST, &request->nodes, "GLOB",
	     "only what is of nodes with such a name", 0, 0},
	    {'q', "quiet", OPTION_FLAG, &export->quiet, NULL, "no progress", 0, 0},
	};
	char *name = mem_printf("ctexport %s", request->format->name);
	char *versions = make_versions();
	const struct command command = {
	    .name = name,
	    .usage = request->format->usage,
	    .summary = request->format->summary,
	    .versions = versions,
	    .rows = rows,
	};
	enum options_status status;

	for (size_t i = 0; own && own[i].name; i++)
		rows[COMMON_ROWS + i] = own[i];
	argv[0] = name;
	status = options_parse(&command, argc, argv, &request->words, error);
	free(name);
	free(versions);
	return status;
}

static enum options_status parse(struct request *request, int argc, const char **argv,
				 struct error *error)
{
	if (argc < 2 || argv[1][0] == '-')
		return parse_top(argc, argv, error);
	request->format = find_format(argv[1], error);
	if (!request->format)
		return OPTIONS_WRONG;
	return parse_format(request, argc - 1, argv + 1, error);
}

/* What the options say together. 0, or -1 with error: misuse. */
static int check_request(struct request *request, struct error *error)
{
	const struct export *export = &request->export;
	struct export_plan *plan = &request->plan;

	plan->target = request->format->target;
	if (request->format->plan && request->format->plan(export->output, plan, error))
		return -1;
	if (request->words.count != 1)
		return error_set(error,
				 "%zu timelines given, want one RUN.db (see --help)",
				 request->words.count);
	if (plan->target == EXPORT_TO_DIRECTORY && !export->output)
		return error_set(error, "no directory given, want --output DIR");
	if (export->force && plan->target != EXPORT_TO_DIRECTORY)
		return error_misuse(error, "--force is for directories, want it without");
	return plan->target == EXPORT_TO_FILE && !export->output
		   ? output_check_stdout(plan->binary, error)
		   : 0;
}

static int open_timeline(struct request *request, struct error *error)
{
	struct export *export = &request->export;

	export->path = request->words.item[0];
	export->timeline = timeline_reader_open(export->path, error);
	if (!export->timeline)
		return -1;
	return scope_init(&export->scope, export->timeline, request->begin, request->end,
			  &request->nodes, error);
}

static void open_stdout(struct export *export)
{
	output_catch_pipe();
	output_whole_stdout();
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

static int open_target(struct request *request, struct target *target,
		       struct error *error)
{
	struct export *export = &request->export;

	switch (request->plan.target) {
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

/* From here on the export is done, and a signal ends it as such. */
static int commit_target(struct request *request, struct target *target,
			 struct error *error)
{
	signals_hold(NULL);
	if (request->export.directory)
		return output_directory_commit(&target->directory, error);
	if (target->file.file)
		return output_commit(&target->file, error);
	return output_flush_stdout(error);
}

/* Threads that write do not get the signal that a reader has gone. */
static void end_without_reader(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	if (poll(&out, 1, 0) == 1 && (out.revents & POLLERR))
		raise(SIGPIPE);
}

/* Nothing of a failed export stays. */
static void discard_target(const struct export *export, struct target *target)
{
	if (export->file == stdout)
		end_without_reader();
	output_directory_discard(&target->directory);
	output_discard(&target->file);
	output_cut_stdout();
}

static enum exit_status run(struct request *request, struct error *error)
{
	struct export *export = &request->export;
	struct target target = {0};
	int status =
	    open_timeline(request, error) || open_target(request, &target, error);

	progress_init(&export->progress, export->quiet);
	if (!status)
		status = request->format->run(export, error);
	progress_end(&export->progress);
	if (!status)
		status = commit_target(request, &target, error);
	if (status)
		discard_target(export, &target);
	problem_print(&export->notes, "ctexport", stderr);
	problem_clear(&export->notes);
	scope_clear(&export->scope);
	timeline_reader_free(export->timeline);
	return status ? EXIT_FAILED : EXIT_DONE;
}

int main(int argc, const char **argv)
{
	static struct request request;
	struct error error = ERROR_INIT;
	int status;

	output_catch_signals();
	options_take_help(argc, argv);
	status = options_end(parse(&request, argc, argv, &error), &error);
	if (status < 0)
		status = (int)(check_request(&request, &error) ? EXIT_MISUSE
							       : run(&request, &error));
	if (error.misuse)
		status = EXIT_MISUSE;
	error_tell(&error, "ctexport", stderr);
	return status;
}
