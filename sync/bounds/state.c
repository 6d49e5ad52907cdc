/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bounds/bounds_private.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* Limit, per span, of times at which only tied sources have events. */
enum { MOST_BESIDE = 4 };

double error_at(const struct search_clock *clock, nsec_t at, bool high)
{
	if (clock->is_reference)
		return 0;
	if (!clock->envelope.cells)
		return high ? INFINITY : -INFINITY;
	return envelope_at(&clock->envelope, at, high);
}

static void extremes_include(struct extremes *extremes, double low, double high)
{
	extremes->low = fmin(extremes->low, low);
	extremes->high = fmax(extremes->high, high);
}

/*
 * Return true if a clock was set forward by more than the true time between the messages
 * before and after a step. Then each local time is clearly before or after the step.
 */
static bool has_leapt(const struct search *search, const struct search_clock *clock,
		      const struct envelope_gap *gap)
{
	double passed = (double)nsec_sub(clock_correct(&clock->line, gap->to_ns),
					 clock_correct(&clock->line, gap->from_ns)) +
			error_at(clock, gap->to_ns, true) -
			error_at(clock, gap->from_ns, false);

	passed = (passed + ROUNDING_NS) * (1 + search->net->limit);
	return 2 * passed < (double)(gap->to_ns - gap->from_ns) && !gap->low_open &&
	       !gap->high_open;
}

/*
 * Around a step, a clock that was set back shows each time twice. Which of the two a time
 * means is unknown, so the clock may run as before the step or as after it.
 */
struct extremes before_or_after(const struct search *search,
				const struct search_clock *clock,
				const struct envelope_gap *gap, nsec_t at, nsec_t zero)
{
	const nsec_t known[2] = {gap->from_ns, gap->to_ns};
	struct extremes extremes = {INFINITY, -INFINITY};
	bool is_clear = has_leapt(search, clock, gap);

	for (int i = 0; i < 2; i++) {
		double limit = search->net->limit * fabs((double)(at - known[i]));
		double moved =
		    (double)(nsec_sub(clock_correct(&clock->line, known[i]), zero) +
			     (at - known[i]));

		if (is_clear && (at - known[0] < known[1] - at) != (i == 0))
			continue;
		extremes_include(&extremes,
				 error_at(clock, known[i], false) + moved - limit,
				 error_at(clock, known[i], true) + moved + limit);
	}
	return extremes;
}

/* Include the error from `from` to `to`. Another segment of the fit may start at `to`. */
static void include_span(const struct search *search, uint32_t index, nsec_t from,
			 nsec_t to, struct extremes *extremes)
{
	const struct envelope *envelope = &search->clock[index].envelope;
	struct envelope_span span = {.from = from, .to = to};
	const nsec_t at[2] = {from, to > from ? to - 1 : from};

	if (from > to)
		return;
	/* The errors are those of the line: add the line less the fit. */
	for (int i = 0; i < 2; i++)
		span.added[i] =
		    (double)nsec_sub(clock_correct(&search->clock[index].line, at[i]),
				     clock_correct(&search->curves->clock[index], at[i]));
	extremes_include(extremes, envelope_extreme(envelope, &span, false),
			 envelope_extreme(envelope, &span, true));
}

static void include_gap(const struct search *search, uint32_t index,
			const struct envelope_gap *gap, nsec_t at,
			struct extremes *extremes)
{
	struct extremes either =
	    before_or_after(search, &search->clock[index], gap, at,
			    clock_correct(&search->curves->clock[index], at));

	extremes_include(extremes, gap->low_open ? -INFINITY : either.low,
			 gap->high_open ? INFINITY : either.high);
}

/* Return bounds on the error over a span of time in which the fit is one line. */
static struct clock_bound bound_over(const struct search *search, uint32_t index,
				     nsec_t from, nsec_t to)
{
	const struct envelope *envelope = &search->clock[index].envelope;
	struct extremes extremes = {INFINITY, -INFINITY};
	double slack = ROUNDING_NS + search->rounds;
	nsec_t at = from;

	for (size_t i = 0; i < envelope->gaps; i++) {
		const struct envelope_gap *gap = &envelope->gap[i];

		if (gap->from_ns > to || gap->to_ns < from)
			continue;
		include_span(search, index, at, gap->from_ns, &extremes);
		include_gap(search, index, gap, from > gap->from_ns ? from : gap->from_ns,
			    &extremes);
		include_gap(search, index, gap,
			    to < gap->to_ns ? to - (to > from) : gap->to_ns, &extremes);
		at = gap->to_ns;
	}
	include_span(search, index, at, to, &extremes);
	/* The messages contradict each other, so nothing is known. */
	if (extremes.low > extremes.high + 2 * slack)
		extremes = (struct extremes){-INFINITY, INFINITY};
	return (struct clock_bound){from, nsec_round(floor(extremes.low - slack)),
				    nsec_round(ceil(extremes.high + slack))};
}

/*
 * Append times at even distances over the clock's own trace, and equally dense ones
 * before and after it, where only tied sources have events. Return their number.
 */
static size_t add_even_times(const struct clock *clock, const struct run_clock *of,
			     size_t spans, struct clock_bound *bound)
{
	const nsec_t time[4] = {clock->begin_ns, of->own_begin_ns, of->own_end_ns,
				clock->end_ns};
	const double own = fmax(1, (double)(time[2] - time[1]));
	size_t most = MOST_BESIDE * spans, count = 0;

	for (int k = 0; k < 3; k++) {
		double length = (double)(time[k + 1] - time[k]);
		double parts = fmin(ceil(length / own * (double)spans), (double)most);

		for (double i = 0; i < parts; i++)
			bound[count++].local_ns =
			    time[k] + nsec_round(length * i / parts);
	}
	return count;
}

/*
 * Append times at about `spans` edges of the envelope's cells, and in the long cells,
 * which have no messages, at even distances of about a part in `spans` of the whole time.
 * Return their number.
 */
static size_t add_times_of_cells(const struct envelope *envelope, size_t spans,
				 struct clock_bound *bound)
{
	double length = envelope_edge(envelope, envelope->cells);
	size_t count = 0;

	bound[count++].local_ns = envelope->begin_ns;
	bound[count++].local_ns = envelope->begin_ns + nsec_round(length / 2);
	for (size_t i = 0; i < envelope->cells; i++) {
		double from = envelope_edge(envelope, i);
		double idle = envelope_edge(envelope, i + 1) - from;
		double parts = ceil(idle / length * (double)spans);

		if (idle <= 2 * envelope->step_ns) {
			parts = 0;
			if (i * spans / envelope->cells !=
			    (i + 1) * spans / envelope->cells)
				bound[count++].local_ns =
				    envelope->begin_ns + nsec_round(from);
		}
		for (double k = 0; parts > 0 && k <= parts; k++)
			bound[count++].local_ns =
			    envelope->begin_ns + nsec_round(from + idle * k / parts);
	}
	return count;
}

/*
 * The local times that a clock may have shown around a step while no message says what it
 * did: after the last message before, and before the first one after. A clock that was
 * set back shows each time twice.
 */
static void unseen_times(const struct piecewise_event *step, nsec_t span[2][2])
{
	nsec_t back = step->size_ns < 0 ? -step->size_ns : 0;

	span[0][0] = step->unseen_ns[0];
	span[0][1] = step->unseen_ns[1] + back;
	span[1][0] = step->unseen_ns[0] - back;
	span[1][1] = step->unseen_ns[1];
}

/*
 * Return true if nothing bounds a clock at some time between two others: it was stepped,
 * and so it may have been stepped several times while there was no message.
 */
static bool has_unseen(const struct search *search, uint32_t index, nsec_t from,
		       nsec_t to)
{
	const struct curve_event_list *list = &search->curves->event;
	nsec_t span[2][2];

	for (size_t i = 0; i < list->count; i++) {
		const struct piecewise_event *step = &list->item[i].is;

		if (list->item[i].clock != index || step->is_slew)
			continue;
		unseen_times(step, span);
		for (int k = 0; k < 2; k++) {
			nsec_t first = from > span[k][0] ? from : span[k][0];
			nsec_t last = to < span[k][1] ? to : span[k][1];

			if (last - first > 1)
				return true;
		}
	}
	return false;
}

/*
 * Append times on both sides of each end of a step or slew, because a bound also holds up
 * to the next time. Return their number.
 */
static size_t add_times_of_events(const struct curve_event_list *list, uint32_t index,
				  struct clock_bound *bound)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct piecewise_event *is = &list->item[i].is;
		const nsec_t time[6] = {is->from_ns - 1,
					is->from_ns,
					is->to_ns,
					is->to_ns + 1,
					is->is_slew ? is->full_from_ns : is->from_ns,
					is->is_slew ? is->full_to_ns : is->to_ns};
		nsec_t span[2][2];

		if (list->item[i].clock != index)
			continue;
		for (size_t k = 0; k < 6; k++)
			bound[count++].local_ns = time[k];
		unseen_times(is, span);
		for (size_t k = 0; k < 8 && !is->is_slew; k++)
			bound[count++].local_ns =
			    span[k / 4][k / 2 % 2] + (k % 2 ? k / 2 % 2 ? -1 : 1 : 0);
	}
	return count;
}

/* Return true for a time between the ends of a leap, where nothing bounds the clock. */
static bool is_leapt_over(const struct search *search, uint32_t index, nsec_t at)
{
	const struct search_clock *clock = &search->clock[index];
	const struct envelope_gap *gap = envelope_gap_at(&clock->envelope, at);

	return gap && at - gap->from_ns > 1 && gap->to_ns - at > 1 &&
	       has_leapt(search, clock, gap);
}

/* Choose the times at which bounds are stated, and return their number. */
static size_t choose_times(const struct search *search, uint32_t index, size_t spans)
{
	const struct network *net = search->net;
	const struct curve_event_list *events = &search->curves->event;
	const struct envelope *envelope = &search->clock[index].envelope;
	const struct clock *clock = &search->curves->clock[index];
	struct clock_limits *limits = &search->result->clock[index];
	size_t most =
	    3 * MOST_BESIDE * spans + 2 * BINS + 4 + clock->segments + 14 * events->count;
	struct clock_bound *bound = mem_alloc(most * sizeof(*bound));
	size_t count = 0, kept = 0;

	limits->bound = bound;
	count += envelope->edge
		     ? add_times_of_cells(envelope, spans, bound)
		     : add_even_times(clock, &net->clocks.clock[index], spans, bound);
	count += add_times_of_events(events, index, bound + count);
	bound[count++].local_ns = clock->end_ns;
	for (size_t i = 1; i < clock->segments; i++)
		bound[count++].local_ns = clock->segment[i].local_ns;
	for (size_t i = 0; i < count; i++)
		if (bound[i].local_ns >= clock->begin_ns &&
		    bound[i].local_ns <= clock->end_ns &&
		    !is_leapt_over(search, index, bound[i].local_ns))
			bound[kept++] = bound[i];
	return clock_bounds_sort(bound, kept);
}

/*
 * At each time, state the widest bounds between the stated times before and after, so
 * that the error between two of them is within the bounds at both.
 */
void state_bounds(const struct search *search, uint32_t index, size_t spans)
{
	const struct clock *clock = &search->curves->clock[index];
	struct clock_limits *limits = &search->result->clock[index];
	struct clock_bound before, after;

	limits->bounds = choose_times(search, index, spans);
	after = before = bound_over(search, index, clock->begin_ns, clock->begin_ns);
	for (size_t i = 0; i < limits->bounds; i++) {
		struct clock_bound *bound = &limits->bound[i];

		if (i + 1 < limits->bounds)
			after = bound_over(search, index, bound->local_ns,
					   limits->bound[i + 1].local_ns);
		bound->low_ns = before.low_ns;
		bound->high_ns = before.high_ns;
		clock_bound_widen(bound, &after);
		if (has_unseen(search, index,
			       i ? bound[-1].local_ns : bound->local_ns - 1,
			       i + 1 < limits->bounds ? bound[1].local_ns
						      : bound->local_ns + 1)) {
			bound->low_ns = NSEC_MIN;
			bound->high_ns = NSEC_MAX;
		}
		before = after;
	}
}
