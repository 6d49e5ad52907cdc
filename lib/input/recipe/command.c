/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points of the parameters, and commands with their values. */
#include "input/recipe/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define ALNUM   LETTERS "0123456789"

/* Return the length of the `%(key)` that starts here, or 0 if there is none. */
static size_t placeholder_length(const char *at)
{
	size_t length;

	if (strncmp(at, "%(", 2) != 0 || !at[2] || !strchr(LETTERS "_", at[2]))
		return 0;
	length = 2 + strspn(at + 2, ALNUM "_.-");
	return at[length] == ')' ? length + 1 : 0;
}

/* Return true if quoting cannot be followed from here on. */
static bool hides_quotes(const char *at)
{
	static const char *const marks[] = {"\\", "`",  "#",  "<<", "((",
					    "$(", "${", "$'", "$["};

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (strncmp(at, marks[i], strlen(marks[i])) == 0)
			return true;
	return false;
}

static void add_quoted(struct bytes *filled, const char *value, char quote)
{
	const char *marks = quote ? "\\\"$`" : "";

	if (!quote)
		bytes_add_byte(filled, '\'');
	for (; *value; value++)
		if (!quote && *value == '\'')
			bytes_add_text(filled, "'\\''");
		else
			bytes_print(filled, "%s%c", strchr(marks, *value) ? "\\" : "",
				    *value);
	if (!quote)
		bytes_add_byte(filled, '\'');
}

/* Return what is wrong with a placeholder, or NULL. The caller frees the result. */
static char *check_placeholder(const char *key, bool is_hidden, bool is_string,
			       const struct recipe_value *values)
{
	char *meant, *wrong;

	if (!is_string)
		return mem_printf(" without an s behind it; use %%(%.60s)s, or %%%%( for "
				  "these characters themselves",
				  key);
	if (is_hidden)
		return mem_printf(
		    "s is where it cannot be kept one word; use it "
		    "outside of single quotes, not behind a $, and before any "
		    "of \\ ` # << (( $( ${ $[ $', or `name=%%(%.60s)s;` first "
		    "and \"$name\" here",
		    key);
	if (recipe_value_find(values, key))
		return NULL;
	meant = recipe_meant(key, values);
	wrong = mem_printf("s has no value here%s", meant);
	free(meant);
	return wrong;
}

char *recipe_command_fill(const struct recipe_value *command,
			  const struct recipe_value *values, const char *what)
{
	const char *at = command->text;
	struct bytes filled = {0};
	bool is_hidden = false;
	char quote = '\0';

	while (*at) {
		size_t length = placeholder_length(at);
		char *key, *wrong;

		if (strncmp(at, "%%(", 3) == 0) {
			bytes_add_text(&filled, "%(");
			at += 3;
			continue;
		}
		if (!length) {
			is_hidden |= hides_quotes(at);
			if (*at == quote)
				quote = '\0';
			else if (!quote && (*at == '"' || *at == '\''))
				quote = *at;
			bytes_add_byte(&filled, (uint8_t)*at++);
			continue;
		}
		key = mem_strndup(at + 2, length - 3);
		wrong = check_placeholder(key,
					  is_hidden || quote == '\'' ||
					      (at > command->text && at[-1] == '$'),
					  at[length] == 's', values);
		if (wrong)
			recipe_error_add(command->location, "%s: %%(%.60s)%s", what, key,
					 wrong);
		else
			add_quoted(&filled, recipe_text(values, key), quote);
		at += length + (at[length] == 's');
		free(key);
		free(wrong);
	}
	bytes_add_byte(&filled, '\0');
	return (char *)filled.data;
}

size_t recipe_points(const struct recipe *recipe)
{
	const struct recipe_value *parameters = recipe_get(recipe, "parameters");
	size_t product = 1;

	for (size_t i = 0; i < parameters->count && product <= RECIPE_MOST_POINTS; i++)
		product *= parameters->entry[i].value.count;
	return product;
}

const struct recipe_value *recipe_choice(const struct recipe *recipe, size_t point,
					 size_t parameter)
{
	const struct recipe_value *parameters = recipe_get(recipe, "parameters"), *values;
	size_t i = parameters->count - 1;

	for (; i > parameter; i--)
		point /= parameters->entry[i].value.count;
	values = &parameters->entry[parameter].value;
	return &values->entry[point % values->count].value;
}

char *recipe_point_suffix(const struct recipe *recipe, size_t point)
{
	enum { LONGEST = 160, HASH = 17 };
	const struct recipe_value *parameters = recipe_get(recipe, "parameters");
	struct bytes suffix = {0};

	for (size_t i = 0; i < parameters->count; i++) {
		const char *text = recipe_choice(recipe, point, i)->text;

		bytes_print(&suffix, "%s%s=", i ? "-" : "", parameters->entry[i].key);
		for (; *text; text++)
			if (strchr(ALNUM "_.,+@-", *text))
				bytes_add_byte(&suffix, (uint8_t)*text);
			else
				bytes_print(&suffix, "%%%02X", (unsigned char)*text);
	}
	if (suffix.size > LONGEST) {
		uint64_t hash = hash_bytes(HASH_INIT, suffix.data, suffix.size);

		suffix.size = LONGEST - HASH;
		bytes_print(&suffix, "+%016" PRIx64, hash);
	}
	bytes_add_byte(&suffix, '\0');
	return (char *)suffix.data;
}

static void put_role(const struct recipe *recipe, const struct recipe_entry *role,
		     struct recipe_value *values)
{
	AUTOFREE char *node = mem_printf("%s.node", role->key);
	AUTOFREE char *address = mem_printf("%s.address", role->key);
	const char *first = role->value.entry[0].value.text;

	recipe_value_put(values, node, first);
	recipe_value_put(
	    values, address,
	    recipe_text(recipe_value_find(&recipe->nodes, first), "address"));
}

void recipe_point_values(const struct recipe *recipe, size_t point, const char *run,
			 struct recipe_value *values)
{
	const struct recipe_value *parameters = recipe_get(recipe, "parameters");
	char number[24];

	snprintf(number, sizeof(number), "%zu", point + 1);
	*values = (struct recipe_value){.kind = RECIPE_MAP};
	recipe_value_put(values, "name", recipe_text(&recipe->checked, "name"));
	recipe_value_put(values, "run", run);
	recipe_value_put(values, "point", number);
	for (size_t i = 0; i < recipe->roles.count; i++)
		if (recipe->roles.entry[i].value.count)
			put_role(recipe, &recipe->roles.entry[i], values);
	for (size_t i = 0; i < parameters->count; i++)
		recipe_value_put(values, parameters->entry[i].key,
				 recipe_choice(recipe, point, i)->text);
}
