/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_COMMAND_H
#define CT_INPUT_RECIPE_COMMAND_H

#include "input/recipe/recipe.h"

enum { RECIPE_MOST_POINTS = 10000 }; /* points of the product of the parameters */

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
 * becomes `%(`. The caller frees the result.
 */
char *recipe_command_fill(const struct recipe_value *command,
			  const struct recipe_value *values, const char *what);

#endif
