/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/header.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "timeline/schema.h"

enum { HEADER_SIZE = 100, AT_USER_VERSION = 60, AT_APPLICATION_ID = 68 };

static unsigned big_endian(const unsigned char *byte)
{
	return (unsigned)byte[0] << 24 | (unsigned)byte[1] << 16 |
	       (unsigned)byte[2] << 8 | byte[3];
}

static enum header read_open(int fd, unsigned *version)
{
	unsigned char bytes[HEADER_SIZE] = {0};
	struct stat status;
	ssize_t size;

	if (fstat(fd, &status))
		return HEADER_UNREADABLE;
	if (!S_ISREG(status.st_mode))
		return HEADER_NO_FILE;
	size = pread(fd, bytes, sizeof(bytes), 0);
	if (size < 0)
		return HEADER_UNREADABLE;
	if (size == 0)
		return HEADER_EMPTY;
	if (size < HEADER_SIZE || memcmp(bytes, "SQLite format 3", 16) != 0)
		return HEADER_FOREIGN;
	if (big_endian(bytes + AT_APPLICATION_ID) != SCHEMA_APPLICATION_ID)
		return HEADER_DATABASE;
	*version = big_endian(bytes + AT_USER_VERSION);
	return *version == SCHEMA_VERSION ? HEADER_TIMELINE : HEADER_OTHER_VERSION;
}

enum header header_read(const char *path, unsigned *version)
{
	/* A pipe that nobody writes to would keep us waiting. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), kept;
	enum header header;

	if (fd < 0)
		return errno == ENXIO ? HEADER_NO_FILE : HEADER_UNREADABLE;
	header = read_open(fd, version);
	kept = errno;
	close(fd);
	errno = kept;
	return header;
}

int header_check_target(const char *path, bool force, struct error *error)
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
