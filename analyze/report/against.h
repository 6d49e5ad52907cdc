/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_REPORT_AGAINST_H
#define CT_ANALYZE_REPORT_AGAINST_H

#include "analyze/result.h"

/*
 * Two sides of one or more runs each, by the facts of the runs (facts.sql): the numbers
 * that changed by more than the runs themselves vary, ordered by their weight. The noise
 * of a number is the standard deviation of its eighths, on the side on which it varies
 * less, or that between the runs of a side if it is larger.
 */
struct against;

struct against *against_new(void);

/* Add the table `facts` of a run to side 0, the new runs, or 1, those before. Copies. */
void against_add(struct against *against, const struct result_table *facts, int side,
		 const char *path, nsec_t span_ns);

/* Add the table `changes`, and what did not change or was not recorded as notes. */
void against_print(struct against *against, struct result *result);

void against_free(struct against *against);

#endif
