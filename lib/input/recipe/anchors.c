/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/anchors.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static struct recipe_anchor *find(const struct recipe_anchors *anchors, const char *name)
{
	for (size_t i = 0; i < anchors->count; i++)
		if (strcmp(anchors->item[i].name, name) == 0)
			return &anchors->item[i];
	return NULL;
}

int recipe_anchors_keep(struct recipe_anchors *anchors, const char *name,
			const struct recipe_value *value)
{
	struct recipe_anchor *anchor = find(anchors, name);
	size_t room = SIZE_MAX; /* these are not part of the tree */

	if (!anchor) {
		if (anchors->count >= RECIPE_MOST_ANCHORS)
			return -1;
		anchors->item = mem_grow(anchors->item, anchors->count, &anchors->room,
					 sizeof(*anchors->item));
		anchor = &anchors->item[anchors->count++];
		memset(anchor, 0, sizeof(*anchor));
		anchor->name = mem_strdup(name);
	}
	recipe_value_clear(&anchor->value);
	return recipe_value_copy(&anchor->value, value, &room);
}

const struct recipe_value *recipe_anchors_find(const struct recipe_anchors *anchors,
					       const char *name)
{
	const struct recipe_anchor *anchor = find(anchors, name);

	return anchor ? &anchor->value : NULL;
}

void recipe_anchors_clear(struct recipe_anchors *anchors)
{
	for (size_t i = 0; i < anchors->count; i++) {
		free(anchors->item[i].name);
		recipe_value_clear(&anchors->item[i].value);
	}
	free(anchors->item);
	memset(anchors, 0, sizeof(*anchors));
}
