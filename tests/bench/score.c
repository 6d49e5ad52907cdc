/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "random.h"

enum { INSTANTS = 1000 };     /* random times a clock */
#define DRIFT_LIMIT_PPB 200e3 /* as ctsync has it by default */

static nsec_t random_between(uint64_t *state, nsec_t begin, nsec_t end)
{
	return begin + (nsec_t)(random_next(state) % ((uint64_t)(end - begin) + 1));
}

/* What a view says of a local time: reference time as the host has it. */
struct said {
	nsec_t host_ns;         /* by the estimate */
	nsec_t low_ns, high_ns; /* the bounds, opened by the truth's uncertainty */
	nsec_t error_ns;        /* the estimate less the truth */
};

static struct said say(const struct view *view, nsec_t local)
{
	const struct subject *own = view->own, *reference = view->reference;
	struct clock_bound bound = clock_bound_at(view->clock, local, DRIFT_LIMIT_PPB);
	nsec_t estimate = clock_correct(view->clock, local);
	nsec_t true_host = truth_to_host(own->node, own->clock, local);
	nsec_t true_ref = truth_from_host(reference->node, reference->clock, true_host);
	nsec_t unsure = truth_uncertainty(own->node, true_host) +
			truth_uncertainty(reference->node, true_host);
	struct said said = {
	    .host_ns = truth_to_host(reference->node, reference->clock, estimate),
	    .low_ns = nsec_sub(bound.low_ns, unsure),
	    .high_ns = nsec_add(bound.high_ns, unsure),
	    .error_ns = estimate - true_ref,
	};

	return said;
}

static bool holds_truth(const struct said *said)
{
	return said->low_ns <= -said->error_ns && -said->error_ns <= said->high_ns;
}

static void look(struct score *score, const struct said *said)
{
	score->looks++;
	score->misses += !holds_truth(said);
}

static void note_error(double *worst, double error)
{
	if (error > *worst)
		*worst = error;
}

static void add_clock(struct score *score, const struct view *view)
{
	const struct clock *clock = view->clock;
	nsec_t middle = clock->begin_ns + (clock->end_ns - clock->begin_ns) / 2;
	const nsec_t place[PLACES] = {clock->begin_ns, middle, clock->end_ns};
	struct clock_bound bound = clock_bound_at(clock, middle, DRIFT_LIMIT_PPB);
	uint64_t random = RANDOM_SEED;

	score->clocks++;
	for (int i = 0; i < PLACES; i++) {
		struct said said = say(view, place[i]);
		double error = fabs((double)said.error_ns);

		look(score, &said);
		score->sum_ns[i] += error;
		note_error(&score->worst_ns[i], error);
	}
	for (int i = 0; i < INSTANTS; i++) {
		struct said said =
		    say(view, random_between(&random, clock->begin_ns, clock->end_ns));

		look(score, &said);
	}
	score->half_ns =
	    mem_grow(score->half_ns, score->halves, &score->room, sizeof(double));
	score->half_ns[score->halves++] =
	    bound.low_ns == NSEC_MIN || bound.high_ns == NSEC_MAX
		? INFINITY
		: ((double)bound.high_ns - (double)bound.low_ns) / 2;
}

static const struct subject *find(const struct recorded *run, const char *name)
{
	for (size_t i = 0; i < run->traces + run->captures; i++)
		if (strcmp(run->subject[i].name, name) == 0)
			return &run->subject[i];
	return NULL;
}

struct view view_of(const struct clock_map *map, const struct subject *own,
		    const struct recorded *run)
{
	struct view view = {clock_map_find(map, own->name), own, NULL};

	if (view.clock)
		view.reference = find(run, view.clock->reference);
	if (!view.reference || view.reference == own)
		view.clock = NULL;
	return view;
}

void score_add(struct score *score, const struct clock_map *map,
	       const struct recorded *run)
{
	for (size_t i = 0; i < run->traces + run->captures; i++) {
		struct view view = view_of(map, &run->subject[i], run);

		if (view.clock)
			add_clock(score, &view);
	}
	for (size_t i = 0; i < map->pairs; i++) {
		score->before += map->pair[i].violations_before;
		score->after += map->pair[i].violations_after;
	}
	score->messages += map->matching.matched;
}

/* The local time of a view's clock at a true instant of the host. */
static nsec_t local_at(const struct view *view, nsec_t host_ns)
{
	return truth_from_host(view->own->node, view->own->clock, host_ns);
}

static nsec_t host_at(const struct view *view, nsec_t local)
{
	return truth_to_host(view->own->node, view->own->clock, local);
}

/*
 * Whether some reference time fits both. A bound is as wide on the host's
 * clock as on the reference's: rates of 100 ppm change a millisecond by 100 ns.
 */
static bool is_disjoint(const struct said *a, const struct said *b)
{
	nsec_t apart = b->host_ns - a->host_ns;

	return nsec_add(apart, b->low_ns) > a->high_ns ||
	       nsec_add(apart, b->high_ns) < a->low_ns;
}

static double compare(struct agreement *agreement, const struct view *a,
		      const struct view *b, nsec_t host_ns)
{
	struct said by_a = say(a, local_at(a, host_ns));
	struct said by_b = say(b, local_at(b, host_ns));

	agreement->looks++;
	agreement->disjoint += is_disjoint(&by_a, &by_b);
	return fabs((double)(by_a.host_ns - by_b.host_ns));
}

void agreement_add(struct agreement *agreement, const struct view *a,
		   const struct view *b)
{
	nsec_t begin = host_at(a, a->clock->begin_ns), end = host_at(a, a->clock->end_ns);
	nsec_t begin_b = host_at(b, b->clock->begin_ns),
	       end_b = host_at(b, b->clock->end_ns);
	uint64_t random = RANDOM_SEED;

	begin = begin_b > begin ? begin_b : begin;
	end = end_b < end ? end_b : end;
	if (begin > end)
		return;
	agreement->clocks++;
	for (int i = 0; i < PLACES; i++)
		note_error(
		    &agreement->worst_ns[i],
		    compare(agreement, a, b, begin + (end - begin) / (PLACES - 1) * i));
	for (int i = 0; i < INSTANTS; i++)
		compare(agreement, a, b, random_between(&random, begin, end));
}

static int by_size(const void *a, const void *b)
{
	double p = *(const double *)a, q = *(const double *)b;

	return (p > q) - (p < q);
}

double score_median_half(struct score *score)
{
	if (!score->halves)
		return NAN;
	qsort(score->half_ns, score->halves, sizeof(double), by_size);
	return score->half_ns[score->halves / 2];
}

void score_clear(struct score *score)
{
	free(score->half_ns);
	memset(score, 0, sizeof(*score));
}
