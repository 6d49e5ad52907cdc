/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_REPORT_CHART_H
#define CT_ANALYZE_REPORT_CHART_H

#include "analyze/report/private.h"

/*
 * A picture over time of small multiples: a row a node, all on one scale, with one
 * quantity upwards and perhaps another one downwards. Values stand in the report's bins;
 * NaN is what is not known, and is hatched.
 */
struct chart_row {
	int64_t node;
	char *label;
	const char *source; /* "events", "sar"; NULL: none yet */
	double *up, *down;  /* a bin each; down NULL: none */
};

struct chart {
	const char *id, *title;
	const char *up, *down; /* what they are: "read", "written"; down NULL: none */
	enum unit unit;
	double most; /* of the scale; 0: as the values are */
	struct chart_row *row;
	size_t rows;
};

/* Rows for all chosen nodes, without values. */
void chart_init(struct chart *chart, const struct report *report);

/* The row of a node; NULL: not chosen. */
struct chart_row *chart_row(struct chart *chart, const struct report *report,
			    int64_t node);

/* The bin of a time; clamped. */
size_t chart_bin(const struct report *report, nsec_t at_ns);

/* The time of a bin that a span covers is added to `sum`, in ns. */
void chart_spread(const struct report *report, double *sum, nsec_t begin_ns,
		  nsec_t end_ns);

/* A value that held from begin_ns to end_ns; of several in a bin the mean by time.
 * `weight` has a bin each. */
void chart_hold(const struct report *report, double *sum, double *weight, nsec_t begin_ns,
		nsec_t end_ns, double value);

/* Whether there is anything to draw. */
bool chart_has_values(const struct chart *chart, const struct report *report);

void chart_draw(const struct chart *chart, const struct report *report);

void chart_clear(struct chart *chart);

/* What stands around a picture over time: its title and legend, and its axis. */
void chart_begin(const struct report *report, const char *id, const char *title,
		 const char *legend);
void chart_end(const struct report *report);

/* "2 s": where the time axis has its lines; an HTML element each. */
void chart_ticks(const struct report *report);

/* A path around what was not recorded of a node's kernel, from y on; moves and lines. */
void chart_hatch(const struct report *report, int64_t node, double y, double height);

/* In TIME_UNITS; clamped to the axis. */
double chart_x(const struct report *report, nsec_t at_ns);

#endif
