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
	size_t done, parts;            /* for progress */
	struct report_answer *answers; /* of other analyses, each once */
};

/* What is asked of another analysis, besides its name. Zeroed: its defaults. */
struct report_wish {
	const char *group;
	unsigned forms;
	nsec_t interval_ns;
	int limit; /* rows a table; 0: its own, REPORT_ALL: all */
};

/* Traffic is drawn over time, and its tables stand in two places. */
struct report_wish report_wish_of(const struct report *report, const char *analysis,
				  const char *group, unsigned forms);

/* Rows that the page has of anything at most, but for what it draws. */
enum { REPORT_ALL = -1, REPORT_ROWS = 64 };

/* What another analysis said of the same part of the timeline. */
struct report_answer {
	const struct analysis *analysis;
	struct report_wish wish;
	struct request request;
	struct result result;
	struct report_answer *next;
};

/* Ask another analysis, or look up what it said; good as long as the report. NULL with
 * error. */
struct result *report_ask(struct report *report, const char *analysis,
			  const struct report_wish *wish, struct error *error);

/* A column of a table by its key; SIZE_MAX: none. */
size_t report_column(const struct result_table *table, const char *key);

/* A row's cell; a CELL_NULL where there is no such column. */
struct cell report_cell(const struct result_table *table, size_t row, const char *key);

/* A number as double; `none` where it is none. */
double report_number(const struct cell *cell, double none);

/*
 * The messages between nodes that count, of the time from ?1 to ?2, as `messages` has it:
 * what a capture saw besides its node's kernel trace is left out.
 */
#define REPORT_SECOND_VIEW                                                               \
	"(SELECT s.id FROM source AS s WHERE s.kind <> 'kernel' AND EXISTS ("            \
	"SELECT 1 FROM source AS k WHERE k.node = s.node AND k.kind = 'kernel'"          \
	" AND k.id IN (SELECT a FROM clock_pair UNION SELECT b FROM clock_pair)))"
#define REPORT_MESSAGES                                                                  \
	"FROM message AS m WHERE m.src_node <> m.dst_node AND m.recv_ns IS NOT NULL"     \
	" AND m.send_ns BETWEEN ?1 AND ?2"                                               \
	" AND coalesce(m.send_source, 0) NOT IN " REPORT_SECOND_VIEW                     \
	" AND coalesce(m.recv_source, 0) NOT IN " REPORT_SECOND_VIEW

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
