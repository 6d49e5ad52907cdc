/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recipes that take over others. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/recipe/value.h"

enum { MOST_CHAIN = 16, MOST_FILES = 64 };

struct import {
	const char *chain[MOST_CHAIN]; /* the files that import one another */
	size_t depth, files;
	size_t room; /* for values */
	struct recipe_mistakes *mistakes;
};

/* All of `from`, moved over what is in `into`. */
static void merge(struct recipe_value *into, struct recipe_value *from)
{
	if (into->kind != RECIPE_MAP || from->kind != RECIPE_MAP) {
		recipe_value_clear(into);
		*into = *from;
		memset(from, 0, sizeof(*from));
		return;
	}
	into->place = from->place;
	for (size_t i = 0; i < from->count; i++) {
		struct recipe_entry *entry = &from->entry[i];
		struct recipe_value *old = recipe_value_find(into, entry->key);

		if (old) {
			merge(old, &entry->value);
			continue;
		}
		old = &recipe_value_add(into, entry->key, entry->place)->value;
		*old = entry->value;
		memset(&entry->value, 0, sizeof(entry->value));
	}
	recipe_value_clear(from);
}

/* One name for what has two, so that an importing file can change either. */
static void name_keys(struct import *import, struct recipe_value *map)
{
	static const char *const twice[][2] = {{"ssh_username", "username"}};

	for (size_t k = 0; k < sizeof(twice) / sizeof(*twice); k++) {
		bool both = recipe_value_find(map, twice[k][1]);

		for (size_t i = 0; i < map->count; i++) {
			struct recipe_entry *entry = &map->entry[i];

			if (strcmp(entry->key, twice[k][0]) != 0)
				continue;
			if (both)
				recipe_mistake_add(import->mistakes, entry->place,
						   "%s and %s are the same, want one",
						   twice[k][0], twice[k][1]);
			free(entry->key);
			entry->key = mem_strdup(twice[k][1]);
		}
	}
}

static int load(struct import *import, const char *path, struct recipe_value *into);

/* Returns NULL. */
static char *want_name(struct import *import, const struct recipe_value *name)
{
	char *what = recipe_value_describe(name);

	recipe_mistake_add(import->mistakes, name->place,
			   "import: %s, want the name of a recipe beside this one, or a "
			   "list of names",
			   what);
	free(what);
	return NULL;
}

/* The file that is imported by a name; NULL with a mistake. For free(). */
static char *imported_path(struct import *import, const char *importer,
			   const struct recipe_value *name)
{
	const char *slash = strrchr(importer, '/'), *dot;
	int directory = slash ? (int)(slash + 1 - importer) : 0;

	if (name->kind != RECIPE_TEXT || recipe_value_is_null(name))
		return want_name(import, name);
	if (strchr(name->text, '/') || *name->text == '.') {
		recipe_mistake_add(import->mistakes, name->place,
				   "import: '%s' is elsewhere, want a recipe in the same "
				   "directory",
				   name->text);
		return NULL;
	}
	for (const char *c = name->text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return want_name(import, name);
	dot = strrchr(name->text, '.');
	if (dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0))
		return mem_printf("%.*s%s", directory, importer, name->text);
	return mem_printf("%.*s%s.yaml", directory, importer, name->text);
}

/* Say in which circle a file came back to itself. */
static void circle_mistake(struct import *import, const char *path,
			   struct recipe_place place)
{
	char *circle = mem_strdup("");
	size_t begin = 0;

	while (strcmp(import->chain[begin], path) != 0)
		begin++;
	for (size_t i = begin; i < import->depth; i++) {
		char *longer = mem_printf("%s%s imports ", circle, import->chain[i]);

		free(circle);
		circle = longer;
	}
	recipe_mistake_add(import->mistakes, place, "import: a circle, %s%s", circle,
			   path);
	free(circle);
}

static int import_one(struct import *import, const char *importer,
		      const struct recipe_value *name, struct recipe_value *into)
{
	char *path = imported_path(import, importer, name);
	int status = 0;

	if (!path)
		return 0; /* the rest can still be looked at */
	for (size_t i = 0; i < import->depth; i++)
		if (strcmp(import->chain[i], path) == 0) {
			circle_mistake(import, path, name->place);
			goto out;
		}
	if (import->depth >= MOST_CHAIN || import->files >= MOST_FILES) {
		recipe_mistake_add(import->mistakes, name->place,
				   "import: more than %d files in all, or %d one after "
				   "another",
				   MOST_FILES, MOST_CHAIN);
		status = -1;
		goto out;
	}
	status = load(import, path, into);
	if (status)
		recipe_mistake_add(import->mistakes, name->place,
				   "import: %s cannot be used", path);
out:
	free(path);
	return status;
}

static int import_all(struct import *import, const char *path,
		      const struct recipe_value *names, struct recipe_value *into)
{
	int status = 0;

	if (names->kind != RECIPE_LIST)
		return recipe_value_is_null(names)
			   ? 0
			   : import_one(import, path, names, into);
	for (size_t i = 0; i < names->count; i++)
		if (import_one(import, path, &names->entry[i].value, into))
			status = -1;
	return status;
}

static void drop_imports(struct recipe_value *map)
{
	size_t kept = 0;

	for (size_t i = 0; i < map->count; i++) {
		if (strcmp(map->entry[i].key, "import") == 0) {
			free(map->entry[i].key);
			recipe_value_clear(&map->entry[i].value);
		} else {
			map->entry[kept++] = map->entry[i];
		}
	}
	map->count = kept;
}

static int load(struct import *import, const char *path, struct recipe_value *into)
{
	struct recipe_value own = {0};
	const struct recipe_value *names;
	int status = -1;

	import->files++;
	import->chain[import->depth++] = path;
	if (recipe_value_read(&own, path, &import->room, import->mistakes))
		goto out;
	if (own.kind != RECIPE_MAP) {
		char *what = recipe_value_describe(&own);

		recipe_mistake_add(import->mistakes, own.place,
				   "the recipe is %s, want a map", what);
		free(what);
		goto out;
	}
	names = recipe_value_find(&own, "import");
	status = names ? import_all(import, path, names, into) : 0;
	drop_imports(&own);
	name_keys(import, &own);
	merge(into, &own);
out:
	import->depth--;
	recipe_value_clear(&own);
	return status;
}

int recipe_import(struct recipe_value *recipe, const char *path,
		  struct recipe_mistakes *mistakes)
{
	struct import import = {.room = RECIPE_MOST_VALUES, .mistakes = mistakes};

	memset(recipe, 0, sizeof(*recipe));
	recipe->kind = RECIPE_MAP;
	if (load(&import, path, recipe) == 0)
		return 0;
	recipe_value_clear(recipe);
	return -1;
}
