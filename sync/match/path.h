/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_MATCH_PATH_H
#define CT_SYNC_MATCH_PATH_H

#include "sync/match/private.h"

/*
 * Which two stamps of one packet are a true constraint.
 *
 * A packet passes many devices: of containers, bridges and tunnels within its host,
 * of hosts that forward it. What one source saw is in order by its own clock, and
 * every router takes one off the time to live. So a packet's way has levels, one for each
 * time to live, from the highest to the lowest; and a level begins in the host
 * that sent the packet before it received it there. That host's first send came
 * before everything that other hosts saw on that level, or on lower ones.
 */

/*
 * Make messages of what sources saw of one packet, of one or of several identities;
 * puts `side` in order. Returns how many.
 */
size_t path_emit(struct matcher *matcher, struct match_side *side, size_t sides);

#endif
