/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sync/bounds/private.h"

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
	extremes_include(extremes, envelope_lowest(envelope, &span),
			 envelope_highest(envelope, &span));
}

static void include_gap(const struct search *search, uint32_t clock,
			const struct envelope_gap *gap, nsec_t at,
			struct extremes *extremes)
{
	struct extremes within = search_within_gap(
	    search, clock, gap, at, clock_correct(&search->sync->fitted[clock], at));

	extremes_include(extremes, within.low, within.high);
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

static int by_time(const void *a, const void *b)
{
	const struct clock_bound *p = a, *q = b;

	return (p->local_ns > q->local_ns) - (p->local_ns < q->local_ns);
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
	size_t count = 0, kept = 0;
	struct clock_bound *bound;

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
	qsort(bound, count, sizeof(*bound), by_time);
	for (size_t i = 0; i < count; i++)
		if (!kept || bound[i].local_ns != bound[kept - 1].local_ns)
			bound[kept++] = bound[i];
	return kept;
}

/*
 * At each stated time the widest up to the stated times before and after, so
 * that what lies between two of them lies within both.
 */
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

void search_mean_rate(const struct search *search, uint32_t index, double rates[2])
{
	const struct clock *base = &search->base[index];
	nsec_t begin = search->sync->clock[index].own_begin_ns;
	nsec_t end = search->sync->clock[index].own_end_ns;
	double span = fmax(1, (double)(end - begin));
	double line = (double)(clock_correct(base, end) - clock_correct(base, begin) -
			       (end - begin));

	rates[0] = (line + search_low(search, index, end) -
		    search_high(search, index, begin) - ROUNDING_NS) /
		   span;
	rates[1] = (line + search_high(search, index, end) -
		    search_low(search, index, begin) + ROUNDING_NS) /
		   span;
}
