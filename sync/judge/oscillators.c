/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/judge/oscillators.h"

/* Return true if a clock may have been stepped or slewed between two of its times. */
static bool has_event(const struct curve_event_list *events, uint32_t clock, nsec_t from,
		      nsec_t to)
{
	for (size_t i = 0; i < events->count; i++) {
		const struct curve_event *event = &events->item[i];

		if (event->clock == clock && event->is.from_ns <= to &&
		    event->is.to_ns >= from)
			return true;
	}
	return false;
}

/*
 * Return bounds on the true time from `one_ns` on one clock to `other_ns` on the other.
 */
static struct tie_part apart_at(double limit_ppb, const struct clock *one, nsec_t one_ns,
				const struct clock *other, nsec_t other_ns)
{
	struct clock_bound a = clock_bound_at(one, one_ns, limit_ppb);
	struct clock_bound b = clock_bound_at(other, other_ns, limit_ppb);
	nsec_t apart =
	    nsec_sub(clock_correct(other, other_ns), clock_correct(one, one_ns));
	struct tie_part part = {.low_ns = NSEC_MIN, .high_ns = NSEC_MAX};

	if (b.low_ns != NSEC_MIN && a.high_ns != NSEC_MAX)
		part.low_ns = nsec_add(apart, nsec_sub(b.low_ns, a.high_ns));
	if (b.high_ns != NSEC_MAX && a.low_ns != NSEC_MIN)
		part.high_ns = nsec_add(apart, nsec_sub(b.high_ns, a.low_ns));
	return part;
}

/*
 * Return true if the bounds on the time between two clocks contradict a common
 * oscillator. With one, that time is constant, except that time itself can be slewed by a
 * tenth.
 */
static bool is_beyond(const struct tie_part *part)
{
	enum { SLEWED_PART = 5 };
	double low = (double)part->low_ns, high = (double)part->high_ns;
	double most = low * low > high * high ? low : high;

	return part->low_ns != NSEC_MIN && part->high_ns != NSEC_MAX &&
	       low - high > (most < 0 ? -most : most) / SLEWED_PART + 100;
}

/*
 * Return true if the two clocks cannot count one oscillator. Compare them at all times at
 * which the capture's bounds are stated, from one of its steps to the next; the trace's
 * clock has no steps.
 */
static bool is_of_other_oscillator(const struct network *net,
				   const struct clock *all_clocks,
				   const struct curve_event_list *events,
				   uint32_t capture)
{
	const int trace = net->clocks.clock[capture].oscillator;
	const struct clock *clock = &all_clocks[capture], *base = &all_clocks[trace];
	const struct run_clock *own = &net->clocks.clock[trace];
	struct tie_part all = {.packets = 0};
	nsec_t last = NSEC_MIN, lead = 0;

	for (size_t i = 0; i < clock->bounds; i++) {
		nsec_t at = clock->bound[i].local_ns, base_ns = nsec_add(at, lead);
		struct tie_part now;

		if (has_event(events, capture, last, at))
			all.packets = 0;
		last = at;
		if (!all.packets) {
			base_ns = clock_invert(base, clock_correct(clock, at));
			lead = nsec_sub(base_ns, at);
		}
		if (base_ns < own->own_begin_ns || base_ns > own->own_end_ns)
			continue;
		now = apart_at(net->limit_ppm * 1e3, base, base_ns, clock, at);
		if (all.packets && all.low_ns > now.low_ns)
			now.low_ns = all.low_ns;
		if (all.packets && all.high_ns < now.high_ns)
			now.high_ns = all.high_ns;
		all = now;
		all.packets = 1;
		if (is_beyond(&all))
			return true;
	}
	return false;
}

bool oscillator_is_contradicted(const struct network *net, const struct clock *clock,
				const struct curve_event_list *events, uint32_t capture)
{
	const struct graph_node *node = net->graph.node;
	int base = net->clocks.clock[capture].oscillator;

	return base >= 0 && node[base].island == node[capture].island &&
	       !has_event(events, (uint32_t)base, NSEC_MIN, NSEC_MAX) &&
	       is_of_other_oscillator(net, clock, events, capture);
}
