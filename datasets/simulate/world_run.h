/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_WORLD_RUN_H
#define CT_SIMULATE_WORLD_RUN_H

#include "simulate/world.h"

/*
 * Let happen what happens, up to the end of the scenario, the last message that
 * was wanted, or a writer's failure (world->failed, world->error).
 */
void world_run(struct world *world, bool quiet);

#endif
