/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "sync/bounds/private.h"

struct envelope_gap *search_gap(const struct search *search, uint32_t clock, nsec_t at)
{
	const struct envelope *envelope = &search->envelope[clock];

	for (size_t i = 0; i < envelope->gaps; i++)
		if (at > envelope->gap[i].from_ns && at < envelope->gap[i].to_ns)
			return &envelope->gap[i];
	return NULL;
}

void extremes_include(struct extremes *extremes, double low, double high)
{
	extremes->low = fmin(extremes->low, low);
	extremes->high = fmax(extremes->high, high);
}

/*
 * Around a step a clock that was set back shows each time twice, and nobody
 * can tell which one is meant: it may go on as before, or be as it is after.
 */
static struct extremes before_or_after(const struct search *search, uint32_t clock,
				       const struct envelope_gap *gap, nsec_t at,
				       nsec_t zero)
{
	const nsec_t known[2] = {gap->from_ns, gap->to_ns};
	struct extremes extremes = {INFINITY, -INFINITY};

	for (int i = 0; i < 2; i++) {
		double limit = search->sync->options.drift_limit_ppm * 1e-6 *
			       fabs((double)(at - known[i]));
		double moved =
		    (double)(nsec_sub(clock_correct(&search->base[clock], known[i]),
				      zero) +
			     (at - known[i]));

		extremes_include(&extremes,
				 search_low(search, clock, known[i]) + moved - limit,
				 search_high(search, clock, known[i]) + moved + limit);
	}
	return extremes;
}

struct extremes search_within_gap(const struct search *search, uint32_t clock,
				  const struct envelope_gap *gap, nsec_t at, nsec_t zero)
{
	struct extremes extremes = before_or_after(search, clock, gap, at, zero);

	if (gap->low_open)
		extremes.low = -INFINITY;
	if (gap->high_open)
		extremes.high = INFINITY;
	return extremes;
}

/*
 * What a message says of a time within a gap, a bound from above or from below. If
 * that is neither as before nor as after, or the message was left out as false, the
 * clock was stepped more than once there, and may have been anywhere meanwhile.
 */
static void hear(const struct search *search, uint32_t clock, nsec_t at, double bound,
		 bool above)
{
	struct envelope_gap *gap = search_gap(search, clock, at);
	struct extremes either = before_or_after(search, clock, gap, at,
						 clock_correct(&search->base[clock], at));

	if (above)
		gap->low_open |= bound < either.low;
	else
		gap->high_open |= bound > either.high;
}

int search_open_gap(void *context, struct message *message)
{
	const struct search *search = context;
	const struct pair *pair = &search->sync->pairs.pair[message->pair];
	uint32_t from = message->forward ? pair->a : pair->b;
	uint32_t to = message->forward ? pair->b : pair->a;
	struct hull_point point = pair_point(message);
	nsec_t sent = message->forward ? point.x : point.y;
	nsec_t received = message->forward ? point.y : point.x;
	double travel = (double)nsec_sub(clock_correct(&search->base[to], received),
					 clock_correct(&search->base[from], sent));

	if (pair->contradictory)
		return 0;
	if (message->rejected)
		travel = -INFINITY;
	if (search_gap(search, from, sent))
		hear(search, from, sent, search_high(search, to, received) + travel,
		     true);
	if (search_gap(search, to, received))
		hear(search, to, received, search_low(search, from, sent) - travel,
		     false);
	return 0;
}
