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

#include "base/hash.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/process.h"

#define LIST_HEAD "clustertrace export 1\n"

static bool has_entry(const char *path, const char *name)
{
	AUTOFREE char *entry = mem_printf("%s/%s", path, name);
	struct stat status;

	return lstat(entry, &status) == 0;
}

/* Where a directory is to be empty it is so, but for our own stage. */
static int check_empty(const char *path, const char *stage,
		       const struct output_kind *kind, struct error *error)
{
	DIR *stream = opendir(path);
	const struct dirent *entry;
	bool is_empty = true, wants_empty;

	if (!stream)
		return error_errno(error, path);
	wants_empty = kind->rule == OUTPUT_EMPTY ||
		      (kind->rule == OUTPUT_OURS && !has_entry(path, kind->list));
	while (wants_empty && is_empty && (entry = readdir(stream)))
		is_empty = strcmp(entry->d_name, ".") == 0 ||
			   strcmp(entry->d_name, "..") == 0 ||
			   (stage && strcmp(entry->d_name, stage) == 0);
	closedir(stream);
	return is_empty
		   ? 0
		   : error_set(error, "%s: not empty, want %s", path,
			       kind->want ? kind->want : "an empty or a new directory");
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

int output_make_above(const char *path, size_t first, char **made)
{
	AUTOFREE char *part = mem_strdup(path);

	for (char *slash = strchr(part + first, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0777) == 0)
			*made = *made ? *made : mem_strdup(part);
		else if (errno != EEXIST)
			return -1;
		*slash = '/';
	}
	return 0;
}

/* Remove the directories above it that are empty, down to one of so many bytes. */
static void remove_above(const char *path, size_t least)
{
	AUTOFREE char *above = mem_strdup(path);
	char *slash;

	while ((slash = strrchr(above, '/')) && (size_t)(slash - above) >= least) {
		*slash = '\0';
		if (rmdir(above))
			break;
	}
}

static int make_stage(struct output_directory *directory, const char *path,
		      struct error *error)
{
	const char *name = file_name(directory->path);
	AUTOFREE char *parent = output_parent(directory->path);

	if (!directory->is_new) {
		directory->stage = output_stage_new(directory->path, NULL);
		if (!directory->stage)
			return error_errno(error, path);
		directory->temporary = mem_strdup(directory->stage->path);
		return 0;
	}
	if (directory->kind->parents &&
	    output_make_above(directory->path, 1, &directory->made))
		return error_errno(error, directory->path);
	directory->stage = output_stage_new(parent, name);
	if (!directory->stage)
		return error_errno(error, path);
	directory->temporary = mem_printf("%s/%s", directory->stage->path, name);
	return mkdir(directory->temporary, 0777) ? error_errno(error, path) : 0;
}

int output_directory_open(struct output_directory *directory, const char *path,
			  const struct output_kind *kind, struct error *error)
{
	char *plain = path_trimmed(path);
	AUTOFREE char *parent = output_parent(plain);

	*directory = (struct output_directory){.kind = kind, .path = plain};
	output_stage_sweep(parent, file_name(plain));
	if (check_target(path, kind, &directory->is_new, error) == 0 &&
	    output_check(directory->path, error) == 0 &&
	    make_stage(directory, path, error) == 0)
		return 0;
	output_directory_discard(directory);
	return -1;
}

bool output_directory_has(const struct output_directory *directory, const char *name)
{
	return has_entry(directory->path, name);
}

void output_directory_explain(const struct output_directory *directory,
			      struct error *error)
{
	AUTOFREE char *text = mem_strdup(error_text(error));
	char *at = strstr(text, directory->temporary);

	if (at)
		error_set(error, "%.*s%s%s", (int)(at - text), text, directory->path,
			  at + strlen(directory->temporary));
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
	AUTOFREE char *name = mem_strdup(path);
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
	return status;
}

/* Write the list into the directory, and add it to the list. */
static int write_list(const struct output_directory *directory, struct text_list *files,
		      struct error *error)
{
	const char *list = directory->kind->list;
	AUTOFREE char *name = mem_printf("%s/%s", directory->temporary, list);
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
		return error_errno(error, name);
	text_list_add(files, list);
	return 0;
}

/*
 * Whether a file lies at `name` below `top` with no link on the way to it. A list may
 * come from anywhere: no other way to it counts, such as one by "..".
 */
static bool is_file(const char *top, const char *name)
{
	AUTOFREE char *above = realpath(top, NULL);
	AUTOFREE char *path = mem_printf("%s/%s", above ? above : "", name);
	AUTOFREE char *real = realpath(path, NULL);
	struct stat status;

	return above && real && strcmp(real, path) == 0 && stat(real, &status) == 0 &&
	       S_ISREG(status.st_mode);
}

/* Remove a file and the directories above it that became empty. */
static void remove_file(const char *top, const char *name)
{
	AUTOFREE char *path = mem_printf("%s/%s", top, name);

	unlink(path);
	remove_above(path, strlen(top) + 1);
}

/* The files that an earlier output left; none where there is no list of ours. */
static void read_list(const char *top, const char *list, struct text_list *old)
{
	AUTOFREE char *name = mem_printf("%s/%s", top, list);
	FILE *file = is_file(top, list) ? fopen(name, "re") : NULL;
	AUTOFREE char *line = NULL;
	size_t capacity = 0;

	if (!file)
		return;
	if (getline(&line, &capacity, file) > 0 && strcmp(line, LIST_HEAD) == 0) {
		while (getline(&line, &capacity, file) > 0) {
			line[strcspn(line, "\n")] = '\0';
			if (is_file(top, line))
				text_list_add(old, line);
		}
	}
	fclose(file);
}

/*
 * Whether a file may come to `name`: its entry in the directory is new, or, where it may
 * be replaced, a file or nothing is there, and no input.
 */
static int check_place(const struct output_directory *directory, const char *name,
		       struct error *error)
{
	bool may_replace = directory->kind->rule >= OUTPUT_REPLACE;
	AUTOFREE char *path = mem_printf("%s/%s", directory->path, name);
	char *slash = path + strlen(directory->path);
	struct stat status;

	do {
		*slash = '/';
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (lstat(path, &status))
			continue;
		if (!may_replace)
			return error_set(error, "%s: %s", path, strerror(EEXIST));
		if (slash ? !S_ISDIR(status.st_mode) : !S_ISREG(status.st_mode))
			return error_set(error,
					 "%s: in the way, want a %s or nothing there",
					 path, slash ? "directory" : "file");
	} while (slash);
	return output_check(path, error);
}

static int move_file(const char *from, const char *to, const char *name,
		     struct error *error)
{
	AUTOFREE char *source = mem_printf("%s/%s", from, name);
	AUTOFREE char *target = mem_printf("%s/%s", to, name);
	AUTOFREE char *made = NULL;

	output_make_above(target, strlen(to) + 1,
			  &made); /* what fails here fails below */
	return rename(source, target) ? error_errno(error, target) : 0;
}

/*
 * Old files that no new one replaces go, and the new ones come, the list first, the mark
 * last. Nothing is touched unless all can be moved, as far as that can be told.
 */
static int move_files(const struct output_directory *directory,
		      const struct text_list *files, struct error *error)
{
	const char *to = directory->path, *mark = directory->kind->mark;
	struct text_list old = {0};
	struct texts names = {0};
	size_t count = files->count;
	int status = 0;

	if (directory->kind->list)
		read_list(to, directory->kind->list, &old);
	for (size_t i = 0; i < count && !status; i++) {
		texts_put(&names, files->item[i]);
		status = check_place(directory, files->item[i], error);
	}
	for (size_t i = 0; i < old.count && !status; i++)
		status = check_place(directory, old.item[i], error);
	if (mark && !status)
		remove_file(to, mark);
	for (size_t i = 0; i < old.count && !status; i++)
		if (texts_put(&names, old.item[i]) >= count)
			remove_file(to, old.item[i]);
	for (size_t i = count; i > 0 && !status; i--)
		if (!mark || strcmp(files->item[i - 1], mark) != 0)
			status = move_file(directory->temporary, to, files->item[i - 1],
					   error);
	if (mark && !status)
		status = move_file(directory->temporary, to, mark, error);
	text_list_clear(&old);
	texts_clear(&names);
	return status;
}

static int put_in_place(const struct output_directory *directory,
			const struct text_list *files, struct error *error)
{
	if (output_check(directory->path, error))
		return -1;
	if (directory->is_new)
		return rename(directory->temporary, directory->path)
			   ? error_errno(error, directory->path)
			   : 0;
	if (check_empty(directory->path, file_name(directory->stage->path),
			directory->kind, error))
		return -1;
	return move_files(directory, files, error);
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
	if (directory->made)
		remove_above(directory->path, strlen(directory->made));
	free(directory->made);
	free(directory->temporary);
	free(directory->path);
	*directory = (struct output_directory){0};
}
