/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_CRITICAL_RANK_H
#define CT_ANALYZE_CRITICAL_RANK_H

#include "analyze/analysis.h"

/* Rank the requests of `answered` within their groups by time, and store those whose
 * paths are followed as `compared`: the slowest, those around the median and samples of
 * all times, or all of them. Set how many are stored. Return 0, or -1 with error. */
int rank_requests(struct query *query, bool all, int64_t *count, struct error *error);

#endif
