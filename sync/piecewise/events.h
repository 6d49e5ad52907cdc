/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PIECEWISE_EVENTS_H
#define CT_SYNC_PIECEWISE_EVENTS_H

#include "sync/piecewise/piecewise.h"

/*
 * Where bounds contradict every clock within the drift limit: there the clock was
 * stepped, or it was slewed, at a rate beyond the limit, for some time.
 */
struct clock_event {
	bool is_slew;
	bool
	    is_proved; /* the bounds contradict each other there; else it is but likely */
	/*
	 * Bounds, by their index: those before `begin` are of the time before the event,
	 * those from `end` on of the time after it. A step has no bounds in between.
	 */
	size_t begin, end;
	size_t first, last;              /* bounds: no part of it is before or after */
	nsec_t from_ns, to_ns;           /* their local times */
	nsec_t full_from_ns, full_to_ns; /* a slew was certainly in progress in between */
	nsec_t begin_ns, end_ns;         /* of a slew, estimated */
	double rate[2]; /* of a slew: the least and the most in between, without unit */
};

struct event_list {
	struct clock_event *item; /* in order of time */
	size_t count, capacity;
	/* The clock was set back: the bounds are in the order of y, as x repeats. */
	bool is_by_y;
};

/*
 * Put bounds in order and find the events between them, as few as possible; of steps in
 * one direction that a slew explains better, the slew. The caller frees events->item.
 */
void events_find(struct piecewise_bound *bound, size_t n, double limit,
		 struct event_list *events);

/* For qsort, by x. */
int piecewise_by_x(const void *a, const void *b);

#endif
