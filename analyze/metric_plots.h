/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_METRIC_PLOTS_H
#define CT_ANALYZE_METRIC_PLOTS_H

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

/* Draw all into the directory of --plot, SVG, and say so in a note. 0, or -1 with error.
 */
int metric_plots_draw(struct question *question, struct result *result,
		      struct error *error);

#endif
