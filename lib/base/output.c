/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

int output_open(struct output *output, const char *path, struct error *error)
{
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	memset(output, 0, sizeof(*output));
	output->path = mem_strdup(path);
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
	int failed =
	    ferror(output->file) || fflush(output->file) || fsync(fileno(output->file));

	failed |= fclose(output->file);
	output->file = NULL;
	if (failed || rename(output->temporary, output->path)) {
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
