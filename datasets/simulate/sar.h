/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_SAR_H
#define CT_SIMULATE_SAR_H

#include <stdint.h>
#include <stdio.h>

#include "base/nsec.h"
#include "simulate/now.h"

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

/* One sample, while it is written. */
struct sar_sample {
	FILE *file;
	const char *host;
	nsec_t span_ns; /* since the last one */
	nsec_t real_ns;
	uint32_t runnable; /* threads */
};

/* What the last sample saw; rates are from there. */
struct sar_counts {
	struct host_counts of_host;
	nsec_t (*used_ns)[CPU_USES]; /* one a processor */
};

/*
 * What sar would have sampled on each host, DIRECTORY/NODE/sar.sadf in the
 * format of `sadf -p`: processors, switches, interrupts, memory, load, disk and
 * network, from what the model counts.
 */
int sar_open(struct world *world, const char *directory, struct error *error);

/* Sample the host that `now` is at; nothing where no file is open. */
void sar_sample(struct now *now);

/* Finish all files. 0, or -1 with error. */
int sar_close(struct world *world, struct error *error);
void sar_discard(struct host *host);

#endif
