/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/spill.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

FILE *spill_open(void)
{
	const char *parent = getenv("TMPDIR");
	char *name =
	    mem_printf("%s/clustertrace-XXXXXX", parent && *parent ? parent : P_tmpdir);
	int fd = mkstemp(name);

	if (fd >= 0)
		unlink(name);
	free(name);
	return fd < 0 ? NULL : fdopen(fd, "w+");
}
