/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CLOCK_LOG_H
#define CT_SIMULATE_CLOCK_LOG_H

#include "simulate/world.h"

/*
 * Write a node's clock.csv, as its collector would: what its clocks read when the node's
 * part of the run began, every 10 s, and when it ended. A machine that never slept has
 * the same boot-time and monotonic clock. 0, or -1 with error.
 */
int clock_log_write(const struct world *world, struct host *host, const char *path,
		    struct error *error);

#endif
