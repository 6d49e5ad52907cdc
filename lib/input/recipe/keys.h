/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_KEYS_H
#define CT_INPUT_RECIPE_KEYS_H

#include "input/recipe/value.h"

/* Add the error "WHAT: unknown KIND 'NAME'", with the most similar key of the map. */
void recipe_add_unknown(const char *what, const struct recipe_value *name,
			const char *kind, const struct recipe_value *map);

/* Return true if a whole text matches an extended regular expression. */
bool recipe_has_form(const char *form, const char *text);

/*
 * Check a recipe, or the value of a key, against known.yaml, in place. Each value is
 * converted to one form, and missing ones are set to their defaults. Wrong ones are
 * reported and removed, so that the rest can be checked. `what` is its name in messages.
 */
void recipe_check(const struct recipe_value *key, const char *what,
		  struct recipe_value *value);

#endif
