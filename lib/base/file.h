/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_FILE_H
#define CT_BASE_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

/*
 * Open a plain file to read: a named pipe would wait for somebody to write. `want` says
 * what it should be, "a recipe", or is NULL. -1 or NULL with error, without the path in
 * it.
 */
int file_open(const char *path, const char *want, struct error *error);
FILE *file_open_stream(const char *path, const char *want, struct error *error);

/* All of it, at most so many MiB, with a 0 behind its `size` bytes. NULL with error. */
char *file_read(const char *path, size_t most_mib, const char *want, size_t *size,
		struct error *error);

#endif
