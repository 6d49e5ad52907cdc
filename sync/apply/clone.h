/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_APPLY_CLONE_H
#define CT_SYNC_APPLY_CLONE_H

#include "base/error.h"

/*
 * Make `to`, a new directory, hold what the directory `from` holds, but for
 * the entry of from itself that is called `skip`. Directories are made anew;
 * files are hard-linked, else reflinked, else copied. 0, or -1 with error and
 * nothing left of `to`; a `to` that exists is an error and stays untouched.
 */
int clone_tree(const char *from, const char *to, const char *skip, struct error *error);

#endif
