/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_OUTPUT_PRIVATE_H
#define CT_BASE_OUTPUT_PRIVATE_H

#include "base/error.h"

/* What output.c and output_directory.c share. */

/* What a killed program left of that name goes, but for what is still being written. */
void output_stage_sweep(const char *directory, const char *name);

/* The directory of a path, for free(), and the name in it, borrowed. */
char *output_parent(const char *path);
const char *output_name(const char *path);

/* Whether a path may be written: 0, or -1 with error where it is an input, or in one. */
int output_check(const char *path, struct error *error);

#endif
