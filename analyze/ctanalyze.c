/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctanalyze: analyze a timeline. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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

/* List the analyses for --help. The caller frees the result. */
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
	request_rows(request, rows, HEEDS_SCOPE); /* accepted by every analysis */
	command.more = list = make_list(catalog);
	return options_show_help(&command, "ctanalyze");
}

/* Check that the analysis accepts the options. Return 0, or -1 with error (misuse). */
static int check_analysis(const struct analysis *analysis, const struct request *request,
			  struct error *error)
{
	const char *unheeded = request_unheeded(request, analysis_heeds(analysis));

	if (unheeded)
		return error_misuse(error,
				    "--%s does not apply to %s; see ctanalyze %s --help",
				    unheeded, analysis->name, analysis->name);
	if (request->forms & ~analysis->forms)
		return error_set(error, "%s has no such form; see ctanalyze %s --help",
				 analysis->name, analysis->name);
	if (request->group && !query_words_have(analysis->groups, request->group))
		return error_misuse(
		    error, "--group: unknown group '%s' of %s (expected one of %s)",
		    request->group, analysis->name, analysis->groups);
	return 0;
}

/* On stderr, list the result's other tables, since CSV prints only one. */
static void list_unprinted_tables(const struct request *request,
				  const struct result *result)
{
	if (request->format != FORMAT_CSV || request->table || result->tables < 2 ||
	    request->quiet)
		return;
	fprintf(stderr, "ctanalyze: the table %s; there are also", result->table[0]->key);
	for (size_t i = 1; i < result->tables; i++)
		fprintf(stderr, "%s %s", i > 1 ? "," : "", result->table[i]->key);
	fprintf(stderr, ", see --table\n");
}

/* Check that the output file can be created, before the analysis runs. */
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

/* Run the analysis and print its result. The output file is opened last, after files that
 * the analysis writes. */
static int run_and_print(struct query *query, struct result *result, struct error *error)
{
	/* With several files, --output is their directory. */
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
	/* No picture is delivered if the run_and_print cannot be. */
	if (!status)
		status =
		    path ? output_commit(&output, error) : output_flush_stdout(error);
	if (!status && pictures.path)
		status = output_directory_commit(&pictures, error);
	output_discard(&output);
	output_directory_discard(&pictures);
	return status ? -1 : 0;
}

/* Run an analysis of one timeline, or of `words` if it takes several; otherwise they are
 * NULL. */
static int run_on_timeline(const struct analysis *analysis, const struct request *request,
			   const char *path, const struct text_list *words,
			   struct error *error)
{
	struct query query;
	struct result result = {.request = request};
	int status;

	if (query_open(&query, analysis, request, words ? NULL : path, error))
		return EXIT_FAILED;
	query.words = words;
	query.path = path;
	status = run_and_print(&query, &result, error);
	if (!status)
		list_unprinted_tables(request, &result);
	result_clear(&result);
	query_close(&query);
	return status || query.failed ? EXIT_FAILED : EXIT_DONE;
}

/* Return true if a shell of SQL takes a line for a command: it begins with a dot, or is
 * `/` or `go`, by which SQLite's shell ends a statement. */
static bool is_shell_command(const char *line)
{
	static const char blank[] = " \t\r\f\v";
	size_t length;

	line += strspn(line, blank);
	length = *line == '/' ? 1 : strncasecmp(line, "go", 2) ? 0 : 2;
	if (*line == '.' || !length)
		return *line == '.';
	line += length;
	line += strspn(line, blank);
	return !*line || strchr("\n;", *line) || !strncmp(line, "--", 2) ||
	       !strncmp(line, "/*", 2);
}

/* Print statements that will be pasted into a shell of SQL. No line may be a command of
 * it. Return 0, or -1 with error. */
static int print_statements(const char *text, struct error *error)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (is_shell_command(line))
			return error_set(error,
					 "--print-sql: a line begins with a dot, "
					 "or is '/' or 'go', which is a command in "
					 "shells of SQL");
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
				 ? "the analysis is not in SQL"
				 : "--begin, --end and --node require one TIMELINE");
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

/* Run an analysis on --tables; refuse what needs a timeline. */
static int run_on_tables(const struct analysis *analysis, const struct request *request,
			 size_t words, struct error *error)
{
	if (analysis->run != query_file_run)
		error_misuse(error, "--tables: %s is not in SQL; use a timeline",
			     analysis->name);
	else if (words)
		error_misuse(error, "--tables cannot be used with a timeline");
	else if (request->plot || request->print_sql >= 0)
		error_misuse(error, "--%s cannot be used with --tables",
			     request->plot ? "plot" : "print-sql");
	else
		return run_on_timeline(analysis, request, request->tables, NULL, error);
	return EXIT_MISUSE;
}

/* Report that the first word is not an analysis. If it looks like a file, say what is
 * wrong with that. */
static int report_unknown_analysis(const struct catalog *catalog,
				   const struct text_list *words, struct error *error)
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

static int run_request(const struct request *request, const struct catalog *catalog,
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
		return report_unknown_analysis(catalog, words, error);
	if (check_analysis(analysis, request, error))
		return EXIT_MISUSE;
	if (request->tables)
		return run_on_tables(analysis, request, rest.count, error);
	if (request->print_sql >= 0)
		return print_sql(analysis, request, &rest, error);
	if (analysis->act)
		return analysis->act(analysis, request, &rest, error);
	if (analysis->many)
		return run_on_timeline(analysis, request, rest.count ? rest.item[0] : "",
				       &rest, error);
	if (rest.count == 1)
		return run_on_timeline(analysis, request, rest.item[0], NULL, error);
	error_set(error, "expected one TIMELINE, got %zu (see --help)", rest.count);
	return EXIT_MISUSE;
}

/* Check the request and run it. Return an exit status. */
static int run_command(struct request *request, struct text_list *words,
		       struct error *error)
{
	const struct catalog *catalog = request->catalog;

	if (request_check(request, error))
		return EXIT_MISUSE;
	if (request->list) {
		catalog_print(catalog, stdout);
		return EXIT_DONE;
	}
	if (words->count || is_own_alone(request, 0))
		return run_request(request, catalog, words, error);
	error_set(error, "missing ANALYSIS TIMELINE (see --help)");
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
		status = run_command(&request, &words, &error);
	catalog_clear(&catalog);
	text_list_clear(&words);
	request_clear(&request);
	return program_end("ctanalyze", status, &error);
}
