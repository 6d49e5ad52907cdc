/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_GRAPHITE_POINTS_H
#define CT_EXPORT_GRAPHITE_POINTS_H

#include <stdint.h>

#include "export/format.h"

/*
 * The points that a timeline has for Graphite, in an order that is always the same:
 * samples by metric, node and time; then what events say of processors and messages.
 * Graphite's times are whole seconds: the nearest one.
 */
struct graphite_point {
	const char *path; /* CLUSTER.NODE.ACTIVITY.ITEM.METRIC; borrowed for the call */
	int64_t seconds;  /* since the epoch */
	double value;     /* finite */
};

/* 0, or -1 with error, which ends the walk. */
typedef int graphite_take(void *context, const struct graphite_point *point,
			  struct error *error);

struct graphite_wish {
	const char *cluster; /* first part of the path, as it is; may have dots */
	const struct text_list *activities; /* globs; none: all but `process` */
	int interval;                       /* of what events say, in seconds */
};

/* Adds notes of what is left out. 0, or -1 with error. */
int graphite_walk(struct export *export, const struct graphite_wish *wish,
		  graphite_take *take, void *context, struct error *error);

/*
 * A part of a path: letters, digits, - and _ stay; "%" becomes percent_, "/s" at the end
 * _per_s, and everything else _. For free().
 */
char *graphite_part(const char *bytes, size_t size);

#endif
