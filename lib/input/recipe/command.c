/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/command.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"
#include "input/recipe/private.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define KEY     LETTERS "0123456789_.-"

static bool has(const struct recipe_template *scan, const char *text)
{
	return strncmp(scan->at, text, strlen(text)) == 0;
}

/* Whether a word, and so a comment, may begin here. */
static bool begins_word(const struct recipe_template *scan)
{
	return scan->at == scan->begin || strchr(" \t\n;&|()<>", scan->at[-1]);
}

/* Go over one character. What is murky stays so to the end. */
static void step(struct recipe_template *scan)
{
	bool is_comment = *scan->at == '#' && begins_word(scan);
	char c = *scan->at++;

	if (scan->murky)
		return;
	if (scan->quote == '\'') {
		if (c == '\'')
			scan->quote = '\0';
		return;
	}
	scan->murky = c == '`' || c == '\\' ||
		      (c == '$' && scan->quote && strchr("({", *scan->at)) ||
		      (c == '$' && *scan->at == '\'');
	if (c == scan->quote && c) {
		scan->quote = '\0';
	} else if (!scan->quote) {
		scan->murky |= is_comment || (c == '<' && *scan->at == '<') ||
			       (c == '$' && strncmp(scan->at, "((", 2) == 0);
		if (c == '"' || c == '\'')
			scan->quote = c;
	}
}

void recipe_template_begin(struct recipe_template *scan, const char *command)
{
	*scan = (struct recipe_template){.at = command, .begin = command};
}

/* `%(key)` and its letter at the place at hand. */
static bool is_placeholder(const struct recipe_template *scan,
			   struct recipe_placeholder *placeholder)
{
	size_t length;
	const char *end;

	if (!has(scan, "%("))
		return false;
	length = strspn(scan->at + 2, KEY);
	end = scan->at + 2 + length;
	if (length == 0 || !strchr(LETTERS "_", scan->at[2]) || *end != ')')
		return false;
	placeholder->begin = scan->at;
	placeholder->end = end[1] ? end + 2 : end + 1;
	placeholder->key = mem_strndup(scan->at + 2, length);
	placeholder->conversion = end[1];
	placeholder->bare = !scan->murky && !scan->quote;
	placeholder->spoilt = scan->at > scan->begin && strchr("$\\", scan->at[-1]);
	return true;
}

bool recipe_template_next(struct recipe_template *scan,
			  struct recipe_placeholder *placeholder)
{
	memset(placeholder, 0, sizeof(*placeholder));
	for (; *scan->at; step(scan)) {
		if (has(scan, "%%(")) {
			placeholder->begin = scan->at;
			placeholder->end = scan->at += 3;
			return true;
		}
		if (is_placeholder(scan, placeholder)) {
			scan->at = placeholder->end;
			return true;
		}
	}
	return false;
}

bool recipe_value_is_plain(const char *value)
{
	return *value && !value[strspn(value, LETTERS "0123456789_./:,+@%=-")];
}

static void put_quoted(FILE *file, const char *value)
{
	putc('\'', file);
	for (; *value; value++)
		if (*value == '\'')
			fputs("'\\''", file);
		else
			putc(*value, file);
	putc('\'', file);
}

char *recipe_template_fill(const char *command,
			   const char *(*value)(void *context, const char *key),
			   void *context)
{
	struct recipe_placeholder placeholder;
	struct recipe_template scan;
	const char *rest = command;
	char *filled = NULL;
	size_t size;
	FILE *file = open_memstream(&filled, &size);

	if (!file)
		return mem_strdup(command); /* no memory; mem_strdup ends the program */
	recipe_template_begin(&scan, command);
	while (recipe_template_next(&scan, &placeholder)) {
		fwrite(rest, 1, (size_t)(placeholder.begin - rest), file);
		rest = placeholder.end;
		if (!placeholder.key) {
			fputs("%(", file);
		} else {
			const char *text = value(context, placeholder.key);

			assert(text && !placeholder.spoilt);
			if (placeholder.bare)
				put_quoted(file, text);
			else
				fputs(text, file);
		}
		free(placeholder.key);
	}
	fputs(rest, file);
	if (fclose(file) || !filled)
		abort();
	return filled;
}

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
