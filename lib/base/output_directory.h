/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_OUTPUT_DIRECTORY_H
#define CT_BASE_OUTPUT_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/output.h"

/* The treatment of an existing directory that is not empty. */
enum output_rule {
	OUTPUT_EMPTY,   /* refuse it */
	OUTPUT_ADD,     /* add new entries; refuse names that exist */
	OUTPUT_REPLACE, /* remove the files in its list; replace files of equal names */
	OUTPUT_OURS,    /* OUTPUT_REPLACE if it has such a list, otherwise refuse it */
};

struct output_kind {
	enum output_rule rule;
	const char *list;    /* name of the list of written files; NULL: write none */
	const char *instead; /* directories to use instead of a refused one, for the error
			      * message; NULL: an empty or a new directory */
	bool parents;        /* create missing parent directories */
	const char
	    *mark; /* name of a file that exists only while all others do, or NULL */
};

/*
 * An output directory, which receives its files when all are complete. They are written
 * in a temporary directory: next to the target, which it then becomes, or if the target
 * exists, inside it, from where the files are moved.
 *
 * Other files in the target stay. A list in it names our files, one path per line, below
 * the directory. The list is moved first, so that the files of an interrupted move are
 * known to the output that replaces them.
 */
struct output_directory {
	char *path;      /* the target, without trailing slashes */
	char *temporary; /* create entries here; NULL after commit and discard */
	const struct output_kind *kind;
	char *made; /* the topmost parent directory that was created, or NULL */
	struct output_stage *stage;
	bool is_new; /* the target does not exist yet */
};

/* Borrows `kind` until commit or discard. Return 0, or -1 with error. */
int output_directory_open(struct output_directory *directory, const char *path,
			  const struct output_kind *kind, struct error *error);

/* Return true if the target has an entry of this name already. */
bool output_directory_has(const struct output_directory *directory, const char *name);

/* Replace the path of the temporary directory in an error's message by the target. */
void output_directory_explain(const struct output_directory *directory,
			      struct error *error);

/*
 * Sync all files, move them to the target, and free the output. Return 0, or -1 with
 * error; then the target is unchanged, unless the error says that files could not be
 * moved back.
 */
int output_directory_commit(struct output_directory *directory, struct error *error);

/* Remove an output that was not committed. After a commit this does nothing. */
void output_directory_discard(struct output_directory *directory);

/*
 * Create the missing parent directories of `path`, whose slashes are looked for from byte
 * `first` on. Set `made` to the topmost one created; the caller frees it. Return 0, or -1
 * with errno.
 */
int make_parent_directories(const char *path, size_t first, char **made);

#endif
