/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_BENCH_VIEW_H
#define CT_TESTS_BENCH_VIEW_H

#include "clock/map.h"
#include "recorded.h"

#define VIEW_DRIFT_LIMIT_PPB 200e3 /* as ctsync has it by default */

/* One clock in a map, and the subjects that it and its reference are. */
struct view {
	const struct clock *clock;
	const struct subject *own, *reference;
};

/* The view of a subject's clock, or an empty one where the map does not tie it. */
struct view view_of(const struct clock_map *map, const struct subject *own,
		    const struct recorded *run);

/* A view's reference time of a local time, as the host has it. */
struct said {
	nsec_t low_ns, high_ns; /* the bounds, opened by the truth's uncertainty */
	nsec_t error_ns;        /* the estimate less the truth */
	double half_ns; /* half of what the bounds leave; INFINITY: a side is open */
};

/* At a time of the clock itself, which must never go back. */
struct said view_say(const struct view *view, nsec_t local);

/* At a time of the host; the clock then reads `local`. */
struct said view_say_at(const struct view *view, nsec_t host_ns, nsec_t local);

/* Convert the host's time to the reading of a view's clock, and back. */
nsec_t view_local(const struct view *view, nsec_t host_ns);
nsec_t view_host(const struct view *view, nsec_t local);

/* The host's time of the reference time that a view gives a local time. */
nsec_t view_estimate(const struct view *view, nsec_t local);

/* Return true if the truth is within the bounds. */
bool said_holds(const struct said *said);

#endif
