/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/keys.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/nsec.h"
#include "base/number.h"
#include "input/recipe/recipe.h"

static bool matches_pattern(const char *form, const char *text, int flags)
{
	AUTOFREE char *whole = mem_printf("^(%s)$", form);
	regex_t compiled;
	bool has;

	if (regcomp(&compiled, whole, REG_EXTENDED | REG_NOSUB | flags))
		abort();
	has = regexec(&compiled, text, 0, NULL, 0) == 0;
	regfree(&compiled);
	return has;
}

bool recipe_has_form(const char *form, const char *text)
{
	struct recipe_value destination;
	bool has;

	if (strcmp(form, "address") == 0)
		return recipe_is_address(text);
	if (strcmp(form, "destination") != 0)
		return matches_pattern(form, text, 0);
	has = recipe_parse_destination(text, &destination);
	recipe_value_clear(&destination);
	return has;
}

void recipe_add_unknown(const char *what, const struct recipe_value *name,
			const char *kind, const struct recipe_value *map)
{
	AUTOFREE char *meant = recipe_meant(name->text, map);

	recipe_error_add(name->location, "%s: unknown %s '%.80s'%s", what, kind,
			 name->text, meant);
}

/* Return a number of the table, or 0 if it is missing. */
static int64_t number_of(const struct recipe_value *key, const char *name)
{
	int64_t number = 0;

	number_integer(recipe_text(key, name), &number);
	return number;
}

/*
 * Parse a switch: true, false, yes, no, on and off, as in YAML 1.1, and none. Return
 * false if the value is something else.
 */
static bool is_switch(const struct recipe_value *value, bool *is_on)
{
	static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};

	*is_on = false;
	if (value->kind != RECIPE_TEXT)
		return false;
	for (size_t i = 0; value->plain && i < sizeof(words) / sizeof(*words); i++)
		if (strcasecmp(value->text, words[i]) == 0) {
			*is_on = i % 2;
			return true;
		}
	return strcmp(value->text, "none") == 0;
}

/* Return the factor of a unit, or 0 if it is unknown; times are in milliseconds. */
static int64_t unit_of(const char *type, const char *unit)
{
	static const struct {
		const char *type, *name;
		int64_t times;
	} units[] = {
	    {"integer", "", 1},     {"size", "", 1},        {"size", "k", 1 << 10},
	    {"size", "M", 1 << 20}, {"size", "G", 1 << 30}, {"time", "", 1000},
	    {"time", "ms", 1},      {"time", "s", 1000},    {"time", "m", 60000},
	    {"time", "h", 3600000},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(units[i].type, type) == 0 && strcmp(units[i].name, unit) == 0)
			return units[i].times;
	return 0;
}

static bool parse_number(const char *type, const char *text, int64_t *number)
{
	size_t length = strspn(text, "-.0123456789");
	AUTOFREE char *digits = mem_strndup(text, length);
	int64_t unit = unit_of(type, text + length);
	bool is_time = strcmp(type, "time") == 0, well;

	well = unit && (is_time ? number_seconds(digits, number)
				: number_integer(digits, number)) == 0;
	if (well && is_time) /* nanoseconds, from a unit in milliseconds */
		*number /= 1000;
	if (!well || __builtin_mul_overflow(*number, unit, number))
		return false;
	if (is_time && *number % NSEC_PER_MSEC)
		return false;
	*number /= is_time ? NSEC_PER_MSEC : 1;
	return strcmp(type, "size") != 0 ||
	       (*number > 0 && (*number & (*number - 1)) == 0);
}

static bool check_number(const struct recipe_value *key, const char *what,
			 struct recipe_value *value)
{
	const int64_t ten_years_ms = (int64_t)10 * 366 * 86400 * 1000;
	const char *type = recipe_text(key, "type");
	bool is_time = strcmp(type, "time") == 0;
	int64_t least = number_of(key, "least"), number;
	int64_t most = is_time ? ten_years_ms : number_of(key, "most");
	char *text;

	if (value->kind == RECIPE_TEXT && parse_number(type, value->text, &number) &&
	    number >= least && number <= most) {
		text = mem_printf("%" PRId64, number);
		recipe_value_set(value, text);
		free(text);
		return true;
	}
	text = is_time ? mem_printf("a time of at least %" PRId64
				    " ms: seconds, or a number with ms, s, m or h",
				    least)
		       : mem_printf("a whole number from %" PRId64 " to %" PRId64 "%s",
				    least, most,
				    strcmp(type, "size") == 0
					? ", a power of two such as 8, 16k or 1M"
					: "");
	recipe_add_invalid(what, value, text);
	free(text);
	return false;
}

/*
 * Return true, and report the value without quoting it, if it matches the key's `refuse`
 * pattern.
 */
static bool is_refused(const struct recipe_value *key, const char *what,
		       const struct recipe_value *value)
{
	const char *refuse = recipe_text(key, "refuse");

	if (!*refuse || !matches_pattern(refuse, value->text, REG_ICASE))
		return false;
	recipe_error_add(value->location, "%s: %s", what, recipe_text(key, "refused"));
	return true;
}

/* A text, or a name: not blank, unless a form says so. */
static bool check_text(const struct recipe_value *key, const char *what,
		       struct recipe_value *value)
{
	const char *form = recipe_text(key, "form"),
		   *expected = recipe_text(key, "expected");
	bool is_text = value->kind == RECIPE_TEXT && !recipe_value_is_null(value);
	size_t most = (size_t)number_of(key, "most");

	if (is_text && is_refused(key, what, value))
		return false;
	if (is_text && (!most || strlen(value->text) <= most) &&
	    (*form ? recipe_has_form(form, value->text)
		   : value->text[strspn(value->text, " \t\n\r")] != '\0'))
		return true;
	return recipe_add_invalid(what, value,
				  is_text && *expected ? expected : "a text");
}

/* Put what is there into a list or map, the only entry. */
static void wrap_value(struct recipe_value *value, enum recipe_kind kind, const char *key)
{
	struct recipe_value only = *value;

	*value = (struct recipe_value){.kind = kind, .location = only.location};
	*recipe_value_add(value, key, only.location) = only;
}

/* Add the default of a key that a map lacks, or an error. */
static void complete_map(const struct recipe_entry *key, const char *what,
			 struct recipe_value *map)
{
	const struct recipe_value *unset = recipe_value_find(&key->value, "default");
	struct recipe_value *added;

	if (recipe_value_find(&key->value, "needed"))
		recipe_error_add(map->location, "%s: missing %s (expected %s)", what,
				 key->key, recipe_text(&key->value, "expected"));
	if (!unset)
		return;
	recipe_value_put(map, key->key, ""); /* the value may be null */
	added = recipe_value_find(map, key->key);
	recipe_value_clear(added);
	recipe_value_copy(added, unset);
	added->location = map->location;
}

static bool check_map(const struct recipe_value *key, const char *what,
		      struct recipe_value *value)
{
	const struct recipe_value *keys = recipe_value_find(key, "keys");
	const char *first = recipe_text(key, "first");

	if (value->kind != RECIPE_MAP && *first)
		wrap_value(value, RECIPE_MAP, first);
	if (value->kind != RECIPE_MAP)
		return recipe_add_invalid(what, value, "a map");
	for (size_t i = 0; i < keys->count; i++)
		if (!recipe_value_find(value, keys->entry[i].key))
			complete_map(&keys->entry[i], what, value);
	for (size_t i = 0; i < value->count; i++) {
		struct recipe_entry *entry = &value->entry[i];
		const struct recipe_value *known = recipe_value_find(keys, entry->key);
		AUTOFREE char *meant = known ? NULL : recipe_meant(entry->key, keys);

		if (known)
			recipe_check(known, entry->key, &entry->value);
		else
			recipe_error_add(entry->location, "%s: unknown key '%.80s'%s",
					 what, entry->key, meant);
	}
	return true;
}

/* One, or a list of such: texts, each once, or maps. */
static bool check_list(const struct recipe_value *key, const char *what,
		       struct recipe_value *value)
{
	bool is_maps = strcmp(recipe_text(key, "type"), "maps") == 0, well = true;

	if (value->kind == (is_maps ? RECIPE_TEXT : RECIPE_MAP))
		return recipe_add_invalid(what, value,
					  is_maps ? "a map, or a list of maps"
						  : "a text or a list of texts");
	if (value->kind != RECIPE_LIST)
		wrap_value(value, RECIPE_LIST, NULL);
	for (size_t i = 0; i < value->count; i++) {
		struct recipe_value *item = &value->entry[i].value;

		well &= (is_maps ? check_map : check_text)(key, what, item);
		if (item->kind != RECIPE_TEXT || !recipe_has(value, i, item->text))
			continue;
		recipe_error_add(item->location, "%s: duplicate '%.60s'", what,
				 item->text);
		well = false;
	}
	if (value->count >= (size_t)number_of(key, "least"))
		return well;
	return recipe_add_invalid(what, value, "at least one text");
}

static bool check_inputs(const struct recipe_value *key, const char *what,
			 struct recipe_value *value)
{
	return (value->kind == RECIPE_TEXT ? check_text : check_list)(key, what, value);
}

/* Add NAME, NAME=VALUE, a map's member, or all of a list of such, to one map. */
static void gather_names(const char *what, bool has_settings, struct recipe_entry *entry,
			 struct recipe_value *names)
{
	struct recipe_value *value = &entry->value, *added;
	char *name, *setting;

	if (!entry->key && value->kind != RECIPE_TEXT) {
		for (size_t i = 0; i < value->count; i++)
			gather_names(what, has_settings, &value->entry[i], names);
		return;
	}
	name = mem_strdup(entry->key ? entry->key : value->text);
	setting = entry->key || !has_settings ? NULL : strchr(name, '=');
	if (setting)
		*setting++ = '\0';
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->entry[i].key, name) == 0)
			recipe_error_add(entry->location, "%s: duplicate '%.80s'", what,
					 name);
	added = recipe_value_add(names, name, entry->location);
	if (entry->key)
		recipe_value_copy(added, value);
	else
		recipe_value_set(added, setting ? setting : "");
	added->plain |= !entry->key && !setting; /* null */
	free(name);
}

/* Check a name and its value; a name without a value has an empty map. */
static void check_entry(const struct recipe_value *key, const char *what,
			struct recipe_entry *entry)
{
	const struct recipe_value *each = recipe_value_find(key, "each");
	struct recipe_value *value = &entry->value;
	struct recipe_value name = {.location = entry->location, .text = entry->key};
	AUTOFREE char *whole = mem_printf("%s: %s", what, entry->key);
	bool is_null = recipe_value_is_null(value);

	check_text(key, what, &name);
	if (value->kind == RECIPE_TEXT) {
		name.text = mem_printf("%s=%s", entry->key, value->text);
		is_refused(key, whole, &name);
		free(name.text);
	}
	if (is_null && recipe_value_find(each, "needed")) {
		recipe_add_invalid(whole, value, recipe_text(each, "expected"));
	} else if (is_null && strcmp(recipe_text(each, "type"), "map") == 0) {
		recipe_value_set(value, "");
		value->kind = RECIPE_MAP;
	}
	recipe_check(each, whole, value);
}

/* Turn names into a map, without names whose value is null. */
static bool check_names(const struct recipe_value *key, const char *what,
			struct recipe_value *value)
{
	const struct recipe_value *each = recipe_value_find(key, "each");
	bool is_named = strcmp(recipe_text(key, "type"), "named") == 0;
	bool is_text = !*recipe_text(each, "type");
	struct recipe_entry all = {.location = value->location, .value = *value};
	struct recipe_value names = {.kind = RECIPE_MAP, .location = value->location};
	size_t kept = 0;

	if (is_named && value->kind != RECIPE_MAP)
		return recipe_add_invalid(what, value,
					  "a map of names, each with its values");
	gather_names(what, is_text, &all, &names);
	for (size_t i = 0; i < names.count; i++) {
		struct recipe_entry *entry = &names.entry[i];

		check_entry(key, what, entry);
		if (!is_text && recipe_value_is_null(&entry->value)) {
			free(entry->key);
			recipe_value_clear(&entry->value);
		} else {
			names.entry[kept++] = *entry;
		}
	}
	names.count = kept;
	recipe_value_clear(value);
	*value = names;
	return true;
}

void recipe_check(const struct recipe_value *key, const char *what,
		  struct recipe_value *value)
{
	static const struct {
		const char *name;
		bool (*check)(const struct recipe_value *, const char *,
			      struct recipe_value *);
	} types[] = {
	    {"", check_text},       {"texts", check_list},     {"inputs", check_inputs},
	    {"maps", check_list},   {"integer", check_number}, {"size", check_number},
	    {"time", check_number}, {"map", check_map},        {"named", check_names},
	    {"names", check_names},
	};
	const struct recipe_value *on = recipe_value_find(key, "on");
	struct recipe_location location = value->location;
	size_t type = 0;
	bool is_on, is_off = false;

	if (recipe_value_is_null(value))
		return;
	if (on && is_switch(value, &is_on)) {
		is_off = !is_on;
		recipe_value_clear(value);
		recipe_value_copy(value, on);
		value->location = location;
	}
	while (strcmp(types[type].name, recipe_text(key, "type")) != 0)
		type++;
	if (!is_off && types[type].check(key, what, value))
		return;
	recipe_value_set(value, "");
	value->plain = true; /* null */
}
