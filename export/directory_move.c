/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/directory_move.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define LIST_NAME ".ctexport"
#define LIST_HEAD "clustertrace export 1\n"

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int sync_file(const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int status = fd < 0 || fsync(fd) ? error_errno(error, path) : 0;

	if (fd >= 0)
		close(fd);
	return status;
}

int directory_list(const char *path, struct text_list *files, struct error *error)
{
	char *name = mem_strdup(path);
	char *roots[] = {name, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	size_t skipped = strlen(path) + 1;
	const FTSENT *entry;
	int status = walk ? 0 : error_errno(error, path);

	while (status == 0 && (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_F) {
			status = sync_file(entry->fts_path, error);
			text_list_add(files, entry->fts_path + skipped);
		} else if (entry->fts_errno) {
			errno = entry->fts_errno;
			status = error_errno(error, entry->fts_path);
		}
	}
	if (walk)
		fts_close(walk);
	free(name);
	return status;
}

int directory_write_list(const char *path, struct text_list *files, struct error *error)
{
	char *name = mem_printf("%s/" LIST_NAME, path);
	FILE *file = fopen(name, "we");
	bool failed = !file;

	if (file) {
		fputs(LIST_HEAD, file);
		for (size_t i = 0; i < files->count; i++)
			fprintf(file, "%s\n", files->item[i]);
		failed = fflush(file) || ferror(file) || fsync(fileno(file));
		failed |= fclose(file);
	}
	if (failed)
		error_errno(error, name);
	else
		text_list_add(files, LIST_NAME);
	free(name);
	return failed ? -1 : 0;
}

/* A list may come from anywhere: only names that stay below the directory count. */
static bool is_below(const char *name)
{
	if (!*name || *name == '/')
		return false;
	for (const char *at = name; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || !at[2]))
			return false;
	}
	return true;
}

/* Whether a file lies at `name` below `top` with no link on the way to it. */
static bool is_file(const char *top, const char *name)
{
	char *path = mem_printf("%s/%s", top, name);
	size_t from = strlen(top) + 1;
	struct stat status;
	bool plain = true;

	for (char *slash = strchr(path + from, '/'); slash && plain;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		plain = lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
		*slash = '/';
	}
	plain = plain && lstat(path, &status) == 0 && S_ISREG(status.st_mode);
	free(path);
	return plain;
}

/* Remove a file and the directories above it that became empty. */
static void remove_file(const char *top, const char *name)
{
	char *path = mem_printf("%s/%s", top, name);
	size_t from = strlen(top);
	char *slash;

	unlink(path);
	while ((slash = strrchr(path, '/')) && (size_t)(slash - path) > from) {
		*slash = '\0';
		if (rmdir(path))
			break;
	}
	free(path);
}

/* The files that an earlier export left; none where there is no list of ours. */
static void read_list(const char *top, struct text_list *old)
{
	char *name = mem_printf("%s/" LIST_NAME, top);
	FILE *file = is_file(top, LIST_NAME) ? fopen(name, "re") : NULL;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	free(name);
	if (!file)
		return;
	if (getline(&line, &room, file) > 0 && strcmp(line, LIST_HEAD) == 0) {
		while ((length = getline(&line, &room, file)) > 0) {
			if (line[length - 1] == '\n')
				line[length - 1] = '\0';
			if (is_below(line) && is_file(top, line))
				text_list_add(old, line);
		}
	}
	free(line);
	fclose(file);
}

/* Whether a file may come to `name`: nothing but a file or nothing is there. */
static int check_place(const char *to, const char *name, struct error *error)
{
	char *path = mem_printf("%s/%s", to, name);
	size_t from = strlen(to) + 1;
	struct stat status;
	int result = 0;

	for (char *slash = strchr(path + from, '/'); slash && !result;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (lstat(path, &status) == 0 && !S_ISDIR(status.st_mode))
			result = error_set(error,
					   "%s: in the way, want a directory or "
					   "nothing there",
					   path);
		*slash = '/';
	}
	if (!result && lstat(path, &status) == 0 && !S_ISREG(status.st_mode))
		result = error_set(error, "%s: in the way, want a file or nothing there",
				   path);
	free(path);
	return result;
}

static int move_file(const char *from, const char *to, const char *name,
		     struct error *error)
{
	char *source = mem_printf("%s/%s", from, name);
	char *target = mem_printf("%s/%s", to, name);
	int status = 0;

	for (char *slash = strchr(target + strlen(to) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(target, 0777); /* what fails here fails below */
		*slash = '/';
	}
	if (rename(source, target))
		status = error_errno(error, target);
	free(source);
	free(target);
	return status;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int directory_move(const char *from, const char *to, const struct text_list *files,
		   struct error *error)
{
	struct text_list old = {0};
	size_t count = files->count;
	char **sorted = mem_alloc((count + 1) * sizeof(*sorted));
	int status = 0;

	memcpy(sorted, files->item, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare);
	read_list(to, &old);
	for (size_t i = 0; i < count && !status; i++)
		status = check_place(to, sorted[i], error);
	for (size_t i = 0; i < old.count && !status; i++)
		if (!bsearch(&old.item[i], sorted, count, sizeof(*sorted), compare))
			remove_file(to, old.item[i]);
	/* The list first: what is moved from then on is known to the next export. */
	for (size_t i = count; i > 0 && !status; i--)
		status = move_file(from, to, files->item[i - 1], error);
	text_list_clear(&old);
	free(sorted);
	return status;
}
