/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_H
#define CT_ANALYZE_QUERY_H

#include <stdio.h>

#include "analyze/query_file.h"
#include "analyze/query_text.h"
#include "analyze/question.h"

/* Ask what the question's analysis asks for, into tables and notes; 0, or -1 with error.
 */
int query_run(struct question *question, struct result *result, struct error *error);

/*
 * Write the statements of an analysis as they would run, in a dialect, with the values of
 * their parameters. The question may have no timeline: then its scope is all there is.
 * 0, or -1 with error.
 */
int query_print(struct question *question, enum sql_dialect dialect, FILE *file,
		struct error *error);

#endif
