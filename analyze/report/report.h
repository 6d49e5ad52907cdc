/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_REPORT_H
#define CT_ANALYZE_REPORT_H

#include <stdio.h>

#include "analyze/analysis.h"
#include "analyze/critical/critical_path.h"
#include "analyze/print.h"
#include "analyze/report/bins.h"
#include "analyze/result.h"

/* ---- activity.c */

/*
 * What processors and threads did, summed over steps of time: a lane a processor, a cell
 * a step. Each table of spans is read once, in the order in which it lies, so memory
 * depends on the lanes, steps and threads, and not on the spans.
 */
struct activity_cell {
	nsec_t known_ns; /* some thread, or idle, is known to have had the processor */
	nsec_t busy_ns;  /* a thread */
	nsec_t irq_ns, softirq_ns; /* also of what a thread had */
	nsec_t now_ns, most_ns;    /* of the thread at hand, and of who had most */
	uint32_t now, most;        /* thread + 1; 0: none */
};

struct activity_lane {
	int64_t node, cpu;          /* cpu -1: the node has no other lane */
	struct activity_cell *cell; /* `cells` of them */
};

/* A thread under one name. */
struct activity_thread {
	int64_t node, tid;
	char *name;
	bool was_named; /* by its spans, as it had another name later */
	nsec_t busy_ns, first_ns, last_ns; /* of running */
	int64_t waits;                     /* for a processor, after a wakeup */
	nsec_t wait_ns, most_wait_ns;
	size_t rank; /* of those with a name in the page */
	struct bin_series run, wait_count, wait_sum, wait_most; /* the same by steps */
};

/* A handler of interrupts or softirqs on one node. Its numbers are of those that lie
 * within the scope as a whole. */
struct activity_handler {
	int64_t node, number;
	bool is_soft;
	char *name;
	int64_t count;
	nsec_t sum_ns, most_ns;
};

struct activity {
	struct bin_grid grid; /* of sums: a step is some cells */
	nsec_t begin_ns, end_ns, cell_ns;
	size_t cells;
	struct bin_series *waiting; /* for processors: a series per node of the scope */
	struct activity_lane *lane; /* by node, then processor */
	size_t lanes, lane_capacity;
	struct activity_thread *thread; /* by node and tid */
	size_t threads, thread_capacity;
	struct activity_handler *handler; /* by node, kind, number and name */
	size_t handlers, handler_capacity;
	size_t runs, irqs; /* spans read */
};

/* Find the lanes, and how wide cells and steps are. Return 0, or -1 with error. */
int activity_begin(struct activity *activity, struct query *query, struct error *error);

/* Read all, with handlers as rows of the table `interrupts`; 0, or -1 with error. */
int activity_read(struct activity *activity, struct bin_tables *bins, struct query *query,
		  struct error *error);

/* Keep the sums as page_lane, page_thread and page_handler, for report.sql. */
int activity_keep(const struct activity *activity, struct timeline_reader *reader,
		  struct error *error);

void activity_clear(struct activity *activity, const struct scope *scope);

/* ---- the page */

/*
 * The report is one page: findings, the cluster's timeline, and tables. First all is
 * asked, each query once, by two threads with a connection each; then the page is
 * written from top to bottom. The timeline is data in JSON that the page's script
 * draws; everything else is HTML and SVG that needs no script.
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
	struct query *query;
	struct result *result; /* how instants are printed */
	FILE *page;
	nsec_t begin_ns, end_ns; /* of the time axis; end_ns > begin_ns */
	bool is_empty;           /* it has no time: nothing was recorded */
	bool is_facts;           /* only the facts are computed, and no page */
	struct report_answer answer[ANSWERS];
	struct activity activity;
	struct bin_tables *bins;
	struct result changes; /* against other runs; without a request: none are named */
	char *map_before;      /* of the first of these, as JSON; or NULL */
	bool is_exact;         /* all spans are drawn one by one */
	size_t detail;         /* spans that are drawn one by one at most */
	struct node_request request[REPORT_REQUESTS];
	struct path path[REPORT_REQUESTS]; /* without segments: not drawn */
	size_t requests;
	struct error *error; /* of the page: of what failed */
	bool failed;
};

/* The table of an answer; NULL: it has none of that name. */
const struct result_table *report_table(const struct report *report,
					enum report_answer_name answer, const char *key);

/* A row's cell; a CELL_NULL where there is no such column, or no table. */
struct cell report_cell(const struct result_table *table, size_t row, const char *key);

/* A number as double; `none` where it is none. */
double report_number(struct cell cell, double none);

/* Which of the chosen nodes one is, from 0. */
size_t scope_place(const struct scope *scope, int64_t node);

/* Follow the paths of the requests, if the activity of threads is recorded, and store
 * their states in page_path, for report.sql. Return 0, or -1 with error. */
int report_walk_paths(struct report *report, struct error *error);

/* Run all queries, down to the findings, or as far as the facts need. Return 0, or -1
 * with error; clear it in any case. */
int report_prepare(struct report *report, struct error *error);
void report_clear(struct report *report);

/* Print the numbers of a run that are compared with those of others. */
int run_facts(struct query *query, struct result *result, struct error *error);

/* The table `facts` of a timeline, and with_map also `heat`. */
struct compared_run {
	struct request request;
	struct result result;
	nsec_t step_ns; /* of `heat` */
};

/* Read them with the options of a query. Return 0, or -1 with error; clear in any case.
 */
int compared_run_read(struct compared_run *facts, const struct query *query,
		      const char *path, bool with_map, struct error *error);
void compared_run_clear(struct compared_run *facts);

/* Compare a report that is prepared with the runs of --against. Return 0, or -1 with
 * error. */
int report_compare(struct report *report, struct error *error);

/* The analysis. */
int run_report(struct query *query, struct result *result, struct error *error);

/* Print the findings of the report as a table. */
int run_findings(struct query *query, struct result *result, struct error *error);

/* Store the findings in told_finding, as plain text. Return 0, or -1 with error. */
int report_keep_findings(struct report *report, struct error *error);

/* Parts of the page, by their names in page.html. */
void report_findings(struct report *report);
void report_changes(struct report *report);
void report_map_before(struct report *report);
void report_lanes(struct report *report);
void report_spans(struct report *report);
void report_bins(struct report *report);
void report_reduction(struct report *report);
void report_user(struct report *report);
void report_paths(struct report *report);
void report_why(struct report *report);
void report_followed(struct report *report);
void report_latencies(struct report *report);

/* ---- html.c */

/* The page, and the files that make it look and move; embedded by the build. */
extern const char *const report_html;
extern const char *const report_css;
extern const char *const report_js;

/*
 * A text as content or inside a quoted attribute: & < > " ' are escaped, bytes that are
 * no UTF-8 and characters that HTML does not allow become U+FFFD.
 */
void html_text(FILE *page, const char *text);

/* A text as a JSON string that may stand in a script of JSON and in an attribute in
 * single quotes: no <, >, & or ' is in it. Controls (utf8_is_control) become U+FFFD. */
void html_json(FILE *page, const char *text);

/* Each row of a table as an array of JSON, with commas between them. */
void html_rows(FILE *page, const struct result_table *table);

/* A cell with its unit, with four digits that count and the signs that a page can have:
 * "1.234 ms", "± 12.3 µs"; "-" for what is not known. */
const char *html_human(char text[PRINT_TEXT], const struct report *report,
		       struct cell cell, enum unit unit);

/* The same of a span, of a bound (NSEC_MAX: none), of a percentage. */
const char *html_span(char text[PRINT_TEXT], double ns);
const char *html_bound(char text[PRINT_TEXT], nsec_t ns);
const char *html_percent(char text[PRINT_TEXT], double part, double whole);

/* A paragraph; the text is escaped. */
void html_note(FILE *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * A table under its title; nothing where it is NULL or has no rows. Of columns whose
 * rows all say the same the caption tells. What the table is sorted by, and
 * percentages, are bars. Numbers are as people read them, with the plain one in
 * data-v; instants have their place on the page's axis in data-t.
 */
void html_table(const struct report *report, const struct result_table *table);

/* All tables and notes of an answer; its notes alone. */
void html_answer(const struct report *report, enum report_answer_name answer);
void html_notes(const struct report *report, enum report_answer_name answer);

#endif
