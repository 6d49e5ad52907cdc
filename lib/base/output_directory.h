/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_OUTPUT_DIRECTORY_H
#define CT_BASE_OUTPUT_DIRECTORY_H

#include <stdbool.h>

#include "base/error.h"

/* What becomes of a directory that is there, and is not empty. */
enum output_rule {
	OUTPUT_EMPTY,   /* it is refused */
	OUTPUT_ADD,     /* new entries come to it, none of which may be there */
	OUTPUT_REPLACE, /* what the list in it names goes, files of new names are replaced
			 */
};

struct output_kind {
	enum output_rule rule;
	const char *list; /* name of a list of what was written, or NULL: none is kept */
	const char *want; /* what else than a directory that is not empty */
	bool parents;     /* directories above it are made, too */
};

/*
 * A directory that gets its files when all of them are whole. They are made in a
 * temporary directory: beside the target, which it becomes, or, where the target is
 * there, in it, from where they are moved. Where directories above the target are missing
 * and to be made, that is beside the first of these.
 *
 * Whatever else is in the directory stays. The list tells what is ours: a line a file, by
 * its path below the directory. It comes first, so that one that was moved by half is
 * known to whoever replaces it.
 */
struct output_directory {
	char *path;      /* the target, without slashes at its end */
	char *temporary; /* make entries in it; NULL after commit and discard */
	const struct output_kind *kind;
	char *first; /* the first that is to be made: the target, or one above it */
	struct output_stage *stage;
	bool is_new; /* the target is not there yet */
};

/* The kind is borrowed until commit or discard. 0, or -1 with error. */
int output_directory_open(struct output_directory *directory, const char *path,
			  const struct output_kind *kind, struct error *error);

/* Whether an entry of this name is in the target already. */
bool output_directory_has(const struct output_directory *directory, const char *name);

/* Where an error's text has the temporary directory, put the target. */
void output_directory_explain(const struct output_directory *directory,
			      struct error *error);

/*
 * Sync all files and move them to the target. 0, or -1 with error; then, unless the
 * system failed half way in moving them, the target is as it was. Frees all.
 */
int output_directory_commit(struct output_directory *directory, struct error *error);

/* Remove what was not committed; after a commit it does nothing. */
void output_directory_discard(struct output_directory *directory);

#endif
