/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether every %(key)s of every command has a value that can stand there. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/recipe/private.h"
#include "input/recipe/scope.h"
#include "input/recipe/template.h"

struct checked {
	struct recipe_reader *reader;
	const char *what; /* "execute" */
	enum recipe_scope_kind kind;
	const struct recipe_tasks *tasks; /* of SCOPE_TASK */
};

/* A value that must not stand within quotes, or NULL. */
static const char *value_to_quote(const struct checked *checked, const char *key)
{
	const struct recipe *recipe = checked->reader->recipe;

	for (size_t i = 0; i < recipe->parameters; i++) {
		const struct text_list *values = &recipe->parameter[i].values;

		if (strcmp(recipe->parameter[i].key, key) != 0)
			continue;
		for (size_t k = 0; k < values->count; k++)
			if (!recipe_value_is_plain(values->item[k]))
				return values->item[k];
	}
	/* What a pattern will find is not known. */
	if (checked->kind != SCOPE_TASK || strcmp(key, "input") != 0)
		return NULL;
	for (size_t i = 0; i < checked->tasks->inputs.count; i++)
		if (!recipe_value_is_plain(checked->tasks->inputs.item[i]))
			return checked->tasks->inputs.item[i];
	return checked->tasks->pattern;
}

static bool is_defined(const struct checked *checked, const char *key)
{
	const struct recipe *recipe = checked->reader->recipe;

	for (size_t i = 0; i < recipe->parameters; i++)
		if (strcmp(recipe->parameter[i].key, key) == 0)
			return true;
	return recipe_scope_has(recipe, checked->kind, key);
}

static void undefined(const struct checked *checked, struct recipe_place place,
		      const char *key)
{
	static const char *const instead[] = {
	    [SCOPE_NODE] = "it is for tasks only",
	    [SCOPE_LOCAL] = "the command runs on this machine, for no node",
	    [SCOPE_TASK] = "the node of a task is chosen later",
	};
	struct recipe_mistakes *mistakes = checked->reader->mistakes;
	const char *near = recipe_scope_near(checked->reader->recipe, key);

	if (recipe_is_builtin(key))
		recipe_mistake_add(mistakes, place, "%s: %%(%s)s has no value here: %s",
				   checked->what, key, instead[checked->kind]);
	else
		recipe_mistake_add(mistakes, place, "%s: %%(%.60s)s is no parameter%s%s",
				   checked->what, key, near ? ", is it meant to be " : "",
				   near ? near : "");
}

static void check_placeholder(const struct checked *checked, struct recipe_place place,
			      const struct recipe_placeholder *placeholder)
{
	struct recipe_mistakes *mistakes = checked->reader->mistakes;
	const char *key = placeholder->key, *value;

	if (placeholder->conversion != 's') {
		recipe_mistake_add(
		    mistakes, place,
		    "%s: %%(%.60s) without an s behind it, want %%(%.60s)s, "
		    "or %%%%( for these characters themselves",
		    checked->what, key, key);
		return;
	}
	if (!is_defined(checked, key)) {
		undefined(checked, place, key);
		return;
	}
	if (placeholder->spoilt) {
		recipe_mistake_add(mistakes, place,
				   "%s: %%(%s)s stands right after a $ or \\, want it "
				   "elsewhere",
				   checked->what, key);
		return;
	}
	value = placeholder->bare ? NULL : value_to_quote(checked, key);
	if (value)
		recipe_mistake_add(mistakes, place,
				   "%s: %%(%s)s stands within quotes or the like, where "
				   "'%.60s' cannot be kept one word, want it outside of "
				   "them",
				   checked->what, key, value);
}

static void check_command(const struct checked *checked,
			  const struct recipe_command *command)
{
	struct recipe_placeholder placeholder;
	struct recipe_template scan;

	if (!command->text)
		return;
	recipe_template_begin(&scan, command->text);
	while (recipe_template_next(&scan, &placeholder)) {
		if (placeholder.key)
			check_placeholder(checked, command->place, &placeholder);
		free(placeholder.key);
	}
}

void recipe_check_commands(struct recipe_reader *reader)
{
	const struct recipe *recipe = reader->recipe;
	struct checked checked = {.reader = reader, .what = "execute"};

	for (size_t i = 0; i < recipe->executes; i++) {
		const struct recipe_execute *execute = &recipe->execute[i];

		checked.kind = execute->method == RECIPE_LOCAL ? SCOPE_LOCAL : SCOPE_NODE;
		check_command(&checked, &execute->command);
		recipe_check_role_names(reader, "execute", &execute->roles,
					execute->command.place);
	}
	checked.what = "sensors";
	checked.kind = SCOPE_NODE;
	for (size_t i = 0; i < recipe->sensors; i++) {
		const struct recipe_sensor *sensor = &recipe->sensor[i];

		if (!sensor->preset)
			check_command(&checked, &sensor->command);
		recipe_check_role_names(reader, "sensors", &sensor->roles, sensor->place);
	}
	checked.what = "tasks";
	checked.kind = SCOPE_TASK;
	for (size_t i = 0; i < recipe->task_queues; i++) {
		checked.tasks = &recipe->tasks[i];
		check_command(&checked, &recipe->tasks[i].command);
		recipe_check_role_names(reader, "tasks", &recipe->tasks[i].roles,
					recipe->tasks[i].command.place);
	}
}
