/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/mistake.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

const char *recipe_file_name(struct recipe_mistakes *mistakes, const char *name)
{
	for (size_t i = 0; i < mistakes->files; i++)
		if (strcmp(mistakes->file[i].name, name) == 0)
			return mistakes->file[i].name;
	mistakes->file = mem_grow(mistakes->file, mistakes->files, &mistakes->file_room,
				  sizeof(*mistakes->file));
	mistakes->file[mistakes->files].name = mem_strdup(name);
	return mistakes->file[mistakes->files++].name;
}

static size_t file_order(const struct recipe_mistakes *mistakes, const char *file)
{
	for (size_t i = 0; i < mistakes->files; i++)
		if (mistakes->file[i].name == file)
			return i;
	return mistakes->files;
}

/* What a terminal would take for a command becomes a question mark. */
static char *fit_for_terminal(char *text)
{
	char *clean = utf8_clean(text);

	free(text);
	for (char *c = clean; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = *c == '\n' || *c == '\t' ? ' ' : '?';
		else if (*c == '\xc2' &&
			 (unsigned char)c[1] < 0xa0) /* U+0080 to U+009F */
			c[0] = c[1] = '?';
	return clean;
}

void recipe_mistake_add(struct recipe_mistakes *mistakes, struct recipe_place place,
			const char *format, ...)
{
	struct recipe_mistake *mistake;
	va_list arguments;

	mistakes->item = mem_grow(mistakes->item, mistakes->count, &mistakes->room,
				  sizeof(*mistakes->item));
	mistake = &mistakes->item[mistakes->count];
	mistake->place = place;
	mistake->order = mistakes->count++;
	va_start(arguments, format);
	mistake->text = fit_for_terminal(mem_vprintf(format, arguments));
	va_end(arguments);
}

struct ranked {
	size_t file;
	struct recipe_mistake mistake;
};

static int compare(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;
	const struct recipe_mistake *l = &left->mistake, *r = &right->mistake;

	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	if (l->place.line != r->place.line)
		return l->place.line < r->place.line ? -1 : 1;
	return l->order < r->order ? -1 : l->order > r->order;
}

/* Whether the same is said already of the same line. */
static bool is_repeated(const struct recipe_mistakes *mistakes,
			const struct recipe_mistake *mistake)
{
	enum { LOOK_BACK = 64 }; /* of a line; more are told twice rather than slowly */

	for (size_t i = mistakes->count, seen = 0; i > 0 && seen < LOOK_BACK;
	     i--, seen++) {
		const struct recipe_mistake *before = &mistakes->item[i - 1];

		if (before->place.file != mistake->place.file ||
		    before->place.line != mistake->place.line)
			return false;
		if (strcmp(before->text, mistake->text) == 0)
			return true;
	}
	return false;
}

void recipe_mistakes_sort(struct recipe_mistakes *mistakes)
{
	size_t count = mistakes->count;
	struct ranked *ranked = mem_alloc(count * sizeof(*ranked));

	for (size_t i = 0; i < count; i++) {
		ranked[i].mistake = mistakes->item[i];
		ranked[i].file = file_order(mistakes, mistakes->item[i].place.file);
	}
	qsort(ranked, count, sizeof(*ranked), compare);
	mistakes->count = 0;
	for (size_t i = 0; i < count; i++)
		if (is_repeated(mistakes, &ranked[i].mistake))
			free(ranked[i].mistake.text);
		else
			mistakes->item[mistakes->count++] = ranked[i].mistake;
	free(ranked);
}

void recipe_mistakes_clear(struct recipe_mistakes *mistakes)
{
	for (size_t i = 0; i < mistakes->count; i++)
		free(mistakes->item[i].text);
	for (size_t i = 0; i < mistakes->files; i++)
		free(mistakes->file[i].name);
	free(mistakes->item);
	free(mistakes->file);
	memset(mistakes, 0, sizeof(*mistakes));
}
