/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_REPORT_H
#define CT_ANALYZE_REPORT_H

#include <stdio.h>

#include "analyze/critical/path.h"
#include "analyze/question.h"
#include "analyze/report/activity.h"
#include "analyze/result.h"

/*
 * The report is one page: findings, the cluster's timeline, and tables. First all is
 * asked, each question once, by two threads with a connection each; then the page is
 * written from top to bottom. The timeline is data in JSON that the page's script
 * draws; everything else is HTML and SVG that needs no script.
 */
enum report_answer_name {
	ANSWER_NODES,
	ANSWER_CLOCKS,
	ANSWER_PROBLEMS,
	ANSWER_MESSAGES,
	ANSWER_REQUESTS,
	ANSWER_SYSCALLS,
	ANSWER_IO,
	ANSWER_NET,
	ANSWER_MEMORY,
	ANSWER_LINES, /* of report.sql: what the timeline draws besides spans */
	ANSWER_OWN,   /* and what is said of the other answers */
	ANSWERS
};

/* What an analysis said of the part of the timeline that the page is about. */
struct report_answer {
	struct request request;
	struct result result;
};

enum { REPORT_REQUESTS = 8 }; /* the slowest ones, whose critical paths are drawn */

struct report {
	struct question *question;
	struct result *result; /* how instants are printed */
	FILE *page;
	nsec_t begin_ns, end_ns;           /* of the time axis; end_ns > begin_ns */
	bool is_empty;                     /* it has no time: nothing was recorded */
	nsec_t home_begin_ns, home_end_ns; /* what is shown first: all nodes recorded */
	nsec_t home_bound_ns;              /* of all clocks then; NSEC_MAX: none */
	struct report_answer answer[ANSWERS];
	struct activity activity;
	struct result own; /* tables of the activity */
	bool is_exact;     /* all spans are drawn one by one */
	size_t detail;     /* spans that are drawn one by one at most */
	struct activity_window window[REPORT_REQUESTS]; /* around `request` */
	struct node_request request[REPORT_REQUESTS];
	size_t requests;
};

/* The table of an answer; NULL: it has none of that name. */
const struct result_table *report_table(const struct report *report,
					enum report_answer_name answer, const char *key);

/* A row's cell; a CELL_NULL where there is no such column, or no table. */
struct cell report_cell(const struct result_table *table, size_t row, const char *key);

/* A number as double; `none` where it is none. */
double report_number(struct cell cell, double none);

/* A time on the page's axis, and which of the chosen nodes one is, from 0. */
nsec_t report_offset(const struct report *report, nsec_t at_ns);
size_t report_node_index(const struct report *report, int64_t node);

/* The analysis. */
int run_report(struct question *question, struct result *result, struct error *error);

/* Fill `own`, once all is asked. 0, or -1 with error. */
int report_sum(struct report *report, struct error *error);

/* Sections, in the order of the page: 0, or -1 with error. */
void report_findings(const struct report *report);
int report_timeline(struct report *report, struct error *error);
int report_requests(struct report *report, struct error *error);
void report_messages(struct report *report);
void report_tables(struct report *report);

#endif
