/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "random.h"

enum { INSTANTS = 1000 }; /* random times a clock */

static nsec_t random_between(uint64_t *state, nsec_t begin, nsec_t end)
{
	return begin + (nsec_t)(random_next(state) % ((uint64_t)(end - begin) + 1));
}

static void look(struct score *score, const struct said *said)
{
	score->looks++;
	score->misses += !said_holds(said);
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
	uint64_t random = RANDOM_SEED;

	score->clocks++;
	score->segments += clock->segments;
	for (int i = 0; i < PLACES; i++) {
		struct said said = view_say(view, place[i]);
		double error = fabs((double)said.error_ns);

		look(score, &said);
		score->sum_ns[i] += error;
		note_error(&score->worst_ns[i], error);
	}
	for (int i = 0; i < INSTANTS; i++) {
		struct said said = view_say(
		    view, random_between(&random, clock->begin_ns, clock->end_ns));

		look(score, &said);
	}
	score->half_ns =
	    mem_grow(score->half_ns, score->halves, &score->capacity, sizeof(double));
	score->half_ns[score->halves++] = view_say(view, middle).half_ns;
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

/*
 * Return true if some reference time fits both. A bound is as wide on the host's
 * clock as on the reference's: rates of 100 ppm change a millisecond by 100 ns.
 */
static bool is_disjoint(const struct said *a, const struct said *b, nsec_t apart)
{
	return nsec_add(apart, b->low_ns) > a->high_ns ||
	       nsec_add(apart, b->high_ns) < a->low_ns;
}

static double compare(struct agreement *agreement, const struct view *a,
		      const struct view *b, nsec_t host_ns)
{
	nsec_t local_a = view_local(a, host_ns), local_b = view_local(b, host_ns);
	struct said by_a = view_say(a, local_a), by_b = view_say(b, local_b);
	nsec_t apart = view_estimate(b, local_b) - view_estimate(a, local_a);

	agreement->looks++;
	agreement->disjoint += is_disjoint(&by_a, &by_b, apart);
	return fabs((double)apart);
}

void agreement_add(struct agreement *agreement, const struct view *a,
		   const struct view *b)
{
	nsec_t begin = view_host(a, a->clock->begin_ns),
	       end = view_host(a, a->clock->end_ns);
	nsec_t begin_b = view_host(b, b->clock->begin_ns),
	       end_b = view_host(b, b->clock->end_ns);
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
