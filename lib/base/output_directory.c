/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/options.h"
#include "base/process.h"

#define LIST_HEAD "clustertrace export 1\n"

static int is_entry(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* The entries of a directory but one, sorted. 0, or -1 with error. */
static int list_entries(const char *path, const char *but, struct text_list *names,
			struct error *error)
{
	struct dirent **entry;
	int count = scandir(path, &entry, is_entry, alphasort);

	if (count < 0)
		return error_errno(error, path);
	for (int k = 0; k < count; k++) {
		if (!but || strcmp(entry[k]->d_name, but) != 0)
			text_list_add(names, entry[k]->d_name);
		free(entry[k]);
	}
	free(entry);
	return 0;
}

/* The path without slashes at its end. */
static char *plain_path(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return mem_strndup(path, length);
}

/* A directory that is there must be empty, but for our own stage. */
static int check_empty(const char *path, const char *stage,
		       const struct output_kind *kind, struct error *error)
{
	struct text_list names = {0};
	int status = list_entries(path, stage, &names, error);

	if (!status && names.count && kind->rule == OUTPUT_EMPTY)
		status =
		    error_set(error, "%s: not empty, want %s", path,
			      kind->want ? kind->want : "an empty or a new directory");
	text_list_clear(&names);
	return status;
}

static int check_target(const char *path, const struct output_kind *kind, bool *is_new,
			struct error *error)
{
	struct stat status;

	*is_new = false;
	if (stat(path, &status) == 0) {
		errno = ENOTDIR;
		return S_ISDIR(status.st_mode) ? check_empty(path, NULL, kind, error)
					       : error_errno(error, path);
	}
	/* A link that leads nowhere would be replaced. */
	*is_new = *path && errno == ENOENT && lstat(path, &status) && errno == ENOENT;
	if (*is_new)
		return 0;
	errno = errno ? errno : ENOENT;
	return error_errno(error, path);
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

/* The temporary directory, in its stage as the target will lie beside it. */
static int make_inside(struct output_directory *directory, struct error *error)
{
	const char *name = output_name(directory->first);
	const char *rest = directory->path + strlen(directory->first);
	char *all = mem_printf("%s/", rest);
	int status = 0;

	if (strstr(all, "/../")) {
		errno = ENOENT;
		status = error_errno(error, directory->path);
	}
	free(all);
	directory->temporary = mem_printf("%s/%s%s", directory->stage->path, name, rest);
	all = mem_printf("%s/", directory->temporary);
	for (char *slash = strchr(all + strlen(directory->stage->path) + 1, '/');
	     slash && !status; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(all, 0777) && errno != EEXIST)
			status = error_errno(error, directory->path);
		*slash = '/';
	}
	free(all);
	return status;
}

static int make_stage(struct output_directory *directory, const char *path,
		      struct error *error)
{
	char *parent;

	if (!directory->is_new) {
		directory->stage = output_stage_new(directory->path, NULL);
		if (!directory->stage)
			return error_errno(error, path);
		directory->temporary = mem_strdup(directory->stage->path);
		return 0;
	}
	directory->first = directory->kind->parents ? first_missing(directory->path)
						    : mem_strdup(directory->path);
	parent = output_parent(directory->first);
	directory->stage = output_stage_new(parent, output_name(directory->first));
	free(parent);
	return directory->stage ? make_inside(directory, error)
				: error_errno(error, path);
}

int output_directory_open(struct output_directory *directory, const char *path,
			  const struct output_kind *kind, struct error *error)
{
	char *parent;

	*directory = (struct output_directory){.kind = kind, .path = plain_path(path)};
	parent = output_parent(directory->path);
	output_stage_sweep(parent, output_name(directory->path));
	free(parent);
	if (check_target(path, kind, &directory->is_new, error)) {
		output_directory_discard(directory);
		return -1;
	}
	if (output_check(directory->path, error) == 0 &&
	    make_stage(directory, path, error) == 0)
		return 0;
	output_directory_discard(directory);
	return -1;
}

bool output_directory_has(const struct output_directory *directory, const char *name)
{
	char *path = mem_printf("%s/%s", directory->path, name);
	struct stat status;
	bool is_there = !directory->is_new && lstat(path, &status) == 0;

	free(path);
	return is_there;
}

void output_directory_explain(const struct output_directory *directory,
			      struct error *error)
{
	const char *temporary = directory->temporary;
	char *at = error->text ? strstr(error->text, temporary) : NULL, *text;

	if (!at)
		return;
	text = mem_printf("%.*s%s%s", (int)(at - error->text), error->text,
			  directory->path, at + strlen(temporary));
	error_set(error, "%s", text);
	free(text);
}

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

/* All files below `path`, sorted, and synced on the way. 0, or -1 with error. */
static int list_files(const char *path, struct text_list *files, struct error *error)
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

/* Write the list into the directory, and add it to the list. */
static int write_list(const struct output_directory *directory, struct text_list *files,
		      struct error *error)
{
	const char *list = directory->kind->list;
	char *name = mem_printf("%s/%s", directory->temporary, list);
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
		text_list_add(files, list);
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

/* The files that an earlier output left; none where there is no list of ours. */
static void read_list(const char *top, const char *list, struct text_list *old)
{
	char *name = mem_printf("%s/%s", top, list);
	FILE *file = is_file(top, list) ? fopen(name, "re") : NULL;
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

/* Whether a file may come to `name`: a file or nothing is there, and no input. */
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
	if (!result)
		result = output_check(path, error);
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

/*
 * Old files that no new one replaces go, and the new ones come, the list first. Nothing
 * is touched unless all can be moved, as far as that can be told.
 */
static int move_files(const struct output_directory *directory,
		      const struct text_list *files, struct error *error)
{
	const char *to = directory->path;
	struct text_list old = {0};
	size_t count = files->count;
	char **sorted = mem_alloc((count + 1) * sizeof(*sorted));
	int status = 0;

	memcpy(sorted, files->item, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare);
	if (directory->kind->list)
		read_list(to, directory->kind->list, &old);
	for (size_t i = 0; i < count && !status; i++)
		status = check_place(to, sorted[i], error);
	for (size_t i = 0; i < old.count && !status; i++)
		status = check_place(to, old.item[i], error);
	for (size_t i = 0; i < old.count && !status; i++)
		if (!bsearch(&old.item[i], sorted, count, sizeof(*sorted), compare))
			remove_file(to, old.item[i]);
	for (size_t i = count; i > 0 && !status; i--)
		status = move_file(directory->temporary, to, files->item[i - 1], error);
	text_list_clear(&old);
	free(sorted);
	return status;
}

/* Whole entries, none of which is there. */
static int move_entries(const struct output_directory *directory, struct error *error)
{
	const char *list = directory->kind->list;
	struct text_list names = {0};
	int status = list_entries(directory->temporary, list, &names, error);

	for (size_t i = 0; i < names.count && !status; i++)
		if (output_directory_has(directory, names.item[i]))
			status = error_set(error, "%s/%s: %s", directory->path,
					   names.item[i], strerror(EEXIST));
	if (!status && list)
		status = move_file(directory->temporary, directory->path, list, error);
	for (size_t i = 0; i < names.count && !status; i++)
		status = move_file(directory->temporary, directory->path, names.item[i],
				   error);
	text_list_clear(&names);
	return status;
}

/*
 * Others may have made some of the directories above the target since, for targets of
 * their own: what is still missing is moved. The target itself must not be there.
 */
static int move_new(const struct output_directory *directory, struct error *error)
{
	char *first = mem_strdup(directory->first);
	size_t above = strlen(first);
	int failed;

	for (;;) {
		char *made = mem_printf("%s/%s%s", directory->stage->path,
					output_name(directory->first), first + above);
		char *deeper;

		failed = rename(made, first) ? errno : 0;
		free(made);
		if (failed != ENOTEMPTY && failed != EEXIST)
			break;
		deeper = first_missing(directory->path);
		if (strlen(deeper) <= strlen(first)) {
			free(deeper);
			break;
		}
		free(first);
		first = deeper;
	}
	free(first);
	errno = failed;
	return failed ? error_errno(error, directory->path) : 0;
}

static int put_in_place(const struct output_directory *directory,
			const struct text_list *files, struct error *error)
{
	if (output_check(directory->path, error))
		return -1;
	if (directory->is_new)
		return move_new(directory, error);
	if (check_empty(directory->path, output_name(directory->stage->path),
			directory->kind, error))
		return -1;
	return directory->kind->rule == OUTPUT_REPLACE
		   ? move_files(directory, files, error)
		   : move_entries(directory, error);
}

int output_directory_commit(struct output_directory *directory, struct error *error)
{
	struct text_list files = {0};
	sigset_t before;
	int status = -1;

	if (list_files(directory->temporary, &files, error) == 0 &&
	    (!directory->kind->list || write_list(directory, &files, error) == 0)) {
		signals_hold(&before);
		status = put_in_place(directory, &files, error);
		signals_release(&before);
	}
	text_list_clear(&files);
	output_directory_discard(directory);
	return status;
}

void output_directory_discard(struct output_directory *directory)
{
	output_stage_free(directory->stage);
	free(directory->temporary);
	free(directory->first);
	free(directory->path);
	*directory = (struct output_directory){0};
}
