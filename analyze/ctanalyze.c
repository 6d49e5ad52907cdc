/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctanalyze: answers from a timeline. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/analysis.h"
#include "analyze/catalog.h"
#include "analyze/print.h"
#include "base/mem.h"
#include "base/near.h"
#include "base/output.h"
#include "timeline/writer.h"

enum exit_status { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_MISUSE = 2 };

/* What a signal has to remove before the program ends by it. */
static char interrupted_file[PATH_MAX];

static void end_by_signal(int number)
{
	if (*interrupted_file)
		unlink(interrupted_file);
	signal(number, SIG_DFL);
	raise(number); /* comes when this returns */
}

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = end_by_signal};
	struct sigaction before;

	for (size_t i = 0; i < sizeof(ending_signals) / sizeof(*ending_signals); i++)
		if (sigaction(ending_signals[i], NULL, &before) == 0 &&
		    before.sa_handler != SIG_IGN)
			sigaction(ending_signals[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/* No signal may come between a file's making and our knowing of it. */
static void hold_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ending_signals) / sizeof(*ending_signals); i++)
		sigaddset(&set, ending_signals[i]);
	sigprocmask(how, &set, NULL);
}

/* The first word that is no option, and no option's argument; NULL: none. */
static const char *first_word(int argc, const char **argv, const struct option_row *rows)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];

		if (*word != '-' || !word[1])
			return word;
		if (!strcmp(word, "--"))
			return i + 1 < argc ? argv[i + 1] : NULL;
		for (const struct option_row *row = rows; row->name; row++)
			if (row->kind != OPTION_FLAG &&
			    (word[1] == '-'
				 ? !strcmp(word + 2, row->name)
				 : row->letter && word[1] == row->letter && !word[2]))
				i++;
	}
	return NULL;
}

static char *make_versions(void)
{
	return mem_printf("with SQLite %s", timeline_library_version());
}

/* The program's own help, or that of an analysis if one is named. */
static enum options_status parse(struct request *request, struct text_list *words,
				 int argc, const char **argv, struct error *error)
{
	struct option_row rows[REQUEST_ROWS + 1];
	struct error ignored = ERROR_INIT;
	struct command command = {
	    .name = "ctanalyze", .usage = "[OPTION...] ANALYSIS TIMELINE", .rows = rows};
	const struct analysis *analysis = NULL;
	char *versions = make_versions(), *list, *summary, *name = NULL;
	struct catalog catalog;
	enum options_status status;
	bool is_help = false;
	const char *word;

	request_rows(request, rows, ~0u);
	word = first_word(argc, argv, rows);
	for (int i = 1; i < argc; i++)
		is_help |= !strcmp(argv[i], "--help") || !strcmp(argv[i], "-h");
	if (catalog_init(&catalog, &request->sql, error))
		return OPTIONS_WRONG;
	if (is_help && word)
		analysis = catalog_find(&catalog, word, &ignored);
	if (analysis) {
		request_rows(request, rows, analysis_heeds(analysis));
		name = mem_printf("ctanalyze %s", analysis->name);
		command.name = name;
		command.usage =
		    analysis->usage ? analysis->usage : "[OPTION...] TIMELINE";
		summary =
		    mem_printf("%s\n\n%s", analysis->summary, analysis->description);
	} else {
		list = catalog_text(&catalog);
		summary = mem_printf("answers from a timeline\n\nanalyses (ctanalyze "
				     "ANALYSIS --help tells more):\n%s",
				     list);
		free(list);
	}
	command.summary = summary;
	command.versions = versions;
	status = options_parse(&command, argc, argv, words, error);
	error_clear(&ignored);
	catalog_clear(&catalog);
	free(summary);
	free(name);
	free(versions);
	return status;
}

/* --group is one of the analysis's words. 0, or -1 with error. */
static int check_group(const struct analysis *analysis, const char *group,
		       struct error *error)
{
	char *all, *word, *rest;
	bool found = false;

	if (!group || !analysis->groups)
		return 0;
	all = mem_strdup(analysis->groups);
	for (word = strtok_r(all, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		found |= !strcmp(word, group);
	free(all);
	return found ? 0
		     : error_set(error, "--group: %s has no group '%s', want one of %s",
				 analysis->name, group, analysis->groups);
}

/* What the options say to this analysis. 0, or -1 with error: misuse. */
static int check_analysis(const struct analysis *analysis, const struct request *request,
			  struct error *error)
{
	const char *unheeded = request_unheeded(request, analysis_heeds(analysis));

	if (unheeded)
		return error_set(error,
				 "--%s means nothing to %s, see ctanalyze %s --help",
				 unheeded, analysis->name, analysis->name);
	if (request->forms & ~analysis->forms)
		return error_set(error, "%s has no such form, see ctanalyze %s --help",
				 analysis->name, analysis->name);
	return check_group(analysis, request->group, error);
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

static int write_result(const struct question *question, const struct result *result,
			struct output *output, struct error *error)
{
	print_result(question, result, output->file ? output->file : stdout);
	if (!output->file)
		return output_flush_stdout(error);
	hold_signals(SIG_BLOCK);
	return output_commit(output, error);
}

static int open_output(struct output *output, const char *path, struct error *error)
{
	int status;

	if (!path)
		return 0;
	hold_signals(SIG_BLOCK);
	status = output_open(output, path, error);
	if (!status && output->temporary &&
	    strlen(output->temporary) < sizeof(interrupted_file))
		memcpy(interrupted_file, output->temporary,
		       strlen(output->temporary) + 1);
	hold_signals(SIG_UNBLOCK);
	return status;
}

static enum exit_status ask(const struct analysis *analysis,
			    const struct request *request, const char *path,
			    struct error *error)
{
	struct question question;
	struct result result;
	struct output output = {0};
	int status = -1;

	if (question_open(&question, analysis, request, path, error))
		return EXIT_FAILED;
	result_init(&result, request);
	result.begin_ns = question.scope.begin_ns;
	result.end_ns = question.scope.end_ns;
	if (!open_output(&output, request->output, error) &&
	    !analysis->run(&question, &result, error) && !result_finish(&result, error)) {
		progress_end(&question.progress);
		status = write_result(&question, &result, &output, error);
		if (!status)
			tell_of_tables(request, &result);
	}
	output_discard(&output);
	result_clear(&result);
	question_close(&question);
	return status ? EXIT_FAILED : EXIT_DONE;
}

static enum exit_status run(const struct request *request, struct text_list *words,
			    struct error *error)
{
	struct text_list rest = {.count = words->count - 1, .item = words->item + 1};
	enum exit_status status = EXIT_MISUSE;
	const struct analysis *analysis;
	struct catalog catalog;

	if (catalog_init(&catalog, &request->sql, error))
		return EXIT_FAILED;
	analysis = catalog_find(&catalog, words->item[0], error);
	if (!analysis || check_analysis(analysis, request, error))
		status = EXIT_MISUSE;
	else if (analysis->act)
		status = (enum exit_status)analysis->act(analysis, request, &rest, error);
	else if (rest.count != 1)
		error_set(error, "%zu timelines given, want one (see --help)",
			  rest.count);
	else
		status = ask(analysis, request, rest.item[0], error);
	catalog_clear(&catalog);
	return status;
}

int main(int argc, const char **argv)
{
	struct request request;
	struct text_list words = {0};
	struct error error = ERROR_INIT;
	enum exit_status status = EXIT_DONE;

	catch_signals();
	request_init(&request);
	switch (parse(&request, &words, argc, argv, &error)) {
	case OPTIONS_SHOWN:
		if (output_flush_stdout(&error))
			status = EXIT_FAILED;
		break;
	case OPTIONS_WRONG:
		status = EXIT_MISUSE;
		break;
	case OPTIONS_GO:
		if (request_check(&request, &error))
			status = EXIT_MISUSE;
		else if (!words.count)
			status = error_set(&error, "no analysis given, want ANALYSIS "
						   "TIMELINE (see --help)")
				     ? EXIT_MISUSE
				     : EXIT_DONE;
		else
			status = run(&request, &words, &error);
		break;
	}
	if (error.text)
		fprintf(stderr, "ctanalyze: %s\n", error.text);
	error_clear(&error);
	text_list_clear(&words);
	request_clear(&request);
	return (int)status;
}
