/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_REPORT_TRAFFIC_H
#define CT_ANALYZE_REPORT_TRAFFIC_H

#include "analyze/analysis.h"
#include "analyze/report/bins.h"

/* The relation of net.sql that traffic_keep() computes. */
#define TRAFFIC_RELATION "frame_step"

/*
 * Keep what interfaces sent and received in each step of the grid, as TRAFFIC_RELATION,
 * with the rows that net.sql selects for that interval. Return 0, or -1 with error.
 */
int traffic_keep(struct query *query, const struct bin_grid *grid, struct error *error);

#endif
