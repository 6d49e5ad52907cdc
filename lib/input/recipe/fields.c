/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"
#include "base/number.h"
#include "input/recipe/recipe.h"

void recipe_want(struct recipe_reader *reader, const char *key,
		 const struct recipe_value *value, const char *wanted)
{
	char *what = recipe_value_describe(value);

	recipe_mistake_add(reader->mistakes, value->place, "%s: it is %s, want %s", key,
			   what, wanted);
	free(what);
}

/* All keys of a map with commas, for free(). */
static char *list_keys(const struct recipe_field *fields, size_t count)
{
	char *all = mem_strdup("");

	for (size_t i = 0; i < count; i++) {
		char *longer = mem_printf("%s%s%s", all, i ? ", " : "", fields[i].key);

		free(all);
		all = longer;
	}
	return all;
}

static void unknown_key(struct recipe_reader *reader, const char *what,
			const struct recipe_entry *entry,
			const struct recipe_field *fields, size_t count)
{
	const char **keys = mem_alloc(count * sizeof(*keys));
	const char *near;
	char *all = NULL;

	for (size_t i = 0; i < count; i++)
		keys[i] = fields[i].key;
	near = near_find(entry->key, keys, count);
	if (!near)
		all = list_keys(fields, count);
	recipe_mistake_add(reader->mistakes, entry->place, "no key '%.60s' in %s, %s %s",
			   entry->key, what, near ? "is it meant to be" : "want one of",
			   near ? near : all);
	free(all);
	free(keys);
}

const char *recipe_text(struct recipe_reader *reader, const char *key,
			const struct recipe_value *value)
{
	if (value->kind == RECIPE_TEXT && *value->text && !recipe_value_is_null(value))
		return value->text;
	recipe_want(reader, key, value, "a text");
	return NULL;
}

bool recipe_is_bool(const struct recipe_value *value, bool *is)
{
	static const char *const words[][2] = {
	    {"false", "true"}, {"False", "True"}, {"FALSE", "TRUE"},
	    {"no", "yes"},     {"No", "Yes"},     {"NO", "YES"},
	    {"off", "on"},     {"Off", "On"},     {"OFF", "ON"},
	};

	if (value->kind != RECIPE_TEXT || !value->plain)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		for (size_t k = 0; k < 2; k++)
			if (strcmp(value->text, words[i][k]) == 0) {
				*is = k == 1;
				return true;
			}
	return false;
}

bool recipe_is_switch(const struct recipe_value *value, bool *on)
{
	if (recipe_is_bool(value, on))
		return true;
	if (value->kind != RECIPE_TEXT || strcmp(value->text, "none") != 0)
		return false;
	*on = false;
	return true;
}

/* Its unit is cut off; nanoseconds of one of it, or 0 if there is no such unit. */
static int64_t cut_unit(char *text)
{
	static const struct {
		const char *name;
		int64_t ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
	char *end = text + strspn(text, "-.0123456789");

	if (!*end)
		return 1000;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(end, units[i].name) == 0) {
			*end = '\0';
			return units[i].ms;
		}
	return 0;
}

/* In milliseconds. -1 where it is none, or is finer than that. */
static int parse_duration(const char *text, int64_t *milliseconds)
{
	char *number = mem_strdup(text);
	int64_t unit = cut_unit(number), ns;
	int status = -1;

	if (unit && number_seconds(number, &ns) == 0 &&
	    !__builtin_mul_overflow(ns / 1000, unit, &ns) && ns % NSEC_PER_MSEC == 0) {
		*milliseconds = ns / NSEC_PER_MSEC;
		status = 0;
	}
	free(number);
	return status;
}

/* "discard or overwrite"; for free(). */
static char *list_words(const char *const *words)
{
	char *all = mem_strdup(words[0]);

	for (size_t i = 1; words[i]; i++) {
		char *longer =
		    mem_printf("%s%s%s", all, words[i + 1] ? ", " : " or ", words[i]);

		free(all);
		all = longer;
	}
	return all;
}

static bool take_text(struct recipe_reader *reader, const struct recipe_field *field,
		      const char *key, const struct recipe_value *value, char **target)
{
	const char *text = recipe_text(reader, key, value);
	const char *wanted = text && field->check ? field->check(text) : NULL;

	if (wanted)
		recipe_want(reader, key, value, wanted);
	if (!text || wanted)
		return false;
	free(*target);
	*target = mem_strdup(text);
	return true;
}

static bool take_command(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, struct recipe_command *command)
{
	const char *text = recipe_text(reader, key, value);

	command->place = value->place;
	if (text && !text[strspn(text, " \t\n\r")])
		recipe_want(reader, key, value, "a shell command");
	free(command->text);
	command->text = text ? mem_strdup(text) : NULL;
	return text;
}

/* What a single value that is no text has; false: it is not what the field wants. */
static bool parse_field(const struct recipe_field *field,
			const struct recipe_value *value, void *target)
{
	const int64_t ten_years_ms = (int64_t)10 * 366 * 86400 * 1000;
	int64_t number;

	if (field->type == FIELD_BOOL)
		return recipe_is_bool(value, target);
	if (value->kind != RECIPE_TEXT)
		return false;
	for (size_t i = 0; field->type == FIELD_WORD && field->words[i]; i++)
		if (strcmp(value->text, field->words[i]) == 0) {
			*(unsigned *)target = (unsigned)i;
			return true;
		}
	if (field->type == FIELD_WORD)
		return false;
	if (field->type == FIELD_DURATION ? parse_duration(value->text, &number)
					  : number_integer(value->text, &number))
		return false;
	if (number < field->least ||
	    number > (field->type == FIELD_DURATION ? ten_years_ms : field->most))
		return false;
	*(int64_t *)target = number;
	return true;
}

/* What a field wants, for messages; for free(). */
static char *describe_field(const struct recipe_field *field)
{
	switch (field->type) {
	case FIELD_WORD:
		return list_words(field->words);
	case FIELD_INTEGER:
		return mem_printf("a whole number from %lld to %lld",
				  (long long)field->least, (long long)field->most);
	case FIELD_DURATION:
		return mem_printf("a time of at least %lld ms: seconds, or a number with "
				  "ms, s, m or h",
				  (long long)field->least);
	default:
		return mem_strdup("true or false");
	}
}

bool recipe_field_take(struct recipe_reader *reader, const struct recipe_field *field,
		       const char *key, const struct recipe_value *value, void *target)
{
	char *wanted;

	if (field->type == FIELD_TEXT)
		return take_text(reader, field, key, value, target);
	if (field->type == FIELD_COMMAND)
		return take_command(reader, key, value, target);
	if (field->type == FIELD_LIST)
		return recipe_take_list(reader, key, value, field->check, target);
	if (parse_field(field, value, target))
		return true;
	wanted = describe_field(field);
	recipe_want(reader, key, value, wanted);
	free(wanted);
	return false;
}

static void take_member(struct recipe_reader *reader, const struct recipe_field *field,
			const struct recipe_entry *entry, void *target)
{
	if (field->type == FIELD_OWN)
		field->read(reader, entry->key, &entry->value, target);
	else
		recipe_field_take(reader, field, entry->key, &entry->value,
				  (char *)target + field->offset);
}

bool recipe_map(struct recipe_reader *reader, const char *what,
		const struct recipe_value *value, const struct recipe_field *fields,
		size_t count, void *target)
{
	if (value->kind != RECIPE_MAP) {
		recipe_want(reader, what, value, "a map");
		return false;
	}
	for (size_t i = 0; i < value->count; i++) {
		const struct recipe_entry *entry = &value->entry[i];
		size_t k = 0;

		while (k < count && strcmp(fields[k].key, entry->key) != 0)
			k++;
		if (k == count)
			unknown_key(reader, what, entry, fields, count);
		else if (!recipe_value_is_null(&entry->value))
			take_member(reader, &fields[k], entry, target);
	}
	return true;
}

bool recipe_list_has(const struct text_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->item[i], text) == 0)
			return true;
	return false;
}

static bool take_item(struct recipe_reader *reader, const char *key,
		      const struct recipe_value *value, recipe_check *check,
		      struct text_list *list)
{
	const char *wanted;

	if (!recipe_text(reader, key, value))
		return false;
	wanted = check ? check(value->text) : NULL;
	if (wanted) {
		recipe_want(reader, key, value, wanted);
		return false;
	}
	if (!recipe_list_has(list, value->text))
		text_list_add(list, value->text);
	return true;
}

bool recipe_take_list(struct recipe_reader *reader, const char *key,
		      const struct recipe_value *value, recipe_check *check,
		      struct text_list *list)
{
	bool well = true;

	if (value->kind == RECIPE_TEXT)
		return take_item(reader, key, value, check, list);
	if (value->kind == RECIPE_MAP) {
		recipe_want(reader, key, value, "a text or a list of texts");
		return false;
	}
	for (size_t i = 0; i < value->count; i++)
		well &= take_item(reader, key, &value->entry[i].value, check, list);
	return well;
}
