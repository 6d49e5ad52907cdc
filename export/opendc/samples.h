/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_SAMPLES_H
#define CT_EXPORT_OPENDC_SAMPLES_H

#include "export/opendc/charge.h"
#include "export/opendc/opendc.h"

/* Samples of processes, proc.csv of a run: processor time and memory now and then. */

/* Of nodes without events of their scheduler: add processes that only samples tell of.
 * 0, or -1 with error. */
int opendc_find_sampled(struct opendc_cluster *cluster, struct export *export,
			struct error *error);

/* Of these nodes: charge the processor time between samples, spread evenly. Whether
 * there was any goes to `found`. 0, or -1 with error. */
int opendc_charge_samples(struct opendc_charger *charger,
			  const struct opendc_choice *choice, struct export *export,
			  bool *found, struct error *error);

/* Of all nodes: the memory. 0, or -1 with error. */
int opendc_hold_samples(struct opendc_charger *charger, struct export *export,
			struct error *error);

#endif
