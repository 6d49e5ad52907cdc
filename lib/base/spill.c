/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/spill.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/signals.h"

/* Where the file system has no files without a name: no signal comes between the two. */
static int make_and_unlink(const char *parent)
{
	char *name = mem_printf("%s/clustertrace-XXXXXX", parent);
	sigset_t before;
	int fd;

	signals_hold(&before);
	fd = mkstemp(name);
	if (fd >= 0)
		unlink(name);
	signals_release(&before);
	free(name);
	return fd;
}

FILE *spill_open(void)
{
	const char *parent = getenv("TMPDIR");
	int fd;

	if (!parent || !*parent)
		parent = P_tmpdir;
	fd = open(parent, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = make_and_unlink(parent);
	return fd < 0 ? NULL : fdopen(fd, "w+");
}
