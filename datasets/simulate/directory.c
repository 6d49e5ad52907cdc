/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/directory.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static int directory_is_free(const char *path, struct error *error)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	int entries = 0;

	if (!directory)
		return errno == ENOENT ? 0 : error_errno(error, path);
	while ((entry = readdir(directory)))
		entries +=
		    strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(directory);
	if (entries)
		return error_set(error, "%s: not empty, want a new directory", path);
	return 0;
}

int directory_make(const char *path, struct error *error)
{
	if (mkdir(path, 0777) == 0)
		return 0;
	return errno == EEXIST ? directory_is_free(path, error)
			       : error_errno(error, path);
}

int directory_ensure(const char *path, struct error *error)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST)
		return 0;
	return error_errno(error, path);
}
