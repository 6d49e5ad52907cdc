/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/natural.h"
#include "base/output.h"
#include "ctf/reader.h"

/* A directory, however it was reached. */
struct walk_directory {
	dev_t device;
	ino_t inode;
};

void walk_init(struct walk *walk, struct problem_list *problems)
{
	memset(walk, 0, sizeof(*walk));
	walk->problems = problems;
}

bool walk_enter(struct walk *walk, const struct stat *directory)
{
	for (size_t i = 0; i < walk->seens; i++)
		if (walk->seen[i].device == directory->st_dev &&
		    walk->seen[i].inode == directory->st_ino)
			return false;
	walk->seen = mem_grow(walk->seen, walk->seens, &walk->room, sizeof(*walk->seen));
	walk->seen[walk->seens++] =
	    (struct walk_directory){directory->st_dev, directory->st_ino};
	return true;
}

bool walk_has_suffix(const char *path, const char *suffix)
{
	size_t length = strlen(path), tail = strlen(suffix);

	return length >= tail && strcmp(path + length - tail, suffix) == 0;
}

char *walk_trimmed(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return mem_strndup(path, length);
}

static void walk_entries(struct walk *walk, const char *path)
{
	struct dirent **entry = NULL;
	int count = scandir(path, &entry, NULL, natural_entries);

	if (count < 0)
		problem_add(walk->problems, path, "unreadable", 1, "%s", strerror(errno));
	for (int i = 0; i < count; i++) {
		if (entry[i]->d_name[0] != '.') {
			char *below = mem_printf("%s/%s", path, entry[i]->d_name);

			walk_below(walk, below);
			free(below);
		}
		free(entry[i]);
	}
	free(entry);
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

/* Whether a recorder writes files of this name into a run (formats.md). */
static bool is_recorded(const char *path)
{
	static const char *const names[] = {
	    "run.json", "node.json",         "clock.csv", "proc.csv", "sensors.csv",
	    "commands", "invocations.jsonl", ".collect",  NULL};
	static const char *const suffixes[] = {".pcap", ".pcapng", ".sadf", ".sa", NULL};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (is_one_of(name, names))
		return true;
	for (size_t i = 0; suffixes[i]; i++)
		if (walk_has_suffix(name, suffixes[i]))
			return true;
	return false;
}

void walk_protect_run(const char *path)
{
	static const char *const own[] = {"run.json", ".collect", NULL};

	for (size_t i = 0; own[i]; i++) {
		char *file = mem_printf("%s/%s", path, own[i]);

		output_protect(file);
		free(file);
	}
}

/* A link to nothing, by whose name nothing that was recorded is missing. */
static bool is_idle_link(const char *path)
{
	static const char *const traces[] = {"kernel", "ust", "metadata", NULL};
	struct stat status;

	return lstat(path, &status) == 0 && S_ISLNK(status.st_mode) &&
	       !is_recorded(path) && !walk_has_suffix(path, ".packets") &&
	       !is_one_of(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, traces);
}

void walk_below(struct walk *walk, const char *path)
{
	struct stat status;

	if (stat(path, &status)) {
		const char *reason = strerror(errno);

		problem_add(walk->problems, path,
			    is_idle_link(path) ? "dangling" : "unreadable", 1, "%s",
			    reason);
	} else if (!S_ISDIR(status.st_mode)) {
		if (is_recorded(path))
			output_protect(path);
		walk->found(walk->context, WALK_FILE, path);
	} else if (!walk_enter(walk, &status))
		return;
	else if (ctf_is_trace(path)) {
		output_protect(path);
		walk->found(walk->context, WALK_TRACE, path);
	} else {
		if (is_recorded(path))
			output_protect(path);
		walk->found(walk->context, WALK_DIRECTORY, path);
		walk_entries(walk, path);
	}
}

void walk_clear(struct walk *walk)
{
	free(walk->seen);
	walk->seen = NULL;
	walk->seens = walk->room = 0;
}
