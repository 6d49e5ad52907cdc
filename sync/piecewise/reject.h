/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PIECEWISE_REJECT_H
#define CT_SYNC_PIECEWISE_REJECT_H

#include "sync/network/network.h"

/*
 * Find false matches in pairs whose messages contradict each other, and mark them as
 * rejected in the log. The pairs must then be collected anew.
 *
 * A message is judged by the drift limit alone, not by a line: it is false when several
 * messages of the other direction, both before and after it in time, cannot be true
 * together with it for any clocks within the limit. So a clock whose rate changes, or
 * that steps, never costs a true message. A pair that would lose more than the share
 * `max_rejected` of its messages loses none, and that becomes a problem. Return 1 if
 * messages were rejected, 0 if none were, or -1 with error.
 */
int reject_false_matches(struct network *net, double max_rejected,
			 struct problem_list *problems, struct error *error);

#endif
