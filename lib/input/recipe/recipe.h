/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_RECIPE_H
#define CT_INPUT_RECIPE_RECIPE_H

#include "base/bytes.h"
#include "base/error.h"
#include "input/recipe/value.h"

/*
 * A recipe: which nodes to watch, what to record there, and what to run
 * meanwhile. docs/recipe.md tells each key. Everything is checked once it is
 * read: names are fit for files and for the command line of ssh, roles name
 * nodes that are there, and every %(key)s in a command has a value.
 *
 * In what is checked each key has the form that its type says (known.yaml), and a default
 * where it was not given. Durations are milliseconds; `events` has maps `kernel`,
 * `syscall` ("*": all) and `userspace` of names, each `required` or `optional`.
 */
struct recipe {
	struct recipe_value tree; /* as read, with all imports */
	struct recipe_value checked;
	struct recipe_value nodes; /* name: {address, username, port, written, roles} */
	struct recipe_value roles; /* name: [node...]; the last one is `all` */
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

/*
 * Split [USER@]HOST[:PORT] into a map of `username`, `address` and `port`. Return false
 * if the text is invalid.
 */
bool recipe_parse_destination(const char *text, struct recipe_value *destination);

enum { RECIPE_MOST_POINTS = 10000 }; /* of the product of the parameters */

/*
 * Return the number of points, at least 1; more than RECIPE_MOST_POINTS if there are too
 * many.
 */
size_t recipe_points(const struct recipe *recipe);

/*
 * Return a parameter's value at a point, which counts from 0. The last parameter changes
 * first.
 */
const struct recipe_value *recipe_choice(const struct recipe *recipe, size_t point,
					 size_t parameter);

/*
 * Return a point's suffix for a directory's name, "delay=1-size=64": up to 160 bytes,
 * different for every point. Bytes that file names should not contain are written as %XX;
 * a longer text is cut and a hash of the whole is appended. The caller frees it.
 */
char *recipe_point_suffix(const struct recipe *recipe, size_t point);

/*
 * Collect the values of %(key)s at a point that are the same wherever a command runs, as
 * a map. `run` is the name of the run's directory. The caller adds those of a node or a
 * task.
 */
void recipe_point_values(const struct recipe *recipe, size_t point, const char *run,
			 struct recipe_value *values);

/*
 * Return a command with its values filled in. Each value stays within one word of the
 * shell: outside of quotes it is put into single quotes, within double quotes its special
 * characters are escaped. A placeholder without a value, or at a place where quoting
 * cannot be determined, is an error; `what` is the command's name in messages. `%%(`
 * stands for `%(` itself. The caller frees the result.
 */
char *recipe_command_fill(const struct recipe_value *command,
			  const struct recipe_value *values, const char *what);

/* Append a line for a point; how to reach the nodes, the nodes, and their roles. */
void recipe_print_point(const struct recipe *recipe, size_t point, struct bytes *out);
void recipe_print_nodes(const struct recipe *recipe, struct bytes *out);

/*
 * All of a point. `run` is the name of the run's directory; NULL: without its time. 0, or
 * -1 with errors of the recipe: a role that is none, a %(key)s without a value, a pattern
 * of inputs that found no file. Then what was added is of no use.
 */
int recipe_print_plan(const struct recipe *recipe, size_t point, const char *run,
		      struct bytes *out);

/*
 * Append what run.json contains of the point, as an object on one line: name, run if it
 * is given, parameters, nodes, and last the recipe with all that it imports.
 */
void recipe_print_json(const struct recipe *recipe, size_t point, const char *run,
		       struct bytes *out);

#endif
