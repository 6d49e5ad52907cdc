/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BEND_REJECT_H
#define CT_SYNC_BEND_REJECT_H

#include "sync/sync.h"

/*
 * Find false matches in pairs whose messages contradict each other, mark them
 * rejected in the log, and make the pairs' hulls anew without them.
 *
 * A message is judged by the drift limit alone, not by a line: it is false
 * when several messages of the other direction, both before and after it in
 * time, cannot be true together with it for any clocks within the limit. So
 * a clock that bends or steps never costs a true message. A pair that would
 * lose more than options.max_rejected of its messages loses none, and that
 * becomes a problem. 0, or -1 with error.
 */
int reject_false_matches(struct sync *sync, struct error *error);

#endif
