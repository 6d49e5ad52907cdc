/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_ANCHORS_H
#define CT_INPUT_RECIPE_ANCHORS_H

#include "input/recipe/value.h"

/* The values of a YAML file that have a name (&name), for aliases (*name). */
struct recipe_anchors {
	struct recipe_anchor {
		char *name;
		struct recipe_value value;
	} * item;
	size_t count, room;
};

enum { RECIPE_MOST_ANCHORS = 1000 };

/* Keep a copy; a name that is there already changes its value. -1: too many. */
int recipe_anchors_keep(struct recipe_anchors *anchors, const char *name,
			const struct recipe_value *value);

/* NULL where nothing has that name. */
const struct recipe_value *recipe_anchors_find(const struct recipe_anchors *anchors,
					       const char *name);

void recipe_anchors_clear(struct recipe_anchors *anchors);

#endif
