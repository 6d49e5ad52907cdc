/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runs while nodes are watched: commands, their parameters, queues of tasks. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/recipe/command.h"
#include "input/recipe/names.h"
#include "input/recipe/private.h"

#define COUNT(fields) (sizeof(fields) / sizeof(*(fields)))

static const char *const methods[] = {"foreground", "background", "local", NULL};

static const struct recipe_field execute_fields[] = {
    FIELD("command", COMMAND, struct recipe_execute, command),
    FIELD("roles", LIST, struct recipe_execute, roles),
    FIELD("method", WORD, struct recipe_execute, method, .words = methods),
    FIELD("timeout", DURATION, struct recipe_execute, timeout_ms),
    FIELD("use_sudo", BOOL, struct recipe_execute, sudo),
};

static void read_execute(struct recipe_reader *reader, const struct recipe_value *value)
{
	struct recipe *recipe = reader->recipe;
	struct recipe_execute *execute;

	recipe->execute = mem_grow(recipe->execute, recipe->executes,
				   &recipe->execute_room, sizeof(*recipe->execute));
	execute = &recipe->execute[recipe->executes++];
	memset(execute, 0, sizeof(*execute));
	execute->command.place = value->place;
	if (!recipe_map(reader, "execute", value, execute_fields, COUNT(execute_fields),
			execute))
		return;
	if (!recipe_value_has(value, "command"))
		recipe_mistake_add(reader->mistakes, value->place,
				   "execute: no command, want one");
	if (execute->method == RECIPE_LOCAL && execute->roles.count > 0)
		recipe_mistake_add(reader->mistakes, value->place,
				   "execute: method local runs on this machine, want no "
				   "roles with it");
}

void recipe_read_execute(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, void *target)
{
	(void)target;
	if (value->kind != RECIPE_LIST) {
		recipe_want(reader, key, value, "a list of maps, each with a command");
		return;
	}
	for (size_t i = 0; i < value->count; i++)
		read_execute(reader, &value->entry[i].value);
}

static void add_value(struct recipe_reader *reader, struct recipe_parameter *parameter,
		      const struct recipe_value *value)
{
	size_t count = parameter->values.count;

	if (value->kind != RECIPE_TEXT) {
		recipe_want(reader, parameter->key, value, "a value or a list of values");
		return;
	}
	if (recipe_list_has(&parameter->values, value->text)) {
		recipe_mistake_add(reader->mistakes, value->place,
				   "parameters: %s has the value '%.60s' twice",
				   parameter->key, value->text);
		return;
	}
	if (strlen(value->text) > 4096) {
		recipe_mistake_add(reader->mistakes, value->place,
				   "parameters: %s has a value of %zu bytes, want up to "
				   "4096",
				   parameter->key, strlen(value->text));
		return;
	}
	text_list_add(&parameter->values, value->text);
	parameter->plain =
	    mem_realloc(parameter->plain, count + 1, sizeof(*parameter->plain));
	parameter->plain[count] = value->plain;
}

static void read_parameter(struct recipe_reader *reader, const struct recipe_entry *entry)
{
	struct recipe *recipe = reader->recipe;
	const char *wanted = recipe_check_key(entry->key);
	struct recipe_parameter *parameter;

	if (recipe_is_builtin(entry->key))
		wanted = "another name: commands get this one by themselves";
	if (wanted) {
		recipe_mistake_add(reader->mistakes, entry->place,
				   "parameters: the name is '%.60s', want %s", entry->key,
				   wanted);
		return;
	}
	recipe->parameter = mem_grow(recipe->parameter, recipe->parameters,
				     &recipe->parameter_room, sizeof(*recipe->parameter));
	parameter = &recipe->parameter[recipe->parameters++];
	memset(parameter, 0, sizeof(*parameter));
	parameter->key = mem_strdup(entry->key);
	parameter->place = entry->place;
	if (entry->value.kind != RECIPE_LIST)
		add_value(reader, parameter, &entry->value);
	for (size_t i = 0; entry->value.kind == RECIPE_LIST && i < entry->value.count;
	     i++)
		add_value(reader, parameter, &entry->value.entry[i].value);
	if (entry->value.kind == RECIPE_LIST && entry->value.count == 0)
		recipe_mistake_add(reader->mistakes, entry->place,
				   "parameters: %s has no value, want at least one",
				   entry->key);
}

void recipe_read_parameters(struct recipe_reader *reader, const char *key,
			    const struct recipe_value *value, void *target)
{
	(void)target;
	if (value->kind != RECIPE_MAP)
		recipe_want(reader, key, value, "a map of names, each with its values");
	for (size_t i = 0; value->kind == RECIPE_MAP && i < value->count; i++)
		if (!recipe_value_is_null(&value->entry[i].value))
			read_parameter(reader, &value->entry[i]);
	if (recipe_points(reader->recipe) > RECIPE_MOST_POINTS)
		recipe_mistake_add(reader->mistakes, value->place,
				   "%s: more than %d combinations of values", key,
				   RECIPE_MOST_POINTS);
}

static void read_inputs(struct recipe_reader *reader, const char *key,
			const struct recipe_value *value, void *target)
{
	struct recipe_tasks *tasks = target;
	const struct recipe_field pattern = {.key = "inputs", .type = FIELD_TEXT};

	tasks->place = value->place;
	if (value->kind == RECIPE_TEXT)
		recipe_field_take(reader, &pattern, key, value, &tasks->pattern);
	else if (value->kind == RECIPE_LIST && value->count == 0)
		recipe_want(reader, key, value,
			    "a pattern of files or at least one input");
	else
		recipe_take_list(reader, key, value, NULL, &tasks->inputs);
}

static const char *const policies[] = {"rr", "least-busy", NULL};

static const struct recipe_field task_fields[] = {
    FIELD("name", TEXT, struct recipe_tasks, name, .check = recipe_check_file),
    FIELD("command", COMMAND, struct recipe_tasks, command),
    {.key = "inputs", .read = read_inputs},
    FIELD("roles", LIST, struct recipe_tasks, roles),
    FIELD("policy", WORD, struct recipe_tasks, policy, .words = policies),
    FIELD("parallel", INTEGER, struct recipe_tasks, parallel, .least = 1, .most = 1024),
    FIELD("interval", DURATION, struct recipe_tasks, interval_ms),
    FIELD("pending", INTEGER, struct recipe_tasks, pending, .most = 1000000),
    FIELD("timeout", DURATION, struct recipe_tasks, timeout_ms),
};

static void read_queue(struct recipe_reader *reader, const struct recipe_value *value)
{
	struct recipe *recipe = reader->recipe;
	struct recipe_tasks *tasks;

	recipe->tasks = mem_grow(recipe->tasks, recipe->task_queues, &recipe->task_room,
				 sizeof(*recipe->tasks));
	tasks = &recipe->tasks[recipe->task_queues++];
	*tasks = (struct recipe_tasks){
	    .parallel = 1, .interval_ms = 100, .pending = 6, .place = value->place};
	tasks->command.place = value->place;
	tasks->name = recipe->task_queues == 1
			  ? mem_strdup("task")
			  : mem_printf("task-%zu", recipe->task_queues);
	if (!recipe_map(reader, "tasks", value, task_fields, COUNT(task_fields), tasks))
		return;
	if (!recipe_value_has(value, "command"))
		recipe_mistake_add(reader->mistakes, value->place,
				   "tasks: no command, want one");
	if (!recipe_value_has(value, "inputs"))
		recipe_mistake_add(reader->mistakes, value->place,
				   "tasks: no inputs, want a pattern of files or a list");
}

void recipe_read_tasks(struct recipe_reader *reader, const char *key,
		       const struct recipe_value *value, void *target)
{
	(void)target;
	if (value->kind == RECIPE_TEXT)
		recipe_want(reader, key, value, "a map, or a list of maps");
	if (value->kind == RECIPE_MAP)
		read_queue(reader, value);
	for (size_t i = 0; value->kind == RECIPE_LIST && i < value->count; i++)
		read_queue(reader, &value->entry[i].value);
}
