/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_PROBES_H
#define CT_INPUT_RECIPE_PROBES_H

#include "input/recipe/recipe.h"

/*
 * List who pings whom, each as a map of `node`, which pings, its `neighbor`, the
 * neighbor's `address` and `interval_ms`. The nodes are a ring in the order of the
 * recipe, with chords, and both ends ping each other. Adds an error to the recipe for an
 * address that cannot lead to the neighbor. The list is empty if the recipe has no
 * probes; the caller clears it.
 */
void recipe_find_probes(const struct recipe *recipe, struct recipe_value *probes);

/*
 * Return the filter of the captures, which lets probes pass, or "" if everything passes.
 * The caller frees it.
 */
char *recipe_probe_filter(const struct recipe *recipe);

#endif
