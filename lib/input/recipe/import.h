/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_IMPORT_H
#define CT_INPUT_RECIPE_IMPORT_H

#include "input/recipe/value.h"

/*
 * Read a recipe with all that it imports, as one map. A file's own values stand
 * over those that it imports, later imports over earlier ones; maps are merged
 * member by member, everything else is replaced. Keys with two names get one
 * (`ssh_username` is `username`), and `import` is gone. 0, though there may be
 * mistakes; -1 where a file could not be read, and nothing is in `recipe`.
 */
int recipe_import(struct recipe_value *recipe, const char *path,
		  struct recipe_mistakes *mistakes);

#endif
