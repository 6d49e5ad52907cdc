/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_NETWORK_TIES_H
#define CT_SYNC_NETWORK_TIES_H

#include "sync/observe/observe.h"

/* The ties that hold, at most one for each tied clock. */
struct ties {
	struct tie *item;
	size_t count, capacity;
	bool *is_apart; /* by clock as read: known to differ from that of its host */
};

/*
 * Find the ties that hold, by packets or by clock.csv, and tie each capture that is not
 * tied otherwise to another capture of its host. What does not hold becomes a problem.
 * Free with ties_clear.
 */
void ties_find(const struct observations *seen, struct ties *ties,
	       struct problem_list *problems);

void ties_clear(struct ties *ties);

#endif
