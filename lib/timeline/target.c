/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "timeline/header.h"

#define STREAM_NAME "standard output"

/*
 * What --force replaces is a timeline that can be made again, not whatever a
 * slip of the hand names.
 */
static int check_file(const char *path, bool force, struct error *error)
{
	struct stat status;
	unsigned version;

	if (lstat(path, &status))
		return errno == ENOENT ? 0 : error_errno(error, path);
	if (!S_ISREG(status.st_mode))
		return error_set(error, "%s: not a regular file, want the name of one",
				 path);
	if (!force)
		return error_set(error, "%s: there already, want --force to replace it",
				 path);
	switch (header_read(path, &version)) {
	case HEADER_TIMELINE:
	case HEADER_OTHER_VERSION:
	case HEADER_EMPTY:
		return 0;
	case HEADER_UNREADABLE:
		return error_errno(error, path);
	case HEADER_DATABASE:
	case HEADER_FOREIGN:
	case HEADER_NO_FILE:
		break;
	}
	return error_set(error, "%s: no timeline, --force replaces nothing else", path);
}

int timeline_target_open(struct timeline_target *target, const char *path, bool force,
			 struct error *error)
{
	memset(target, 0, sizeof(*target));
	target->fd = -1;
	target->force = force;
	if (check_file(path, force, error))
		return -1;
	return output_open(&target->output, path, error);
}

int timeline_target_open_stream(struct timeline_target *target, int fd,
				struct error *error)
{
	const char *directory = getenv("TMPDIR");
	int made;

	memset(target, 0, sizeof(*target));
	target->fd = fd;
	if (isatty(fd))
		return error_set(error,
				 STREAM_NAME ": a terminal, want a file or a pipe");
	target->temporary = mem_printf(
	    "%s/timeline-XXXXXX", directory && *directory == '/' ? directory : P_tmpdir);
	made = mkstemp(target->temporary);
	if (made >= 0) {
		close(made);
		return 0;
	}
	error_errno(error, target->temporary);
	free(target->temporary);
	target->temporary = NULL;
	return -1;
}

const char *timeline_target_path(const struct timeline_target *target)
{
	return target->temporary ? target->temporary : target->output.temporary;
}

const char *timeline_target_name(const struct timeline_target *target)
{
	return target->temporary ? target->temporary : target->output.path;
}

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t written = write(fd, bytes, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		bytes += written;
		size -= (size_t)written;
	}
	return 0;
}

/* 0, or -1 with error; whoever reads gets the file from its begin to its end. */
static int copy(int from, const char *name, int to, struct error *error)
{
	enum { CHUNK = 1 << 18 };
	char *bytes = mem_alloc(CHUNK);
	ssize_t size;
	int status = 0;

	while (status == 0 && (size = read(from, bytes, CHUNK)) != 0) {
		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0)
			status = error_errno(error, name);
		else if (write_all(to, bytes, (size_t)size))
			status = error_errno(error, STREAM_NAME);
	}
	free(bytes);
	return status;
}

/* A shell's `> run.db` has made the file: leave no half timeline in it. */
static void cut_back(int fd, off_t end)
{
	struct stat status;

	if (end < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode))
		return;
	if (ftruncate(fd, end) == 0)
		lseek(fd, end, SEEK_SET);
}

static int send_on(const struct timeline_target *target, struct error *error)
{
	int from = open(target->temporary, O_RDONLY | O_CLOEXEC), status;
	struct stat before;
	off_t end = -1;

	if (from < 0)
		return error_errno(error, target->temporary);
	if (fstat(target->fd, &before) == 0 && S_ISREG(before.st_mode))
		end = lseek(target->fd, 0, SEEK_CUR);
	/* What is appended to begins at its end, wherever the offset is. */
	if (end >= 0 && fcntl(target->fd, F_GETFL) & O_APPEND)
		end = before.st_size;
	status = copy(from, target->temporary, target->fd, error);
	if (status)
		cut_back(target->fd, end);
	close(from);
	return status;
}

int timeline_target_commit(struct timeline_target *target, struct error *error)
{
	int status;

	if (target->temporary)
		status = send_on(target, error);
	else if (check_file(target->output.path, target->force, error))
		status = -1; /* it came while we worked */
	else
		status = output_commit(&target->output, error);
	timeline_target_discard(target);
	return status;
}

void timeline_target_discard(struct timeline_target *target)
{
	if (target->temporary)
		unlink(target->temporary);
	free(target->temporary);
	output_discard(&target->output);
	memset(target, 0, sizeof(*target));
}
