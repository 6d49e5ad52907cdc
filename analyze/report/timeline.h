/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_REPORT_TIMELINE_H
#define CT_REPORT_TIMELINE_H

#include "analyze/report/report.h"

/* Parts of the page, by their names in page.html. */
void report_lanes(struct report *report);
void report_spans(struct report *report);
void report_bins(struct report *report);
void report_reduction(struct report *report);

#endif
