/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/piecewise/events.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "base/sort.h"
#include "sync/pair/line.h"
#include "sync/piecewise/reach.h"

/*
 * Largest |rate| of a slew: clocks are slewed by at most a tenth (adjtimex(2)), plus
 * drift.
 */
#define SLEW_MOST 0.12

enum {
	/* bounds that give the rate before and after a slew */
	LINE_BOUNDS = 256,
	/* fewer bounds before or after an event do not show that there was only one */
	END_BOUNDS = 16,
	/* nor do more that may be of either side of a step */
	STEP_BOUNDS = 3,
};

int piecewise_by_x(const void *a, const void *b)
{
	const struct piecewise_bound *p = a, *q = b;

	return COMPARE(p->x, q->x) ?: COMPARE(p->y, q->y) ?: p->above - q->above;
}

static int by_y(const void *a, const void *b)
{
	const struct piecewise_bound *p = a, *q = b;

	return COMPARE(p->y, q->y) ?: piecewise_by_x(a, b);
}

/*
 * A contradiction: an event began and ended before one of the bounds from `low` to
 * `high`.
 */
struct window {
	size_t low, high;
	bool is_positive; /* the correction grows */
};

struct window_list {
	struct window *item;
	size_t count, capacity;
};

/*
 * Find the fewest events that explain the bounds, by going as far as possible before
 * each. Walking forward finds the last possible location of each event, backward the
 * first.
 */
static void find_windows(const struct band_search *search, struct window_list *list)
{
	size_t at = 0, k;

	for (;;) {
		const struct walk walk = {.from = at, .to = search->n};

		at = reach(search, &walk);
		if (at == search->n)
			break;
		*MEM_NEXT(list->item, list->count, list->capacity) =
		    (struct window){at, at, !search->bound[at].above};
	}
	for (at = search->n, k = list->count; k-- > 0;) {
		const struct walk walk = {.from = at, .to = 0};

		at = reach(search, &walk);
		list->item[k].low = at < list->item[k].high ? at : list->item[k].high;
	}
}

enum {
	SPELLS_MOST = 64, /* pieces of the bounds whose slack is computed */
	SPELLS_LEAST = 6,
	SPELL_BOUNDS = 48, /* least number of bounds in a piece */
};

/*
 * Return by how much (ns) bounds can be tightened to find events that use up only part of
 * their slack.
 *
 * Each short spell has slack, which depends on the shortest latency in each direction.
 * All spells together have less slack if the clock was stepped or slewed in between. That
 * holds only while the shortest latencies hardly change: chance and varying load make the
 * spells differ, and then nothing is certain. Some spells may contain an event.
 */
static double spare_slack(const struct band_search *search)
{
	double slack[SPELLS_MOST], low, median;
	size_t spells = search->n / SPELL_BOUNDS;

	spells = spells > SPELLS_MOST ? SPELLS_MOST : spells;
	if (spells < SPELLS_LEAST)
		return 0;
	for (size_t k = 0; k < spells; k++)
		slack[k] = slack_of(search, search->n * k / spells,
				    search->n * (k + 1) / spells);
	low = ranked(slack, spells, 1 + spells / 10);
	median = ranked(slack, spells, spells / 2);
	return fmax(0, 0.9 * low - 2 * (median - low));
}

/*
 * Return true if two windows of opposite directions follow each other closely. No clock
 * does that.
 */
static bool has_pulse(const struct window_list *list)
{
	for (size_t k = 1; k < list->count; k++)
		if (list->item[k].is_positive != list->item[k - 1].is_positive &&
		    list->item[k].low < list->item[k - 1].high + SPELL_BOUNDS)
			return true;
	return false;
}

/*
 * Windows that may be one event, and the bounds from the previous event to the next one.
 */
struct run {
	size_t first, last; /* windows */
	size_t before, after;
	size_t near[2]; /* bounds up to which the slack before and after is computed */
	double shrink_ns[2]; /* half of that slack */
	size_t from, to;     /* bounds; no part of the event is before or after */
	struct line line;    /* line of a slew */
	double rate[2];      /* as in struct clock_event */
};

static size_t bound_at(const struct band_search *search, double at)
{
	return PARTITION_POINT(search->n, i, bound_time(search, i) < at);
}

enum {
	ALIKE = 3,   /* bounds, because a single slow message shows little */
	EARLIER = 3, /* factor, see find_from */
};

/*
 * Return the bound at which ALIKE more bounds on the side of `at` have been passed on the
 * way to `end`, or `end` if there are fewer.
 */
static size_t count_alike(const struct band_search *search, size_t at, size_t end)
{
	bool above = search->bound[at].above;
	unsigned seen = 0;
	size_t i = at;

	while (i != end && seen < ALIKE) {
		i += end > at ? 1 : (size_t)-1;
		seen += search->bound[i].above == above;
	}
	return i;
}

/* Return the time between two bounds, without a step of the clock between them, ns. */
static double elapsed_time(const struct band_search *search, size_t from, size_t to)
{
	const struct piecewise_bound *bound = search->bound;

	return fmax(0, fmin((double)(bound[to].x - bound[from].x),
			    (double)(bound[to].y - bound[from].y)));
}

/*
 * Return the bound before which the event did not begin.
 *
 * A slew takes time to use up the slack, so with half of the slack a contradiction shows
 * earlier. The slew began earlier still, by the same time again. Allow for EARLIER times
 * that, because the rest of the slack depends on chance.
 */
static size_t find_from(const struct band_search *search, const struct run *run,
			const struct window *window, double least)
{
	const struct walk walk = {
	    .from = run->near[0], .to = window->high, .shrink_ns = run->shrink_ns[0]};
	size_t half = reach(search, &walk), last = count_alike(search, half, run->before),
	       at;
	double early = fmax(least, elapsed_time(search, half, window->high));

	if (window->low < last + 1)
		last = window->low ? window->low - 1 : 0;
	for (at = last;
	     at > run->before && elapsed_time(search, at, last) < EARLIER * early;)
		at--;
	return at;
}

static size_t find_to(const struct band_search *search, const struct run *run,
		      const struct window *window, double least)
{
	const struct walk walk = {
	    .from = run->near[1], .to = window->low, .shrink_ns = run->shrink_ns[1]};
	size_t half = reach(search, &walk), next, at;
	double late;

	half -= half > 0;
	late = fmax(least, elapsed_time(search, window->low - 1, half));
	next = count_alike(search, half, run->after - 1);
	next = next < window->high ? window->high : next;
	for (at = next;
	     at + 1 < run->after && elapsed_time(search, next, at) < EARLIER * late;)
		at++;
	return at < run->after ? at : run->after - 1;
}

enum { NEAR_SPELLS = 4 };

/* Return the largest slack of a spell among the bounds next to an event, ns. */
static double near_slack(const struct band_search *search, size_t from, size_t to)
{
	double most = 0;

	for (size_t at = from; at < to; at += SPELL_BOUNDS)
		most = fmax(
		    most, slack_of(search, at,
				   to - at > 2 * SPELL_BOUNDS ? at + SPELL_BOUNDS : to));
	return most;
}

/* Return true if the change at a window is too fast for a slew. */
static bool is_step(const struct band_search *search, const struct run *run,
		    const struct window *window)
{
	size_t from = window->low - 1, to = window->high;
	double slack = search->tight_ns + run->shrink_ns[0] + run->shrink_ns[1];
	double size = (double)((search->bound[to].y - search->bound[from].y) -
			       (search->bound[to].x - search->bound[from].x));

	return fabs(size) - 8 * slack > 2 * SLEW_MOST * elapsed_time(search, from, to);
}

/* Find the largest possible extent of the event, from the bounds around its windows. */
static void find_extent(const struct band_search *search, const struct window_list *list,
			struct run *run)
{
	const struct window *first = &list->item[run->first];
	const struct window *last = &list->item[run->last];
	const size_t near = NEAR_SPELLS * SPELL_BOUNDS;
	double least[2] = {0, 0};

	run->before = run->first ? list->item[run->first - 1].high : 0;
	run->after =
	    run->last + 1 < list->count ? list->item[run->last + 1].low : search->n;
	run->near[0] = first->low > run->before + near ? first->low - near : run->before;
	run->near[1] = run->after > last->high + near ? last->high + near : run->after;
	run->shrink_ns[0] = near_slack(search, run->near[0], first->low) / 2;
	run->shrink_ns[1] = near_slack(search, last->high, run->near[1]) / 2;
	if (run->last > run->first) {
		/* The distance to the next window shows how long the slack lasts. */
		least[0] =
		    bound_time(search, first[1].high) - bound_time(search, first->high);
		least[1] = bound_time(search, last->low - 1) -
			   bound_time(search, last[-1].low - 1);
	}
	if (run->last == run->first && is_step(search, run, first)) {
		run->from = first->low - 1;
		run->to = first->high;
		return;
	}
	run->from = find_from(search, run, first, run->shrink_ns[0] ? 0 : least[0]);
	run->to = find_to(search, run, last, run->shrink_ns[1] ? 0 : least[1]);
}

/* Return half of the slack of the bounds that are not near the event, ns. */
static double far_slack(const struct band_search *search, const struct window_list *list,
			const struct run *run)
{
	const struct window *first = &list->item[run->first];
	const struct window *last = &list->item[run->last];
	size_t before = first->low > run->before ? first->low - run->before : 0;
	size_t after = run->after > last->high ? run->after - last->high : 0;
	double slack[2] = {slack_of(search, run->before, run->before + before / 2),
			   slack_of(search, run->after - after / 2, run->after)};

	return (slack[0] > 0 && slack[1] > 0 ? fmin(slack[0], slack[1])
					     : slack[0] + slack[1]) /
	       2;
}

/* A line by the bounds of a span. */
struct line_fit {
	struct hulls hulls;
	struct pair_line fit;
};

static bool fit_line(const struct band_search *search, size_t from, size_t to,
		     double limit, struct line_fit *found)
{
	*found = (struct line_fit){.hulls.upper.upper = true};
	for (size_t i = from; i < to; i++)
		hull_add(search->bound[i].above ? &found->hulls.lower
						: &found->hulls.upper,
			 search->bound[i].x, search->bound[i].y);
	hull_settle(&found->hulls.lower);
	hull_settle(&found->hulls.upper);
	if (!found->hulls.lower.count || !found->hulls.upper.count)
		return false;
	found->hulls.origin =
	    (struct hull_point){search->bound[from].x, search->bound[from].y};
	found->fit = pair_line_fit(&found->hulls, limit);
	return true;
}

static void clear_line(struct line_fit *found)
{
	hull_clear(&found->hulls.lower);
	hull_clear(&found->hulls.upper);
}

/*
 * Widen the extent of a slew by the time in which it uses up the slack, which follows
 * from its rate. Allow for three times that, because slack depends on chance.
 */
static void widen_to_slew(const struct band_search *search, size_t begin, size_t end,
			  struct run *run)
{
	double excess = fmax(fabs(run->line.rate) - search->limit, search->limit / 8);
	double slack = 6 * search->tight_ns / excess;
	size_t before = count_alike(search, begin, run->before);
	size_t after = count_alike(search, end - 1, run->after - 1);
	size_t from = bound_at(search, bound_time(search, before) - slack -
					   12 * run->shrink_ns[0] / excess);
	size_t to = bound_at(search, bound_time(search, after) + slack +
					 12 * run->shrink_ns[1] / excess);

	run->from = from < run->from ? from : run->from;
	run->from = run->from < run->before ? run->before : run->from;
	run->to = to > run->to ? to : run->to;
	run->to = run->to < run->after ? run->to : run->after - 1;
}

/*
 * Return true if one slew explains the windows with half of the slack to spare: from the
 * first window to the last, the clock's rate is within the drift limit of one rate, and
 * before and after it is within the limit.
 */
static bool is_slew(const struct band_search *search, const struct window_list *list,
		    struct run *run)
{
	size_t begin = list->item[run->first].high, end = list->item[run->last].low;
	double limit = search->limit, scale;
	const double *rate = run->rate;
	struct line_fit found = {0};
	struct walk walk;

	if (begin >= end || !fit_line(search, begin, end, SLEW_MOST, &found)) {
		clear_line(&found);
		return false;
	}
	run->line = found.fit.line;
	run->rate[0] = found.fit.line.rate - 2 * limit;
	run->rate[1] = found.fit.line.rate + 2 * limit;
	if (found.fit.margin_ns > 0) {
		run->rate[0] =
		    pair_line_extreme(&found.hulls, &found.fit, -SLEW_MOST).rate - limit;
		run->rate[1] =
		    pair_line_extreme(&found.hulls, &found.fit, SLEW_MOST).rate + limit;
	}
	clear_line(&found);
	widen_to_slew(search, begin, end, run);
	scale = search->is_by_y ? 1 / (1 + run->line.rate) : 1;
	walk = (struct walk){
	    .from = run->before,
	    .to = run->after,
	    .shrink_ns = far_slack(search, list, run),
	    .span = {{bound_time(search, run->from), fmin(-limit, rate[0] * scale),
		      fmax(limit, rate[1] * scale)},
		     {bound_time(search, begin), rate[0] * scale, rate[1] * scale},
		     {bound_time(search, end - 1), fmin(-limit, rate[0] * scale),
		      fmax(limit, rate[1] * scale)},
		     {bound_time(search, run->to), -limit, limit}},
	    .spans = 4,
	};
	return reach(search, &walk) == walk.to;
}

/*
 * Return the time at which a slew's line meets the line through the bounds [from, to),
 * limited to `within`.
 */
static nsec_t meeting_time(const struct band_search *search, const struct run *run,
			   size_t from, size_t to, const nsec_t within[2])
{
	nsec_t at = within[0] + (within[1] - within[0]) / 2;
	struct line_fit found = {0};

	if (from < to && fit_line(search, from, to, search->limit, &found) &&
	    found.fit.line.rate != run->line.rate)
		at = nsec_add(
		    at,
		    nsec_round(fmax(
			-1e18,
			fmin(1e18, (line_distance(&found.fit.line, at,
						  run->line.y0 + (at - run->line.x0)) +
				    run->line.offset +
				    run->line.rate * (double)(at - run->line.x0)) /
				       (found.fit.line.rate - run->line.rate)))));
	clear_line(&found);
	return at < within[0] ? within[0] : at > within[1] ? within[1] : at;
}

/*
 * Return the first of the bounds before a slew that give the rate then: as long a time as
 * the slew, but not few bounds.
 */
static size_t line_from(const struct band_search *search, const struct run *run,
			double length)
{
	size_t few = run->from > LINE_BOUNDS ? run->from - LINE_BOUNDS : 0;
	size_t from = bound_at(search, bound_time(search, run->from) - length);

	from = from < few ? from : few;
	return from > run->before ? from : run->before;
}

static size_t line_to(const struct band_search *search, const struct run *run,
		      double length)
{
	size_t few = run->to + LINE_BOUNDS;
	size_t to = bound_at(search, bound_time(search, run->to) + length);

	to = to > few ? to : few;
	return to < run->after ? to : run->after;
}

static void add_event(const struct band_search *search, const struct window_list *list,
		      const struct run *run, bool is_slew, struct event_list *events)
{
	const struct piecewise_bound *bound = search->bound;
	const struct window *first = &list->item[run->first];
	const struct window *last = &list->item[run->last];
	double length;
	struct clock_event *event =
	    MEM_NEXT(events->item, events->count, events->capacity);

	*event = (struct clock_event){
	    .is_slew = is_slew,
	    .begin = first->low + (first->high - first->low) / 2,
	    .first = run->from,
	    .last = run->to,
	    .is_diffuse = !is_slew && last->high - first->low > STEP_BOUNDS,
	    .from_ns = bound[run->from].x,
	    .to_ns = bound[run->to].x,
	};
	event->end = event->begin;
	event->is_vague = event->is_diffuse || run->from < END_BOUNDS ||
			  run->to + END_BOUNDS >= search->n;
	if (!is_slew) {
		event->unseen_ns[0] = bound[first->low - 1].x;
		event->unseen_ns[1] = bound[first->high].x;
		return;
	}
	event->full_from_ns = bound[first->high].x;
	event->full_to_ns = bound[last->low - 1].x;
	event->rate[0] = run->rate[0];
	event->rate[1] = run->rate[1];
	length = bound_time(search, last->low - 1) - bound_time(search, first->high);
	event->begin_ns =
	    meeting_time(search, run, line_from(search, run, length), run->from,
			 (nsec_t[2]){event->from_ns, event->full_from_ns});
	event->end_ns = meeting_time(search, run, run->to, line_to(search, run, length),
				     (nsec_t[2]){event->full_to_ns, event->to_ns});
}

/* Return the window that is followed by the longest pause. */
static size_t longest_pause(const struct band_search *search,
			    const struct window_list *list, size_t first, size_t last)
{
	double longest = -INFINITY;
	size_t best = first;

	for (size_t k = first; k < last; k++) {
		double pause = bound_time(search, list->item[k + 1].low) -
			       bound_time(search, list->item[k].high);

		if (pause > longest) {
			longest = pause;
			best = k;
		}
	}
	return best;
}

/*
 * Add the events of windows of one direction: one slew if that explains them, otherwise
 * split them at the longest pause.
 */
static void add_events(const struct band_search *search, const struct window_list *list,
		       size_t first, size_t last, struct event_list *events)
{
	struct run run = {.first = first, .last = last};
	size_t middle;
	bool slewed;

	find_extent(search, list, &run);
	slewed = last > first && is_slew(search, list, &run);
	if (slewed || last == first) {
		add_event(search, list, &run, slewed, events);
		return;
	}
	middle = longest_pause(search, list, first, last);
	add_events(search, list, first, middle, events);
	add_events(search, list, middle + 1, last, events);
}

/* Mark the events that the bounds prove without being tightened. */
static void find_proved(struct band_search *search, struct event_list *events)
{
	struct window_list list = {0};
	size_t k = 0;

	search->tight_ns = 0;
	find_windows(search, &list);
	for (size_t i = 0; i < events->count; i++) {
		struct clock_event *event = &events->item[i];
		size_t last = event->last;

		while (k < list.count && list.item[k].high < event->first)
			k++;
		event->is_proved = k < list.count && list.item[k].low <= last;
	}
	free(list.item);
}

/*
 * Sort the bounds and find windows. Tighten the bounds to find more than the certain
 * windows, unless that yields impossible ones.
 */
static void find_in_order(struct piecewise_bound *bound, struct band_search *search,
			  bool is_by_y, struct window_list *list)
{
	search->is_by_y = is_by_y;
	sort_almost_sorted(bound, search->n, sizeof(*bound),
			   is_by_y ? by_y : piecewise_by_x);
	search->tight_ns = 0;
	search->tight_ns = search->has_claims ? 0 : spare_slack(search);
	list->count = 0;
	find_windows(search, list);
	if (search->tight_ns > 0 && has_pulse(list)) {
		search->tight_ns = 0;
		list->count = 0;
		find_windows(search, list);
	}
}

void events_find(struct piecewise_bound *bound, size_t n, double limit, bool has_claims,
		 struct event_list *events)
{
	struct band_search search = {
	    .bound = bound, .n = n, .limit = limit, .has_claims = has_claims};
	struct window_list list = {0};
	size_t least;

	*events = (struct event_list){0};
	find_in_order(bound, &search, false, &list);
	least = list.count;
	/*
	 * A clock that was set back shows times twice, so sorting by its time mixes the
	 * bounds.
	 */
	if (least > 1) {
		find_in_order(bound, &search, true, &list);
		if (2 * list.count >= least)
			find_in_order(bound, &search, false, &list);
	}
	events->is_by_y = search.is_by_y;
	for (size_t first = 0, last; first < list.count; first = last + 1) {
		last = first;
		while (last + 1 < list.count &&
		       list.item[last + 1].is_positive == list.item[first].is_positive)
			last++;
		add_events(&search, &list, first, last, events);
	}
	find_proved(&search, events);
	free(list.item);
}
