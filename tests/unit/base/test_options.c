/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/options.h"

#include <stdbool.h>

#include "../scratch.h"

/* One option of each kind. */
struct targets {
	bool quiet;
	char *reference;
	struct text_list traces, rest;
	int jobs;
	double limit;
	struct text_list parts;
	int form;
	struct error error;
};

static void print_versions(FILE *file)
{
	fputs("library 1.2\n", file);
}

static int parse(struct targets *targets, const char **word)
{
	struct option_row rows[] = {
	    {'q', "quiet", OPTION_FLAG, &targets->quiet, NULL, "say less", 0, 0},
	    {'r', "reference", OPTION_STRING, &targets->reference, "NAME", "as the axis",
	     0, 0},
	    {'t', "trace", OPTION_LIST, &targets->traces, "PATH", "a trace", 0, 0},
	    {'j', "jobs", OPTION_INT, &targets->jobs, "N", "threads", 1, 64},
	    {0, "limit", OPTION_DOUBLE, &targets->limit, "PPM", "of the drift", 0.5, 1e4},
	    {0, "parts", OPTION_WORDS, &targets->parts, "PART,...", "of it", 0, 0},
	    {0},
	};
	struct option_row more_rows[] = {
	    {0, "form", OPTION_WORD, &targets->form, "FORM=text|json|csv", "how", 0, 0},
	    {0},
	};
	const struct command command = {.name = "tool",
					.usage = "[OPTION...] RUN",
					.summary = "does it",
					.versions = print_versions,
					.rows = rows,
					.more_rows = more_rows};
	const char *argv[16] = {"tool"};
	int argc = 1;

	memset(targets, 0, sizeof(*targets));
	while (*word)
		argv[argc++] = *word++;
	return options_parse(&command, argc, argv, &targets->rest, &targets->error);
}

static void clear(struct targets *targets)
{
	free(targets->reference);
	text_list_clear(&targets->traces);
	text_list_clear(&targets->rest);
	text_list_clear(&targets->parts);
	error_clear(&targets->error);
}

#define WORDS(...) ((const char *[]){__VA_ARGS__, NULL})

TEST(every_kind_is_set)
{
	struct targets targets;

	assert_int_equal(
	    parse(&targets, WORDS("-q", "--reference=n0", "-t", "a", "--trace", "b c",
				  "-j4", "--limit", "1e3", "run")),
	    OPTIONS_GO);
	assert_true(targets.quiet);
	assert_string_equal(targets.reference, "n0");
	assert_int_equal(targets.traces.count, 2);
	assert_string_equal(targets.traces.item[0], "a");
	assert_string_equal(targets.traces.item[1], "b c");
	assert_int_equal(targets.jobs, 4);
	assert_true(targets.limit == 1000);
	assert_int_equal(targets.rest.count, 1);
	assert_string_equal(targets.rest.item[0], "run");
	clear(&targets);
}

TEST(nothing_is_set_that_was_not_given)
{
	const char *none[] = {NULL};
	struct targets targets;

	assert_int_equal(parse(&targets, none), OPTIONS_GO);
	assert_false(targets.quiet);
	assert_null(targets.reference);
	assert_int_equal(targets.traces.count, 0);
	assert_int_equal(targets.jobs, 0);
	assert_int_equal(targets.rest.count, 0);
	clear(&targets);
}

TEST(words_are_taken_apart_or_chosen)
{
	struct targets targets;

	assert_int_equal(
	    parse(&targets, WORDS("--parts", ",a,,bc", "--parts=d", "--form", "csv")),
	    OPTIONS_GO);
	assert_int_equal(targets.parts.count, 3);
	assert_string_equal(targets.parts.item[0], "a");
	assert_string_equal(targets.parts.item[1], "bc");
	assert_string_equal(targets.parts.item[2], "d");
	assert_int_equal(targets.form, 2);
	clear(&targets);
	assert_int_equal(parse(&targets, WORDS("--parts", ",", "--form", "tex")),
			 EXIT_MISUSE);
	assert_int_equal(targets.parts.count, 1);
	assert_string_equal(targets.parts.item[0], "");
	assert_string_equal(error_text(&targets.error),
			    "--form: invalid value 'tex' (expected text, json or csv)");
	clear(&targets);
}

TEST(the_last_string_counts)
{
	struct targets targets;

	assert_int_equal(parse(&targets, WORDS("-r", "a", "-r", "b")), OPTIONS_GO);
	assert_string_equal(targets.reference, "b");
	clear(&targets);
}

TEST(words_behind_two_dashes_are_no_options)
{
	struct targets targets;

	assert_int_equal(parse(&targets, WORDS("a", "--", "-q", "--", "-x")), OPTIONS_GO);
	assert_false(targets.quiet);
	assert_int_equal(targets.rest.count, 4);
	assert_string_equal(targets.rest.item[0], "a");
	assert_string_equal(targets.rest.item[1], "-q");
	assert_string_equal(targets.rest.item[3], "-x");
	clear(&targets);
}

static void assert_wrong(const char *first, const char *second, const char *wanted)
{
	struct targets targets;

	assert_int_equal(parse(&targets, WORDS(first, second)), EXIT_MISUSE);
	assert_string_equal(error_text(&targets.error), wanted);
	clear(&targets);
}

TEST(misuse_is_explained)
{
	assert_wrong("--none", NULL, "--none: unknown option");
	assert_wrong("-x", NULL, "-x: unknown option");
	assert_wrong("-r", NULL, "-r: missing argument");
	assert_wrong("--trace", NULL, "--trace: missing argument");
}

TEST(numbers_are_checked)
{
	assert_wrong("-j", "0",
		     "--jobs: invalid value '0' (expected a whole number from 1 to 64)");
	assert_wrong("-j", "65",
		     "--jobs: invalid value '65' (expected a whole number from 1 to 64)");
	assert_wrong("-j", "-1",
		     "--jobs: invalid value '-1' (expected a whole number from 1 to 64)");
	assert_wrong(
	    "-j", "1.5",
	    "--jobs: invalid value '1.5' (expected a whole number from 1 to 64)");
	assert_wrong(
	    "-j", "four",
	    "--jobs: invalid value 'four' (expected a whole number from 1 to 64)");
	assert_wrong("-j", "4x",
		     "--jobs: invalid value '4x' (expected a whole number from 1 to 64)");
	assert_wrong("-j", "",
		     "--jobs: invalid value '' (expected a whole number from 1 to 64)");
	assert_wrong(
	    "--limit", "0.4",
	    "--limit: invalid value '0.4' (expected a number from 0.5 to 10000)");
	assert_wrong(
	    "--limit", "nan",
	    "--limit: invalid value 'nan' (expected a number from 0.5 to 10000)");
	assert_wrong(
	    "--limit", "inf",
	    "--limit: invalid value 'inf' (expected a number from 0.5 to 10000)");
	assert_wrong(
	    "--limit", "1e999",
	    "--limit: invalid value '1e999' (expected a number from 0.5 to 10000)");
}

TEST(the_first_wrong_option_stops)
{
	struct targets targets;

	assert_int_equal(parse(&targets, WORDS("-t", "a", "-j", "0", "-q", "run")),
			 EXIT_MISUSE);
	assert_int_equal(targets.traces.count, 1);
	assert_false(targets.quiet);
	assert_int_equal(targets.rest.count, 0);
	clear(&targets);
}

/* Return what is printed to standard output. The caller frees it. */
static char *printed(const char *word)
{
	int back = dup(STDOUT_FILENO), fd = open("printed", O_CREAT | O_RDWR, 0600);
	struct targets targets;

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	assert_int_equal(parse(&targets, WORDS(word, "-j", "0")), EXIT_DONE);
	fflush(stdout);
	dup2(back, STDOUT_FILENO);
	close(back);
	close(fd);
	clear(&targets);
	return scratch_read("printed", NULL);
}

SCRATCH_TEST(help_shows_every_row)
{
	static const char *const wanted[] = {
	    "tool: does it\n", "[OPTION...] RUN", "-q, --quiet",
	    "say less",        "-r, --reference", "NAME",
	    "-j, --jobs=N",    "--limit=PPM",     "--parts=PART,...",
	    "--form=FORM",     "-h, --help",      "-V, --version"};
	char *text;

	for (int k = 0; k < 2; k++) {
		text = printed(k ? "--help" : "-h");
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
			assert_non_null(strstr(text, wanted[i]));
		free(text);
		remove("printed");
	}
}

SCRATCH_TEST(version_names_the_libraries)
{
	char *text = printed("--version");

	assert_memory_equal(text, "tool (clustertrace) ", 20);
	assert_non_null(strstr(text, "\nlibrary 1.2\n"));
	free(text);
}

TEST(what_came_of_it_is_an_exit_status)
{
	struct error error = ERROR_INIT;

	assert_int_equal(program_end("tool", EXIT_DONE, &error), 0);
	assert_int_equal(program_end("tool", EXIT_NOT_TIED, &error), 3);
	assert_int_equal(program_end("tool", -1, &error), 1);
	assert_int_equal(program_end("tool", error_set(&error, "x"), &error), 1);
	assert_int_equal(program_end("tool", error_misuse(&error, "x"), &error), 2);
	assert_null(error.text);
}
