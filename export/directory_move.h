/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_DIRECTORY_MOVE_H
#define CT_EXPORT_DIRECTORY_MOVE_H

#include "base/error.h"
#include "base/options.h"

/* The files of an export by their paths below its directory, for directory.c. */

/* All files below `path`, sorted, and synced on the way. 0, or -1 with error. */
int directory_list(const char *path, struct text_list *files, struct error *error);

/* Write the list `.ctexport` into the directory, and add it to the list. */
int directory_write_list(const char *path, struct text_list *files, struct error *error);

/*
 * Move the files to a directory that is there: those that an earlier list in it names
 * go, unless a new one takes their place. Nothing is touched unless all can be moved, as
 * far as that can be told. 0, or -1 with error.
 */
int directory_move(const char *from, const char *to, const struct text_list *files,
		   struct error *error);

#endif
