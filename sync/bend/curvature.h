/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BEND_CURVATURE_H
#define CT_SYNC_BEND_CURVATURE_H

#include "sync/sync.h"

/*
 * Which of the tree's pairs, though some line satisfies all of their messages,
 * leave more room than a line explains: cut into spans of time, each with a
 * line of its own, they have far more room than by having fewer messages to a
 * line. One walk over the messages; memory is that of the spans' hulls. Sets
 * curved[pair]. 0, or -1 with error.
 */
int curvature_find(struct sync *sync, bool *curved, struct error *error);

#endif
