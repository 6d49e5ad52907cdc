/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"

static void add(struct catalog *catalog, const struct analysis *analysis)
{
	catalog->item = mem_grow(catalog->item, catalog->count, &catalog->room,
				 sizeof(*catalog->item));
	catalog->item[catalog->count++] = analysis;
}

int catalog_init(struct catalog *catalog, const struct text_list *sql,
		 struct error *error)
{
	(void)sql;
	(void)error;
	*catalog = (struct catalog){0};
	for (size_t i = 0; i < analyses_count; i++)
		add(catalog, analyses[i]);
	catalog->own = catalog->count;
	return 0;
}

const struct analysis *catalog_find(const struct catalog *catalog, const char *name,
				    struct error *error)
{
	const char **names = mem_zalloc((catalog->count + 1) * sizeof(*names));
	const struct analysis *found = NULL;
	const char *near;

	for (size_t i = 0; i < catalog->count; i++) {
		names[i] = catalog->item[i]->name;
		if (!strcmp(names[i], name))
			found = catalog->item[i];
	}
	near = found ? NULL : near_find(name, names, catalog->count);
	free(names);
	if (near)
		error_set(error, "no analysis '%s', did you mean '%s'?", name, near);
	else if (!found)
		error_set(error, "no analysis '%s', want one of ctanalyze --help", name);
	return found;
}

char *catalog_text(const struct catalog *catalog)
{
	char *text = mem_strdup("");
	int width = 0;

	for (size_t i = 0; i < catalog->count; i++)
		if ((int)strlen(catalog->item[i]->name) > width)
			width = (int)strlen(catalog->item[i]->name);
	for (size_t i = 0; i < catalog->count; i++) {
		char *more =
		    mem_printf("%s%s  %-*s  %s", text, i ? "\n" : "", width,
			       catalog->item[i]->name, catalog->item[i]->summary);

		free(text);
		text = more;
	}
	return text;
}

unsigned analysis_heeds(const struct analysis *analysis)
{
	unsigned heeds = analysis->heeds;

	if (analysis->run)
		heeds |= HEEDS_SCOPE | (analysis->is_document ? 0 : HEEDS_TABLES);
	if (analysis->forms)
		heeds |= HEEDS_FORMS;
	if (analysis->groups)
		heeds |= HEEDS_GROUP;
	return heeds;
}

void catalog_clear(struct catalog *catalog)
{
	free(catalog->item);
	*catalog = (struct catalog){0};
}
