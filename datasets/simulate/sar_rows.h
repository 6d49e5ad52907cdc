/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_SAR_ROWS_H
#define CT_SIMULATE_SAR_ROWS_H

#include <stdio.h>

#include "simulate/load.h"
#include "simulate/now.h"

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
 * Write the rows of a sample in the order of `sadf -p -- -A`, and what the
 * processors were used for into `last`.
 */
void sar_put_sample(const struct sar_sample *sample, const struct now *now,
		    struct sar_counts *last, const struct load *load);

#endif
