/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_COLLECT_FACTS_H
#define CT_COLLECT_FACTS_H

#include "input/recipe/recipe.h"

/*
 * What run.json tells of one point of a recipe, as an object on one line: name,
 * run where it is given, parameters, nodes, and the recipe with all that it
 * imports. The point counts from 0. For free().
 */
char *facts_of_point(const struct recipe *recipe, size_t point, const char *run);

#endif
