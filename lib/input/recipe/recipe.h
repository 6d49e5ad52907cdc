/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_RECIPE_H
#define CT_INPUT_RECIPE_RECIPE_H

#include "base/bytes.h"
#include "base/error.h"
#include "input/recipe/value.h"

/*
 * A recipe: the nodes to watch, what to record there, and what to run meanwhile.
 * docs/recipe.md describes each key. Everything is checked after reading: names are valid
 * in file names and on the command line of ssh, roles name nodes that exist, and every
 * %(key)s in a command has a value.
 *
 * After the check each key has the form of its type (known.yaml), and a default if it
 * was not set. Durations are milliseconds; `events` has maps `kernel`,
 * `syscall` ("*": all) and `userspace` of names, each `required` or `optional`.
 */
struct recipe {
	struct recipe_value tree; /* as read, with all imports */
	struct recipe_value checked;
	/* name: {address, username, port, probe_address, written, roles} */
	struct recipe_value nodes;
	struct recipe_value roles;    /* name: [node...]; the last one is `all` */
	struct recipe_errors *errors; /* the caller's */
};

/*
 * Read and check a recipe. 0; or -1 with at least one error, sorted; clear it in either
 * case. Errors are borrowed until then.
 */
int recipe_read(struct recipe *recipe, const char *path, struct recipe_errors *errors);

void recipe_clear(struct recipe *recipe);

/* A key of the recipe, or NULL. */
const struct recipe_value *recipe_get(const struct recipe *recipe, const char *key);

/*
 * Load the names that recipes can use, from known.yaml: `events`, groups of them, each
 * with `help`, `required` and `optional`; and `sensors`, each with `help`, `interval` in
 * seconds and `command`.
 */
void recipe_known(struct recipe_value *known);

/* Return true if a text is the name or the address of a host. */
bool recipe_is_address(const char *text);

/*
 * Split [USER@]HOST[:PORT] into a map of `username`, `address` and `port`. Return false
 * if the text is invalid.
 */
bool recipe_parse_destination(const char *text, struct recipe_value *destination);

#endif
