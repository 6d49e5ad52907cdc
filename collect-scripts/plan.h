/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_COLLECT_PLAN_H
#define CT_COLLECT_PLAN_H

#include <stdio.h>

#include "base/error.h"
#include "input/recipe/recipe.h"

/*
 * A recipe as records for a POSIX shell, a line each; docs/recipe.md describes them. A
 * line is made of words that `eval "set -- $line"` gives back whatever they hold: those
 * that could mean anything to the shell stand in single quotes, and a line feed is
 * written as "$NL" between them, so that it ends no line; the script sets NL.
 */
struct plan {
	const struct recipe *recipe;
	size_t point;    /* from 0 */
	const char *run; /* name of the run's directory; NULL: without its time */
	FILE *file;
};

/* A line for a point. */
void plan_print_point(const struct plan *plan);

/* How to reach the nodes, the nodes, and their roles. */
void plan_print_nodes(const struct plan *plan);

/*
 * All of a point. 0, or -1 with error: a pattern of inputs found no file. Then
 * what was written so far is of no use.
 */
int plan_print(const struct plan *plan, struct error *error);

/*
 * What run.json tells of the point, as an object on one line: name, run where it is
 * given, parameters, nodes, and last the recipe with all that it imports. For free().
 */
char *plan_json(const struct plan *plan);

#endif
