/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "input/recipe/value.h"

/* Up to one byte more than a recipe may have. -1 with errno. */
static int read_all(int fd, char *bytes, size_t *size)
{
	ssize_t got = 1;

	*size = 0;
	while (got != 0 && *size <= RECIPE_MOST_BYTES) {
		got = read(fd, bytes + *size, RECIPE_MOST_BYTES + 1 - *size);
		if (got < 0 && errno != EINTR)
			return -1;
		if (got > 0)
			*size += (size_t)got;
	}
	return 0;
}

char *recipe_bytes_read(const char *path, const char *file, size_t *size,
			struct recipe_mistakes *mistakes)
{
	struct recipe_place place = {file, 0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *bytes = mem_alloc(RECIPE_MOST_BYTES + 2);
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		recipe_mistake_add(mistakes, place, "%s", strerror(errno));
	else if (!S_ISREG(status.st_mode))
		recipe_mistake_add(mistakes, place, "no plain file, want one");
	else if (read_all(fd, bytes, size))
		recipe_mistake_add(mistakes, place, "%s", strerror(errno));
	else if (*size > RECIPE_MOST_BYTES)
		recipe_mistake_add(mistakes, place, "more than %d bytes, want a recipe",
				   RECIPE_MOST_BYTES);
	else
		goto out;
	free(bytes);
	bytes = NULL;
out:
	if (bytes)
		bytes[*size] = '\0';
	if (fd >= 0)
		close(fd);
	return bytes;
}
