/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/files.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"

int files_make_directory(const char *path, struct error *error)
{
	char *part = mem_strdup(path);
	struct stat about;
	int status = 0;

	for (char *at = part + 1; *path && *at && !status; at++)
		if (*at == '/') {
			*at = '\0';
			if (mkdir(part, 0777) && errno != EEXIST)
				status = error_errno(error, part);
			*at = '/';
		}
	if (!status && mkdir(path, 0777) && errno != EEXIST)
		status = error_errno(error, path);
	if (!status && (stat(path, &about) || !S_ISDIR(about.st_mode)))
		status = error_set(error, "%s: no directory, want one", path);
	free(part);
	return status;
}
