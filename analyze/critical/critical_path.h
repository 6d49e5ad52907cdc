/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_CRITICAL_PATH_ANALYSIS_H
#define CT_ANALYZE_CRITICAL_PATH_ANALYSIS_H

#include "analyze/analysis.h"
#include "timeline/path.h"

/* Read the slowest requests from or to a selected node in the selected time, up to
 * `most`. Return their number, or -1 with error. */
int node_requests_slowest(struct node_request *request, int most, struct query *query,
			  struct error *error);

/* The analysis critical-path. */
int run_critical_path(struct query *query, struct result *result, struct error *error);

#endif
