/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/corridor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/fit.h"
#include "sync/lp.h"

/*
 * How many segments a stretch without steps needs is found by going as far as
 * one line reaches, again and again (no fewer can do). Their joints are then
 * put evenly, as clocks bend slowly, and one linear program finds the values
 * there that leave the most room to the bounds of every segment; where none
 * do, more segments are tried.
 */
enum {
	NEAR_STEP = 32,         /* bounds looked at on each side of a step */
	REACH_AFTER_STEP = 128, /* how far a line is followed after one */
	MOST_SEGMENTS = 4096,   /* of a stretch */
	MOST_TIMES = 16,        /* as many as the fewest that could do */
};

static int by_x(const void *a, const void *b)
{
	const struct corridor_bound *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	if (p->y != q->y)
		return p->y < q->y ? -1 : 1;
	return p->above - q->above;
}

/* The bounds of a stretch as two half hulls, with the best line between. */
static void hull_of(struct pair *pair, const struct corridor_bound *bound, size_t n)
{
	hull_reset(&pair->lower);
	hull_reset(&pair->upper);
	for (size_t i = 0; i < n; i++)
		hull_add(bound[i].above ? &pair->lower : &pair->upper, bound[i].x,
			 bound[i].y);
	hull_settle(&pair->lower);
	hull_settle(&pair->upper);
	pair->origin = (struct hull_point){bound[0].x, bound[0].y};
}

static bool one_line_fits(struct pair *scratch, const struct corridor_bound *bound,
			  size_t n, double limit)
{
	hull_of(scratch, bound, n);
	if (!scratch->lower.count || !scratch->upper.count)
		return true;
	fit_pair_margin(scratch, limit);
	return scratch->margin_ns >= 0;
}

/* How many bounds from the first on one line satisfies; at least 1. */
static size_t reach(struct pair *scratch, const struct corridor_bound *bound, size_t n,
		    double limit)
{
	size_t fits = 1, fails = 2;

	while (fails <= n && one_line_fits(scratch, bound, fails, limit)) {
		fits = fails;
		fails *= 2;
	}
	if (fails > n) {
		if (one_line_fits(scratch, bound, n, limit))
			return n;
		fails = n;
	}
	while (fails - fits > 1) {
		size_t middle = fits + (fails - fits) / 2;

		if (one_line_fits(scratch, bound, middle, limit))
			fits = middle;
		else
			fails = middle;
	}
	return fits;
}

static bool contradict(const struct corridor_bound *a, const struct corridor_bound *b,
		       double limit)
{
	const struct corridor_bound *above = a->above ? a : b;
	const struct corridor_bound *below = a->above ? b : a;
	nsec_t dx = above->x - below->x, dy = above->y - below->y;

	return a->above != b->above && (double)(dy - dx) < -limit * fabs((double)dx);
}

/* Contradictions between the bounds just before and just after a place. */
static size_t contradictions(const struct corridor_bound *bound, size_t n, size_t at,
			     double limit)
{
	size_t from = at > NEAR_STEP ? at - NEAR_STEP : 0;
	size_t to = n - at > NEAR_STEP ? at + NEAR_STEP : n;
	size_t count = 0;

	for (size_t i = from; i < at; i++)
		for (size_t k = at; k < to; k++)
			count += contradict(&bound[i], &bound[k], limit);
	return count;
}

/*
 * Where a line no longer satisfies the bounds from `end` on, whether that is
 * for a step: some bounds contradict each other across a place nearby. The
 * step then came before the first place from which a line reaches furthest.
 * 0: the clock was not stepped.
 */
static size_t find_step(struct pair *scratch, const struct corridor_bound *bound,
			size_t n, size_t end, double limit)
{
	size_t from = end > NEAR_STEP ? end - NEAR_STEP : 1;
	size_t to = n - end > REACH_AFTER_STEP ? end + REACH_AFTER_STEP : n;
	size_t best = 0, furthest = 0, most = 0;

	for (size_t i = from; i <= end; i++) {
		size_t reached = i + reach(scratch, bound + i, to - i, limit);
		size_t count = contradictions(bound, n, i, limit);

		most = count > most ? count : most;
		if (reached > furthest) {
			furthest = reached;
			best = i;
		}
	}
	return most ? best : 0;
}

/* A stretch's corridor as a linear program over the values at the joints. */
struct stretch {
	const struct corridor_bound *bound;
	size_t n, segments;
	double limit;
	struct line base; /* values are differences from it */
	double unit_ns, length_ns;
	struct lp *lp;
	struct pair cell; /* the hulls of one segment */
};

static double joint_at(const struct stretch *stretch, size_t joint)
{
	return stretch->length_ns * (double)joint / (double)stretch->segments;
}

/* Columns: the values at segments + 1 joints, then the room of each segment. */
static void add_corner(struct stretch *stretch, size_t segment,
		       const struct hull_point *corner, bool above)
{
	double at = (double)(corner->x - stretch->bound[0].x);
	double begin = joint_at(stretch, segment), end = joint_at(stretch, segment + 1);
	double share = (at - begin) / (end - begin), sign = above ? -1 : 1;
	double have = line_distance(&stretch->base, corner->x, corner->y);
	struct lp_term term[3] = {
	    {segment, sign * (1 - share)},
	    {segment + 1, sign * share},
	    {stretch->segments + 1 + segment, -1},
	};

	lp_row(stretch->lp, term, 3, sign * have / stretch->unit_ns);
}

/* |rate| <= limit within a segment. */
static void add_rate(struct stretch *stretch, size_t segment)
{
	double length = joint_at(stretch, 1);
	double scale = length / stretch->unit_ns;
	struct lp_term term[2] = {{segment, -1}, {segment + 1, 1}};

	lp_row(stretch->lp, term, 2, (-stretch->limit - stretch->base.rate) * scale);
	term[0].factor = 1;
	term[1].factor = -1;
	lp_row(stretch->lp, term, 2, (stretch->base.rate - stretch->limit) * scale);
}

static void add_segments(struct stretch *stretch)
{
	size_t at = 0;

	for (size_t k = 0; k < stretch->segments; k++) {
		size_t from = at, room = stretch->segments + 1 + k;

		while (at < stretch->n &&
		       (k + 1 == stretch->segments ||
			(double)(stretch->bound[at].x - stretch->bound[0].x) <
			    joint_at(stretch, k + 1)))
			at++;
		if (at > from)
			hull_of(&stretch->cell, stretch->bound + from, at - from);
		for (size_t i = 0; at > from && i < stretch->cell.lower.count; i++)
			add_corner(stretch, k, &stretch->cell.lower.point[i], true);
		for (size_t i = 0; at > from && i < stretch->cell.upper.count; i++)
			add_corner(stretch, k, &stretch->cell.upper.point[i], false);
		add_rate(stretch, k);
		lp_objective(stretch->lp, room, 1);
		/*
		 * Every segment needs room, whatever others could have for it;
		 * without a bound on both sides there is room without end.
		 */
		lp_bound(stretch->lp, room, 0, 1);
	}
}

static void append(struct corridor_fit *fit, const struct stretch *stretch)
{
	size_t room = fit->segments + stretch->segments;

	fit->segment = mem_realloc(fit->segment, room, sizeof(*fit->segment));
	for (size_t k = 0; k < stretch->segments; k++) {
		struct clock_segment *segment = &fit->segment[fit->segments++];
		double begin = joint_at(stretch, k), end = joint_at(stretch, k + 1);
		double here = lp_value(stretch->lp, k) * stretch->unit_ns;
		double there = lp_value(stretch->lp, k + 1) * stretch->unit_ns;
		nsec_t local = stretch->bound[0].x + nsec_round(begin);

		segment->local_ns = local;
		segment->rate_ppb =
		    (stretch->base.rate + (there - here) / (end - begin)) * 1e9;
		segment->ref_ns =
		    stretch->base.y0 + (local - stretch->base.x0) +
		    nsec_round(here + stretch->base.offset +
			       stretch->base.rate * (double)(local - stretch->base.x0));
	}
}

static void stretch_begin(struct stretch *stretch, const struct corridor_bound *bound,
			  size_t n, double limit)
{
	memset(stretch, 0, sizeof(*stretch));
	stretch->bound = bound;
	stretch->n = n;
	stretch->limit = limit;
	stretch->cell.upper.upper = true;
	stretch->length_ns = fmax(1, (double)(bound[n - 1].x - bound[0].x));
	hull_of(&stretch->cell, bound, n);
	if (stretch->cell.lower.count || stretch->cell.upper.count)
		fit_pair_margin(&stretch->cell, limit);
	stretch->base = stretch->cell.line;
	stretch->unit_ns = fmax(1000, fabs(stretch->cell.margin_ns));
}

static void stretch_clear(struct stretch *stretch)
{
	hull_clear(&stretch->cell.lower);
	hull_clear(&stretch->cell.upper);
}

/* How many segments a stretch is to have, given how many it needs. */
static size_t wished(const struct stretch *stretch, struct corridor_wish wish,
		     size_t least)
{
	double segments = (double)least;

	if (wish.segments)
		segments = (double)wish.segments;
	else if (wish.length_ns)
		segments = round(stretch->length_ns / (double)wish.length_ns);
	return (size_t)fmax(1, fmin(MOST_SEGMENTS, segments));
}

static bool solve(struct stretch *stretch, size_t segments, struct corridor_fit *fit)
{
	bool found;

	stretch->segments = segments;
	stretch->lp = lp_new(2 * segments + 1);
	add_segments(stretch);
	found = lp_maximize(stretch->lp) == LP_OPTIMAL;
	if (found)
		append(fit, stretch);
	lp_free(stretch->lp);
	return found;
}

/* One stretch with so many segments, or where none are asked for, more. */
static int fit_stretch(struct corridor_fit *fit, struct stretch *stretch, size_t least,
		       struct corridor_wish wish, struct error *error)
{
	bool is_free = !wish.segments && !wish.length_ns;
	size_t first = wished(stretch, wish, least), most = first;
	bool found = false;

	if (is_free)
		most = MOST_TIMES * least < MOST_SEGMENTS ? MOST_TIMES * least
							  : MOST_SEGMENTS;
	for (size_t k = first; !found && k <= most; k += 1 + k / 4)
		found = solve(stretch, k, fit);
	if (found)
		return 0;
	return error_set(error, "no %zu segments satisfy its messages", most);
}

static void note_step(struct corridor_fit *fit, const struct corridor_bound *bound,
		      size_t before, size_t after)
{
	fit->step = mem_grow(fit->step, fit->steps, &fit->step_room, sizeof(*fit->step));
	fit->step[fit->steps++] = (struct corridor_step){
	    .segment = fit->segments,
	    .from_ns = bound[before].x,
	    .to_ns = bound[after].x,
	};
}

void corridor_fit_clear(struct corridor_fit *fit)
{
	free(fit->segment);
	free(fit->step);
	memset(fit, 0, sizeof(*fit));
}

int corridor_find(struct corridor_bound *bound, size_t n, double limit,
		  struct corridor_wish wish, struct corridor_fit *fit,
		  struct error *error)
{
	struct pair scratch = {.upper = {.upper = true}};
	size_t begin = 0, at = 0, least = 1;
	int status = 0;

	memset(fit, 0, sizeof(*fit));
	if (!n)
		return error_set(error, "no message bounds it");
	qsort(bound, n, sizeof(*bound), by_x);
	while (!status && begin < n) {
		size_t end = at + reach(&scratch, bound + at, n - at, limit), step = 0;
		struct stretch stretch;

		if (end < n)
			step = find_step(&scratch, bound + begin, n - begin, end - begin,
					 limit);
		if (end < n && !step) {
			at = end;
			least++;
			continue;
		}
		step = step ? begin + step : n;
		stretch_begin(&stretch, bound + begin, step - begin, limit);
		status = fit_stretch(fit, &stretch, least, wish, error);
		stretch_clear(&stretch);
		if (step < n)
			note_step(fit, bound, step - 1, end);
		begin = at = step;
		least = 1;
	}
	hull_clear(&scratch.lower);
	hull_clear(&scratch.upper);
	if (status)
		corridor_fit_clear(fit);
	return status;
}
