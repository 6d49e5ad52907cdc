/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"

static void refuse_file(const char *expected, struct error *error, const char *format,
			...)
{
	AUTOFREE char *problem = MEM_VPRINTF(format);

	if (expected)
		error_set(error, "%s (expected %s)", problem, expected);
	else
		error_set(error, "%s", problem);
}

int file_open(const char *path, const char *expected, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		error_set(error, "%s", strerror(errno));
	else if (!S_ISREG(status.st_mode))
		refuse_file(expected, error, "not a regular file");
	else
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

FILE *file_open_stream(const char *path, const char *expected, struct error *error)
{
	int fd = file_open(path, expected, error);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");

	if (fd >= 0 && !file) {
		error_set(error, "%s", strerror(errno));
		close(fd);
	}
	return file;
}

char *file_read(const char *path, size_t most_mib, const char *expected, size_t *size,
		struct error *error)
{
	enum { STEP = 1 << 16 };
	struct bytes bytes = {0};
	int fd = file_open(path, expected, error);
	ssize_t got;

	if (fd < 0)
		return NULL;
	do {
		bytes_reserve(&bytes, STEP);
		got = read(fd, bytes.data + bytes.size, STEP);
		bytes.size += got > 0 ? (size_t)got : 0;
	} while (got > 0 && bytes.size <= most_mib << 20);
	if (got < 0)
		error_set(error, "%s", strerror(errno));
	else if (got > 0)
		refuse_file(expected, error, "larger than %zu MiB", most_mib);
	close(fd);
	if (got) {
		free(bytes.data);
		return NULL;
	}
	*size = bytes.size;
	bytes_add_byte(&bytes, 0);
	return (char *)bytes.data;
}
