/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_REPORT_KEPT_H
#define CT_ANALYZE_REPORT_KEPT_H

#include "analyze/report/private.h"
#include "analyze/walk.h"

/*
 * What several sections ask, or what shares the one walk over the run's events: answers
 * that are found once and kept as long as the report.
 */
struct report_kept;

/* Add to the walk what the analyses need. NULL with error. */
struct report_kept *kept_new(struct report *report, struct shared_walk *walk,
			     struct error *error);

/* After the walk: finish the answers. Its status, or -1 with error. */
int kept_finish(struct report_kept *kept, int status, struct error *error);

/* Whether there is such an answer; then it is borrowed. A group of NULL is any. */
bool kept_find(const struct report_kept *kept, const char *analysis, const char *group,
	       struct report_answer *answer);

void kept_free(struct report_kept *kept); /* NULL is fine */

#endif
