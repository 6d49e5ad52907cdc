/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_DIRECTORY_H
#define CT_EXPORT_DIRECTORY_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/*
 * A directory that gets its files when all of them are whole. They are made in a
 * temporary directory: beside the target, which it becomes at the commit, or, where the
 * target is there, in it. Where directories above the target are missing, it is made
 * beside the first of these, and becomes that.
 *
 * A directory that is not empty is refused unless `force`. Then what an earlier export
 * wrote there goes, whatever else is there stays, and a file of a new one's name is
 * replaced. A list of what was written, `.ctexport`, stands in each directory for that.
 */
struct export_directory {
	char *path;
	char *temporary;    /* write below it; NULL after commit and discard */
	char *first, *root; /* the first that is to be made, and what becomes it */
	bool is_new;        /* the target is not there yet */
};

int export_directory_open(struct export_directory *directory, const char *path,
			  bool force, struct error *error);

/*
 * Sync all files and move them to the target. 0, or -1 with error; then, unless the
 * system failed half way in moving them, the target is as it was.
 */
int export_directory_commit(struct export_directory *directory, struct error *error);

/* Remove what was not committed; after a commit it does nothing. */
void export_directory_discard(struct export_directory *directory);

/*
 * For formats: create the file NAME, which may be "a/b", below `directory`, with the
 * directories on the way. NULL with an error that names the file.
 */
FILE *export_create(const char *directory, const char *name, struct error *error);

/* Close it; an error that came up at any write is told: "NAME: No space left ...". */
int export_close(FILE *file, const char *name, struct error *error);

#endif
