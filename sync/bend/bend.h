/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BEND_BEND_H
#define CT_SYNC_BEND_BEND_H

#include "sync/sync.h"

/*
 * Give segments to the clocks that no line describes.
 *
 * Where pairs contradict every line, or leave more room than a line explains
 * (curvature.h), the clocks of their island are gone through in the order of
 * the tree. Each gets segments that satisfy its messages with all clocks before
 * it (corridor.h), unless one line does. Where that leaves messages broken, or finds
 * steps that no message proves, all are fitted anew, from corrections that satisfy
 * every message at once (reconcile.h). Steps become problems of kind "step", with their
 * times. Fills sync->bent. 0, or -1 with error.
 *
 * Keeps the messages of such islands in memory.
 */
int bend_clocks(struct sync *sync, struct error *error);

#endif
