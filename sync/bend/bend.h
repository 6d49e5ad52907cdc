/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BEND_BEND_H
#define CT_SYNC_BEND_BEND_H

#include "sync/sync.h"

/*
 * Give segments to the clocks that no line describes.
 *
 * Where pairs contradict every line, or leave more room than a line explains
 * (curvature_find), the clocks of their island are gone through in the order of
 * the tree. Each gets segments that satisfy its messages with all clocks before
 * it (corridor.h), unless one line does. Where that leaves messages broken, or finds
 * steps that no message proves, all are fitted anew, from corrections that satisfy
 * every message at once (reconcile.h). Steps become problems of kind "step", with their
 * times. Fills sync->bent. 0, or -1 with error.
 *
 * Keeps the messages of such islands in memory.
 */
int bend_clocks(struct sync *sync, struct error *error);

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

/*
 * Which of the tree's pairs, though some line satisfies all of their messages,
 * are of clocks that bend. One walk over the messages. Sets curved[pair]. 0, or -1
 * with error.
 */
int curvature_find(struct sync *sync, bool *curved, struct error *error);

#endif
