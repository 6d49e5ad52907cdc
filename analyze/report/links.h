/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_REPORT_LINKS_H
#define CT_ANALYZE_REPORT_LINKS_H

#include "analyze/report/private.h"

/* Where a processor's lane is, in pixels. */
struct lane_place {
	int64_t node, cpu;
	double y, height;
};

/*
 * Messages as lines from the lane that sent to the lane that received. Of more than
 * LINKS_ALL the slowest of each pair of nodes in each step of time is drawn; the slowest
 * of all stand out.
 */
enum { LINKS_ALL = 800, LINKS_SLOWEST = 20 };

struct link_counts {
	uint64_t messages; /* between nodes, in what is shown */
	size_t drawn;
	nsec_t step_ns; /* 0: all are drawn */
};

/* 0, or -1 with error. */
int links_draw(const struct report *report, const struct lane_place *place, size_t places,
	       struct link_counts *counts, struct error *error);

#endif
