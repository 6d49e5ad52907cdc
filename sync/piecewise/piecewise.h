/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PIECEWISE_PIECEWISE_H
#define CT_SYNC_PIECEWISE_PIECEWISE_H

#include <stdbool.h>

#include "base/error.h"
#include "clock/clock.h"

/*
 * Line segments through a feasible band: for a clock that no single
 * line describes, each message bounds the reference time at one local time,
 * from above or from below, and the correction must pass between.
 */
struct piecewise_bound {
	nsec_t x; /* local time of the clock */
	nsec_t y; /* reference time that it is at most, or at least */
	bool above;
};

/*
 * A contradiction between the bounds and every clock within the limit. At a step, a
 * segment does not continue where the previous one ends. In a slew, segments do, at a
 * rate beyond the limit.
 */
struct piecewise_event {
	bool is_slew;
	bool is_proved;    /* no clock without it satisfies the bounds */
	bool is_diffuse;   /* a step that several bounds may precede or follow */
	bool is_vague;     /* that, or few bounds are certainly before or after it */
	bool may_be_drift; /* a step; at twice the limit, nothing contradicts */
	nsec_t local_ns, end_ns; /* estimated time of a step, start and end of a slew */
	nsec_t size_ns;          /* time that the clock gained */
	double ppm;              /* by how much a slewed clock was faster; 0 for a step */
	nsec_t from_ns, to_ns;   /* no part of the event is before or after */
	/*
	 * A step: the clock ran between the message at unseen_ns[0] and the next one, at
	 * unseen_ns[1], which is before it if the clock was set back.
	 */
	nsec_t unseen_ns[2];
	nsec_t full_from_ns, full_to_ns; /* a slew was certainly in progress in between */
	double rate[2]; /* least and largest rate of the correction then, without unit */
};

struct piecewise_options {
	size_t segments;  /* between two steps; 0: as many as needed */
	nsec_t length_ns; /* approximate length of each */
	bool has_claims;  /* some of the bounds are a daemon's claims */
};

struct piecewise_fit {
	struct clock_segment *segment; /* by ascending local_ns; freed by the caller */
	size_t segments;
	struct piecewise_event *event; /* in order of time; freed by the caller */
	size_t events, event_capacity;
};

/*
 * Sort the bounds and fit segments to them. The segments are connected, and the
 * correction's |rate| is at most `limit`, except where the bounds contradict every such
 * clock: there the clock was stepped or slewed. Return 0, or -1 with error if no number
 * of segments satisfies all.
 */
int piecewise_find(struct piecewise_bound *bound, size_t n, double limit,
		   struct piecewise_options options, struct piecewise_fit *fit,
		   struct error *error);

void piecewise_fit_clear(struct piecewise_fit *fit);

#endif
