/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_VALUE_H
#define CT_INPUT_RECIPE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/recipe/mistake.h"

/*
 * What stands in a YAML file, as a tree in which every value knows where it
 * stands. Aliases and merge keys (<<) are resolved already: what they stand for
 * is copied, with the place where it was written.
 */
enum recipe_kind { RECIPE_TEXT, RECIPE_LIST, RECIPE_MAP };

struct recipe_value {
	enum recipe_kind kind;
	struct recipe_place place;
	char *text; /* of RECIPE_TEXT: UTF-8 */
	bool plain; /* without quotes: may be meant as a number, true, null, ... */
	struct recipe_entry *entry; /* of the others, in the order of the file */
	size_t count, room;
};

struct recipe_entry {
	char *key;                 /* NULL in a list */
	struct recipe_place place; /* of the key */
	struct recipe_value value;
};

/* What keeps a small file from becoming a large tree. */
enum {
	RECIPE_MOST_BYTES = 1 << 20, /* a file */
	RECIPE_MOST_VALUES = 50000,  /* all files, copies of aliases included */
	RECIPE_MOST_DEPTH = 32,
	RECIPE_MOST_KEYS = 5000, /* a map */
};

/*
 * Read one YAML file, as `place.file` shall be called. `room` is how many
 * values may still come, and is made less. A file that is empty, or holds null, is an
 * empty map. 0, though there may be mistakes; or -1 where the file cannot be read, with a
 * mistake and nothing in `value`.
 */
int recipe_value_read(struct recipe_value *value, const char *path, size_t *room,
		      struct recipe_mistakes *mistakes);

void recipe_value_clear(struct recipe_value *value);

/* Add an entry at the end, its value empty. Copies the key. */
struct recipe_entry *recipe_value_add(struct recipe_value *value, const char *key,
				      struct recipe_place place);

/* A map's member, or NULL. */
struct recipe_value *recipe_value_find(const struct recipe_value *map, const char *key);

/* Not given at all: a plain null, ~ or nothing. */
bool recipe_value_is_null(const struct recipe_value *value);

/* Whether a map has a member that is not null. */
bool recipe_value_has(const struct recipe_value *map, const char *key);

/* What it is, for messages: "a list", "a map", "the text 'x'". For free(). */
char *recipe_value_describe(const struct recipe_value *value);

/*
 * Read a recipe with all that it imports, as one map. A file's own values stand
 * over those that it imports, later imports over earlier ones; maps are merged
 * member by member, everything else is replaced. Keys with two names get one
 * (`ssh_username` is `username`), and `import` is gone. 0, though there may be
 * mistakes; -1 where a file could not be read, and nothing is in `recipe`.
 */
int recipe_import(struct recipe_value *recipe, const char *path,
		  struct recipe_mistakes *mistakes);

#endif
