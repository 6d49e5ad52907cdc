/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_NETWORK_TIES_H
#define CT_SYNC_NETWORK_TIES_H

#include "sync/observe/observe.h"

/*
 * Find the ties that hold, at most one for each tied clock, by packets or by clock.csv,
 * and tie each capture that is not tied otherwise to another capture of its host. What
 * does not hold becomes a problem. Leaves them in seen->ties.
 */
void ties_find(struct observations *seen, struct problem_list *problems);

#endif
