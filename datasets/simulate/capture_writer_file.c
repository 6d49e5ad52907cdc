/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/capture_writer_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

static int write_all(int fd, const char *bytes, size_t count)
{
	while (count) {
		ssize_t written = write(fd, bytes, count);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		bytes += written;
		count -= (size_t)written;
	}
	return 0;
}

/* Of fopencookie(3): 0 is failure. */
static ssize_t append(void *cookie, const char *bytes, size_t count)
{
	int fd = open(cookie, O_WRONLY | O_APPEND | O_CLOEXEC);
	int status, cause;

	if (fd < 0)
		return 0;
	status = write_all(fd, bytes, count);
	cause = errno;
	if (close(fd) && !status) {
		status = -1;
		cause = errno;
	}
	errno = cause;
	return status ? 0 : (ssize_t)count;
}

static int forget(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *sim_file_open(const char *path, struct error *error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	char *copy;
	FILE *file;

	if (fd < 0 || close(fd)) {
		error_errno(error, path);
		return NULL;
	}
	copy = mem_strdup(path);
	file = fopencookie(copy, "w",
			   (cookie_io_functions_t){.write = append, .close = forget});
	if (!file) {
		error_errno(error, path);
		free(copy);
	}
	return file;
}
