/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/scope.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"
#include "input/recipe/template.h"

enum { KINDS = 3, LONGEST_VALUE = 48, LONGEST_SUFFIX = 160 };

static const struct builtin {
	const char *key;
	bool in[KINDS]; /* by recipe_scope_kind */
} builtins[] = {
    {"name", {true, true, true}},      {"point", {true, true, true}},
    {"run", {true, true, true}},       {"node", {true, false, false}},
    {"address", {true, false, false}}, {"role", {true, false, false}},
    {"input", {false, false, true}},   {"task", {false, false, true}},
};

enum { BUILTINS = sizeof(builtins) / sizeof(*builtins) };

size_t recipe_points(const struct recipe *recipe)
{
	size_t product = 1;

	for (size_t i = 0; i < recipe->parameters && product <= RECIPE_MOST_POINTS; i++)
		product *= recipe->parameter[i].values.count;
	return product;
}

size_t recipe_choice(const struct recipe *recipe, size_t point, size_t parameter)
{
	for (size_t i = recipe->parameters - 1; i > parameter; i--)
		point /= recipe->parameter[i].values.count;
	return point % recipe->parameter[parameter].values.count;
}

/* FNV-1a (Fowler, Noll, Vo), 64 bits. */
static uint64_t hash(const char *text)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		sum = (sum ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return sum;
}

/* Cut to so many bytes, the last 17 of which tell it from others; takes the text. */
static char *shorten(char *text, size_t most)
{
	char *cut;

	if (strlen(text) <= most)
		return text;
	cut = mem_printf("%.*s+%016" PRIx64, (int)(most - 17), text, hash(text));
	free(text);
	return cut;
}

static char *encode(const char *value)
{
	static const char fit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				  "0123456789_.,+@-";
	char *text = mem_alloc(strlen(value) * 3 + 1), *at = text;

	for (; *value; value++)
		if (strchr(fit, *value))
			*at++ = *value;
		else
			at += sprintf(at, "%%%02X", (unsigned)(unsigned char)*value);
	*at = '\0';
	return shorten(text, LONGEST_VALUE);
}

char *recipe_point_suffix(const struct recipe *recipe, size_t point)
{
	char *suffix = mem_strdup("");

	for (size_t i = 0; i < recipe->parameters; i++) {
		const struct recipe_parameter *parameter = &recipe->parameter[i];
		char *value =
		    encode(parameter->values.item[recipe_choice(recipe, point, i)]);
		char *longer =
		    mem_printf("%s%s%s=%s", suffix, i ? "-" : "", parameter->key, value);

		free(value);
		free(suffix);
		suffix = longer;
	}
	return shorten(suffix, LONGEST_SUFFIX);
}

bool recipe_is_builtin(const char *key)
{
	for (size_t i = 0; i < BUILTINS; i++)
		if (strcmp(builtins[i].key, key) == 0)
			return true;
	return false;
}

/* `ROLE.node` and `ROLE.address`: of the role's first node. NULL if it is none. */
static const char *role_value(const struct recipe *recipe, const char *key)
{
	const char *dot = strrchr(key, '.');
	const struct recipe_role *role;
	char *name;

	if (!dot || (strcmp(dot, ".node") != 0 && strcmp(dot, ".address") != 0))
		return NULL;
	name = mem_strndup(key, (size_t)(dot - key));
	role = recipe_find_role(recipe, name);
	free(name);
	if (!role || role->nodes == 0)
		return NULL;
	return strcmp(dot, ".node") == 0 ? recipe->node[role->node[0]].name
					 : recipe->node[role->node[0]].address;
}

bool recipe_scope_has(const struct recipe *recipe, enum recipe_scope_kind kind,
		      const char *key)
{
	for (size_t i = 0; i < BUILTINS; i++)
		if (strcmp(builtins[i].key, key) == 0)
			return builtins[i].in[kind];
	return role_value(recipe, key) != NULL;
}

const char *recipe_scope_near(const struct recipe *recipe, const char *key)
{
	const char **keys = mem_alloc((recipe->parameters + BUILTINS) * sizeof(*keys));
	const char *near;
	size_t count = 0;

	for (size_t i = 0; i < recipe->parameters; i++)
		keys[count++] = recipe->parameter[i].key;
	for (size_t i = 0; i < BUILTINS; i++)
		keys[count++] = builtins[i].key;
	near = near_find(key, keys, count);
	free(keys);
	return near;
}

static const char *as_text(struct recipe_scope *scope, int64_t number)
{
	snprintf(scope->number, sizeof(scope->number), "%" PRId64, number);
	return scope->number;
}

static const char *builtin_value(struct recipe_scope *scope, const char *key)
{
	const struct recipe_node *node = scope->node;

	if (!recipe_scope_has(scope->recipe, scope->kind, key))
		return NULL;
	if (strcmp(key, "name") == 0)
		return scope->recipe->name;
	if (strcmp(key, "point") == 0)
		return as_text(scope, (int64_t)scope->point + 1);
	if (strcmp(key, "run") == 0)
		return scope->run;
	if (strcmp(key, "node") == 0)
		return node ? node->name : NULL;
	if (strcmp(key, "address") == 0)
		return node ? node->address : NULL;
	if (strcmp(key, "role") == 0)
		return scope->role;
	if (strcmp(key, "input") == 0)
		return scope->input;
	if (strcmp(key, "task") == 0)
		return as_text(scope, scope->task);
	return role_value(scope->recipe, key);
}

const char *recipe_scope_value(void *context, const char *key)
{
	struct recipe_scope *scope = context;
	const struct recipe *recipe = scope->recipe;

	for (size_t i = 0; i < recipe->parameters; i++)
		if (strcmp(recipe->parameter[i].key, key) == 0)
			return recipe->parameter[i]
			    .values.item[recipe_choice(recipe, scope->point, i)];
	return builtin_value(scope, key);
}

char *recipe_scope_fill(struct recipe_scope *scope, const struct recipe_command *command)
{
	return recipe_template_fill(command->text, recipe_scope_value, scope);
}
