/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BOUNDS_DOUBT_H
#define CT_SYNC_BOUNDS_DOUBT_H

#include "sync/piecewise/segments.h"

/* Islands with false messages may have others that contradict nothing. Mark the fastest
 * of every few messages as doubted in the log, so that the bounds do not depend on it.
 * Return 0, or -1 with error. */
int doubt_quickest(struct network *net, const struct curves *curves, struct error *error);

#endif
