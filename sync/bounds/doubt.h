/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BOUNDS_DOUBT_H
#define CT_SYNC_BOUNDS_DOUBT_H

#include "sync/piecewise/segments.h"

/*
 * In islands whose messages include false ones, others may be left that contradict
 * nothing. Mark the quickest message of every few as doubted in the log: the bounds do
 * not rest on it. Return 0, or -1 with error.
 */
int doubt_quickest(struct network *net, const struct curves *curves, struct error *error);

#endif
