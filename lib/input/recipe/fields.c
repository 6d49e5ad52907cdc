/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"
#include "base/number.h"

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
			fields[k].read(reader, entry->key, &entry->value, target);
	}
	return true;
}

const char *recipe_text(struct recipe_reader *reader, const char *key,
			const struct recipe_value *value)
{
	if (value->kind == RECIPE_TEXT && *value->text && !recipe_value_is_null(value))
		return value->text;
	recipe_want(reader, key, value, "a text");
	return NULL;
}

bool recipe_take_text(struct recipe_reader *reader, const char *key,
		      const struct recipe_value *value, char **text)
{
	const char *taken = recipe_text(reader, key, value);

	if (!taken)
		return false;
	free(*text);
	*text = mem_strdup(taken);
	return true;
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

bool recipe_take_bool(struct recipe_reader *reader, const char *key,
		      const struct recipe_value *value, bool *is)
{
	if (recipe_is_bool(value, is))
		return true;
	recipe_want(reader, key, value, "true or false");
	return false;
}

bool recipe_take_integer(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, const int64_t range[2],
			 int64_t *number)
{
	int64_t got;
	char *wanted;

	if (value->kind == RECIPE_TEXT && number_integer(value->text, &got) == 0 &&
	    got >= range[0] && got <= range[1]) {
		*number = got;
		return true;
	}
	wanted = mem_printf("a whole number from %lld to %lld", (long long)range[0],
			    (long long)range[1]);
	recipe_want(reader, key, value, wanted);
	free(wanted);
	return false;
}

bool recipe_take_seconds(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, int64_t *seconds)
{
	int64_t got;

	if (value->kind == RECIPE_TEXT && number_integer(value->text, &got) == 0 &&
	    got >= 1 && got <= 86400) {
		*seconds = got;
		return true;
	}
	recipe_want(reader, key, value, "whole seconds from 1 to 86400");
	return false;
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

bool recipe_take_duration(struct recipe_reader *reader, const char *key,
			  const struct recipe_value *value, int64_t least,
			  int64_t *milliseconds)
{
	const int64_t most = (int64_t)10 * 366 * 86400 * 1000;
	int64_t got;
	char *wanted;

	if (value->kind == RECIPE_TEXT && parse_duration(value->text, &got) == 0 &&
	    got >= least && got <= most) {
		*milliseconds = got;
		return true;
	}
	wanted = mem_printf("a time of %s %lld ms: seconds, or a number with ms, s, m or "
			    "h",
			    "at least", (long long)least);
	recipe_want(reader, key, value, wanted);
	free(wanted);
	return false;
}

bool recipe_take_word(struct recipe_reader *reader, const char *key,
		      const struct recipe_value *value, const char *const *words,
		      size_t *index)
{
	char *wanted;

	for (size_t i = 0; words[i] && value->kind == RECIPE_TEXT; i++)
		if (strcmp(value->text, words[i]) == 0) {
			*index = i;
			return true;
		}
	wanted = mem_strdup(words[0]);
	for (size_t i = 1; words[i]; i++) {
		char *longer =
		    mem_printf("%s%s%s", wanted, words[i + 1] ? ", " : " or ", words[i]);

		free(wanted);
		wanted = longer;
	}
	recipe_want(reader, key, value, wanted);
	free(wanted);
	return false;
}

bool recipe_list_has(const struct text_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->item[i], text) == 0)
			return true;
	return false;
}

static bool take_item(struct recipe_reader *reader, const char *key,
		      const struct recipe_value *value,
		      const char *(*check)(const char *text), struct text_list *list)
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
		      const struct recipe_value *value,
		      const char *(*check)(const char *text), struct text_list *list)
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
