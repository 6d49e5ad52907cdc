/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctrecipe: reads and checks recipes, and hands them on as plain lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/options.h"
#include "base/output.h"
#include "base/utf8.h"
#include "input/recipe/recipe.h"

/* starter.yaml, by the build: a recipe with comments to start from. */
extern const char starter_recipe[];

static struct {
	struct text_list words; /* the subcommand and the recipe */
	char *output, *run;
	int point;
} options;

static const struct option_row rows[] = {
    {'o', "output", OPTION_STRING, &options.output, "FILE",
     "init: write to FILE, which must not exist", 0, 0},
    {0, "point", OPTION_INT, &options.point, "N",
     "plan, json: of this point of the parameters", 1, RECIPE_MOST_POINTS},
    {0, "run", OPTION_STRING, &options.run, "NAME",
     "plan, json: the run directory's name, for %(run)s", 0, 0},
    {0},
};

static void print_versions(FILE *file)
{
	fprintf(file, "with libyaml %s, jansson %s\n", recipe_library_version(),
		json_library_version());
}

static const struct command command = {
    .name = "ctrecipe",
    .usage = "validate|points|nodes|plan|json RECIPE | init|sensors|events",
    .summary = "check a recipe of ctcollect, or print it as plain lines",
    .versions = print_versions,
    .rows = rows,
};

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static void print_summary(struct bytes *out, const char *path,
			  const struct recipe *recipe)
{
	const struct recipe_value *executes = recipe_get(recipe, "execute");
	size_t points = recipe_points(recipe), nodes = recipe->nodes.count;
	size_t roles = recipe->roles.count - 1, commands = executes ? executes->count : 0;

	bytes_print(out, "%s: %s, %zu node%s, %zu role%s, %zu command%s, %zu point%s\n",
		    path, recipe_text(&recipe->checked, "name"), nodes, plural(nodes),
		    roles, plural(roles), commands, plural(commands), points,
		    plural(points));
}

static void print_sensors(const struct recipe_value *known)
{
	const struct recipe_value *all = recipe_value_find(known, "sensors");

	for (size_t i = 0; i < all->count; i++)
		printf("%-14s every %3s s  %s\n", all->entry[i].key,
		       recipe_text(&all->entry[i].value, "interval"),
		       recipe_text(&all->entry[i].value, "help"));
}

static void list_events(const struct recipe_value *names, const char *mark)
{
	for (size_t i = 0; names && i < names->count; i++)
		printf("  %s%s\n", names->entry[i].value.text, mark);
}

static void print_events(const struct recipe_value *known)
{
	const struct recipe_value *all = recipe_value_find(known, "events");

	for (size_t i = 0; i < all->count; i++) {
		const struct recipe_value *preset = &all->entry[i].value;

		printf("%s: %s\n", all->entry[i].key, recipe_text(preset, "help"));
		list_events(recipe_value_find(preset, "required"), " (needed)");
		list_events(recipe_value_find(preset, "optional"), "");
	}
}

static int write_starter(struct error *error)
{
	struct output output;

	if (!options.output) {
		fputs(starter_recipe, stdout);
		return 0;
	}
	if (access(options.output, F_OK) == 0)
		return error_set(error, "%s: it exists, want a new file", options.output);
	if (output_open(&output, options.output, error))
		return -1;
	fputs(starter_recipe, output.file);
	return output_commit(&output, error);
}

enum { POINT = 1, RUN = 2, OUTPUT = 4 };

/* Those up to JSON take a recipe. */
static const struct subcommand {
	const char *name;
	enum { VALIDATE, POINTS, NODES, PLAN, JSON, INIT, SENSORS, EVENTS } id;
	int options;
} subcommands[] = {
    {"validate", VALIDATE, 0},   {"points", POINTS, 0},       {"nodes", NODES, 0},
    {"plan", PLAN, POINT | RUN}, {"json", JSON, POINT | RUN}, {"init", INIT, OUTPUT},
    {"sensors", SENSORS, 0},     {"events", EVENTS, 0},
};

enum { SUBCOMMANDS = sizeof(subcommands) / sizeof(*subcommands) };

static const struct subcommand *find_subcommand(struct error *error)
{
	const char *names[SUBCOMMANDS], *near;

	if (options.words.count == 0) {
		error_set(error, "no subcommand, want one of those that --help shows");
		return NULL;
	}
	for (size_t i = 0; i < SUBCOMMANDS; i++) {
		names[i] = subcommands[i].name;
		if (strcmp(names[i], options.words.item[0]) == 0)
			return &subcommands[i];
	}
	near = near_find(options.words.item[0], names, SUBCOMMANDS);
	error_set(error, "no subcommand '%s', %s%s", options.words.item[0],
		  near ? "is it meant to be " : "want one of those that --help shows",
		  near ? near : "");
	return NULL;
}

static int check_request(const struct subcommand *asked, struct error *error)
{
	int given = (options.point ? POINT : 0) | (options.run ? RUN : 0) |
		    (options.output ? OUTPUT : 0);
	int extra = given & ~asked->options;

	if (asked->id <= JSON && options.words.count != 2)
		return error_set(error, "%s: want one RECIPE", asked->name);
	if (asked->id > JSON && options.words.count != 1)
		return error_set(error, "%s: '%s' is too much", asked->name,
				 options.words.item[1]);
	if (extra)
		return error_misuse(error, "--%s does not go with %s",
				    extra & POINT ? "point"
				    : extra & RUN ? "run"
						  : "output",
				    asked->name);
	if (options.run &&
	    (!bytes_are_shell_word(options.run) || strchr(options.run, '/')))
		return error_misuse(error,
				    "--run '%s' is not the name of a run's directory",
				    options.run);
	return 0;
}

static void print_errors(const struct recipe_errors *errors)
{
	for (size_t i = 0; i < errors->count; i++) {
		utf8_print(stderr, errors->item[i].location.file->name);
		if (errors->item[i].location.line)
			fprintf(stderr, ":%zu", errors->item[i].location.line);
		fputs(": ", stderr);
		utf8_print(stderr, errors->item[i].text);
		fputc('\n', stderr);
	}
}

/* All into memory first, so that nothing is printed of what fails. */
static int print_recipe(int id, const struct recipe *recipe, struct error *error)
{
	size_t point = options.point ? (size_t)options.point - 1 : 0;
	size_t points = recipe_points(recipe);
	struct bytes text = {0};
	int status = 0;

	if (point >= points)
		return error_misuse(error, "--point %d: %s has %zu point%s",
				    options.point, options.words.item[1], points,
				    plural(points));
	if (id == VALIDATE)
		print_summary(&text, options.words.item[1], recipe);
	for (; id == POINTS && point < points; point++)
		recipe_print_point(recipe, point, &text);
	if (id == NODES)
		recipe_print_nodes(recipe, &text);
	if (id == PLAN)
		status = recipe_print_plan(recipe, point, options.run, &text, error);
	if (id == JSON)
		recipe_print_json(recipe, point, options.run, &text);
	if (status == 0)
		fwrite(text.data, 1, text.size, stdout);
	bytes_clear(&text);
	return status;
}

static int run(int id, struct error *error)
{
	struct recipe_errors errors = {0};
	struct recipe_value known;
	struct recipe recipe;
	int status;

	if (id == INIT)
		return write_starter(error);
	if (id > JSON) {
		recipe_known(&known);
		(id == SENSORS ? print_sensors : print_events)(&known);
		recipe_value_clear(&known);
		return 0;
	}
	status = recipe_read(&recipe, options.words.item[1], &errors);
	print_errors(&errors);
	if (status == 0) {
		status = print_recipe(id, &recipe, error);
		recipe_clear(&recipe);
	}
	recipe_errors_clear(&errors);
	return status;
}

int main(int argc, const char **argv)
{
	const struct subcommand *asked;
	struct error error = ERROR_INIT;
	int status;

	output_catch_signals();
	status = options_parse(&command, argc, argv, &options.words, &error);
	if (status == OPTIONS_GO) {
		asked = find_subcommand(&error);
		status = !asked || check_request(asked, &error) ? EXIT_MISUSE
								: run(asked->id, &error);
	}
	return program_end("ctrecipe", status, &error);
}
