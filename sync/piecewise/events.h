/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PIECEWISE_EVENTS_H
#define CT_SYNC_PIECEWISE_EVENTS_H

#include "sync/piecewise/piecewise.h"

/*
 * A contradiction between the bounds and every clock within the drift limit: the clock
 * was stepped, or it was slewed for some time at a rate beyond the limit.
 */
struct clock_event {
	bool is_slew;
	bool is_proved;  /* the bounds contradict each other; otherwise only likely */
	bool is_diffuse; /* a step that several bounds may precede or follow */
	bool is_vague;   /* that, or few bounds are certainly before or after it */
	/*
	 * Indexes of bounds: those before `begin` precede the event, and those from `end`
	 * on follow it. There are no bounds in between for a step.
	 */
	size_t begin, end;
	size_t first, last;    /* bounds; no part of the event is before or after */
	nsec_t from_ns, to_ns; /* local times of these bounds */
	nsec_t
	    unseen_ns[2]; /* local times of the bounds next to a step, see piecewise.h */
	nsec_t full_from_ns, full_to_ns; /* a slew was certainly in progress in between */
	nsec_t begin_ns, end_ns;         /* estimated start and end of a slew */
	double rate[2]; /* least and largest rate of a slew in between, without unit */
};

struct event_list {
	struct clock_event *item; /* in order of time */
	size_t count, capacity;
	/* The clock was set back, so the bounds are sorted by y, because x repeats. */
	bool is_by_y;
};

/*
 * Sort the bounds and find the events between them, as few as possible. If a slew
 * explains several steps in one direction better, it replaces them. Events within the
 * slack of the bounds are found too, unless `has_claims`: what daemons claim is not the
 * latency of a packet, and differs from one claim to the next. The caller frees
 * events->item.
 */
void events_find(struct piecewise_bound *bound, size_t n, double limit, bool has_claims,
		 struct event_list *events);

/* Compare two bounds by x, for qsort(). */
int piecewise_by_x(const void *a, const void *b);

#endif
