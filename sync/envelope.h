/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_ENVELOPE_H
#define CT_SYNC_ENVELOPE_H

#include "sync/sync.h"

/*
 * Bounds for clocks that no line describes: where messages contradict every
 * line, only the drift limit still holds, so each message bounds its own time
 * and, opening with the limit, the times around it. The tightest of them is
 * stated at 257 times, for each clock against the one that it is tied to,
 * whose own bound is added. Clocks with a known region keep that one. 0, or
 * -1 with error.
 */
int envelope_find(struct sync *sync, struct error *error);

#endif
