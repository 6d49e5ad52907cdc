/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_WAIT_NAME_H
#define CT_ANALYZE_WAIT_NAME_H

#include "activity/activity.h"

/* "disk", "network"; NULL for one that is not known. */
static inline const char *wait_name(enum activity_wait wait)
{
	static const char *const names[] = {
	    [WAIT_UNKNOWN] = NULL,  [WAIT_THREAD] = "thread",
	    [WAIT_DISK] = "disk",   [WAIT_NETWORK] = "network",
	    [WAIT_TIMER] = "timer", [WAIT_INTERRUPT] = "interrupt",
	};

	return names[wait];
}

#endif
