/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_REPORT_SECTIONS_H
#define CT_REPORT_SECTIONS_H

#include "analyze/report/report.h"

/* Find the slowest requests and follow their paths. Return 0, or -1 with error. */
int report_walk_paths(struct report *report, struct query *query, struct error *error);

/* Drop the paths if the activity of threads is not recorded, and store their states in
 * page_path, for report.sql. Return 0, or -1 with error. */
int report_keep_paths(struct report *report, struct error *error);

/* Store the findings in told_finding, as plain text. Return 0, or -1 with error. */
int report_keep_findings(struct report *report, struct error *error);

/* Parts of the page, by their names in page.html. */
void report_findings(struct report *report);
void report_user(struct report *report);
void report_paths(struct report *report);
void report_why(struct report *report);

/* Write the requests that were followed, with their parts: the columns of `enum
 * followed_column`, packed. */
void report_followed(struct report *report);

/* Pack what is written until report_end_pack(): gzip, in base64. */
void report_pack(struct report *report);
void report_end_pack(struct report *report);

void report_latencies(struct report *report);

#endif
