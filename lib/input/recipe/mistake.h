/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_MISTAKE_H
#define CT_INPUT_RECIPE_MISTAKE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Where something stands in a recipe's files. */
struct recipe_place {
	const char *file; /* as the user knows it; borrowed of the mistakes */
	size_t line;      /* from 1; 0: the file as a whole */
};

/* All that is wrong with a recipe, and the names of its files. */
struct recipe_mistakes {
	struct recipe_mistake {
		struct recipe_place place;
		char *text;   /* what is wrong, what is wanted; fit for a terminal */
		size_t order; /* of its file, then its finding */
	} * item;
	size_t count, room;
	struct recipe_file {
		char *name;
	} * file;
	size_t files, file_room;
};

/* The one copy of a file's name, valid until the mistakes are cleared. */
const char *recipe_file_name(struct recipe_mistakes *mistakes, const char *name);

/* Add a mistake. Control characters in its text are replaced. */
void recipe_mistake_add(struct recipe_mistakes *mistakes, struct recipe_place place,
			const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Sort by file, in the order of their reading, and line; each is kept once. */
void recipe_mistakes_sort(struct recipe_mistakes *mistakes);

void recipe_mistakes_clear(struct recipe_mistakes *mistakes);

#endif
