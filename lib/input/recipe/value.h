/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_VALUE_H
#define CT_INPUT_RECIPE_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"

/* A location in a recipe's files, and the errors reported there. */
struct recipe_location {
	struct recipe_errors *errors;
	const char *file; /* as the user knows it; borrowed of the errors */
	size_t line;      /* from 1; 0 for the whole file */
};

/* The errors of a recipe, and the names of its files. */
struct recipe_errors {
	struct recipe_error {
		struct recipe_location location;
		char *text; /* what is wrong, what is expected; may hold anything */
	} * item;
	size_t count, capacity;
	struct text_list files;
};

/* Returns -1. */
int recipe_error_add(struct recipe_location location, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sort by file, line and text; each is kept once. */
void recipe_errors_sort(struct recipe_errors *errors);
void recipe_errors_clear(struct recipe_errors *errors);

/*
 * The contents of a YAML file, as a tree in which every value has its location. Aliases
 * and merge keys (<<) are resolved: what they refer to is copied, with its own location.
 */
enum recipe_kind { RECIPE_TEXT, RECIPE_LIST, RECIPE_MAP };

struct recipe_value {
	enum recipe_kind kind;
	struct recipe_location location;
	char *text; /* for RECIPE_TEXT: UTF-8 */
	bool plain; /* without quotes: may be meant as a number, true, null, ... */
	struct recipe_entry *entry; /* for the other kinds, in the order of the file */
	size_t count, capacity;
};

struct recipe_entry {
	char *key;                       /* NULL in a list */
	struct recipe_location location; /* location of the key */
	struct recipe_value value;
};

/* Limits that keep a small file from becoming a large tree. */
enum {
	RECIPE_MOST_MIB = 1,        /* a file */
	RECIPE_MOST_VALUES = 50000, /* all files, copies of aliases included */
	RECIPE_MOST_KEYS = 1000,    /* a map; also anchors and aliases of a file */
	RECIPE_MOST_ITEMS = 5000,   /* a list; hosts are compared with one another */
	RECIPE_MOST_DEPTH = 32,
	RECIPE_MOST_FILES = 64,
};

/*
 * Read a recipe with all that it imports, as one map. A file's own values override those
 * that it imports, later imports override earlier ones; maps are merged member by member,
 * everything else is replaced. `ssh_username` is renamed to `username`, and `import` is
 * removed. Return 0, even with errors in the recipe; or -1 if a file cannot be read, and
 * then `recipe` is empty.
 */
int recipe_load(struct recipe_value *recipe, const char *path,
		struct recipe_errors *errors);

/*
 * Read a YAML file of another kind, "a declaration of messages", that imports nothing.
 * Return 0, or -1 with errors. The value must be cleared in either case.
 */
int recipe_load_file(struct recipe_value *value, const char *path, const char *kind,
		     struct recipe_errors *errors);

/* A text of YAML that is our own, and imports nothing. */
void recipe_load_text(struct recipe_value *value, const char *text);

void recipe_value_clear(struct recipe_value *value);

/* Add an entry at the end, its value empty. Copies the key. */
struct recipe_value *recipe_value_add(struct recipe_value *value, const char *key,
				      struct recipe_location location);

/* Make it a text. Copies. */
void recipe_value_set(struct recipe_value *value, const char *text);

/* Set a map's member to a text, or, without a key, add a text to a list. */
void recipe_value_put(struct recipe_value *value, const char *key, const char *text);

/* Copy a whole tree into an empty value. */
void recipe_value_copy(struct recipe_value *value, const struct recipe_value *from);

/* Return a map's member, or NULL if it is missing or null, or if `map` is NULL. */
struct recipe_value *recipe_value_find(const struct recipe_value *map, const char *key);

/* Return the text of a map's member, or "" if there is none. */
const char *recipe_text(const struct recipe_value *map, const char *key);

/* Return true if a list has this text among its first `count` items. */
bool recipe_has(const struct recipe_value *list, size_t count, const char *text);

/* Not given at all: a plain null, ~ or nothing. */
bool recipe_value_is_null(const struct recipe_value *value);

/* Add the error "WHAT: invalid value 'X' (expected EXPECTED)". Return false. */
bool recipe_add_invalid(const char *what, const struct recipe_value *value,
			const char *expected);

/*
 * Return "; did you mean 'KEY'?" with the most similar key of a map, or "". The caller
 * frees it.
 */
char *recipe_meant(const char *word, const struct recipe_value *map);

/* Return "libyaml 0.2.5"; the caller frees it. */
char *recipe_library_version(void);

#endif
