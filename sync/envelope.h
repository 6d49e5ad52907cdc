/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_ENVELOPE_H
#define CT_SYNC_ENVELOPE_H

#include "sync/sync.h"

/*
 * Bounds for islands that lines do not describe: only the drift limit still
 * holds, so each message bounds its own time and, opening with the limit, the
 * times around it, up to a step. The tightest of them is stated at 257 times,
 * for each clock by its messages with the one that it is tied to and by that
 * one's own bound. Islands of straight clocks keep their region. 0, or -1
 * with error.
 */
int envelope_find(struct sync *sync, struct error *error);

#endif
