/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/directory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

static int make_parents(char *path, size_t from, struct error *error)
{
	for (char *slash = strchr(path + from, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		int status;

		*slash = '\0';
		status = mkdir(path, 0777);
		if (status && errno != EEXIST)
			return error_errno(error, path + from);
		*slash = '/';
	}
	return 0;
}

FILE *export_create(const char *directory, const char *name, struct error *error)
{
	char *path = mem_printf("%s/%s", directory, name);
	FILE *file = NULL;

	if (make_parents(path, strlen(directory) + 1, error) == 0) {
		file = fopen(path, "wxe");
		if (!file)
			error_errno(error, name);
	}
	free(path);
	return file;
}

int export_close(FILE *file, const char *name, struct error *error)
{
	bool failed = fflush(file) || ferror(file);
	int cause = errno;

	if (fclose(file) && !failed) {
		failed = true;
		cause = errno;
	}
	errno = cause;
	return failed ? error_errno(error, name) : 0;
}
