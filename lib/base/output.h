/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_OUTPUT_H
#define CT_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/*
 * A file that appears whole or not at all: written beside its target,
 * synced, renamed. A killed program leaves nothing under the target's name.
 * What is there and no file (a device, a pipe, a link) is written straight.
 */
struct output {
	FILE *file; /* write here */
	char *path, *temporary;
};

int output_open(struct output *output, const char *path, struct error *error);

/* What is there and no file: it is written straight, and opening it may take long. */
bool output_is_special(const char *path);

/* Sync and rename into place; 0, or -1 with error and nothing in place. */
int output_commit(struct output *output, struct error *error);

/* Throw away what was not committed; after a commit it does nothing. */
void output_discard(struct output *output);

/* Whether all that was written to standard output is out: 0, or -1 with error. */
int output_flush_stdout(struct error *error);

#endif
