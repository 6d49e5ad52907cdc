/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "view.h"

#include <math.h>
#include <string.h>

nsec_t view_local(const struct view *view, nsec_t host_ns)
{
	return truth_from_host(view->own->node, view->own->clock, host_ns);
}

nsec_t view_host(const struct view *view, nsec_t local)
{
	return truth_to_host(view->own->node, view->own->clock, local);
}

nsec_t view_estimate(const struct view *view, nsec_t local)
{
	const struct subject *reference = view->reference;

	return truth_to_host(reference->node, reference->clock,
			     clock_correct(view->clock, local));
}

struct said view_say_at(const struct view *view, nsec_t host_ns, nsec_t local)
{
	const struct subject *own = view->own, *reference = view->reference;
	struct clock_bound bound =
	    clock_bound_at(view->clock, local, VIEW_DRIFT_LIMIT_PPB);
	nsec_t truth = truth_from_host(reference->node, reference->clock, host_ns);
	nsec_t unsure = truth_uncertainty(own->node, host_ns) +
			truth_uncertainty(reference->node, host_ns);
	bool open = bound.low_ns == NSEC_MIN || bound.high_ns == NSEC_MAX;

	return (struct said){
	    .low_ns = nsec_sub(bound.low_ns, unsure),
	    .high_ns = nsec_add(bound.high_ns, unsure),
	    .error_ns = clock_correct(view->clock, local) - truth,
	    .half_ns =
		open ? INFINITY : ((double)bound.high_ns - (double)bound.low_ns) / 2,
	};
}

struct said view_say(const struct view *view, nsec_t local)
{
	return view_say_at(view, view_host(view, local), local);
}

bool said_holds(const struct said *said)
{
	return said->low_ns <= -said->error_ns && -said->error_ns <= said->high_ns;
}

static const struct subject *find(const struct recorded *run, const char *name)
{
	for (size_t i = 0; i < run->traces + run->captures; i++)
		if (strcmp(run->subject[i].name, name) == 0)
			return &run->subject[i];
	return NULL;
}

struct view view_of(const struct clock_map *map, const struct subject *own,
		    const struct recorded *run)
{
	struct view view = {clock_map_find(map, own->name), own, NULL};

	if (view.clock)
		view.reference = find(run, view.clock->reference);
	if (!view.reference || view.reference == own)
		view.clock = NULL;
	return view;
}
