/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_KEYS_H
#define CT_INPUT_RECIPE_KEYS_H

#include "input/recipe/value.h"

/* "WHAT: 'NAME' AFTER", and the nearest key of the map that has no such name. */
void recipe_want_name(const char *what, const struct recipe_value *name,
		      const char *after, const struct recipe_value *map);

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
