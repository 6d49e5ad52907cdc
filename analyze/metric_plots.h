/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_METRIC_PLOTS_H
#define CT_ANALYZE_METRIC_PLOTS_H

#include "analyze/line_plot.h"
#include "analyze/question.h"
#include "analyze/result.h"

/* What devices and interfaces are called instead of their own names. */
struct metric_aliases {
	struct text_list names, aliases;
};

/* Of --alias, and of the run's facts: members net_interfaces, interfaces,
 * filesystem_names, filesystems. 0, or -1 with error. */
int metric_aliases_read(struct metric_aliases *aliases, struct question *question,
			struct error *error);

/* The alias, or the name. */
const char *metric_alias(const struct metric_aliases *aliases, const char *name);

void metric_aliases_clear(struct metric_aliases *aliases);

/*
 * One picture's values: a quantity of one thing, a line a node. What clusterp drew:
 * processors waiting for disks and busy, memory, swap, disks read, written and busy,
 * interfaces in and out.
 */
struct metric_kind {
	const char *folder, *name; /* "disk", "read": file disk/DEVICE_read.svg */
	const char *title, *unit;
	const char *activity;
	const char *metric[2]; /* added up */
	double offset, scale;  /* value = offset + scale * sum */
	double most;           /* of the axis; 0: as the values are */
	const char *item;      /* of this only; NULL: a picture each */
};

extern const struct metric_kind metric_kinds[];
extern const size_t metric_kinds_count;

/*
 * Give each picture that has values to `take`: by kind, then by item. The plot's title,
 * unit and series are ready; `file` is its name without an extension. What take returned
 * if it was not 0, or 0, or -1 with error.
 */
int metric_plots(struct question *question, const struct metric_aliases *aliases,
		 int (*take)(void *context, const struct line_plot *plot,
			     const char *file, struct error *error),
		 void *context, struct error *error);

/* Draw all into the directory of --plot, SVG, and say so in a note. 0, or -1 with error.
 */
int metric_plots_draw(struct question *question, struct result *result,
		      struct error *error);

#endif
