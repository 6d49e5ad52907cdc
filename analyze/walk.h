/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_WALK_H
#define CT_ANALYZE_WALK_H

#include "activity/activity.h"
#include "analyze/question.h"
#include "analyze/result.h"

/*
 * An analysis that needs one walk over what processors and threads did, and nothing else
 * before it. Cut at the walk, so that several can share one.
 */
struct analysis_walk {
	/* Say in `ops` what is to be told, with *kept as context. 0, or -1 with error and
	 * nothing kept. */
	int (*begin)(struct question *question, struct result *result,
		     struct activity_ops *ops, void **kept, struct error *error);
	/* After the walk: fill the tables unless its status is not 0; free what was kept.
	 * 0, or -1 with error. */
	int (*end)(void *kept, int status, struct error *error);
};

/* For `run` of such an analysis: all three by itself. */
int walk_run(struct question *question, struct result *result, struct error *error);

/* One walk for many; zeroed is empty. */
struct shared_walk {
	struct walk_part {
		struct activity_ops ops;
		void *context;
	} part[16];
	size_t parts;
};

/* Copies ops; the context is borrowed until the walk is over. */
void shared_walk_add(struct shared_walk *walk, const struct activity_ops *ops,
		     void *context);

/* Each part is told what it would be told by a walk of its own. As activity_walk. */
int shared_walk_run(struct shared_walk *walk, struct question *question,
		    struct error *error);

#endif
