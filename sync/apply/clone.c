/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/apply/clone.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/removal.h"

enum { BLOCK = 65536 };

/* What a whole cloning shares. */
struct cloning {
	struct stat target; /* so that it is not entered where it lies in its source */
	struct error *error;
};

static int write_all(int out, const char *bytes, size_t size)
{
	while (size) {
		ssize_t done = write(out, bytes, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		bytes += done;
		size -= (size_t)done;
	}
	return 0;
}

/* 0, or -1 with errno */
static int copy_bytes(int in, int out)
{
	char block[BLOCK];
	ssize_t size;

	while ((size = read(in, block, sizeof(block))) != 0) {
		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0 || write_all(out, block, (size_t)size))
			return -1;
	}
	return 0;
}

/* A file of its own, by sharing blocks where the file system can. */
static int copy_file(const char *from, const char *to, mode_t mode, struct error *error)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out, failed;

	if (in < 0)
		return error_errno(error, from);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0777);
	if (out < 0) {
		error_errno(error, to);
		close(in);
		return -1;
	}
	failed = ioctl(out, FICLONE, in) && copy_bytes(in, out);
	if (failed)
		error_errno(error, to);
	if (close(out) && !failed)
		failed = error_errno(error, to);
	close(in);
	return failed ? -1 : 0;
}

static int clone_directory(struct cloning *cloning, const char *from, const char *to,
			   const char *skip);

static int clone_entry(struct cloning *cloning, const char *from, const char *to)
{
	struct stat status;

	if (stat(from, &status))
		return error_errno(cloning->error, from);
	if (S_ISREG(status.st_mode)) {
		/* Other file systems, too many links, others' files: then copy. */
		if (linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		return copy_file(from, to, status.st_mode, cloning->error);
	}
	/* A link to a directory may lead back here. */
	if (lstat(from, &status))
		return error_errno(cloning->error, from);
	if (!S_ISDIR(status.st_mode))
		return error_set(cloning->error,
				 "%s: neither a file nor a directory of the trace", from);
	if (status.st_dev == cloning->target.st_dev &&
	    status.st_ino == cloning->target.st_ino)
		return error_set(cloning->error, "%s: lies inside of the trace", from);
	if (mkdir(to, 0777))
		return error_errno(cloning->error, to);
	return clone_directory(cloning, from, to, NULL);
}

static int is_entry(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int clone_directory(struct cloning *cloning, const char *from, const char *to,
			   const char *skip)
{
	struct dirent **entry;
	int count = scandir(from, &entry, is_entry, alphasort), failed = 0;

	if (count < 0)
		return error_errno(cloning->error, from);
	for (int k = 0; k < count; k++) {
		const char *name = entry[k]->d_name;

		if (!failed && (!skip || strcmp(name, skip) != 0)) {
			char *old = mem_printf("%s/%s", from, name);
			char *new = mem_printf("%s/%s", to, name);

			failed = clone_entry(cloning, old, new);
			free(old);
			free(new);
		}
		free(entry[k]);
	}
	free(entry);
	return failed;
}

int clone_tree(const char *from, const char *to, const char *skip, struct error *error)
{
	struct cloning cloning = {.error = error};

	if (mkdir(to, 0777))
		return error_errno(error, to);
	if (stat(to, &cloning.target)) {
		error_errno(error, to);
		rmdir(to);
		return -1;
	}
	if (clone_directory(&cloning, from, to, skip) == 0)
		return 0;
	removal_of_tree(to);
	return -1;
}
