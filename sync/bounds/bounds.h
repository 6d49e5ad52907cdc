/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BOUNDS_BOUNDS_H
#define CT_SYNC_BOUNDS_BOUNDS_H

#include "sync/sync.h"

/*
 * Bounds that take no clock to be straight. Every message says that its
 * receive came after its send, and every clock keeps to the drift limit: these
 * are differences of times, so the tightest bound is a shortest way from the
 * reference through messages and along clocks (Bellman and Ford's relaxation,
 * over all messages until none gains, on one envelope a clock). Sound however
 * early it stops. Done for the islands that do not have a region: all of them,
 * unless clocks are to be taken as straight; then those where a clock bends.
 * Sets the bounds of sync->fitted and the rates of sync->region. 0, or -1
 * with error.
 */
int bounds_find(struct sync *sync, struct error *error);

#endif
