/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/piecewise/piecewise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "base/sort.h"
#include "sync/piecewise/band.h"

void piecewise_fit_clear(struct piecewise_fit *fit)
{
	free(fit->segment);
	free(fit->event);
	memset(fit, 0, sizeof(*fit));
}

/* The time between two steps: the indexes of its bounds, and its segments. */
struct piece_of_time {
	size_t begin, end; /* bounds */
	size_t segment, segments;
};

static struct clock piece_clock(const struct piecewise_fit *fit,
				const struct piece_of_time *piece)
{
	return (struct clock){.segment = fit->segment + piece->segment,
			      .segments = piece->segments};
}

/* Return the mean rate of a clock over a span of time, without unit. */
static double mean_rate(const struct clock *clock, nsec_t from, nsec_t to)
{
	nsec_t passed = to > from ? to - from : 1;

	return (double)(clock_correct(clock, from + passed) - clock_correct(clock, from) -
			passed) /
	       (double)passed;
}

/*
 * Measure a slew in the fit: by how much the clock was faster than during equally long
 * times before and after.
 */
static void measure_slew(const struct clock *clock, const struct clock_event *slew,
			 struct piecewise_event *event)
{
	nsec_t length = slew->end_ns - slew->begin_ns, whole = length ? length : 1;
	double around = (mean_rate(clock, slew->begin_ns - whole, slew->begin_ns) +
			 mean_rate(clock, slew->end_ns, slew->end_ns + whole)) /
			2;
	double rate = mean_rate(clock, slew->begin_ns, slew->end_ns) - around;

	event->end_ns = slew->end_ns;
	event->ppm = -rate * 1e6;
	event->size_ns = nsec_round(-rate * (double)length);
}

static void add_event(struct piecewise_fit *fit, const struct piecewise_bound *bound,
		      const struct clock_event *found, const struct piece_of_time *piece)
{
	struct piecewise_event *event =
	    MEM_NEXT(fit->event, fit->events, fit->event_capacity);
	const struct clock before = piece_clock(fit, piece);
	nsec_t last = bound[found->begin ? found->begin - 1 : 0].x;
	nsec_t next = bound[found->begin].x, size, back;

	*event = (struct piecewise_event){
	    .is_slew = found->is_slew,
	    .is_proved = found->is_proved,
	    .is_diffuse = found->is_diffuse,
	    .is_vague = found->is_vague,
	    .local_ns = found->is_slew ? found->begin_ns
			: next > last  ? next
				       : last,
	    .from_ns = found->from_ns,
	    .to_ns = found->to_ns,
	    .unseen_ns = {found->unseen_ns[0], found->unseen_ns[1]},
	    .full_from_ns = found->full_from_ns,
	    .full_to_ns = found->full_to_ns,
	    .rate = {found->rate[0], found->rate[1]},
	};
	if (found->is_slew) {
		measure_slew(&before, found, event);
		return;
	}
	const struct clock after = piece_clock(fit, piece + 1);

	event->end_ns = event->local_ns;
	size = clock_correct(&before, next) - clock_correct(&after, next);
	/* in true time: a leap takes none of it */
	event->size_ns =
	    size - nsec_round((double)size *
			      before.segment[before.segments - 1].rate_ppb * 1e-9);
	/*
	 * A clock that was set back shows the same times twice; which is meant is
	 * unknown.
	 */
	back = event->size_ns < 0 ? -event->size_ns : 0;
	event->from_ns = found->from_ns - back;
	event->to_ns = found->to_ns + back;
}

/*
 * A clock that was set forward, by more than the time between the messages before and
 * after, leaps over local times. Let the segment after the step begin among these, so
 * that it has all times after the step.
 */
static void begin_at_leap(struct piecewise_fit *fit, const struct piecewise_bound *bound,
			  const struct clock_event *step,
			  const struct piece_of_time *piece)
{
	struct clock_segment *segment = &fit->segment[piece->segment];
	const struct clock after = piece_clock(fit, piece);
	nsec_t last = bound[step->begin - 1].x, next = segment->local_ns;
	nsec_t size = fit->event[fit->events - 1].size_ns, middle;

	if (size <= 0 || next <= last || size < (next - last) - size)
		return;
	middle = last + (next - last) / 2;
	segment->ref_ns = clock_correct(&after, middle);
	segment->local_ns = middle;
}

/* The local time of a bound, and the index of its piece of time. */
struct labelled {
	nsec_t x;
	size_t piece;
};

static int by_time(const void *a, const void *b)
{
	const struct labelled *p = a, *q = b;

	return COMPARE(p->x, q->x) ?: COMPARE(p->piece, q->piece);
}

/*
 * Interleave the segments before and after a clock was set back in the order of the
 * messages, since the map has one meaning for each local time.
 */
static void interleave_events(struct piecewise_fit *fit,
			      const struct piecewise_bound *bound,
			      const struct piece_of_time *piece, size_t pieces)
{
	size_t n = piece[pieces - 1].end, count = 0, capacity = 0, last = SIZE_MAX;
	AUTOFREE struct labelled *item = mem_alloc(n * sizeof(*item));
	struct clock_segment *segment = NULL;

	for (size_t k = 0; k < pieces; k++)
		for (size_t i = piece[k].begin; i < piece[k].end; i++)
			item[i] = (struct labelled){bound[i].x, k};
	SORT(item, n, by_time);
	for (size_t i = 0; i < n; i++) {
		const struct piece_of_time *of = &piece[item[i].piece];
		const struct clock clock = piece_clock(fit, of);
		size_t at = of->segment +
			    PARTITION_POINT(of->segments - 1, k,
					    clock.segment[k + 1].local_ns <= item[i].x);

		if (at == last || (count && segment[count - 1].local_ns == item[i].x))
			continue;
		last = at;
		*MEM_NEXT(segment, count, capacity) =
		    (struct clock_segment){item[i].x, clock_correct(&clock, item[i].x),
					   fit->segment[at].rate_ppb};
	}
	free(fit->segment);
	fit->segment = segment;
	fit->segments = count;
}

/*
 * Drop segments that have no time: of a piece whose bounds have the same local time as
 * the first one of the next.
 */
static void drop_empty_segments(struct piecewise_fit *fit)
{
	size_t kept = 0;

	for (size_t i = 0; i < fit->segments; i++)
		if (i + 1 == fit->segments ||
		    fit->segment[i].local_ns < fit->segment[i + 1].local_ns)
			fit->segment[kept++] = fit->segment[i];
	fit->segments = kept;
}

/*
 * Fit the bounds between steps, each piece of time separately. Return 0, or -1 with
 * error.
 */
static int fit_pieces(struct piecewise_bound *bound, size_t n, double limit,
		      struct piecewise_options options, struct piecewise_fit *fit,
		      struct error *error)
{
	struct event_list events;
	AUTOFREE struct clock_event *event = NULL;
	AUTOFREE struct piece_of_time *piece = NULL;
	size_t pieces = 0, first = 0, at = 0;

	events_find(bound, n, limit, options.has_claims, &events);
	event = events.item;
	piece = mem_zalloc((events.count + 1) * sizeof(*piece));
	for (size_t k = 0; k <= events.count; k++) {
		struct band band = {
		    .limit = limit, .slew = event + first, .cell.upper.upper = true};
		bool is_last = k == events.count;

		if (!is_last && event[k].is_slew)
			continue;
		piece[pieces] = (struct piece_of_time){at, is_last ? n : event[k].begin,
						       fit->segments, 0};
		band.bound = bound + at;
		band.n = piece[pieces].end - at;
		band.slews = k - first;
		sort_almost_sorted(bound + at, band.n, sizeof(*bound), piecewise_by_x);
		if (band_fit(&band, options, fit, error))
			return -1;
		piece[pieces].segments = fit->segments - piece[pieces].segment;
		at = piece[pieces++].end;
		first = k + 1;
	}
	for (size_t k = 0, of = 0; k < events.count; k++) {
		add_event(fit, bound, &event[k], &piece[of]);
		of += !event[k].is_slew;
		if (!event[k].is_slew && !events.is_by_y)
			begin_at_leap(fit, bound, &event[k], &piece[of]);
	}
	if (events.is_by_y)
		interleave_events(fit, bound, piece, pieces);
	else
		drop_empty_segments(fit);
	return 0;
}

int piecewise_find(struct piecewise_bound *bound, size_t n, double limit,
		   struct piecewise_options options, struct piecewise_fit *fit,
		   struct error *error)
{
	memset(fit, 0, sizeof(*fit));
	if (!n)
		return error_set(error, "no message bounds it");
	if (!fit_pieces(bound, n, limit, options, fit, error))
		return 0;
	piecewise_fit_clear(fit);
	return -1;
}
