/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_SCHEDULE_H
#define CT_SIMULATE_SCHEDULE_H

#include "simulate/world.h"

/*
 * When a flow's next request is due: an interval from now, outside of the
 * pauses between bursts and of idle times; NSEC_MAX when none comes any more.
 */
nsec_t schedule_next(struct world *world, struct flow *flow, bool begun, nsec_t now);

#endif
