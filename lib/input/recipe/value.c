/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/value.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void recipe_value_clear(struct recipe_value *value)
{
	for (size_t i = 0; i < value->count; i++) {
		free(value->entry[i].key);
		recipe_value_clear(&value->entry[i].value); /* RECIPE_MOST_DEPTH */
	}
	free(value->entry);
	free(value->text);
	memset(value, 0, sizeof(*value));
}

struct recipe_entry *recipe_value_add(struct recipe_value *value, const char *key,
				      struct recipe_place place)
{
	struct recipe_entry *entry;

	value->entry =
	    mem_grow(value->entry, value->count, &value->room, sizeof(*value->entry));
	entry = &value->entry[value->count++];
	memset(entry, 0, sizeof(*entry));
	entry->key = key ? mem_strdup(key) : NULL;
	entry->place = place;
	return entry;
}

struct recipe_value *recipe_value_find(const struct recipe_value *map, const char *key)
{
	if (map->kind != RECIPE_MAP)
		return NULL;
	for (size_t i = 0; i < map->count; i++)
		if (strcmp(map->entry[i].key, key) == 0)
			return &map->entry[i].value;
	return NULL;
}

static size_t count_values(const struct recipe_value *value)
{
	size_t sum = 1;

	for (size_t i = 0; i < value->count; i++)
		sum += count_values(&value->entry[i].value);
	return sum;
}

static void copy_all(struct recipe_value *copy, const struct recipe_value *value)
{
	memset(copy, 0, sizeof(*copy));
	copy->kind = value->kind;
	copy->place = value->place;
	copy->plain = value->plain;
	copy->text = value->text ? mem_strdup(value->text) : NULL;
	for (size_t i = 0; i < value->count; i++) {
		const struct recipe_entry *entry = &value->entry[i];
		struct recipe_entry *added =
		    recipe_value_add(copy, entry->key, entry->place);

		copy_all(&added->value, &entry->value);
	}
}

int recipe_value_copy(struct recipe_value *copy, const struct recipe_value *value,
		      size_t *room)
{
	size_t count = count_values(value);

	if (count > *room)
		return -1;
	*room -= count;
	copy_all(copy, value);
	return 0;
}

bool recipe_value_is_null(const struct recipe_value *value)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};

	if (value->kind != RECIPE_TEXT || !value->plain)
		return false;
	for (size_t i = 0; i < sizeof(nulls) / sizeof(*nulls); i++)
		if (strcmp(value->text, nulls[i]) == 0)
			return true;
	return false;
}

bool recipe_value_has(const struct recipe_value *map, const char *key)
{
	const struct recipe_value *member = recipe_value_find(map, key);

	return member && !recipe_value_is_null(member);
}

char *recipe_value_describe(const struct recipe_value *value)
{
	enum { SHOWN = 60 };

	if (value->kind == RECIPE_LIST)
		return mem_strdup("a list");
	if (value->kind == RECIPE_MAP)
		return mem_strdup("a map");
	if (recipe_value_is_null(value))
		return mem_strdup("nothing");
	if (strlen(value->text) > SHOWN)
		return mem_printf("'%.*s...'", SHOWN, value->text);
	return mem_printf("'%s'", value->text);
}
