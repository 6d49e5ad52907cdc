/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctanalyze: analyze a timeline. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/catalog.h"
#include "analyze/metric_plots.h"
#include "analyze/print.h"
#include "analyze/query.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/output.h"
#include "base/output_directory.h"
#include "timeline/writer.h"

/* "Analyses:" and a line each, below the options; for free(). */
static char *make_list(const struct catalog *catalog)
{
	char *text;
	size_t size;
	FILE *file = mem_stream(&text, &size);

	fputs("Analyses:\n", file);
	catalog_print(catalog, file);
	fputs("\nctanalyze ANALYSIS --help describes an analysis and its own options.",
	      file);
	fclose(file);
	return text;
}

static void print_versions(FILE *file)
{
	fprintf(file, "with SQLite %s\n", timeline_library_version());
}

/* Print an analysis's help: its description, and the options that it accepts. */
static int show_analysis(const struct analysis *analysis, struct request *request)
{
	struct option_row rows[REQUEST_ROWS + 1];
	AUTOFREE char *name = mem_printf("ctanalyze %s", analysis->name);
	AUTOFREE char *tables = analysis->own ? catalog_help(analysis->own) : NULL;
	AUTOFREE char *summary =
	    mem_printf("%s\n\n%s", analysis->summary, analysis->description);
	AUTOFREE char *usage =
	    mem_printf("%s %s", analysis->name,
		       analysis->usage ? analysis->usage : "[OPTION...] TIMELINE");
	struct command command = {
	    .more = tables && *tables ? tables : NULL,
	    .name = name,
	    .usage = usage,
	    .summary = summary,
	    .rows = rows,
	};

	request_rows(request, rows, analysis_heeds(analysis));
	return options_show_help(&command, "ctanalyze");
}

/* Parse the command line, then read the analyses, which include those of --sql. Return
 * OPTIONS_GO, or the exit status. */
static int parse_request(struct request *request, struct catalog *catalog,
			 struct text_list *words, const char **argv, struct error *error)
{
	struct option_row rows[REQUEST_ROWS + 1];
	bool is_help = false;
	struct command command = {.name = "ctanalyze",
				  .usage = "[OPTION...] [ANALYSIS] TIMELINE",
				  .summary = "analyze a timeline",
				  .versions = print_versions,
				  .help = &is_help,
				  .rows = rows};
	const struct analysis *analysis;
	AUTOFREE char *list = NULL;
	int argc = 0, status;

	while (argv[argc])
		argc++;
	request_rows(request, rows, ~0u);
	status = options_parse(&command, argc, argv, words, error);
	if (status != OPTIONS_GO)
		return status;
	if (catalog_init(catalog, &request->sql, error))
		return EXIT_FAILED;
	if (is_help && words->count) {
		analysis = catalog_find(catalog, words->item[0], error);
		return analysis ? show_analysis(analysis, request) : EXIT_MISUSE;
	}
	if (!is_help)
		return OPTIONS_GO;
	request_rows(request, rows, HEEDS_SCOPE); /* of every analysis */
	command.more = list = make_list(catalog);
	return options_show_help(&command, "ctanalyze");
}

/* What the options say to this analysis. 0, or -1 with error: misuse. */
static int check_analysis(const struct analysis *analysis, const struct request *request,
			  struct error *error)
{
	const char *unheeded = request_unheeded(request, analysis_heeds(analysis));

	if (unheeded)
		return error_misuse(error,
				    "--%s means nothing to %s, see ctanalyze %s --help",
				    unheeded, analysis->name, analysis->name);
	if (request->forms & ~analysis->forms)
		return error_set(error, "%s has no such form, see ctanalyze %s --help",
				 analysis->name, analysis->name);
	if (request->group && !query_words_have(analysis->groups, request->group))
		return error_misuse(error,
				    "--group: %s has no group '%s', want one of %s",
				    analysis->name, request->group, analysis->groups);
	return 0;
}

/* Other tables of the result, which CSV has no place for, are named. */
static void tell_of_tables(const struct request *request, const struct result *result)
{
	if (request->format != FORMAT_CSV || request->table || result->tables < 2 ||
	    request->quiet)
		return;
	fprintf(stderr, "ctanalyze: the table %s; there are also", result->table[0]->key);
	for (size_t i = 1; i < result->tables; i++)
		fprintf(stderr, "%s %s", i > 1 ? "," : "", result->table[i]->key);
	fprintf(stderr, ", see --table\n");
}

/* Whether the file could be made is told before the work, and not after it. */
static int access_output(const char *path, struct error *error)
{
	struct output output = {0};
	struct stat about;

	/* A pipe opened twice would have an end too many. */
	if (stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
		return 0;
	if (output_open(&output, path, error))
		return -1;
	output_discard(&output);
	return 0;
}

/* Files that an analysis writes take their turn, so what it prints is opened last. */
static int answer(struct query *query, struct result *result, struct error *error)
{
	/* Where many files are written, it is their directory. */
	const char *path = query->analysis->writes_files ? NULL : query->request->output;
	struct output_directory pictures = {0};
	struct output output = {.stream = -1};
	int status;

	if (path && access_output(path, error))
		return -1;
	status =
	    query_run(query, result, error) ||
	    (query->request->plot && metric_plots_draw(query, result, &pictures, error));
	progress_end(&query->progress);
	if (!status && path)
		status = output_open(&output, path, error);
	if (!status)
		print_result(query, result, path ? output.file : stdout);
	/* No picture is delivered if the answer cannot be. */
	if (!status)
		status =
		    path ? output_commit(&output, error) : output_flush_stdout(error);
	if (!status && pictures.path)
		status = output_directory_commit(&pictures, error);
	output_discard(&output);
	output_directory_discard(&pictures);
	return status ? -1 : 0;
}

/* One timeline, or all of `words` where the analysis takes many; that is NULL else. */
static int ask(const struct analysis *analysis, const struct request *request,
	       const char *path, const struct text_list *words, struct error *error)
{
	struct query query;
	struct result result = {.request = request};
	int status;

	if (query_open(&query, analysis, request, words ? NULL : path, error))
		return EXIT_FAILED;
	query.words = words;
	query.path = path;
	status = answer(&query, &result, error);
	if (!status)
		tell_of_tables(request, &result);
	result_clear(&result);
	query_close(&query);
	return status || query.failed ? EXIT_FAILED : EXIT_DONE;
}

/* Print statements that will be pasted into a shell of SQL. It runs lines that begin with
 * a dot, so none may. Return 0, or -1 with error. */
static int print_statements(const char *text, struct error *error)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (line[strspn(line, " \t\r")] == '.')
			return error_set(error, "--print-sql: a line begins with a dot, "
						"which is a command in shells of SQL");
	}
	fputs(text, stdout);
	return 0;
}

static int print_sql(const struct analysis *analysis, const struct request *request,
		     const struct text_list *words, struct error *error)
{
	struct query query;
	char *text;
	size_t size;
	FILE *file;
	int status;

	if (analysis->run != query_file_run || words->count > 1 ||
	    (!words->count && (request->begin || request->end || request->nodes.count))) {
		error_misuse(error, "--print-sql: %s",
			     analysis->run != query_file_run
				 ? "the analysis is no SQL"
				 : "want one TIMELINE for the times and nodes");
		return EXIT_MISUSE;
	}
	if (query_open(&query, analysis, request, words->count ? words->item[0] : NULL,
		       error))
		return EXIT_FAILED;
	file = mem_stream(&text, &size);
	status =
	    query_file_print(&query, (enum sql_dialect)request->print_sql, file, error);
	fclose(file);
	status = status ? status : print_statements(text, error);
	free(text);
	query_close(&query);
	return status ? EXIT_FAILED : EXIT_DONE;
}

/* What of it needs a timeline. */
static int ask_parquet(const struct analysis *analysis, const struct request *request,
		       size_t words, struct error *error)
{
	if (analysis->run != query_file_run)
		error_misuse(error, "--tables: %s is no SQL, want a timeline by ctmerge",
			     analysis->name);
	else if (words)
		error_misuse(error, "--tables: want DIR instead of a timeline, not both");
	else if (request->plot || request->print_sql >= 0)
		error_misuse(error, "--tables: --%s wants a timeline",
			     request->plot ? "plot" : "print-sql");
	else
		return ask(analysis, request, request->tables, NULL, error);
	return EXIT_MISUSE;
}

/* Words of which the first is no analysis, but written like a file. */
static int tell_of_file(const struct catalog *catalog, const struct text_list *words,
			struct error *error)
{
	const char *file = words->item[0];
	struct error none = ERROR_INIT;

	if (words->count == 1 && strpbrk(file, "./")) {
		error_clear(error);
		error_errno(error, file); /* as access() left it */
		return EXIT_FAILED;
	}
	if (words->count > 1 && access(file, F_OK) == 0 &&
	    catalog_find(catalog, words->item[1], &none))
		error_set(error, "%s: the analysis comes first: ctanalyze %s %s", file,
			  words->item[1], file);
	error_clear(&none);
	return EXIT_MISUSE;
}

/* Return true if no word names an analysis: a single file of SQL need not be named twice.
 * --tables and --print-sql need no timeline, so with them a word names an analysis. */
static bool is_own_alone(const struct request *request, size_t words)
{
	bool needs_timeline = !request->tables && request->print_sql < 0;

	return request->catalog->own == 1 && words == needs_timeline;
}

static int run(const struct request *request, const struct catalog *catalog,
	       struct text_list *words, struct error *error)
{
	struct text_list rest = {.count = words->count - 1, .item = words->item + 1};
	const struct analysis *analysis;

	if (is_own_alone(request, words->count)) {
		analysis = &catalog->file[catalog->files - 1]->analysis;
		rest = *words;
	} else if (words->count == 1 && !request->tables &&
		   access(words->item[0], F_OK) == 0) {
		/* `ctanalyze run.db`, unless there is an analysis of that name. */
		analysis = catalog_find(catalog, words->item[0], error);
		if (!analysis) {
			error_clear(error);
			analysis = catalog_find(catalog, "overview", error);
			rest = *words;
		}
	} else {
		analysis = catalog_find(catalog, words->item[0], error);
	}

	if (!analysis)
		return tell_of_file(catalog, words, error);
	if (check_analysis(analysis, request, error))
		return EXIT_MISUSE;
	if (request->tables)
		return ask_parquet(analysis, request, rest.count, error);
	if (request->print_sql >= 0)
		return print_sql(analysis, request, &rest, error);
	if (analysis->act)
		return analysis->act(analysis, request, &rest, error);
	if (analysis->many)
		return ask(analysis, request, rest.count ? rest.item[0] : "", &rest,
			   error);
	if (rest.count == 1)
		return ask(analysis, request, rest.item[0], NULL, error);
	error_set(error, "%zu timelines given, want one (see --help)", rest.count);
	return EXIT_MISUSE;
}

/* What is to be done with the words. */
static int start(struct request *request, struct text_list *words, struct error *error)
{
	const struct catalog *catalog = request->catalog;

	if (request_check(request, error))
		return EXIT_MISUSE;
	if (request->list) {
		catalog_print(catalog, stdout);
		return EXIT_DONE;
	}
	if (words->count || is_own_alone(request, 0))
		return run(request, catalog, words, error);
	error_set(error, "no analysis given, want ANALYSIS TIMELINE (see --help)");
	return EXIT_MISUSE;
}

int main(int argc, const char **argv)
{
	struct request request;
	struct catalog catalog = {0};
	struct text_list words = {0};
	struct error error = ERROR_INIT;
	int status;

	(void)argc;
	output_catch_signals();
	output_catch_pipe();
	request_init(&request);
	request.catalog = &catalog;
	status = parse_request(&request, &catalog, &words, argv, &error);
	if (status == OPTIONS_GO)
		status = start(&request, &words, &error);
	catalog_clear(&catalog);
	text_list_clear(&words);
	request_clear(&request);
	return program_end("ctanalyze", status, &error);
}
