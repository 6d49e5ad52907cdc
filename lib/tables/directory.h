/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TABLES_DIRECTORY_H
#define CT_TABLES_DIRECTORY_H

#include <stdio.h>

#include "base/error.h"

/* Files of a format that writes a directory, which base/output_directory.h puts in place.
 */

/*
 * Create the file NAME, which may be "a/b", below `directory`, with the
 * directories on the way. NULL with an error that names the file.
 */
FILE *export_create(const char *directory, const char *name, struct error *error);

/* Close it; an error that came up at any write is told: "NAME: No space left ...". */
int export_close(FILE *file, const char *name, struct error *error);

#endif
