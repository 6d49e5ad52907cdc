/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_FILES_H
#define CT_ANALYZE_FILES_H

#include "base/error.h"
#include "base/output.h"

/*
 * Files that appear whole or not at all, also where a signal ends the program: it knows
 * of the one that is being written. One at a time.
 */
struct files_guard {
	void (*hold)(int how); /* SIG_BLOCK, SIG_UNBLOCK: of the signals that end it */
	void (*name)(const char *temporary); /* what a signal has to remove; NULL: none */
};

/* As output_open, output_commit and output_discard. `guard` may be NULL. */
int files_open(const struct files_guard *guard, struct output *output, const char *path,
	       struct error *error);
int files_commit(const struct files_guard *guard, struct output *output,
		 struct error *error);
void files_discard(const struct files_guard *guard, struct output *output);

/* Make a directory, and those above it; one that is there is fine. 0, or -1 with error.
 */
int files_make_directory(const char *path, struct error *error);

/* A name that a file may have: what is not a letter, a digit, or one of .-_+ becomes _,
 * and a dot in front too. For free(). */
char *files_name(const char *text);

#endif
