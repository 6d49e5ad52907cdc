/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/staging.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/removal.h"

/* The path without slashes at its end. */
static char *plain_path(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return mem_strndup(path, length);
}

/* Whether the target is to be made: 1 or 0, or -1 with error. */
static int check_target(const char *path, struct error *error)
{
	struct stat status;

	if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
		errno = ENOTDIR;
	else if (stat(path, &status) == 0)
		return 0;
	/* A link that leads nowhere would be replaced. */
	else if (*path && errno == ENOENT && lstat(path, &status) && errno == ENOENT)
		return 1;
	return error_errno(error, path);
}

int staging_open(struct staging *staging, const char *path, struct guard *guard,
		 struct error *error)
{
	int is_new = check_target(path, error);
	mode_t mask = umask(0);
	bool is_made;

	umask(mask);
	*staging = (struct staging){.is_new = is_new > 0, .guard = guard};
	if (is_new < 0)
		return -1;
	staging->path = plain_path(path);
	staging->temporary = mem_printf(
	    staging->is_new ? "%s.XXXXXX" : "%s/.unfinished.XXXXXX", staging->path);
	guard_hold(guard);
	is_made = mkdtemp(staging->temporary) && !chmod(staging->temporary, 0777 & ~mask);
	guard_name(guard, is_made ? staging->temporary : NULL);
	if (is_made)
		return 0;
	error_errno(error, path);
	staging_discard(staging);
	return -1;
}

bool staging_has(const struct staging *staging, const char *name)
{
	char *path = mem_printf("%s/%s", staging->path, name);
	struct stat status;
	bool is_there = !staging->is_new && lstat(path, &status) == 0;

	free(path);
	return is_there;
}

void staging_explain(const struct staging *staging, struct error *error)
{
	char *at = error->text ? strstr(error->text, staging->temporary) : NULL, *text;

	if (!at)
		return;
	text = mem_printf("%.*s%s%s", (int)(at - error->text), error->text, staging->path,
			  at + strlen(staging->temporary));
	error_set(error, "%s", text);
	free(text);
}

static int move_entry(const struct staging *staging, const char *name,
		      struct error *error)
{
	char *from = mem_printf("%s/%s", staging->temporary, name);
	char *to = mem_printf("%s/%s", staging->path, name);
	int status = 0;

	errno = EEXIST;
	if (staging_has(staging, name) || rename(from, to))
		status = error_errno(error, to);
	free(from);
	free(to);
	return status;
}

static int is_entry(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int move_entries(const struct staging *staging, struct error *error)
{
	struct dirent **entry;
	int count = scandir(staging->temporary, &entry, is_entry, alphasort), status = 0;

	if (count < 0)
		return error_errno(error, staging->temporary);
	for (int k = 0; k < count; k++) {
		if (!status)
			status = move_entry(staging, entry[k]->d_name, error);
		free(entry[k]);
	}
	free(entry);
	return status;
}

int staging_commit(struct staging *staging, struct error *error)
{
	int status;

	guard_hold(staging->guard);
	if (!staging->is_new)
		status = move_entries(staging, error);
	else if (rename(staging->temporary, staging->path))
		status = error_errno(error, staging->path);
	else
		status = 0;
	guard_name(staging->guard, staging->temporary);
	staging_discard(staging);
	return status;
}

void staging_discard(struct staging *staging)
{
	if (staging->temporary) {
		removal_of_tree(staging->temporary);
		guard_hold(staging->guard);
		guard_name(staging->guard, NULL);
	}
	free(staging->temporary);
	free(staging->path);
	*staging = (struct staging){0};
}
