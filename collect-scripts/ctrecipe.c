/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctrecipe: reads and checks recipes, and prints them line by line. */
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
#include "base/version.h"
#include "input/recipe/command.h"
#include "input/recipe/plan.h"
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
     "plan, json: only this point of the parameters", 1, RECIPE_MOST_POINTS},
    {0, "run", OPTION_STRING, &options.run, "NAME",
     "plan, json: the name of the run directory, for %(run)s", 0, 0},
    {0},
};

static void print_versions(FILE *file)
{
	AUTOFREE char *yaml = recipe_library_version();

	fprintf(file, "with %s, jansson %s\n", yaml, json_library_version());
}

static const struct command command = {
    .name = "ctrecipe",
    .usage = "validate|points|nodes|plan|json RECIPE | init|sensors|events",
    .summary = "check a recipe of ctcollect, or print it line by line",
    .versions = print_versions,
    .rows = rows,
};

static void print_summary(struct bytes *out, const struct recipe *recipe)
{
	const struct recipe_value *executes = recipe_get(recipe, "execute");

	bytes_print(out, "%s: %s, nodes: %zu, roles: %zu, commands: %zu, points: %zu\n",
		    options.words.item[1], recipe_text(&recipe->checked, "name"),
		    recipe->nodes.count, recipe->roles.count - 1,
		    executes ? executes->count : 0, recipe_points(recipe));
}

static void print_sensors(struct bytes *out, const struct recipe_value *all)
{
	for (size_t i = 0; i < all->count; i++)
		bytes_print(out, "%-14s every %3s s  %s\n", all->entry[i].key,
			    recipe_text(&all->entry[i].value, "interval"),
			    recipe_text(&all->entry[i].value, "help"));
}

static void print_events(struct bytes *out, const struct recipe_value *all)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct recipe_value *preset = &all->entry[i].value;
		const struct recipe_value *names[] = {
		    recipe_value_find(preset, "required"),
		    recipe_value_find(preset, "optional")};

		bytes_print(out, "%s: %s\n", all->entry[i].key,
			    recipe_text(preset, "help"));
		for (size_t is_optional = 0; is_optional < 2; is_optional++)
			for (size_t k = 0; k < names[is_optional]->count; k++)
				bytes_print(out, "  %s%s\n",
					    names[is_optional]->entry[k].value.text,
					    is_optional ? "" : " (needed)");
	}
}

enum { POINT = 1, RUN = 2, OUTPUT = 4 };

/* The subcommands up to JSON have a recipe as argument. */
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
	const char *wanted = options.words.count ? options.words.item[0] : NULL;
	const char *names[SUBCOMMANDS];

	for (size_t i = 0; i < SUBCOMMANDS; i++) {
		names[i] = subcommands[i].name;
		if (wanted && strcmp(names[i], wanted) == 0)
			return &subcommands[i];
	}
	if (wanted)
		error_unknown_word(error, "unknown subcommand", wanted, names,
				   SUBCOMMANDS, NULL);
	else
		error_misuse(error, "missing subcommand (see --help)");
	return NULL;
}

static int check_options(const struct subcommand *asked, struct error *error)
{
	int given = (options.point ? POINT : 0) | (options.run ? RUN : 0) |
		    (options.output ? OUTPUT : 0);
	int extra = given & ~asked->options;

	if (asked->id <= JSON && options.words.count != 2)
		return error_misuse(error, "%s: expected one RECIPE", asked->name);
	if (asked->id > JSON && options.words.count != 1)
		return error_misuse(error, "%s: '%s' is too much", asked->name,
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
		utf8_print(stderr, errors->item[i].location.file);
		if (errors->item[i].location.line)
			fprintf(stderr, ":%zu", errors->item[i].location.line);
		fputs(": ", stderr);
		utf8_print(stderr, errors->item[i].text);
		fputc('\n', stderr);
	}
}

static int print_recipe(int id, const struct recipe *recipe, struct bytes *out,
			struct error *error)
{
	size_t point = options.point ? (size_t)options.point - 1 : 0;
	size_t points = recipe_points(recipe);

	if (point >= points)
		return error_misuse(
		    error, "--point: invalid value %d (expected a number up to %zu)",
		    options.point, points);
	if (id == VALIDATE)
		print_summary(out, recipe);
	for (; id == POINTS && point < points; point++)
		recipe_print_point(recipe, point, out);
	if (id == NODES)
		recipe_print_nodes(recipe, out);
	if (id == JSON)
		recipe_print_json(recipe, point, options.run, out);
	return id == PLAN ? recipe_print_plan(recipe, point, options.run, out) : 0;
}

static int print_any(int id, struct bytes *out, struct error *error)
{
	struct recipe_errors errors = {0};
	struct recipe_value known;
	struct recipe recipe;
	int status = 0;

	if (id == INIT) {
		bytes_add_text(out, starter_recipe);
	} else if (id > JSON) {
		recipe_known(&known);
		if (id == SENSORS)
			print_sensors(out, recipe_value_find(&known, "sensors"));
		else
			print_events(out, recipe_value_find(&known, "events"));
		recipe_value_clear(&known);
	} else {
		status = recipe_read(&recipe, options.words.item[1], &errors);
		if (status == 0)
			status = print_recipe(id, &recipe, out, error);
		print_errors(&errors);
		recipe_clear(&recipe);
		recipe_errors_clear(&errors);
	}
	return status;
}

static int write_new_file(const char *path, const struct bytes *text, struct error *error)
{
	struct output output;

	if (access(path, F_OK) == 0)
		return error_set(error, "%s: already exists", path);
	if (output_open(&output, path, error))
		return -1;
	fwrite(text->data, 1, text->size, output.file);
	return output_commit(&output, error);
}

/* All into memory first, so that nothing is printed of what fails. */
static int ctrecipe_main(struct error *error)
{
	const struct subcommand *asked = find_subcommand(error);
	struct bytes text = {0};
	int status;

	if (!asked || check_options(asked, error))
		return -1;
	if (!CT_HAVE_YAML)
		return error_set(error, "%s", CT_WITHOUT("libyaml", "libyaml-dev"));
	status = print_any(asked->id, &text, error);
	if (status == 0 && options.output)
		status = write_new_file(options.output, &text, error);
	else if (status == 0)
		fwrite(text.data, 1, text.size, stdout);
	bytes_clear(&text);
	return status;
}

int main(int argc, const char **argv)
{
	struct error error = ERROR_INIT;
	int status;

	output_catch_signals();
	status = options_parse(&command, argc, argv, &options.words, &error);
	if (status == OPTIONS_GO)
		status = ctrecipe_main(&error);
	return program_end("ctrecipe", status, &error);
}
