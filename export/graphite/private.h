/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_GRAPHITE_PRIVATE_H
#define CT_EXPORT_GRAPHITE_PRIVATE_H

#include "export/graphite/points.h"

/* What the walks over samples and events share. */
struct graphite_run {
	struct export *export;
	const struct graphite_wish *wish;
	graphite_take *take;
	void *context;
	char **node; /* parts of paths, by the scope's nodes */
	uint64_t points;
};

bool graphite_wants(const struct graphite_run *run, const char *activity);

/* The part of a node's id; NULL: not of the scope. */
const char *graphite_node(const struct graphite_run *run, int64_t id);

/* Hand on a point of a series; a value that is not finite is left out. */
int graphite_give(struct graphite_run *run, const char *path, nsec_t ts_ns, double value,
		  struct error *error);

/* graphite/events.c: percent_busy of processors, messages and their bytes. */
int graphite_walk_events(struct graphite_run *run, struct error *error);

#endif
