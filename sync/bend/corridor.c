/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bend/corridor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/bend/stretch.h"
#include "sync/fit/fit.h"

/*
 * Steps are looked for where a line ends that was followed as far as it
 * satisfies the bounds; what lies between two of them is a stretch.
 */
enum {
	NEAR_STEP = 32,         /* bounds looked at on each side of a step */
	REACH_AFTER_STEP = 128, /* how far a line is followed after one */
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

static bool one_line_fits(struct pair *scratch, const struct corridor_bound *bound,
			  size_t n, double limit)
{
	stretch_hulls(scratch, bound, n);
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

	for (size_t i = from; i <= end && !most; i++)
		most = contradictions(bound, n, i, limit);
	for (size_t i = from; most && i <= end; i++) {
		size_t reached = i + reach(scratch, bound + i, to - i, limit);

		if (reached > furthest) {
			furthest = reached;
			best = i;
		}
	}
	return best;
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
	size_t begin = 0, at = 0;
	int status = 0;

	memset(fit, 0, sizeof(*fit));
	if (!n)
		return error_set(error, "no message bounds it");
	qsort(bound, n, sizeof(*bound), by_x);
	while (!status && begin < n) {
		size_t end = at + reach(&scratch, bound + at, n - at, limit), step = 0;

		if (end < n)
			step = find_step(&scratch, bound + begin, n - begin, end - begin,
					 limit);
		if (end < n && !step) {
			at = end;
			continue;
		}
		step = step ? begin + step : n;
		status =
		    stretch_fit(bound + begin, step - begin, limit, wish, fit, error);
		if (step < n)
			note_step(fit, bound, step - 1, end);
		begin = at = step;
	}
	hull_clear(&scratch.lower);
	hull_clear(&scratch.upper);
	if (status)
		corridor_fit_clear(fit);
	return status;
}
