/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/options.h"
#include "base/removal.h"
#include "export/directory_move.h"

/* Whether a directory has no entry: 1 or 0, or -1 with error. */
static int is_empty(const char *path, struct error *error)
{
	DIR *stream = opendir(path);
	const struct dirent *entry;
	int empty = 1;

	if (!stream)
		return error_errno(error, path);
	while (empty && (entry = readdir(stream)))
		empty =
		    strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	closedir(stream);
	return empty;
}

/* The path without slashes at its end; where it is there, without links. */
static char *plain_path(const char *path, bool is_there)
{
	size_t length = strlen(path);
	char *real = is_there ? realpath(path, NULL) : NULL;

	while (length > 1 && path[length - 1] == '/')
		length--;
	return real ? real : mem_strndup(path, length);
}

static int check_target(const char *path, bool force, bool *is_new, struct error *error)
{
	struct stat status;
	int empty;

	*is_new = false;
	if (!*path)
		return error_set(error, "--output: an empty name, want a directory");
	if (stat(path, &status)) {
		*is_new = errno == ENOENT;
		/* A link that leads nowhere would be replaced. */
		if (*is_new && lstat(path, &status))
			return 0;
		return error_errno(error, path);
	}
	if (!S_ISDIR(status.st_mode))
		return error_set(error,
				 "%s: no directory, want one, or a name that is "
				 "free",
				 path);
	empty = is_empty(path, error);
	if (empty < 0)
		return -1;
	return empty || force ? 0
			      : error_set(error,
					  "%s: not empty, want an empty directory or "
					  "--force",
					  path);
}

/* The first directory on the way to a path, or this, that is not there. */
static char *first_missing(const char *path)
{
	char *part = mem_strdup(path);
	struct stat status;

	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (lstat(part, &status) && errno == ENOENT)
			return part;
		*slash = '/';
	}
	return part;
}

static int make_parents(char *path, size_t from, struct error *error)
{
	for (char *slash = strchr(path + from, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		int status;

		*slash = '\0';
		status = mkdir(path, 0777);
		if (status && errno != EEXIST)
			return error_errno(error, path + from);
		*slash = '/';
	}
	return 0;
}

/* The temporary directory, in its root as the target will lie in the first. */
static int make_inside(struct export_directory *directory, struct error *error)
{
	const char *rest = directory->path + strlen(directory->first);
	char *below;
	int status;

	if (!directory->is_new)
		rest = "";
	below = mem_printf("%s/", rest);
	status = strstr(below, "/../") ? -1 : 0;
	free(below);
	if (status) {
		errno = ENOENT;
		return error_errno(error, directory->path);
	}
	directory->temporary = mem_printf("%s%s", directory->root, rest);
	below = mem_printf("%s/", directory->temporary);
	status = make_parents(below, strlen(directory->root) + 1, error);
	free(below);
	return status;
}

int export_directory_open(struct export_directory *directory, const char *path,
			  bool force, struct error *error)
{
	mode_t mask = umask(0);

	umask(mask);
	*directory = (struct export_directory){0};
	if (check_target(path, force, &directory->is_new, error))
		return -1;
	directory->path = plain_path(path, !directory->is_new);
	directory->first = directory->is_new ? first_missing(directory->path)
					     : mem_strdup(directory->path);
	directory->root = mem_printf(
	    directory->is_new ? "%s.XXXXXX" : "%s/.ctexport.XXXXXX", directory->first);
	if (!mkdtemp(directory->root) || chmod(directory->root, 0777 & ~mask))
		error_errno(error, path);
	else if (!make_inside(directory, error))
		return 0;
	export_directory_discard(directory);
	return -1;
}

int export_directory_commit(struct export_directory *directory, struct error *error)
{
	struct text_list files = {0};
	int status = -1;

	if (directory_list(directory->temporary, &files, error) ||
	    directory_write_list(directory->temporary, &files, error))
		goto out;
	if (!directory->is_new)
		status =
		    directory_move(directory->temporary, directory->path, &files, error);
	else if (rename(directory->root, directory->first))
		error_errno(error, directory->path);
	else
		status = 0;
out:
	text_list_clear(&files);
	export_directory_discard(directory);
	return status;
}

void export_directory_discard(struct export_directory *directory)
{
	if (directory->root)
		removal_of_tree(directory->root);
	free(directory->root);
	free(directory->first);
	free(directory->temporary);
	free(directory->path);
	*directory = (struct export_directory){0};
}

FILE *export_create(const char *directory, const char *name, struct error *error)
{
	char *path = mem_printf("%s/%s", directory, name);
	FILE *file = NULL;

	if (make_parents(path, strlen(directory) + 1, error) == 0) {
		file = fopen(path, "wxe");
		if (!file)
			error_errno(error, name);
	}
	free(path);
	return file;
}

int export_close(FILE *file, const char *name, struct error *error)
{
	bool failed = fflush(file) || ferror(file);
	int cause = errno;

	if (fclose(file) && !failed) {
		failed = true;
		cause = errno;
	}
	errno = cause;
	return failed ? error_errno(error, name) : 0;
}
