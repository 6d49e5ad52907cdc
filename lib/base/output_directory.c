/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/output_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/order.h"
#include "base/process.h"

/* The stage's directory for old files, next to the new ones. */
#define KEPT      ".replaced"
#define LIST_HEAD "clustertrace export 1\n"

static bool has_entry(const char *path, const char *name)
{
	AUTOFREE char *entry = mem_printf("%s/%s", path, name);
	struct stat status;

	return lstat(entry, &status) == 0;
}

static int compare_names(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;

	return strcmp(*left, *right);
}

/* Add the entries of a directory, sorted by name. Return 0, or -1 with error. fts(3)
 * would not report that only a part of a directory could be read. */
static int list_entries(const char *path, struct text_list *names, struct error *error)
{
	DIR *stream = opendir(path);
	const struct dirent *entry;

	if (!stream)
		return error_errno(error, path);
	while ((errno = 0, entry = readdir(stream)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			text_list_add(names, entry->d_name);
	if (errno) {
		error_errno(error, path);
		closedir(stream);
		return -1;
	}
	closedir(stream);
	SORT(names->item, names->count, compare_names);
	return 0;
}

/* If the directory must be empty, check that it contains nothing except our own stage.
 * Return 0, or -1 with error. */
static int check_empty(const char *path, const char *stage,
		       const struct output_kind *kind, struct error *error)
{
	struct text_list names = {0};
	bool is_empty = true, wants_empty;

	if (list_entries(path, &names, error)) {
		text_list_clear(&names);
		return -1;
	}
	wants_empty = kind->rule == OUTPUT_EMPTY ||
		      (kind->rule == OUTPUT_OURS && !has_entry(path, kind->list));
	for (size_t i = 0; i < names.count && wants_empty && is_empty; i++)
		is_empty = stage && strcmp(names.item[i], stage) == 0;
	text_list_clear(&names);
	return is_empty ? 0
			: error_set(error, "%s: not empty; use %s", path,
				    kind->instead ? kind->instead
						  : "an empty or a new directory");
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
	/* A dangling link is refused; it would be replaced. */
	*is_new = *path && errno == ENOENT && lstat(path, &status) && errno == ENOENT;
	if (*is_new)
		return 0;
	errno = errno ? errno : ENOENT;
	return error_errno(error, path);
}

int make_parent_directories(const char *path, size_t first, char **made)
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

/* Remove empty parent directories of `path`, up to the one whose path has `least` bytes.
 */
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
	    make_parent_directories(directory->path, 1, &directory->made))
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
	char *plain = path_trim(path);
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

/* Sync a file with `sync_fd`: fsync(2), or syncfs(2) for its whole file system. Return 0,
 * or -1 with error. */
static int sync_file(const char *path, int (*sync_fd)(int fd), struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int status = fd < 0 || sync_fd(fd) ? error_errno(error, path) : 0;

	if (fd >= 0)
		close(fd);
	return status;
}

/* Add all files below the directory `below` of `top`, sorted, as paths below `top`.
 * Return 0, or -1 with error. */
static int list_files(const char *top, const char *below, struct text_list *files,
		      struct error *error)
{
	AUTOFREE char *path = mem_printf("%s/%s", top, below);
	struct text_list names = {0};
	int status = list_entries(path, &names, error);

	for (size_t i = 0; i < names.count && !status; i++) {
		AUTOFREE char *name =
		    mem_printf("%s%s%s", below, *below ? "/" : "", names.item[i]);
		AUTOFREE char *entry = mem_printf("%s/%s", top, name);
		struct stat file;

		if (lstat(entry, &file))
			status = error_errno(error, entry);
		else if (S_ISDIR(file.st_mode))
			status = list_files(top, name, files, error);
		else
			text_list_add(files, name);
	}
	text_list_clear(&names);
	return status;
}

static int sync_files(const char *top, const struct text_list *files, struct error *error)
{
	enum { FEW = 100 }; /* each costs some milliseconds of a disk */

	if (files->count > FEW)
		return sync_file(top, syncfs, error);
	for (size_t i = 0; i < files->count; i++) {
		AUTOFREE char *path = mem_printf("%s/%s", top, files->item[i]);

		if (sync_file(path, fsync, error))
			return -1;
	}
	return 0;
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
 * Return true if `top`/`name` is a regular file, reached without symbolic links or "..".
 * The list that names it may come from anywhere.
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

/* Add the files that an earlier output left; none if there is no list of ours. Return 0,
 * or -1 with error. */
static int read_list(const char *top, const char *list, struct text_list *old,
		     struct error *error)
{
	AUTOFREE char *name = mem_printf("%s/%s", top, list);
	FILE *file = is_file(top, list) ? fopen(name, "re") : NULL;
	AUTOFREE char *line = NULL;
	struct texts seen = {0};
	size_t capacity = 0;
	int status = 0;

	if (!file)
		return has_entry(top, list) && is_file(top, list)
			   ? error_errno(error, name)
			   : 0;
	if (getline(&line, &capacity, file) > 0 && strcmp(line, LIST_HEAD) == 0) {
		while (getline(&line, &capacity, file) > 0) {
			line[strcspn(line, "\n")] = '\0';
			if (is_file(top, line) && !texts_have(&seen, line))
				text_list_add(old, line);
			texts_put(&seen, line);
		}
	}
	if (ferror(file))
		status = error_errno(error, name);
	fclose(file);
	texts_clear(&seen);
	return status;
}

/*
 * Check that a file can be moved to `name`: the target has no entry with the first
 * component of `name`, or if files may be replaced, the existing entries are directories
 * above it and a regular file that is not an input. Return 0, or -1 with error.
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
			return error_set(error, "%s: exists and is not a %s", path,
					 slash ? "directory" : "file");
	} while (slash);
	return output_check(path, error);
}

/*
 * The changes to an existing directory, to be undone if a later step fails. Its old files
 * are kept in the stage.
 */
struct output_moves {
	const struct output_directory *directory;
	char *kept;                /* the directory of the old files */
	struct text_list old, new; /* files that were kept, and that were moved in */
	struct text_list made; /* for each new one, the topmost directory made, or "" */
};

/* Move a file from below one directory to the same path below another, and make the
 * directories above it. `made` gets the topmost new one; the caller frees it. Return 0,
 * or -1 with error and without new directories. */
static int rename_below(const char *from, const char *to, const char *name, char **made,
			struct error *error)
{
	AUTOFREE char *source = mem_printf("%s/%s", from, name);
	AUTOFREE char *target = mem_printf("%s/%s", to, name);

	make_parent_directories(target, strlen(to) + 1,
				made); /* what fails here fails below */
	if (!rename(source, target))
		return 0;
	error_errno(error, target);
	if (*made)
		remove_above(target, strlen(*made));
	return -1;
}

/*
 * Keep an old file in the stage. If a new file will replace it, and the file system has
 * hard links, it also stays in its place, so that there is no moment without it. Return
 * 0, or -1 with error.
 */
static int keep_old(struct output_moves *moves, const char *name, bool is_replaced,
		    struct error *error)
{
	const char *top = moves->directory->path;
	AUTOFREE char *source = mem_printf("%s/%s", top, name);
	AUTOFREE char *kept = mem_printf("%s/%s", moves->kept, name);
	AUTOFREE char *made = NULL;

	make_parent_directories(kept, strlen(moves->kept), &made);
	if ((!is_replaced || link(source, kept)) &&
	    rename_below(top, moves->kept, name, &made, error))
		return -1;
	text_list_add(&moves->old, name);
	if (!is_replaced)
		remove_above(source, strlen(top) + 1);
	return 0;
}

static int move_in(struct output_moves *moves, const char *name, struct error *error)
{
	const struct output_directory *directory = moves->directory;
	AUTOFREE char *made = NULL;

	if (rename_below(directory->temporary, directory->path, name, &made, error))
		return -1;
	text_list_add(&moves->new, name);
	text_list_add(&moves->made, made ? made : "");
	return 0;
}

/* Remove the new files and directories and put the old files back. If that fails, add the
 * reason to the error. */
static void undo_moves(struct output_moves *moves, struct error *error)
{
	const struct output_directory *directory = moves->directory;
	struct error cause = ERROR_INIT;

	for (size_t i = moves->new.count; i > 0; i--) {
		AUTOFREE char *path =
		    mem_printf("%s/%s", directory->path, moves->new.item[i - 1]);

		if (unlink(path))
			error_errno(&cause, path);
		if (*moves->made.item[i - 1])
			remove_above(path, strlen(moves->made.item[i - 1]));
	}
	for (size_t i = moves->old.count; i > 0; i--) {
		AUTOFREE char *made = NULL;

		rename_below(moves->kept, directory->path, moves->old.item[i - 1], &made,
			     &cause);
	}
	if (*error_text(&cause))
		error_set(error, "%s; the earlier files could not be put back: %s",
			  error_text(error), error_text(&cause));
	error_clear(&cause);
}

/* Keep the old files that are removed or replaced, and move the new ones in, the list
 * first, the mark last. `names` are the new ones. Return 0, or -1 with error. */
static int do_moves(struct output_moves *moves, const struct text_list *files,
		    const struct text_list *old, const struct texts *names,
		    struct error *error)
{
	const char *mark = moves->directory->kind->mark;
	int status = 0;

	if (mark && output_directory_has(moves->directory, mark))
		status = keep_old(moves, mark, false, error);
	for (size_t i = 0; i < old->count && !status; i++)
		if (!mark || strcmp(old->item[i], mark) != 0)
			status = texts_have(names, old->item[i])
				     ? 0
				     : keep_old(moves, old->item[i], false, error);
	for (size_t i = files->count; i > 0 && !status; i--) {
		const char *name = files->item[i - 1];

		if (mark && strcmp(name, mark) == 0)
			continue;
		if (output_directory_has(moves->directory, name))
			status = keep_old(moves, name, true, error);
		status = status ? status : move_in(moves, name, error);
	}
	return mark && !status ? move_in(moves, mark, error) : status;
}

/* Replace the old files by the new ones. Nothing is changed unless all can be moved, as
 * far as that can be checked beforehand, and everything is put back if a step fails.
 * Return 0, or -1 with error. */
static int move_files(const struct output_directory *directory,
		      const struct text_list *files, struct error *error)
{
	struct output_moves moves = {.directory = directory};
	struct text_list old = {0};
	struct texts names = {0};
	int status = 0;

	moves.kept = mem_printf("%s/" KEPT, directory->stage->path);
	if (directory->kind->list)
		status = read_list(directory->path, directory->kind->list, &old, error);
	for (size_t i = 0; i < files->count && !status; i++) {
		texts_put(&names, files->item[i]);
		status = check_place(directory, files->item[i], error);
	}
	for (size_t i = 0; i < old.count && !status; i++)
		status = check_place(directory, old.item[i], error);
	if (!status && do_moves(&moves, files, &old, &names, error)) {
		undo_moves(&moves, error);
		status = -1;
	}
	text_list_clear(&moves.old);
	text_list_clear(&moves.new);
	text_list_clear(&moves.made);
	free(moves.kept);
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

	if (list_files(directory->temporary, "", &files, error) == 0 &&
	    sync_files(directory->temporary, &files, error) == 0 &&
	    (!directory->kind->list || write_list(directory, &files, error) == 0)) {
		signals_hold(&before);
		status = put_in_place(directory, &files, error);
		signals_release(&before);
	}
	if (status)
		output_directory_explain(directory, error);
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
