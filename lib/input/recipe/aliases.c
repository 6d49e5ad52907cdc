/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Devices to look at, and what to call them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/recipe/names.h"
#include "input/recipe/private.h"

/* What names a device may have in reports: anything on one line. */
static void add_alias(struct recipe_reader *reader, const char *key,
		      struct recipe_place place, const char *const texts[2],
		      const char *(*check)(const char *))
{
	struct recipe_aliases *list = reader->aliases;
	const char *wanted = check(texts[0]);

	if (wanted)
		recipe_mistake_add(reader->mistakes, place, "%s: it is '%.80s', want %s",
				   key, texts[0], wanted);
	if (strlen(texts[1]) > 80 || strpbrk(texts[1], "\n\r\t"))
		recipe_mistake_add(reader->mistakes, place,
				   "%s: the alias of %.80s is '%.80s', want up to 80 "
				   "characters on one line",
				   key, texts[0], texts[1]);
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->item[i].name, texts[0]) == 0) {
			recipe_mistake_add(reader->mistakes, place,
					   "%s: %.80s stands there twice", key, texts[0]);
			return;
		}
	list->item = mem_grow(list->item, list->count, &list->room, sizeof(*list->item));
	list->item[list->count].name = mem_strdup(texts[0]);
	list->item[list->count++].alias = mem_strdup(texts[1]);
}

static void read_alias_map(struct recipe_reader *reader, const char *key,
			   const struct recipe_value *map,
			   const char *(*check)(const char *))
{
	for (size_t i = 0; i < map->count; i++) {
		const struct recipe_entry *entry = &map->entry[i];
		const char *alias = entry->key;

		if (!recipe_value_is_null(&entry->value))
			alias = recipe_text(reader, key, &entry->value);
		if (alias)
			add_alias(reader, key, entry->place,
				  (const char *const[]){entry->key, alias}, check);
	}
}

/* A list of names and of maps NAME: ALIAS, or one map. */
static void read_aliases(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value,
			 const char *(*check)(const char *))
{
	if (value->kind == RECIPE_MAP)
		read_alias_map(reader, key, value, check);
	else if (value->kind == RECIPE_TEXT)
		add_alias(reader, key, value->place,
			  (const char *const[]){value->text, value->text}, check);
	for (size_t i = 0; value->kind == RECIPE_LIST && i < value->count; i++) {
		const struct recipe_value *item = &value->entry[i].value;

		if (item->kind == RECIPE_MAP)
			read_alias_map(reader, key, item, check);
		else if (recipe_text(reader, key, item))
			add_alias(reader, key, item->place,
				  (const char *const[]){item->text, item->text}, check);
	}
}

void recipe_read_filesystems(struct recipe_reader *reader, const char *key,
			     const struct recipe_value *value, void *target)
{
	reader->aliases = &((struct recipe *)target)->filesystems;
	read_aliases(reader, key, value, recipe_check_device);
}

void recipe_read_interfaces(struct recipe_reader *reader, const char *key,
			    const struct recipe_value *value, void *target)
{
	reader->aliases = &((struct recipe *)target)->interfaces;
	read_aliases(reader, key, value, recipe_check_interface);
}
