/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/catalog.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/query.h"
#include "base/mem.h"
#include "base/near.h"

static void add(struct catalog *catalog, const struct analysis *analysis)
{
	catalog->item = mem_grow(catalog->item, catalog->count, &catalog->room,
				 sizeof(*catalog->item));
	catalog->item[catalog->count++] = analysis;
}

static void keep(struct catalog *catalog, struct query_file *file)
{
	catalog->file = mem_grow(catalog->file, catalog->files, &catalog->file_room,
				 sizeof(*catalog->file));
	catalog->file[catalog->files++] = file;
}

static int add_file(struct catalog *catalog, const char *path, struct error *error)
{
	struct query_file *file = query_file_read(path, error);
	const char *name;

	if (!file)
		return -1;
	keep(catalog, file);
	catalog->own++;
	name = file->name;
	for (size_t i = 0; i < catalog->count; i++)
		if (!strcmp(catalog->item[i]->name, name))
			return error_set(error,
					 "%s: there is an analysis '%s' already, want "
					 "another name",
					 path, name);
	add(catalog, &file->analysis);
	return 0;
}

static int is_sql(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 4 && entry->d_name[0] != '.' &&
	       !strcmp(entry->d_name + length - 4, ".sql");
}

/* Every .sql of a directory, by name. */
static int add_directory(struct catalog *catalog, const char *path, struct error *error)
{
	struct dirent **entry;
	int count = scandir(path, &entry, is_sql, alphasort), status = 0;

	if (count < 0)
		return error_errno(error, path);
	for (int i = 0; i < count; i++) {
		char *file = mem_printf("%s/%s", path, entry[i]->d_name);

		if (!status)
			status = add_file(catalog, file, error);
		free(file);
		free(entry[i]);
	}
	free(entry);
	if (!status && count == 0)
		return error_set(error, "%s: no file NAME.sql in it", path);
	return status;
}

int catalog_init(struct catalog *catalog, const struct text_list *sql,
		 struct error *error)
{
	struct stat about;

	*catalog = (struct catalog){0};
	for (size_t i = 0; i < query_builtin_count(); i++) {
		struct query_file *file = query_builtin(i);

		if (!file)
			return error_set(error, "a query that is built in is broken");
		keep(catalog, file);
		/* Whether an analysis of ours heeds the scope, it takes it. */
		file->analysis.heeds |= HEEDS_SCOPE;
		add(catalog, &file->analysis);
	}
	for (size_t i = 0; i < analyses_count; i++)
		add(catalog, analyses[i]);
	for (size_t i = 0; i < sql->count; i++) {
		const char *path = sql->item[i];

		if (stat(path, &about))
			return error_errno(error, path);
		if (S_ISDIR(about.st_mode) ? add_directory(catalog, path, error)
					   : add_file(catalog, path, error))
			return -1;
	}
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

	/* What the user's SQL heeds stands in its text. */
	if (analysis->run && !analysis->own && !analysis->many)
		heeds |= HEEDS_SCOPE | (analysis->is_document ? 0 : HEEDS_TABLES);
	if (analysis->forms)
		heeds |= HEEDS_FORMS;
	if (analysis->groups)
		heeds |= HEEDS_GROUP;
	return heeds;
}

void catalog_clear(struct catalog *catalog)
{
	for (size_t i = 0; i < catalog->files; i++)
		query_file_free(catalog->file[i]);
	free(catalog->file);
	free(catalog->item);
	*catalog = (struct catalog){0};
}
