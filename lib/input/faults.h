/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_FAULTS_H
#define CT_INPUT_FAULTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/problem.h"

/*
 * The faults of one file, as problems with the place FILE:LINE. A file may be
 * broken in each of a million lines, so only some of each sort (one format is
 * one sort) become problems of their own. Further ones are counted: with the
 * problem of the same text, else with the last of their sort. What is wrong with
 * the file as a whole is always told.
 */
struct faults {
	struct problem_list *problems; /* borrowed; nothing else may shorten it */
	const char *path;              /* borrowed */
	struct fault_seen {
		const char *format;
		size_t problem;
	} seen[64];
	size_t seens;
};

void faults_init(struct faults *faults, const char *path, struct problem_list *problems);

/* Add one; line 0 is the file as a whole. The format must be a literal. */
void faults_add(struct faults *faults, const char *kind, uint64_t line,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
