/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_GUARD_H
#define CT_BASE_GUARD_H

#include <limits.h>

#include "base/error.h"
#include "base/output.h"

/*
 * What a program has half written, one file or directory at a time, so that its signals'
 * handler can remove it. The program has one, zeroed; a library is given it. NULL stands
 * for none everywhere.
 */
struct guard {
	char path[PATH_MAX]; /* "": nothing */
};

/* For the handler (see base/signals.h): remove what is half written. */
void guard_undo(const struct guard *guard);

/*
 * No signal comes between these two: make or rename what is half written, and tell the
 * guard what there is to remove from now on, or NULL. It copies the path.
 */
void guard_hold(const struct guard *guard);
void guard_name(struct guard *guard, const char *path);

/* As output_open, output_commit and output_discard, with the guard told. */
int guard_open(struct guard *guard, struct output *output, const char *path,
	       struct error *error);
int guard_commit(struct guard *guard, struct output *output, struct error *error);
void guard_discard(struct guard *guard, struct output *output);

#endif
