/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PIECEWISE_BAND_H
#define CT_SYNC_PIECEWISE_BAND_H

#include "sync/pair/line.h"
#include "sync/piecewise/events.h"

/* The feasible band between two steps. */
struct band {
	const struct piecewise_bound *bound;
	size_t n;
	double limit;
	const struct clock_event *slew; /* slews between the two steps */
	size_t slews;
	/* Working state of band_fit. The caller sets only cell.upper.upper. */
	struct line base; /* the values of a shape are differences from this line */
	double unit_ns, length_ns;
	struct hulls cell; /* hulls of one segment */
	struct pair_line fit;
};

/*
 * Append segments for the bounds between two steps, with the slews among them, to the
 * fit. Return 0, or -1 with error if no number of segments satisfies the bounds.
 */
int band_fit(struct band *band, struct piecewise_options options,
	     struct piecewise_fit *fit, struct error *error);

#endif
