/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_OBSERVE_REALTIME_H
#define CT_SYNC_OBSERVE_REALTIME_H

#include "sync/observe/observe.h"

/*
 * Add ties from clock.csv, for captures that packets do not tie. Their node must have a
 * trace with CLOCK_MONOTONIC, of the kernel or of user space.
 */
void realtime_note(struct observations *seen, const struct source_list *sources,
		   struct problem_list *problems);

#endif
