/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_CRITICAL_WHY_H
#define CT_ANALYZE_CRITICAL_WHY_H

#include "analyze/analysis.h"

/* The analysis why: the paths of all requests. */
int run_why(struct query *query, struct result *result, struct error *error);

#endif
