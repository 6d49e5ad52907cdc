/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctrecipe: reads and checks recipes, and hands them on as plain lines. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/near.h"
#include "base/options.h"
#include "base/output.h"
#include "base/utf8.h"
#include "collect-scripts/facts.h"
#include "collect-scripts/plan.h"
#include "collect-scripts/starter.h"
#include "input/recipe/command.h"
#include "input/recipe/presets.h"

enum exit_status { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_MISUSE = 2 };

struct request {
	struct text_list words; /* the subcommand and the recipe */
	char *output, *run;
	int point;
};

static enum options_status parse(struct request *request, int argc, const char **argv,
				 struct error *error)
{
	struct option_row rows[] = {
	    {'o', "output", OPTION_STRING, &request->output, "FILE",
	     "init: write to FILE, which must not exist", 0, 0},
	    {0, "point", OPTION_INT, &request->point, "N",
	     "plan, json: of this point of the parameters", 1, RECIPE_MOST_POINTS},
	    {0, "run", OPTION_STRING, &request->run, "NAME",
	     "plan, json: the run directory's name, for %(run)s", 0, 0},
	    {0},
	};
	char *versions = mem_printf("with libyaml %s, jansson %s",
				    recipe_library_version(), json_library_version());
	struct command command = {
	    .name = "ctrecipe",
	    .usage = "validate|points|nodes|plan|json RECIPE | init|sensors|events",
	    .summary = "check a recipe of ctcollect, or print it as plain lines",
	    .versions = versions,
	    .rows = rows,
	};
	enum options_status status;

	status = options_parse(&command, argc, argv, &request->words, error);
	free(versions);
	return status;
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static int print_summary(const struct request *request, const struct recipe *recipe,
			 struct error *error)
{
	size_t points = recipe_points(recipe);

	(void)error;
	printf("%s: %s, %zu node%s, %zu role%s, %zu command%s, %zu point%s\n",
	       request->words.item[1], recipe->name, recipe->nodes, plural(recipe->nodes),
	       recipe->roles - 1, plural(recipe->roles - 1), recipe->executes,
	       plural(recipe->executes), points, plural(points));
	return 0;
}

static int print_points(const struct request *request, const struct recipe *recipe,
			struct error *error)
{
	(void)request;
	(void)error;
	plan_print_points(recipe, stdout);
	return 0;
}

static int print_nodes(const struct request *request, const struct recipe *recipe,
		       struct error *error)
{
	(void)request;
	(void)error;
	plan_print_nodes(recipe, stdout);
	return 0;
}

/* The point that was asked for, from 0; -1 with error. */
static int pick_point(const struct request *request, const struct recipe *recipe,
		      size_t *point, struct error *error)
{
	size_t points = recipe_points(recipe);

	*point = request->point ? (size_t)request->point - 1 : 0;
	if (*point < points)
		return 0;
	return error_misuse(error, "--point %d: %s has %zu point%s", request->point,
			    request->words.item[1], points, plural(points));
}

/* Into memory first, so that nothing is printed of what fails. */
static int print_plan(const struct request *request, const struct recipe *recipe,
		      struct error *error)
{
	struct plan plan = {.recipe = recipe, .run = request->run};
	char *text = NULL;
	size_t size = 0;
	FILE *file;
	int status;

	if (pick_point(request, recipe, &plan.point, error))
		return -1;
	file = open_memstream(&text, &size);
	if (!file)
		return error_errno(error, "memory");
	status = plan_print(&plan, file, error);
	if (fclose(file) && status == 0)
		status = error_errno(error, "memory");
	if (status == 0)
		fwrite(text, 1, size, stdout);
	free(text);
	return status;
}

static int print_json(const struct request *request, const struct recipe *recipe,
		      struct error *error)
{
	size_t point;
	char *text;

	if (pick_point(request, recipe, &point, error))
		return -1;
	text = facts_of_point(recipe, point, request->run);
	puts(text);
	free(text);
	return 0;
}

static int print_sensors(const struct request *request, struct error *error)
{
	(void)request;
	(void)error;
	for (const struct recipe_sensor_preset *preset = recipe_sensor_presets;
	     preset->name; preset++)
		printf("%-14s every %3lld s  %s\n", preset->name,
		       (long long)(preset->interval_ms / 1000), preset->help);
	return 0;
}

static int print_events(const struct request *request, struct error *error)
{
	(void)request;
	(void)error;
	for (const struct recipe_preset *preset = recipe_presets; preset->name;
	     preset++) {
		const struct recipe_preset_event *row = recipe_preset_events;

		printf("%s: %s\n", preset->name, preset->help);
		for (; row->name; row++)
			if (strcmp(row->preset, preset->name) == 0)
				printf("  %s%s\n", row->name,
				       row->required ? " (needed)" : "");
	}
	return 0;
}

static int write_starter(const struct request *request, struct error *error)
{
	struct output output;

	if (!request->output) {
		fputs(starter_recipe, stdout);
		return 0;
	}
	if (access(request->output, F_OK) == 0)
		return error_set(error, "%s: it exists, want a new file",
				 request->output);
	if (output_open(&output, request->output, error))
		return -1;
	fputs(starter_recipe, output.file);
	return output_commit(&output, error);
}

/* What each subcommand does: with a recipe, or without. */
static const struct subcommand {
	const char *name;
	int (*with)(const struct request *request, const struct recipe *recipe,
		    struct error *error);
	int (*without)(const struct request *request, struct error *error);
	bool takes_point, takes_run, takes_output;
} subcommands[] = {
    {"validate", print_summary, NULL, false, false, false},
    {"points", print_points, NULL, false, false, false},
    {"nodes", print_nodes, NULL, false, false, false},
    {"plan", print_plan, NULL, true, true, false},
    {"json", print_json, NULL, true, true, false},
    {"init", NULL, write_starter, false, false, true},
    {"sensors", NULL, print_sensors, false, false, false},
    {"events", NULL, print_events, false, false, false},
};

enum { SUBCOMMANDS = sizeof(subcommands) / sizeof(*subcommands) };

static const struct subcommand *find_subcommand(const struct request *request,
						struct error *error)
{
	const char *names[SUBCOMMANDS], *near;

	if (request->words.count == 0) {
		error_set(error, "no subcommand, want one of those that --help shows");
		return NULL;
	}
	for (size_t i = 0; i < SUBCOMMANDS; i++) {
		names[i] = subcommands[i].name;
		if (strcmp(names[i], request->words.item[0]) == 0)
			return &subcommands[i];
	}
	near = near_find(request->words.item[0], names, SUBCOMMANDS);
	error_set(error, "no subcommand '%s', %s%s", request->words.item[0],
		  near ? "is it meant to be " : "want one of those that --help shows",
		  near ? near : "");
	return NULL;
}

static int check_request(const struct request *request, const struct subcommand *command,
			 struct error *error)
{
	if (command->with && request->words.count != 2)
		return error_set(error, "%s: want one RECIPE", command->name);
	if (!command->with && request->words.count != 1)
		return error_set(error, "%s: '%s' is too much", command->name,
				 request->words.item[1]);
	if (request->point && !command->takes_point)
		return error_misuse(error, "--point does not go with %s", command->name);
	if (request->run && !command->takes_run)
		return error_misuse(error, "--run does not go with %s", command->name);
	if (request->output && !command->takes_output)
		return error_misuse(error, "--output does not go with %s", command->name);
	if (request->run &&
	    (!recipe_value_is_plain(request->run) || strchr(request->run, '/')))
		return error_misuse(error,
				    "--run '%s' is not the name of a run's directory",
				    request->run);
	return 0;
}

static void print_mistakes(const struct recipe_mistakes *mistakes)
{
	for (size_t i = 0; i < mistakes->count; i++) {
		const struct recipe_mistake *mistake = &mistakes->item[i];

		utf8_print(stderr, mistake->place.file);
		if (mistake->place.line)
			fprintf(stderr, ":%zu", mistake->place.line);
		fputs(": ", stderr);
		utf8_print(stderr, mistake->text);
		fputc('\n', stderr);
	}
}

static int run(const struct request *request, const struct subcommand *command,
	       struct error *error)
{
	struct recipe_mistakes mistakes = {0};
	struct recipe recipe;
	int status;

	if (command->without)
		return command->without(request, error);
	status = recipe_read(&recipe, request->words.item[1], &mistakes);
	print_mistakes(&mistakes);
	if (status == 0) {
		status = command->with(request, &recipe, error);
		recipe_clear(&recipe);
	}
	recipe_mistakes_clear(&mistakes);
	return status;
}

static enum exit_status act(const struct request *request, struct error *error)
{
	const struct subcommand *command = find_subcommand(request, error);

	if (!command || check_request(request, command, error))
		return EXIT_MISUSE;
	return run(request, command, error) ? EXIT_FAILED : EXIT_DONE;
}

static void clear_request(struct request *request)
{
	text_list_clear(&request->words);
	free(request->output);
	free(request->run);
}

int main(int argc, const char **argv)
{
	struct request request = {0};
	struct error error = ERROR_INIT;
	enum exit_status status = EXIT_DONE;

	output_catch_signals();
	switch (parse(&request, argc, argv, &error)) {
	case OPTIONS_SHOWN:
		break;
	case OPTIONS_WRONG:
		status = EXIT_MISUSE;
		break;
	case OPTIONS_GO:
		status = act(&request, &error);
		break;
	}
	if (status == EXIT_DONE && output_flush_stdout(&error))
		status = EXIT_FAILED;
	if (error.misuse)
		status = EXIT_MISUSE;
	error_tell(&error, "ctrecipe", stderr);
	clear_request(&request);
	return (int)status;
}
