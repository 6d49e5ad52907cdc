/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/apply/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctf/schema.h"

char *metadata_read(const char *path, struct error *error)
{
	size_t size, lacks;
	char *bytes = metadata_text(path, &size, &lacks, error), *text = NULL;

	if (bytes && memchr(bytes, '\0', size))
		error_set(error, "%s: a NUL byte in the text, want metadata", path);
	else if (bytes)
		text = mem_strndup(bytes, size);
	free(bytes);
	return text;
}
