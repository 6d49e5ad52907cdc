/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BEND_H
#define CT_SYNC_BEND_H

#include "sync/sync.h"

/*
 * Give segments to the clocks that no line describes: where the messages with
 * the clock that one is tied to contradict its line, it gets the fewest
 * segments that satisfy them (corridor.h), and so on along the tree. Steps
 * become problems of kind "step", with their times. Fills sync->bent. 0, or
 * -1 with error.
 */
int bend_clocks(struct sync *sync, struct error *error);

#endif
