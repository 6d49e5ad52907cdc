/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BEND_STEP_H
#define CT_SYNC_BEND_STEP_H

#include "sync/sync.h"

/*
 * Add the local times of a clock between which it was stepped: what it reads
 * there, it may read on both sides of the step.
 */
void step_note(struct step_list *list, const struct clock *clock, uint32_t index,
	       const struct corridor_step *step);

/*
 * Note the steps between a clock's segments in sync->step, and report each of
 * them as a problem. Where a clock was set back, the times that it shows twice
 * look like as many steps to and fro; these are reported as one.
 */
void step_take(struct sync *sync, uint32_t clock, const struct corridor_step *step,
	       size_t steps);

#endif
