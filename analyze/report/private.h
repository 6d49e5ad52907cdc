/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_REPORT_PRIVATE_H
#define CT_ANALYZE_REPORT_PRIVATE_H

#include <stdio.h>

#include "analyze/bounds.h"
#include "analyze/question.h"
#include "analyze/result.h"

/*
 * The report is one page that is written from top to bottom, a file of code a section.
 * Pictures are inline SVG whose x axis is the run's time in TIME_UNITS, so that the
 * page's script zooms by changing a viewBox; everything that is text is HTML beside it.
 */
enum { TIME_UNITS = 1000000 };

struct report {
	struct question *question;
	struct result *result; /* how instants are printed */
	FILE *page;
	struct bounds *bounds;
	nsec_t begin_ns, end_ns; /* of the time axis; end_ns > begin_ns */
	bool is_empty;           /* it has no time: nothing was recorded */
	size_t bins;             /* of charts over time */
	nsec_t bin_ns;
	size_t done, parts;       /* for progress */
	struct report_kept *kept; /* answers, kept.h */
};

/* What is asked of another analysis, besides its name. Zeroed: its defaults. */
struct report_wish {
	const char *group;
	unsigned forms;
	nsec_t interval_ns;
	int limit; /* rows a table; 0: its own, REPORT_ALL: all */
};

enum { REPORT_ALL = -1 };

/*
 * The result of another analysis of the same part of the timeline; `result` is to be
 * cleared, and lives as long as `request`. 1; 0: there is no such analysis; -1 with
 * error.
 */
struct report_answer {
	struct request request;
	struct result result;
	bool is_kept; /* by the report: not to be cleared */
};

/* The page's own request, as the wish changes it. */
void report_wish_request(const struct report *report, const struct report_wish *wish,
			 struct request *request);

int report_ask(struct report *report, const char *analysis,
	       const struct report_wish *wish, struct report_answer *answer,
	       struct error *error);

void report_answer_clear(struct report_answer *answer);

/* A column of a table by its key; SIZE_MAX: none. */
size_t report_column(const struct result_table *table, const char *key);

/* A row's cell; a CELL_NULL where there is no such column. */
struct cell report_cell(const struct result_table *table, size_t row, const char *key);

/* A number as double; `none` where it is none. */
double report_number(const struct cell *cell, double none);

/* Sections: 0, or -1 with error. */
int report_head(struct report *report, struct error *error);
int report_problems(struct report *report, struct error *error);
int report_nodes(struct report *report, struct error *error);
int report_clocks(struct report *report, struct error *error);
int report_activity(struct report *report, struct error *error);
int report_latency(struct report *report, struct error *error);
int report_critical(struct report *report, struct error *error);
int report_top(struct report *report, struct error *error);

#endif
