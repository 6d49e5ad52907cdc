/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "base/number.h"

const struct recipe_form recipe_form_file = {
    RECIPE_ALNUM "_", RECIPE_ALNUM "_.-", 64,
    "up to 64 letters, digits, '.', '_' and '-', beginning with a letter, digit or '_'"};
const struct recipe_form recipe_form_key = {
    RECIPE_LETTERS "_", RECIPE_ALNUM "_-", 40,
    "up to 40 letters, digits, '_' and '-', beginning with a letter"};
const struct recipe_form recipe_form_user = {RECIPE_ALNUM "_", RECIPE_ALNUM "_.@+-", 64,
					     "a user name"};

static bool is_one_of(const char *set, char c)
{
	return *set == '^' ? !strchr(set + 1, c) : strchr(set, c) != NULL;
}

const char *recipe_form_check(const struct recipe_form *form, const char *text)
{
	size_t length = 0;

	if (!form)
		return NULL;
	while (text[length] && is_one_of(length ? form->rest : form->first, text[length]))
		length++;
	return length > 0 && length <= form->most && !text[length] ? NULL : form->wanted;
}

bool recipe_want(struct recipe_reader *reader, const char *key,
		 const struct recipe_value *value, const char *wanted)
{
	char *what = recipe_value_describe(value);

	recipe_error_add(reader->errors, value->location, "%s: it is %s, want %s", key,
			 what, wanted);
	free(what);
	return false;
}

const char *recipe_near(const char *word, const struct recipe_value *names)
{
	const char **all = mem_alloc((names->count + 1) * sizeof(*all)), *near;

	for (size_t i = 0; i < names->count; i++)
		all[i] = names->kind == RECIPE_MAP ? names->entry[i].key
						   : names->entry[i].value.text;
	near = near_find(word, all, names->count);
	free(all);
	return near;
}

char *recipe_meant(const char *word, const struct recipe_value *names)
{
	const char *near = recipe_near(word, names);

	return near ? mem_printf(", is it meant to be %s", near) : mem_strdup("");
}

static bool is_bool(const struct recipe_value *value, bool *is)
{
	static const char *const words[] = {
	    "false", "true", "False", "True", "FALSE", "TRUE", "no", "yes", "No",
	    "Yes",   "NO",   "YES",   "off",  "on",    "Off",  "On", "OFF", "ON"};

	for (size_t i = 0; value->plain && i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(value->text, words[i]) == 0) {
			*is = i % 2;
			return true;
		}
	return false;
}

bool recipe_is_switch(const struct recipe_value *value, bool *on)
{
	bool is_none = value->kind == RECIPE_TEXT && strcmp(value->text, "none") == 0;

	*on = *on && !is_none;
	return is_none || is_bool(value, on);
}

static void set_number(struct recipe_value *value, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, number);
	recipe_value_set(value, text);
}

/* In milliseconds. -1 where it is none, or is finer than that. */
static int parse_duration(const char *text, int64_t *milliseconds)
{
	static const struct {
		const char *name;
		int64_t ms;
	} units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
	size_t length = strspn(text, "-.0123456789");
	char *number = mem_strndup(text, length);
	int64_t ns;
	int status = -1;

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(text + length, units[i].name) == 0 &&
		    number_seconds(number, &ns) == 0 &&
		    !__builtin_mul_overflow(ns / 1000, units[i].ms, &ns) &&
		    ns % NSEC_PER_MSEC == 0) {
			*milliseconds = ns / NSEC_PER_MSEC;
			status = 0;
		}
	free(number);
	return status;
}

/* "discard or overwrite", "true or false"; for free(). */
static char *list_words(const char *const *words, const char *last)
{
	char *all = mem_strdup(words[0]);

	for (size_t i = 1; words[i]; i++) {
		char *longer =
		    mem_printf("%s%s%s", all, words[i + 1] ? ", " : last, words[i]);

		free(all);
		all = longer;
	}
	return all;
}

static bool want_number(struct recipe_reader *reader, const struct recipe_key *key,
			const char *what, struct recipe_value *value)
{
	const int64_t ten_years_ms = (int64_t)10 * 366 * 86400 * 1000;
	bool is_time = key->type == RECIPE_DURATION;
	int64_t number;
	char *wanted;

	if (value->kind == RECIPE_TEXT &&
	    (is_time ? parse_duration(value->text, &number)
		     : number_integer(value->text, &number)) == 0 &&
	    number >= key->least && number <= (is_time ? ten_years_ms : key->most)) {
		set_number(value, number);
		return true;
	}
	wanted = is_time ? mem_printf("a time of at least %" PRId64
				      " ms: seconds, or a number with ms, s, m or h",
				      key->least)
			 : mem_printf("a whole number from %" PRId64 " to %" PRId64,
				      key->least, key->most);
	recipe_want(reader, what, value, wanted);
	free(wanted);
	return false;
}

static bool want_choice(struct recipe_reader *reader, const struct recipe_key *key,
			const char *what, struct recipe_value *value)
{
	char *wanted;

	for (size_t i = 0; value->kind == RECIPE_TEXT && key->words[i]; i++)
		if (strcmp(value->text, key->words[i]) == 0)
			return true;
	wanted = list_words(key->words, " or ");
	recipe_want(reader, what, value, wanted);
	free(wanted);
	return false;
}

static bool want_text(struct recipe_reader *reader, const struct recipe_key *key,
		      const char *what, const struct recipe_value *value)
{
	const char *wanted = NULL;

	if (value->kind != RECIPE_TEXT || !*value->text || recipe_value_is_null(value))
		wanted = "a text";
	else if (key->type == RECIPE_COMMAND &&
		 !value->text[strspn(value->text, " \t\n\r")])
		wanted = "a shell command";
	else
		wanted = recipe_form_check(key->form, value->text);
	return !wanted || recipe_want(reader, what, value, wanted);
}

/* Put what is there into a list, the only entry. */
static void make_list(struct recipe_value *value)
{
	struct recipe_value only = *value;

	*value = (struct recipe_value){.kind = RECIPE_LIST, .location = only.location};
	*recipe_value_add(value, NULL, only.location) = only;
}

static bool want_texts(struct recipe_reader *reader, const struct recipe_key *key,
		       const char *what, struct recipe_value *value)
{
	struct recipe_value list = {.kind = RECIPE_LIST, .location = value->location};
	bool well = true;

	if (value->kind == RECIPE_MAP)
		return recipe_want(reader, what, value, "a text or a list of texts");
	if (value->kind == RECIPE_TEXT)
		make_list(value);
	for (size_t i = 0; i < value->count; i++) {
		struct recipe_value *item = &value->entry[i].value;

		if (!want_text(reader, key, what, item))
			well = false;
		else if (!recipe_has(&list, item->text))
			recipe_value_set(recipe_value_add(&list, NULL, item->location),
					 item->text);
	}
	recipe_value_clear(value);
	*value = list;
	return well;
}

static void unknown_key(struct recipe_reader *reader, const char *what,
			const struct recipe_entry *entry, const struct recipe_key *keys)
{
	const char *names[32] = {NULL};
	const char *near;
	size_t count = 0;
	char *all;

	for (; keys[count].name; count++)
		names[count] = keys[count].name;
	near = near_find(entry->key, names, count);
	all = list_words(names, ", ");
	recipe_error_add(reader->errors, entry->location, "no key '%.60s' in %s, %s %s",
			 entry->key, what, near ? "is it meant to be" : "want one of",
			 near ? near : all);
	free(all);
}

/* The default of a key: a text, a list with commas, or "{}". */
static void set_default(struct recipe_value *value, const struct recipe_key *key)
{
	char *copy = mem_strdup(key->unset), *word;

	if (strcmp(copy, "{}") == 0) {
		value->kind = RECIPE_MAP;
	} else if (key->type == RECIPE_TEXTS) {
		value->kind = RECIPE_LIST;
		for (char *rest = copy; (word = strsep(&rest, ","));)
			recipe_value_set(recipe_value_add(value, NULL, value->location),
					 word);
	} else {
		recipe_value_set(value, copy);
		value->plain = true;
	}
	free(copy);
}

static bool want_keys(struct recipe_reader *reader, const struct recipe_key *keys,
		      const char *what, struct recipe_value *map)
{
	size_t errors = reader->errors->count;

	if (map->kind != RECIPE_MAP)
		return recipe_want(reader, what, map, "a map");
	for (size_t i = 0; i < map->count; i++) {
		struct recipe_entry *entry = &map->entry[i];
		const struct recipe_key *key = keys;

		while (key->name && strcmp(key->name, entry->key) != 0)
			key++;
		if (!key->name)
			unknown_key(reader, what, entry, keys);
		else if (!recipe_value_is_null(&entry->value))
			recipe_check(reader, key, entry->key, &entry->value);
	}
	for (const struct recipe_key *key = keys; key->name; key++) {
		struct recipe_value *value;

		if (recipe_value_find(map, key->name))
			continue;
		if (key->needed)
			recipe_error_add(reader->errors, map->location,
					 "%s: no %s, want %s", what, key->name,
					 key->needed);
		if (!key->unset)
			continue;
		value = recipe_value_add(map, key->name, map->location);
		set_default(value, key);
		recipe_check(reader, key, key->name, value);
	}
	return reader->errors->count == errors;
}

static bool want_each(struct recipe_reader *reader, const struct recipe_key *key,
		      const char *what, struct recipe_value *value)
{
	bool well = true;

	if (value->kind == RECIPE_TEXT)
		return recipe_want(reader, what, value, "a map, or a list of maps");
	if (value->kind == RECIPE_MAP)
		make_list(value);
	for (size_t i = 0; i < value->count; i++)
		well &= want_keys(reader, key->keys, what, &value->entry[i].value);
	return well;
}

bool recipe_check(struct recipe_reader *reader, const struct recipe_key *key,
		  const char *what, struct recipe_value *value)
{
	bool well = true, is = true;

	switch (key->type) {
	case RECIPE_OWN:
		break;
	case RECIPE_WORDS:
	case RECIPE_COMMAND:
		well = want_text(reader, key, what, value);
		break;
	case RECIPE_TEXTS:
		well = want_texts(reader, key, what, value);
		break;
	case RECIPE_BOOL:
		well = is_bool(value, &is) ||
		       recipe_want(reader, what, value, "true or false");
		if (well)
			recipe_value_set(value, is ? "true" : "false");
		break;
	case RECIPE_INTEGER:
	case RECIPE_DURATION:
		well = want_number(reader, key, what, value);
		break;
	case RECIPE_CHOICE:
		well = want_choice(reader, key, what, value);
		break;
	case RECIPE_SWITCH:
		if (recipe_is_switch(value, &is)) {
			recipe_value_set(value, "");
			value->plain = true; /* null */
			if (!is)
				return true;
			value->kind = RECIPE_MAP;
		}
		/* fall through */
	case RECIPE_KEYS:
		well = want_keys(reader, key->keys, what, value);
		break;
	case RECIPE_EACH:
		well = want_each(reader, key, what, value);
		break;
	}
	if (well && key->read)
		key->read(reader, what, value);
	return well;
}
