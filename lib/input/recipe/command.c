/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/command.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/names.h"
#include "input/recipe/keys.h"

/* Go over one character. What is unclear stays so to the end. */
static void step(struct recipe_template *scan)
{
	bool begins_word =
	    scan->at == scan->begin || strchr(" \t\n;&|()<>", scan->at[-1]);
	char c = *scan->at++;

	if (scan->unclear)
		return;
	if (scan->quote != '\'')
		scan->unclear = c == '`' || c == '\\';
	if (scan->quote == '"')
		scan->unclear |= c == '$' && *scan->at && strchr("({", *scan->at);
	else if (!scan->quote)
		scan->unclear |= (c == '#' && begins_word) ||
				 (c == '<' && *scan->at == '<') ||
				 (c == '$' && *scan->at == '\'') ||
				 (c == '$' && strncmp(scan->at, "((", 2) == 0);
	if (c == scan->quote)
		scan->quote = '\0';
	else if (!scan->quote && (c == '"' || c == '\''))
		scan->quote = c;
}

/* `%(key)` and its letter at the place at hand. */
static bool is_placeholder(const struct recipe_template *scan,
			   struct recipe_placeholder *placeholder)
{
	size_t length;
	const char *end;

	if (strncmp(scan->at, "%(", 2) != 0)
		return false;
	length = strspn(scan->at + 2, RECIPE_ALNUM "_.-");
	end = scan->at + 2 + length;
	if (length == 0 || !strchr(RECIPE_LETTERS "_", scan->at[2]) || *end != ')')
		return false;
	placeholder->begin = scan->at;
	placeholder->end = end[1] ? end + 2 : end + 1;
	placeholder->key = mem_strndup(scan->at + 2, length);
	placeholder->conversion = end[1];
	placeholder->quoting = scan->unclear || scan->quote == '\'' ? QUOTE_NONE
			       : scan->quote                        ? QUOTE_DOUBLE
								    : QUOTE_SINGLE;
	if (scan->at > scan->begin && strchr("$\\", scan->at[-1]))
		placeholder->quoting = QUOTE_IMPOSSIBLE;
	return true;
}

bool recipe_template_next(struct recipe_template *scan,
			  struct recipe_placeholder *placeholder)
{
	if (!scan->begin)
		scan->begin = scan->at;
	memset(placeholder, 0, sizeof(*placeholder));
	for (; *scan->at; step(scan)) {
		if (strncmp(scan->at, "%%(", 3) == 0) {
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
	return *value && !value[strspn(value, RECIPE_ALNUM "_./:,+@%=-")];
}

static void put_value(FILE *file, const char *value, enum recipe_quoting quoting)
{
	if (quoting == QUOTE_SINGLE)
		putc('\'', file);
	for (; *value; value++)
		if (quoting == QUOTE_SINGLE && *value == '\'') {
			fputs("'\\''", file);
		} else {
			if (quoting == QUOTE_DOUBLE && strchr("\\\"$`", *value))
				putc('\\', file);
			putc(*value, file);
		}
	if (quoting == QUOTE_SINGLE)
		putc('\'', file);
}

char *recipe_template_fill(const char *command,
			   const char *(*value)(void *context, const char *key),
			   void *context)
{
	struct recipe_template scan = {.at = command};
	struct recipe_placeholder placeholder;
	const char *rest = command;
	char *filled = NULL;
	size_t size;
	FILE *file = open_memstream(&filled, &size);

	if (!file)
		abort();
	while (recipe_template_next(&scan, &placeholder)) {
		fwrite(rest, 1, (size_t)(placeholder.begin - rest), file);
		rest = placeholder.end;
		if (!placeholder.key) {
			fputs("%(", file);
			continue;
		}
		assert(placeholder.quoting != QUOTE_IMPOSSIBLE);
		put_value(file, value(context, placeholder.key), placeholder.quoting);
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

static const struct recipe_value *parameters_of(const struct recipe *recipe)
{
	static const struct recipe_value none = {.kind = RECIPE_MAP};
	const struct recipe_value *parameters = recipe_get(recipe, "parameters");

	return parameters && parameters->kind == RECIPE_MAP ? parameters : &none;
}

size_t recipe_points(const struct recipe *recipe)
{
	const struct recipe_value *parameters = parameters_of(recipe);
	size_t product = 1;

	for (size_t i = 0; i < parameters->count && product <= RECIPE_MOST_POINTS; i++)
		product *= parameters->entry[i].value.count;
	return product;
}

const struct recipe_value *recipe_choice(const struct recipe *recipe, size_t point,
					 size_t parameter)
{
	const struct recipe_value *parameters = parameters_of(recipe), *values;

	for (size_t i = parameters->count - 1; i > parameter; i--)
		point /= parameters->entry[i].value.count;
	values = &parameters->entry[parameter].value;
	return &values->entry[point % values->count].value;
}

/* Cut to so many bytes, the last 17 of which tell it from others; takes the text. */
static char *shorten(char *text, size_t most)
{
	char *cut;

	if (strlen(text) <= most)
		return text;
	cut = mem_printf("%.*s+%016" PRIx64, (int)(most - 17), text,
			 hash_bytes(HASH_INIT, text, strlen(text)));
	free(text);
	return cut;
}

static char *encode(const char *value)
{
	char *text = mem_alloc(strlen(value) * 3 + 1), *at = text;

	for (; *value; value++)
		if (strchr(RECIPE_ALNUM "_.,+@-", *value))
			*at++ = *value;
		else
			at += sprintf(at, "%%%02X", (unsigned)(unsigned char)*value);
	*at = '\0';
	return shorten(text, LONGEST_VALUE);
}

char *recipe_point_suffix(const struct recipe *recipe, size_t point)
{
	const struct recipe_value *parameters = parameters_of(recipe);
	char *suffix = mem_strdup("");

	for (size_t i = 0; i < parameters->count; i++) {
		char *value = encode(recipe_choice(recipe, point, i)->text);
		char *longer = mem_printf("%s%s%s=%s", suffix, i ? "-" : "",
					  parameters->entry[i].key, value);

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
	char *name = mem_strndup(key, dot ? (size_t)(dot - key) : 0);
	const struct recipe_value *role = recipe_value_find(&recipe->roles, name);

	free(name);
	if (!role || role->count == 0)
		return NULL;
	if (strcmp(dot, ".node") == 0)
		return role->entry[0].value.text;
	if (strcmp(dot, ".address") != 0)
		return NULL;
	return recipe_text(recipe_value_find(&recipe->nodes, role->entry[0].value.text),
			   "address");
}

/* Whether commands of a kind have a built-in key of this name. */
static bool is_known(const struct recipe *recipe, enum recipe_scope_kind kind,
		     const char *key)
{
	for (size_t i = 0; i < BUILTINS; i++)
		if (strcmp(builtins[i].key, key) == 0)
			return builtins[i].in[kind];
	return recipe_value_find(parameters_of(recipe), key) || role_value(recipe, key);
}

const char *recipe_scope_value(void *context, const char *key)
{
	struct recipe_scope *scope = context;
	const struct recipe *recipe = scope->recipe;
	const struct recipe_value *parameters = parameters_of(recipe);
	bool is_point = strcmp(key, "point") == 0;

	for (size_t i = 0; i < parameters->count; i++)
		if (strcmp(parameters->entry[i].key, key) == 0)
			return recipe_choice(recipe, scope->point, i)->text;
	if (!is_known(recipe, scope->kind, key))
		return NULL;
	if (strcmp(key, "name") == 0)
		return recipe_text(&recipe->checked, "name");
	if (strcmp(key, "run") == 0)
		return scope->run;
	if (strcmp(key, "node") == 0)
		return scope->node;
	if (strcmp(key, "address") == 0)
		return recipe_text(recipe_value_find(&recipe->nodes, scope->node), key);
	if (strcmp(key, "role") == 0)
		return scope->role;
	if (strcmp(key, "input") == 0)
		return scope->input;
	if (!is_point && strcmp(key, "task") != 0)
		return role_value(recipe, key);
	snprintf(scope->number, sizeof(scope->number), "%" PRId64,
		 is_point ? (int64_t)scope->point + 1 : scope->task);
	return scope->number;
}

char *recipe_scope_fill(struct recipe_scope *scope, const char *command)
{
	return recipe_template_fill(command, recipe_scope_value, scope);
}

/* The commands of one kind, while they are checked. */
struct checked {
	struct recipe_reader *reader;
	const char *what; /* "execute" */
	enum recipe_scope_kind kind;
	const struct recipe_value *inputs; /* of SCOPE_TASK */
	struct recipe_location location;
};

/* The first value of a key that cannot stand anywhere as it is, or NULL. */
static const char *value_to_quote(const struct checked *checked, const char *key)
{
	const struct recipe_value *values =
	    recipe_value_find(parameters_of(checked->reader->recipe), key);

	if (!values && strcmp(key, "input") == 0)
		values = checked->inputs;
	if (values && values->kind == RECIPE_TEXT) /* what it will find is not known */
		return values->text;
	for (size_t i = 0; values && i < values->count; i++)
		if (values->entry[i].value.kind == RECIPE_TEXT &&
		    !recipe_value_is_plain(values->entry[i].value.text))
			return values->entry[i].value.text;
	return NULL;
}

static void unknown_value(const struct checked *checked, const char *key)
{
	static const char *const instead[] = {
	    [SCOPE_NODE] = "it is for tasks only",
	    [SCOPE_LOCAL] = "the command runs on this machine, for no node",
	    [SCOPE_TASK] = "the node of a task is chosen later",
	};
	struct recipe_errors *errors = checked->reader->errors;
	char *meant;

	if (recipe_is_builtin(key)) {
		recipe_error_add(errors, checked->location,
				 "%s: %%(%s)s has no value here: %s", checked->what, key,
				 instead[checked->kind]);
		return;
	}
	meant = recipe_meant(key, parameters_of(checked->reader->recipe));
	recipe_error_add(errors, checked->location, "%s: %%(%.60s)s is no parameter%s",
			 checked->what, key, meant);
	free(meant);
}

static void check_placeholder(const struct checked *checked,
			      const struct recipe_placeholder *placeholder)
{
	struct recipe_errors *errors = checked->reader->errors;
	const char *key = placeholder->key, *value = NULL;

	if (placeholder->conversion != 's')
		recipe_error_add(errors, checked->location,
				 "%s: %%(%.60s) without an s behind it, want %%(%.60s)s, "
				 "or %%%%( for these characters themselves",
				 checked->what, key, key);
	else if (!is_known(checked->reader->recipe, checked->kind, key))
		unknown_value(checked, key);
	else if (placeholder->quoting == QUOTE_IMPOSSIBLE)
		recipe_error_add(errors, checked->location,
				 "%s: %%(%s)s stands right after a $ or \\, want it "
				 "elsewhere",
				 checked->what, key);
	else if (placeholder->quoting == QUOTE_NONE)
		value = value_to_quote(checked, key);
	if (value)
		recipe_error_add(
		    errors, checked->location,
		    "%s: %%(%s)s stands where '%.60s' cannot be kept one "
		    "word, want it outside of quotes or in double quotes, and "
		    "before any of \\ ` # << $( ${",
		    checked->what, key, value);
}

static void check_command(struct checked *checked, const struct recipe_value *user)
{
	const struct recipe_value *command = recipe_value_find(user, "command");
	struct recipe_template scan = {.at = recipe_text(user, "command")};
	struct recipe_placeholder placeholder;

	checked->inputs = recipe_value_find(user, "inputs");
	if (command)
		checked->location = command->location;
	while (recipe_template_next(&scan, &placeholder)) {
		if (placeholder.key)
			check_placeholder(checked, &placeholder);
		free(placeholder.key);
	}
	recipe_check_roles(checked->reader, checked->what, user);
}

void recipe_check_commands(struct recipe_reader *reader)
{
	static const char *const sections[] = {"execute", "sensors", "tasks"};
	struct checked checked = {.reader = reader};

	for (size_t s = 0; s < 3; s++) {
		const struct recipe_value *section =
		    recipe_get(reader->recipe, sections[s]);

		checked.what = sections[s];
		for (size_t i = 0; section && i < section->count; i++) {
			const struct recipe_value *user = &section->entry[i].value;
			bool is_local = strcmp(recipe_text(user, "method"), "local") == 0;

			checked.kind = s == 2     ? SCOPE_TASK
				       : is_local ? SCOPE_LOCAL
						  : SCOPE_NODE;
			check_command(&checked, user);
		}
	}
}
