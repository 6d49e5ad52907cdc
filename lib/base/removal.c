/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/removal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEEPEST = 16, ENTRIES = 4096, PASSES = 8 };

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static void remove_entry(int at, const char *name, int depth);

/* readdir(3) takes memory; its system call does not. */
static void empty_directory(int directory, int depth)
{
	_Alignas(struct dirent64) char room[ENTRIES];
	long size;

	while ((size = syscall(SYS_getdents64, directory, room, sizeof(room))) > 0) {
		for (long at = 0; at < size;) {
			const struct dirent64 *entry = (const void *)(room + at);

			if (!is_dots(entry->d_name))
				remove_entry(directory, entry->d_name, depth);
			at += entry->d_reclen;
		}
	}
}

static void remove_entry(int at, const char *name, int depth)
{
	int directory;

	if (unlinkat(at, name, 0) == 0 || depth == DEEPEST)
		return;
	directory = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (directory < 0)
		return;
	/* What goes while a directory is read may hide what stays (readdir(3)). */
	for (int pass = 0; pass < PASSES; pass++) {
		empty_directory(directory, depth + 1);
		if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno != ENOTEMPTY)
			break;
		lseek(directory, 0, SEEK_SET);
	}
	close(directory);
}

void removal_of_tree(const char *path)
{
	int before = errno;

	remove_entry(AT_FDCWD, path, 0);
	errno = before;
}
