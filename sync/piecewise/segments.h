/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PIECEWISE_SEGMENTS_H
#define CT_SYNC_PIECEWISE_SEGMENTS_H

#include "sync/fit/fit.h"
#include "sync/piecewise/piecewise.h"

/* A step or a slew of a clock, in its local time. */
struct curve_event {
	uint32_t clock;
	struct piecewise_event is;
};

struct curve_event_list {
	struct curve_event *item;
	size_t count, capacity;
};

/* Corrections of clocks: their segments, steps and slews, but no bounds and no quality.
 */
struct curves {
	struct clock *clock;           /* by clock */
	struct curve_event_list event; /* events of each clock, in order of time */
};

struct segment_options {
	struct piecewise_options given;
	size_t messages_kept; /* messages of piecewise clocks before they are thinned; 0:
				 4 Mi */
};

/*
 * Give segments to the clocks that no line describes; the others keep their lines.
 *
 * If pairs contradict every line, or leave more slack than a line explains
 * (curvature_find), go through the clocks of their island in the order of the tree. Each
 * gets segments that satisfy its messages with all clocks before it (piecewise.h), unless
 * one line does. If that leaves messages broken, or finds steps that no message proves,
 * fit all of them anew, from corrections that satisfy every message at once (struct
 * constraints). Steps and slews become problems, and so do islands that stay unfit.
 * Return 0, or -1 with error; clear in any case.
 *
 * Keeps the messages of such islands in memory.
 */
int segments_fit(const struct network *net, const struct lines *lines,
		 const struct segment_options *options, struct curves *curves,
		 struct problem_list *problems, struct error *error);

void curves_clear(struct curves *curves, const struct network *net);

static inline bool curve_is_piecewise(const struct curves *curves, uint32_t clock)
{
	return curves->clock[clock].segments > 1;
}

/*
 * Return true if an event is a slew and is reported as one. A slew that may have been a
 * step is reported as a step.
 */
bool slew_is_certain(const struct piecewise_event *slew);

#endif
