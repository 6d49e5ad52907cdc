/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The analysis `all`: make the timelines of runs without one, run every analysis, and
 * report. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/catalog.h"
#include "analyze/print.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/output.h"
#include "base/output_directory.h"
#include "base/process.h"
#include "problem/problem.h"

static const struct result_column columns[] = {
    {"run", "RUN", UNIT_TEXT},         {"timeline", "TIMELINE", UNIT_TEXT},
    {"merged", "MERGED", UNIT_TEXT},   {"analyses", "ANALYSES", UNIT_COUNT},
    {"files", "FILES", UNIT_COUNT},    {"results", "RESULTS", UNIT_TEXT},
    {"problem", "PROBLEM", UNIT_TEXT}, {NULL, NULL, 0},
};

struct batch {
	struct query *query;
	struct result_table *table;
	size_t done;           /* runs */
	struct text_list used; /* names of directories of results */
};

/* One of the runs. */
struct batch_run {
	const char *path;
	char *timeline, *results;
	const char *merged; /* "yes", "was there" */
	size_t analyses, files;
	struct error error; /* the first thing that went wrong */
};

static bool is_directory(const char *path)
{
	struct stat about;

	return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Set the paths: RUN/run.db and RUN/analysis, or with -o DIR, DIR/RUN. A run can also be
 * a timeline. */
static void name_files(struct batch_run *run, const struct request *request,
		       struct text_list *used)
{
	AUTOFREE char *path = path_trim(run->path);
	bool directory = is_directory(path);
	const char *name = file_name(path), *dot = strrchr(name, '.');

	run->timeline = directory ? mem_printf("%s/run.db", path) : mem_strdup(path);
	if (request->output) {
		AUTOFREE char *plain = mem_strndup(
		    name, directory || !dot ? strlen(name) : (size_t)(dot - name));
		AUTOFREE char *unique = file_name_unique(used, plain);

		run->results = mem_printf("%s/%s", request->output, unique);
	} else if (directory)
		run->results = mem_printf("%s/analysis", path);
	else
		run->results = mem_printf("%s.analysis", path);
}

/* Return the ctmerge next to this program, or else the one in PATH. The caller frees it.
 */
static char *find_ctmerge(void)
{
	char own[4096];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash, *beside;

	if (length > 0) {
		own[length] = '\0';
		slash = strrchr(own, '/');
		beside = mem_printf("%.*s/ctmerge", (int)(slash - own), own);
		if (access(beside, X_OK) == 0)
			return beside;
		free(beside);
	}
	return mem_strdup("ctmerge");
}

/* Return ctmerge's exit status, or -1 with error. */
static int run_ctmerge(const struct batch_run *run, struct error *error)
{
	AUTOFREE char *program = find_ctmerge(), *directory = path_trim(run->path);
	char quiet[] = "-q", output[] = "-o", end[] = "--";
	char *words[] = {program, quiet, output, run->timeline, end, directory, NULL};
	int status = run_program(words, NULL, NULL);

	if (status < 0)
		return error_errno(error, program);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return error_set(error, "ctmerge: ended by signal %d", WTERMSIG(status));
}

/* Report input that could not be read when the existing timeline was made. Return 0, or
 * -1 with error. */
static int check_problems(const struct batch_run *run, struct error *error)
{
	struct timeline_reader *reader = timeline_reader_open(run->timeline, error);
	struct text_list kinds = {0};
	int status = reader ? query_texts(reader, "SELECT DISTINCT kind FROM problem",
					  NULL, &kinds, error)
			    : -1;

	for (size_t i = 0; i < kinds.count; i++)
		if (problem_is_failure(problem_kind_of(kinds.item[i])))
			error_set(error, "some input could not be read when it was "
					 "merged; see ctanalyze problems");
	text_list_clear(&kinds);
	timeline_reader_free(reader);
	return status;
}

/* Make the timeline, even if some input cannot be read. Return -1 if there is
 * no file. */
static int make_timeline(struct batch_run *run)
{
	int status;

	if (!is_directory(run->path) || is_there(run->timeline)) {
		run->merged = "was there";
		return check_problems(run, &run->error);
	}
	status = run_ctmerge(run, &run->error);
	run->merged = is_there(run->timeline) ? "yes" : "no";
	if (status >= 0 && !is_there(run->timeline))
		error_set(&run->error, "not merged; see the messages above");
	else if (status > 0 && status != EXIT_NOT_TIED)
		error_set(&run->error,
			  "some input could not be read; see the messages above");
	return is_there(run->timeline) ? 0 : -1;
}

/* indexed by format + 1 */
static const char *const extensions[] = {"txt", "txt", "csv", "json", "md"};

static int write_file(struct batch_run *run, const struct query *query,
		      const struct result *result, const char *name, struct error *error)
{
	AUTOFREE char *path = mem_printf(
	    "%s/%s.%s", run->results, name,
	    result->document ? "html" : extensions[query->request->format + 1]);
	struct output output = {0};
	int status = output_open(&output, path, error);

	if (!status) {
		print_result(query, result, output.file);
		status = output_commit(&output, error);
		output_discard(&output);
	}
	run->files += !status;
	return status;
}

/* Write one file; in CSV, one for each table: NAME.TABLE.csv. */
static int write_results(struct batch_run *run, struct query *query,
			 struct result *result, struct error *error)
{
	const char *name = query->analysis->name;
	int status = 0;

	if (query->request->format != FORMAT_CSV || result->document)
		return write_file(run, query, result, name, error);
	for (size_t i = 0; i < result->tables && !status; i++) {
		AUTOFREE char *file = mem_printf("%s.%s", name, result->table[i]->key);
		struct result one = {.table = &result->table[i], .tables = 1};

		status = write_file(run, query, &one, file, error);
	}
	return status;
}

/* Run one analysis of one run. An error does not stop the others. */
static int run_analysis(struct batch_run *run, const struct analysis *analysis,
			const struct request *asked, struct error *error)
{
	struct request request = *asked;
	struct query query;
	struct result result = {.request = &request};
	int status;

	request.table = request.sort = NULL;
	request.output = analysis->is_document ? run->results : NULL;
	if (query_open(&query, analysis, &request, run->timeline, error))
		return -1;
	status = query_run(&query, &result, error) ||
		 write_results(run, &query, &result, error);
	if (status)
		query_name_error(analysis, error);
	result_clear(&result);
	query_close(&query);
	return status ? -1 : 0;
}

/* Create a directory and its parents, if missing. */
static int make_directory(const char *path, struct error *error)
{
	AUTOFREE char *below = mem_printf("%s/", path), *made = NULL;

	if (make_parent_directories(below, 1, &made))
		return error_errno(error, path);
	return is_directory(path) ? 0 : error_set(error, "%s: not a directory", path);
}

static void record_run_error(struct batch_run *run, struct error *error)
{
	if (!run->error.text)
		error_set(&run->error, "%s", error_text(error));
	error_clear(error);
}

/* Run every analysis that needs no argument, and the report. */
static void analyze_all(struct batch *batch, struct batch_run *run)
{
	const struct request *request = batch->query->request;
	const struct catalog *catalog = request->catalog;
	struct error error = ERROR_INIT;

	if (make_directory(run->results, &error)) {
		record_run_error(run, &error);
		return;
	}
	for (size_t i = 0; i < catalog->count; i++) {
		const struct analysis *analysis = catalog->item[i];

		if (analysis->many || analysis->act || (analysis->heeds & HEEDS_PERIOD))
			continue;
		if (run_analysis(run, analysis, request, &error))
			record_run_error(run, &error);
		else
			run->analyses++;
	}
}

static void process_run(struct batch *batch, const char *path)
{
	struct batch_run run = {.path = path};
	bool failed;

	name_files(&run, batch->query->request, &batch->used);
	if (!is_there(path))
		error_errno(&run.error, path);
	else if (!make_timeline(&run))
		analyze_all(batch, &run);
	failed = run.error.text != NULL;
	batch->query->failed |= failed;
	batch->done += !failed;
	result_add(batch->table,
		   (struct cell[]){cell_of_text(path), cell_of_text(run.timeline),
				   cell_of_text(run.merged),
				   cell_of_integer((int64_t)run.analyses),
				   cell_of_integer((int64_t)run.files),
				   cell_of_text(run.files ? run.results : NULL),
				   cell_of_text(run.error.text)});
	error_clear(&run.error);
	free(run.timeline);
	free(run.results);
}

static int run_all(struct query *query, struct result *result, struct error *error)
{
	const struct text_list *words = query->words;
	struct batch batch = {.query = query};

	if (!words->count)
		return error_set(error, "missing RUN (see --help)");
	batch.table = result_table_new(result, "runs", "Runs", columns);
	for (size_t i = 0; i < words->count; i++) {
		process_run(&batch, words->item[i]);
		query_progress(query, (double)(i + 1) / (double)words->count);
	}
	text_list_clear(&batch.used);
	result_note(result, "%zu of %zu runs without a problem", batch.done,
		    words->count);
	return 0;
}

const struct analysis analysis_all = {
    .name = "all",
    .summary = "run every analysis on many runs, and merge them if needed",
    .usage = "[OPTION...] RUN...",
    .description = "RUN is a run directory or a timeline. The timeline of a directory "
		   "is\nRUN/run.db; if it does not exist, ctmerge makes it, otherwise it "
		   "is used as it\nis. Results go to RUN/analysis, or with -o DIR to "
		   "DIR/RUN: one file per\nanalysis, in CSV one per table, and the "
		   "report. A run that fails is reported at\nthe end, and does not stop "
		   "the others. Analyses that need an argument\nare skipped.",
    .heeds = HEEDS_SCOPE | HEEDS_TABLES,
    .many = true,
    .writes_files = true,
    .run = run_all,
};
