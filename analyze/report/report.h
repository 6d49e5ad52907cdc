/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_REPORT_H
#define CT_ANALYZE_REPORT_H

#include <stdio.h>

#include "analyze/analysis.h"
#include "analyze/critical/critical_path.h"
#include "analyze/print.h"
#include "analyze/report/activity.h"
#include "analyze/report/bins.h"
#include "analyze/result.h"

/*
 * The report is one page: findings, the cluster's timeline, and tables. First all queries
 * run, each once, in two threads with a connection each; then the page is written from
 * top to bottom. The timeline is data in JSON that the page's script draws; everything
 * else is HTML and SVG that needs no script.
 */
enum report_answer_name {
	ANSWER_NODES,
	ANSWER_CLOCKS,
	ANSWER_PROBLEMS,
	ANSWER_MESSAGES,
	ANSWER_REQUESTS,
	ANSWER_WHY,
	ANSWER_SYSCALLS,
	ANSWER_IO,
	ANSWER_NET,
	ANSWER_MEMORY,
	ANSWER_OVERVIEW,
	ANSWER_LINES, /* rows that the timeline draws besides spans */
	ANSWER_OWN,   /* and what is said of the other answers */
	ANSWERS
};

/* The result of an analysis for the scope of the page. */
struct report_answer {
	struct request request;
	struct result result;
};

enum { REPORT_REQUESTS = 8 }; /* the slowest ones, whose critical paths are drawn */

struct report {
	struct query *query;
	struct result *result; /* how instants are printed */
	FILE *page;
	FILE *unpacked; /* the page, while `page` collects data to be packed */
	char *packing;  /* the data collected so far */
	size_t packing_size;
	nsec_t begin_ns, end_ns; /* the time axis; end_ns > begin_ns */
	bool is_empty;           /* it has no time: nothing was recorded */
	bool is_facts;           /* only the facts are computed, and no page */
	struct report_answer answer[ANSWERS];
	struct activity activity;
	struct bin_tables *bins;
	struct result changes; /* against other runs; no request if none is given */
	char *map_before;      /* clock map of the first of these, as JSON; or NULL */
	bool is_exact;         /* all spans are drawn one by one */
	size_t detail;         /* spans that are drawn one by one at most */
	struct node_request request[REPORT_REQUESTS];
	struct path path[REPORT_REQUESTS]; /* without segments: not drawn */
	size_t requests;
	struct error *error; /* the page's error */
	bool failed;
};

/* Return the table of an answer, or NULL if it has none of that name. */
const struct result_table *report_table(const struct report *report,
					enum report_answer_name answer, const char *key);

/* Return a row's cell, or a CELL_NULL if there is no such column or no table. */
struct cell report_cell(const struct result_table *table, size_t row, const char *key);

/* Return the cell's number as a double, or 0 if it holds no number. */
double report_number(struct cell cell);

/* Return the index of a node among the selected ones. */
size_t scope_place(const struct scope *scope, int64_t node);

/* Run all queries, down to the findings, or as far as the facts need. Return 0, or -1
 * with error; clear it in any case. */
int report_prepare(struct report *report, struct error *error);
void report_clear(struct report *report);

/* The analysis. */
int run_report(struct query *query, struct result *result, struct error *error);

/* Print the findings of the report as a table. */
int run_findings(struct query *query, struct result *result, struct error *error);

#endif
