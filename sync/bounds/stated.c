/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From what is known of the clocks to the bounds that are stated. */
#include <math.h>

#include "base/mem.h"
#include "sync/bounds/bounds.h"

/* Extremes of a true correction, less a reference time. */
struct extremes {
	double low, high;
};

static void extremes_include(struct extremes *extremes, double low, double high)
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

		extremes_include(
		    &extremes, search_at(search, clock, known[i], false) + moved - limit,
		    search_at(search, clock, known[i], true) + moved + limit);
	}
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
		hear(search, from, sent, search_at(search, to, received, true) + travel,
		     true);
	if (search_gap(search, to, received))
		hear(search, to, received, search_at(search, from, sent, false) - travel,
		     false);
	return 0;
}

enum { MOST_BESIDE = 4 }; /* times as long as a trace itself that are stated as densely */

static nsec_t high_of(double bound)
{
	return isinf(bound) ? NSEC_MAX : nsec_round(ceil(bound));
}

static nsec_t low_of(double bound)
{
	return isinf(bound) ? NSEC_MIN : nsec_round(floor(bound));
}

/* By how much the line of the errors lies above the fit. */
static double added_at(const struct search *search, uint32_t clock, nsec_t at)
{
	return (double)nsec_sub(clock_correct(&search->base[clock], at),
				clock_correct(&search->sync->fitted[clock], at));
}

/* Its end may be where another segment begins. */
static void include_span(const struct search *search, uint32_t clock, nsec_t from,
			 nsec_t to, struct extremes *extremes)
{
	const struct envelope *envelope = &search->envelope[clock];
	struct envelope_span span = {.from = from, .to = to};

	if (from > to)
		return;
	span.added[0] = added_at(search, clock, from);
	span.added[1] = to > from ? added_at(search, clock, to - 1) : span.added[0];
	extremes_include(extremes, envelope_extreme(envelope, &span, false),
			 envelope_extreme(envelope, &span, true));
}

static void include_gap(const struct search *search, uint32_t clock,
			const struct envelope_gap *gap, nsec_t at,
			struct extremes *extremes)
{
	struct extremes either = before_or_after(
	    search, clock, gap, at, clock_correct(&search->sync->fitted[clock], at));

	extremes_include(extremes, gap->low_open ? -INFINITY : either.low,
			 gap->high_open ? INFINITY : either.high);
}

/* The error over a span of time within which the fit is one line. */
static struct clock_bound bound_over(const struct search *search, uint32_t clock,
				     nsec_t from, nsec_t to)
{
	const struct envelope *envelope = &search->envelope[clock];
	struct extremes extremes = {INFINITY, -INFINITY};
	double slack = ROUNDING_NS + search->rounds;
	nsec_t at = from;

	for (size_t i = 0; i < envelope->gaps; i++) {
		const struct envelope_gap *gap = &envelope->gap[i];

		if (gap->from_ns > to || gap->to_ns < from)
			continue;
		include_span(search, clock, at, gap->from_ns, &extremes);
		include_gap(search, clock, gap, from > gap->from_ns ? from : gap->from_ns,
			    &extremes);
		include_gap(search, clock, gap,
			    to < gap->to_ns ? to - (to > from) : gap->to_ns, &extremes);
		at = gap->to_ns;
	}
	include_span(search, clock, at, to, &extremes);
	return (struct clock_bound){
	    .local_ns = from,
	    .low_ns = low_of(extremes.low - slack),
	    .high_ns = high_of(extremes.high + slack),
	};
}

/* So many even times of a span, without its end. */
static size_t add_times(struct clock_bound *bound, size_t count, nsec_t from, nsec_t to,
			size_t spans)
{
	for (size_t i = 0; i < spans; i++)
		bound[count++].local_ns =
		    from + nsec_round((double)(to - from) * (double)i / (double)spans);
	return count;
}

/* As many spans as make times as dense as those of the clock itself, within reason. */
static size_t spans_beside(nsec_t length, nsec_t own, size_t spans)
{
	double many = ceil((double)length / fmax(1, (double)own) * (double)spans);

	return (size_t)fmin(many, (double)(MOST_BESIDE * spans));
}

/*
 * Evenly over the trace, over what sources tied to it saw before and after, and where a
 * segment begins. Returns how many.
 */
static size_t choose_times(struct clock *clock, const struct fit_clock *fit, size_t spans)
{
	nsec_t own = fit->own_end_ns - fit->own_begin_ns;
	size_t before = spans_beside(fit->own_begin_ns - clock->begin_ns, own, spans);
	size_t after = spans_beside(clock->end_ns - fit->own_end_ns, own, spans);
	struct clock_bound *bound;
	size_t count = 0;

	bound = mem_realloc(clock->bound, before + spans + after + 1 + clock->segments,
			    sizeof(*bound));
	clock->bound = bound;
	count = add_times(bound, count, clock->begin_ns, fit->own_begin_ns, before);
	count = add_times(bound, count, fit->own_begin_ns, fit->own_end_ns, spans);
	count = add_times(bound, count, fit->own_end_ns, clock->end_ns, after);
	bound[count++].local_ns = clock->end_ns;
	for (size_t i = 1; i < clock->segments; i++)
		if (clock->segment[i].local_ns > clock->begin_ns &&
		    clock->segment[i].local_ns < clock->end_ns)
			bound[count++].local_ns = clock->segment[i].local_ns;
	return clock_bounds_sort(bound, count);
}

void search_state(const struct search *search, uint32_t index, size_t spans)
{
	struct clock *clock = &search->sync->fitted[index];
	struct clock_bound before, after;

	clock->bounds = choose_times(clock, &search->sync->clock[index], spans);
	after = before = bound_over(search, index, clock->begin_ns, clock->begin_ns);
	for (size_t i = 0; i < clock->bounds; i++) {
		struct clock_bound *bound = &clock->bound[i];

		if (i + 1 < clock->bounds)
			after = bound_over(search, index, bound->local_ns,
					   clock->bound[i + 1].local_ns);
		bound->low_ns =
		    before.low_ns < after.low_ns ? before.low_ns : after.low_ns;
		bound->high_ns =
		    before.high_ns > after.high_ns ? before.high_ns : after.high_ns;
		before = after;
	}
}
