/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_COLLECT_PLAN_H
#define CT_COLLECT_PLAN_H

#include <stdio.h>

#include "base/error.h"
#include "input/recipe/recipe.h"

/* A recipe as records for the shell; docs/recipe.md describes each. */
struct plan {
	const struct recipe *recipe;
	size_t point;    /* from 0 */
	const char *run; /* name of the run's directory; NULL: without its time */
};

/* A line a point. */
void plan_print_points(const struct recipe *recipe, FILE *file);

/* How to reach the nodes, the nodes, and their roles. */
void plan_print_nodes(const struct recipe *recipe, FILE *file);

/*
 * All of a point. 0, or -1 with error: a pattern of inputs found no file. Then
 * what was written so far is of no use.
 */
int plan_print(const struct plan *plan, FILE *file, struct error *error);

#endif
