/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_PLAN_H
#define CT_INPUT_RECIPE_PLAN_H

#include "base/bytes.h"
#include "input/recipe/recipe.h"

/* Append a line for a point; how to reach the nodes, the nodes, and their roles. */
void recipe_print_point(const struct recipe *recipe, size_t point, struct bytes *out);
void recipe_print_nodes(const struct recipe *recipe, struct bytes *out);

/*
 * Print all records of a point. `run` is the name of the run's directory; if it is NULL,
 * its time is omitted. Return 0, or -1 with errors of the recipe: an unknown role, a
 * %(key)s without a value, a pattern of inputs that matches no file. Then `out` must not
 * be used.
 */
int recipe_print_plan(const struct recipe *recipe, size_t point, const char *run,
		      struct bytes *out);

/*
 * Append what run.json contains of the point, as an object on one line: name, run if it
 * is given, parameters, nodes, probes, and last the recipe with all that it imports.
 */
void recipe_print_json(const struct recipe *recipe, size_t point, const char *run,
		       struct bytes *out);

#endif
