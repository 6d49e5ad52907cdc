/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/* Links, too, since they may lead to one: /dev/stdout, /dev/full. */
bool output_is_special(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && !S_ISREG(status.st_mode) &&
	       !S_ISDIR(status.st_mode);
}

static int open_special(struct output *output, struct error *error)
{
	output->file = fopen(output->path, "w");
	if (output->file)
		return 0;
	error_errno(error, output->path);
	output_discard(output);
	return -1;
}

int output_open(struct output *output, const char *path, struct error *error)
{
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	memset(output, 0, sizeof(*output));
	output->path = mem_strdup(path);
	if (output_is_special(path))
		return open_special(output, error);
	output->temporary = mem_printf("%s.XXXXXX", path);
	fd = mkstemp(output->temporary);
	if (fd < 0)
		goto fail;
	if (fchmod(fd, 0666 & ~mask) == 0)
		output->file = fdopen(fd, "w");
	if (output->file)
		return 0;
	unlink(output->temporary);
	close(fd);
fail:
	error_errno(error, path);
	free(output->path);
	free(output->temporary);
	memset(output, 0, sizeof(*output));
	return -1;
}

int output_commit(struct output *output, struct error *error)
{
	int failed = ferror(output->file) || fflush(output->file) ||
		     (output->temporary && fsync(fileno(output->file)));

	failed |= fclose(output->file);
	output->file = NULL;
	if (failed || (output->temporary && rename(output->temporary, output->path))) {
		error_errno(error, output->path);
		output_discard(output);
		return -1;
	}
	free(output->temporary);
	output->temporary = NULL;
	output_discard(output);
	return 0;
}

void output_discard(struct output *output)
{
	if (output->file)
		fclose(output->file);
	if (output->temporary)
		unlink(output->temporary);
	free(output->temporary);
	free(output->path);
	memset(output, 0, sizeof(*output));
}

int output_flush_stdout(struct error *error)
{
	return fflush(stdout) || ferror(stdout) ? error_errno(error, "standard output")
						: 0;
}
