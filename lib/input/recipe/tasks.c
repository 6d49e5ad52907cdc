/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Queues of tasks. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/recipe/names.h"
#include "input/recipe/private.h"

#define COUNT(fields) (sizeof(fields) / sizeof(*(fields)))

static void read_task_name(struct recipe_reader *reader, const char *key,
			   const struct recipe_value *value, void *target)
{
	const char *text = recipe_text(reader, key, value), *wanted;

	if (!text)
		return;
	wanted = recipe_check_file(text);
	if (wanted)
		recipe_want(reader, key, value, wanted);
	else
		recipe_take_text(reader, key, value,
				 &((struct recipe_tasks *)target)->name);
}

static void read_task_command(struct recipe_reader *reader, const char *key,
			      const struct recipe_value *value, void *target)
{
	recipe_read_command(reader, key, value,
			    &((struct recipe_tasks *)target)->command);
}

static void read_inputs(struct recipe_reader *reader, const char *key,
			const struct recipe_value *value, void *target)
{
	struct recipe_tasks *tasks = target;

	tasks->place = value->place;
	if (value->kind == RECIPE_TEXT) {
		recipe_take_text(reader, key, value, &tasks->pattern);
	} else {
		recipe_take_list(reader, key, value, NULL, &tasks->inputs);
		if (value->kind == RECIPE_LIST && value->count == 0)
			recipe_want(reader, key, value,
				    "a pattern of files or at least one input");
	}
}

static void read_task_roles(struct recipe_reader *reader, const char *key,
			    const struct recipe_value *value, void *target)
{
	recipe_take_list(reader, key, value, NULL,
			 &((struct recipe_tasks *)target)->roles);
}

static void read_policy(struct recipe_reader *reader, const char *key,
			const struct recipe_value *value, void *target)
{
	static const char *const policies[] = {"rr", "least-busy", NULL};
	size_t policy;

	if (recipe_take_word(reader, key, value, policies, &policy))
		((struct recipe_tasks *)target)->policy = (enum recipe_policy)policy;
}

static void read_parallel(struct recipe_reader *reader, const char *key,
			  const struct recipe_value *value, void *target)
{
	recipe_take_integer(reader, key, value, (const int64_t[]){1, 1024},
			    &((struct recipe_tasks *)target)->parallel);
}

static void read_task_interval(struct recipe_reader *reader, const char *key,
			       const struct recipe_value *value, void *target)
{
	recipe_take_duration(reader, key, value, 0,
			     &((struct recipe_tasks *)target)->interval_ms);
}

static void read_pending(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, void *target)
{
	recipe_take_integer(reader, key, value, (const int64_t[]){0, 1000000},
			    &((struct recipe_tasks *)target)->pending);
}

static void read_task_timeout(struct recipe_reader *reader, const char *key,
			      const struct recipe_value *value, void *target)
{
	recipe_take_duration(reader, key, value, 0,
			     &((struct recipe_tasks *)target)->timeout_ms);
}

static const struct recipe_field task_fields[] = {
    {"name", read_task_name},         {"command", read_task_command},
    {"inputs", read_inputs},          {"roles", read_task_roles},
    {"policy", read_policy},          {"parallel", read_parallel},
    {"interval", read_task_interval}, {"pending", read_pending},
    {"timeout", read_task_timeout},
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
