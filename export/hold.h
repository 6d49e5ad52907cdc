/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_HOLD_H
#define CT_EXPORT_HOLD_H

#include <signal.h>

/*
 * Signals wait while a file beside the export is written and renamed: what the program
 * takes away when one comes is the export's own output only.
 */
static inline void hold_begin(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, before);
}

static inline void hold_end(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

#endif
