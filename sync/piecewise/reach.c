/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/piecewise/reach.h"

#include <math.h>

enum { LEAST_BOUNDS = 16 }; /* fewer have no slack that is known */

double bound_time(const struct band_search *search, size_t i)
{
	const struct piecewise_bound *bound = search->bound;

	return (double)(search->is_by_y ? bound[i].y - bound->y : bound[i].x - bound->x);
}

static double value_of(const struct band_search *search, size_t i)
{
	const struct piecewise_bound *bound = search->bound;

	return (double)((bound[i].y - bound->y) - (bound[i].x - bound->x));
}

/* Compute the least and the largest change of a correction between two times, ns. */
static void add_change_range(const struct band_search *search, const struct walk *walk,
			     double from, double to, double amount[2])
{
	amount[0] = -search->limit * (to - from);
	amount[1] = search->limit * (to - from);
	for (size_t k = 0; k < walk->spans; k++) {
		double begin = fmax(from, walk->span[k].from);
		double end = k + 1 < walk->spans ? fmin(to, walk->span[k + 1].from) : to;

		if (end <= begin)
			continue;
		amount[0] += (walk->span[k].low + search->limit) * (end - begin);
		amount[1] += (walk->span[k].high - search->limit) * (end - begin);
	}
}

size_t reach(const struct band_search *search, const struct walk *walk)
{
	bool is_back = walk->to < walk->from;
	double high = INFINITY, low = -INFINITY, before = 0;

	for (size_t k = walk->from; k != walk->to; is_back ? k-- : k++) {
		size_t i = is_back ? k - 1 : k;
		double at = bound_time(search, i), value = value_of(search, i), amount[2];
		bool above = search->bound[i].above;

		if (k == walk->from)
			before = at;
		add_change_range(search, walk, is_back ? at : before,
				 is_back ? before : at, amount);
		high += is_back ? -amount[0] : amount[1];
		low += is_back ? -amount[1] : amount[0];
		before = at;
		value += (above ? -1 : 1) * (search->tight_ns + walk->shrink_ns);
		if (above ? value < low : value > high)
			return k;
		if (above)
			high = value < high ? value : high;
		else
			low = value > low ? value : low;
	}
	return walk->to;
}

/* Return true if one clock satisfies all bounds in [from, to). */
static bool is_one_clock(const struct band_search *search, size_t from, size_t to,
			 double shrink_ns)
{
	const struct walk walk = {.from = from, .to = to, .shrink_ns = shrink_ns};

	return from >= to || reach(search, &walk) == to;
}

#define SLACK_MOST  1e9 /* ns */
#define SLACK_LEAST 100.0

double slack_of(const struct band_search *search, size_t from, size_t to)
{
	double low = 0, high = SLACK_LEAST;

	if (to - from < LEAST_BOUNDS)
		return 0;
	while (high < SLACK_MOST && is_one_clock(search, from, to, high)) {
		low = high;
		high *= 2;
	}
	for (int i = 0; i < 4; i++) {
		double middle = (low + high) / 2;

		*(is_one_clock(search, from, to, middle) ? &low : &high) = middle;
	}
	return high < SLACK_MOST ? low : 0;
}

size_t piecewise_reach(const struct piecewise_bound *bound, size_t n, double limit)
{
	const struct band_search search = {.bound = bound, .n = n, .limit = limit};
	const struct walk walk = {.to = n};

	return reach(&search, &walk);
}
