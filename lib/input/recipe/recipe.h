/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_RECIPE_H
#define CT_INPUT_RECIPE_RECIPE_H

#include "input/recipe/value.h"

/*
 * A recipe: which nodes to watch, what to record there, and what to run
 * meanwhile. docs/recipe.md tells each key. Everything is checked once it is
 * read: names are fit for files and for the command line of ssh, roles name
 * nodes that are there, and every %(key)s in a command has a value.
 *
 * In what is checked each key has the form that its type says (keys.h), and a default
 * where it was not given. Durations are milliseconds.
 */
struct recipe {
	struct recipe_value tree; /* as read, with all imports */
	struct recipe_value checked;
	struct recipe_value nodes; /* name: {address, username, port} */
	struct recipe_value roles; /* name: [node...]; the last one is `all` */
	/* Of the kernel, system calls ("*": all), user space: name: required or optional
	 */
	struct recipe_value events[3];
};

enum { RECIPE_KERNEL, RECIPE_SYSCALL, RECIPE_USERSPACE, RECIPE_EVENT_KINDS };

/*
 * Read and check a recipe. 0; or -1 with at least one error, sorted, and
 * nothing in `recipe`, whose memory is the caller's.
 */
int recipe_read(struct recipe *recipe, const char *path, struct recipe_errors *errors);

void recipe_clear(struct recipe *recipe);

/* A key of the recipe, or NULL. */
const struct recipe_value *recipe_get(const struct recipe *recipe, const char *key);

/* The text of a map's member, "" where there is none. */
const char *recipe_text(const struct recipe_value *map, const char *key);

/* Whether a list has this text. */
bool recipe_has(const struct recipe_value *list, const char *text);

/*
 * What recipes may call by name, as known.yaml has it: `events`, groups of them, each
 * with `help`, `required` and `optional`; `sensors`, each with `help`, `interval` in
 * seconds and `command`; and `contexts`.
 */
void recipe_known(struct recipe_value *known);

const char *recipe_library_version(void); /* "0.2.5" */

#endif
