/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_FILE_H
#define CT_BASE_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

/*
 * Open a regular file for reading; a named pipe would block until something writes to it.
 * `expected` names what the file should be, such as "a recipe", or is NULL. Return -1 or
 * NULL with error, which does not contain the path.
 */
int file_open(const char *path, const char *expected, struct error *error);
FILE *file_open_stream(const char *path, const char *expected, struct error *error);

/*
 * Read a whole file of at most `most_mib` MiB. Append a NUL that `size` does not count.
 * The caller frees the result. Return NULL with error, which does not contain the path.
 */
char *file_read(const char *path, size_t most_mib, const char *expected, size_t *size,
		struct error *error);

#endif
