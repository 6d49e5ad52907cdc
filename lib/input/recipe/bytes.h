/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_BYTES_H
#define CT_INPUT_RECIPE_BYTES_H

#include "input/recipe/mistake.h"

/*
 * A plain file of up to RECIPE_MOST_BYTES, whole, with a NUL behind it, for
 * free(). NULL with a mistake about `file`, which is its name for the user.
 */
char *recipe_bytes_read(const char *path, const char *file, size_t *size,
			struct recipe_mistakes *mistakes);

#endif
