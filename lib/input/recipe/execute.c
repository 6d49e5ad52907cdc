/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runs while nodes are watched: commands and their parameters. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/recipe/names.h"
#include "input/recipe/private.h"
#include "input/recipe/scope.h"

#define COUNT(fields) (sizeof(fields) / sizeof(*(fields)))

void recipe_read_command(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, void *target)
{
	struct recipe_command *command = target;

	command->place = value->place;
	if (!recipe_take_text(reader, key, value, &command->text))
		return;
	if (!command->text[strspn(command->text, " \t\n\r")])
		recipe_want(reader, key, value, "a shell command");
}

static void read_execute_command(struct recipe_reader *reader, const char *key,
				 const struct recipe_value *value, void *target)
{
	recipe_read_command(reader, key, value,
			    &((struct recipe_execute *)target)->command);
}

static void read_execute_roles(struct recipe_reader *reader, const char *key,
			       const struct recipe_value *value, void *target)
{
	recipe_take_list(reader, key, value, NULL,
			 &((struct recipe_execute *)target)->roles);
}

static void read_method(struct recipe_reader *reader, const char *key,
			const struct recipe_value *value, void *target)
{
	static const char *const methods[] = {"foreground", "background", "local", NULL};
	size_t method;

	if (recipe_take_word(reader, key, value, methods, &method))
		((struct recipe_execute *)target)->method = (enum recipe_method)method;
}

static void read_execute_timeout(struct recipe_reader *reader, const char *key,
				 const struct recipe_value *value, void *target)
{
	recipe_take_duration(reader, key, value, 0,
			     &((struct recipe_execute *)target)->timeout_ms);
}

static void read_sudo(struct recipe_reader *reader, const char *key,
		      const struct recipe_value *value, void *target)
{
	recipe_take_bool(reader, key, value, &((struct recipe_execute *)target)->sudo);
}

static const struct recipe_field execute_fields[] = {
    {"command", read_execute_command}, {"roles", read_execute_roles},
    {"method", read_method},           {"timeout", read_execute_timeout},
    {"use_sudo", read_sudo},
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
