/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_LOAD_H
#define CT_SIMULATE_LOAD_H

#include <stdint.h>

#include "base/nsec.h"

/*
 * Load averages as Linux makes them (Documentation of /proc/loadavg): every 5 s
 * an average decays towards the threads that run, wait to run, or wait for the
 * disk, with a time constant of 1, 5 and 15 minutes.
 */
enum { LOAD_AVERAGES = 3, LOAD_ONE = 2048 };

struct load {
	nsec_t due_ns;                   /* of the next step */
	uint32_t average[LOAD_AVERAGES]; /* in units of 1 / LOAD_ONE */
};

/* All steps up to now, at which so many threads are active. */
void load_advance(struct load *load, nsec_t now_ns, uint32_t active);

#endif
