/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_LIGHT_H
#define CT_SIMULATE_LIGHT_H

#include "simulate/now.h"

/* Threads with activity net: each has a processor when it needs one. */

/* Go on with a thread whose time has come. */
void light_timer(struct world *world, uint32_t thread);

/* Let it go on a little later: the time that a kernel takes to switch to it. */
void light_wake(struct now *now, uint32_t thread);

#endif
