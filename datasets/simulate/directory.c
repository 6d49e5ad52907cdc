/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/directory.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

int directory_make(const char *path, struct error *error)
{
	const struct dirent *entry;
	int entries = 0;
	DIR *directory;

	if (mkdir(path, 0777) == 0)
		return 0;
	if (errno != EEXIST || !(directory = opendir(path)))
		return error_errno(error, path);
	while ((entry = readdir(directory)))
		entries +=
		    strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(directory);
	if (entries)
		return error_set(error, "%s: not empty, want a new directory", path);
	return 0;
}

int directory_ensure(const char *path, struct error *error)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST)
		return 0;
	return error_errno(error, path);
}
