/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_SAR_H
#define CT_SIMULATE_SAR_H

#include "simulate/now.h"

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
