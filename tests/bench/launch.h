/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_BENCH_LAUNCH_H
#define CT_TESTS_BENCH_LAUNCH_H

#include "base/error.h"
#include "base/options.h"

/* A program that was run to its end, and what it cost. */
struct launched {
	int status; /* exit status */
	double wall_s, cpu_s;
	long peak_kib; /* resident memory at most */
};

/*
 * Run the command of these words, found in the PATH, with its standard output
 * in a file, NULL: nowhere. 0, or -1 with error when it cannot be run or a
 * signal ended it.
 */
int launch(const struct text_list *words, const char *output, struct launched *launched,
	   struct error *error);

/* Add words up to a NULL; copies. */
void launch_words(struct text_list *words, ...) __attribute__((sentinel));

/* A name for a temporary file in $TMPDIR; the caller removes and frees it. */
char *launch_temporary(struct error *error);

#endif
