/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/schedule.h"

static nsec_t draw_interval(struct flow *flow, int spread)
{
	switch (spread) {
	case SPREAD_UNIFORM:
		return dice_between(&flow->dice, 0, 2 * flow->interval_ns);
	case SPREAD_EXPONENTIAL:
		return dice_exponential(&flow->dice, flow->interval_ns);
	default:
		return flow->interval_ns;
	}
}

/* A little behind the begin of a time of so many ns, so that not all begin at once. */
static nsec_t stagger(struct flow *flow, nsec_t begin, nsec_t length)
{
	nsec_t most = flow->interval_ns < length / 2 ? flow->interval_ns : length / 2;

	return begin + dice_between(&flow->dice, 0, most);
}

static nsec_t seconds(double value)
{
	return nsec_round(value * 1e9);
}

/* `due`, or later where that is in an idle time or in the pause after a burst. */
static nsec_t skip_pauses(const struct scenario *scenario, struct flow *flow, nsec_t due)
{
	nsec_t on = nsec_round(scenario->burst_on_ms * 1e6);
	nsec_t off = nsec_round(scenario->burst_off_ms * 1e6);

	if (off && due % (on + off) >= on)
		due = stagger(flow, (due / (on + off) + 1) * (on + off), on);
	for (size_t i = 0; i < scenario->idles; i++)
		if (due >= seconds(scenario->idle[i].from_s) &&
		    due < seconds(scenario->idle[i].to_s))
			due = stagger(flow, seconds(scenario->idle[i].to_s),
				      2 * flow->interval_ns);
	return due;
}

nsec_t schedule_next(struct world *world, struct flow *flow, bool begun, nsec_t now)
{
	const struct scenario *scenario = world->scenario;
	nsec_t from = seconds(scenario->active_from_s);
	nsec_t to = seconds(scenario->active_to_s), due, last;

	due = now - world->begin_ns + draw_interval(flow, scenario->interval);
	if (!begun)
		due = dice_between(&flow->dice, 0, flow->interval_ns);
	if (due < from)
		due = stagger(flow, from, to - from);
	do { /* behind one pause another one may lie */
		last = due;
		due = skip_pauses(scenario, flow, last);
	} while (due != last);
	return due < to ? world->begin_ns + due : NSEC_MAX;
}
