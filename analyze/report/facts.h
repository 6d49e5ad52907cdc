/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_REPORT_FACTS_H
#define CT_REPORT_FACTS_H

#include "analyze/report/report.h"

/* Print the numbers of a run that are compared with those of others. */
int run_facts(struct query *query, struct result *result, struct error *error);

/* The table `facts` of a timeline, and with_map also `heat`. */
struct compared_run {
	struct request request;
	struct result result;
	nsec_t step_ns; /* step of `heat` */
};

/* Read them with the options of a query. Return 0, or -1 with error; clear in any case.
 */
int compared_run_read(struct compared_run *facts, const struct query *query,
		      const char *path, bool with_map, struct error *error);
void compared_run_clear(struct compared_run *facts);

/* Compare a report that is prepared with the runs of --against. Return 0, or -1 with
 * error. */
int report_compare(struct report *report, struct error *error);

/* Parts of the page, by their names in page.html. */
void report_changes(struct report *report);
void report_map_before(struct report *report);

#endif
