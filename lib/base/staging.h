/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_STAGING_H
#define CT_BASE_STAGING_H

#include <stdbool.h>

#include "base/guard.h"

/*
 * A directory that gets its entries when all of them are whole. They are made in a
 * temporary directory: beside the target, which it becomes, or, where the target is
 * there, in it, from where they are moved.
 */
struct staging {
	char *path;      /* the target, without slashes at its end */
	char *temporary; /* make entries in it; NULL after commit and discard */
	bool is_new;     /* the target is not there yet */
	struct guard *guard;
};

/*
 * Make the temporary directory for `path`, which must be a directory or free. 0, or -1
 * with error. Borrows the guard, which may be NULL, until commit or discard.
 */
int staging_open(struct staging *staging, const char *path, struct guard *guard,
		 struct error *error);

/* Whether an entry of this name is in the target already. */
bool staging_has(const struct staging *staging, const char *name);

/* Where an error's text has the temporary directory, put the target. */
void staging_explain(const struct staging *staging, struct error *error);

/*
 * Move all entries into place; none of them replaces what is there. 0, or -1 with error;
 * then entries before it in the order of names may be in place. Frees all.
 */
int staging_commit(struct staging *staging, struct error *error);

/* Remove what was not committed; after a commit it does nothing. */
void staging_discard(struct staging *staging);

#endif
