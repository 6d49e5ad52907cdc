/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "random.h"
#include "view.h"

enum {
	INSTANTS = 1000,    /* random times a clock */
	MOST_DRAWS = 200000 /* until so many of them lie within what it saw */
};

/* Times of the host that may lie within what a clock saw. */
struct window {
	nsec_t begin_ns, end_ns;
};

static bool sees(const struct clock *clock, nsec_t local)
{
	return local >= clock->begin_ns && local <= clock->end_ns;
}

/*
 * The clock may go back, so that no line leads from its time to the host's:
 * take the rows of the truth between which it comes through what it saw.
 */
static struct window window_of(const struct view *view)
{
	const struct truth_node *node = view->own->node;
	struct window window = {NSEC_MAX, NSEC_MIN};

	for (size_t i = 1; i < node->rows; i++) {
		nsec_t a = node->row[i - 1].host_ns, b = node->row[i].host_ns;
		nsec_t from = view_local(view, a), to = view_local(view, b);

		if (to < view->clock->begin_ns || from > view->clock->end_ns)
			continue;
		window.begin_ns = a < window.begin_ns ? a : window.begin_ns;
		window.end_ns = b > window.end_ns ? b : window.end_ns;
	}
	return window;
}

static void note(struct survey *survey, const struct view *view, const struct said *said,
		 nsec_t local)
{
	size_t n = (size_t)survey->looks++;

	survey->error_ns =
	    mem_grow(survey->error_ns, n, &survey->capacity[0], sizeof(double));
	survey->half_ns =
	    mem_grow(survey->half_ns, n, &survey->capacity[1], sizeof(double));
	survey->error_ns[n] = fabs((double)said->error_ns);
	survey->half_ns[n] = said->half_ns;
	survey->unbounded += isfinite(said->half_ns) ? 0 : 1;
	if (said_holds(said))
		return;
	survey->sure += view->clock->quality <= CLOCK_ACCURATE;
	if (!survey->misses++) {
		survey->miss_local_ns = local;
		survey->miss_trace = view->own->name;
	}
}

static int look_at_clock(struct survey *survey, const struct view *view, uint64_t *random,
			 struct error *error)
{
	struct window window = window_of(view);
	int found = 0;

	for (int i = 0; found < INSTANTS && i < MOST_DRAWS; i++) {
		uint64_t span = (uint64_t)(window.end_ns - window.begin_ns) + 1;
		nsec_t host_ns = window.begin_ns + (nsec_t)(random_next(random) % span);
		nsec_t local = view_local(view, host_ns);
		struct said said;

		if (!sees(view->clock, local))
			continue;
		said = view_say_at(view, host_ns, local);
		note(survey, view, &said, local);
		found++;
	}
	return found == INSTANTS
		   ? 0
		   : error_set(error, "%s: found %d times that its trace saw, want %d",
			       view->own->name, found, INSTANTS);
}

int survey_make(struct survey *survey, const struct clock_map *map,
		const struct recorded *run, uint64_t seed, struct error *error)
{
	uint64_t random = RANDOM_SEED ^ seed * 0x9e3779b97f4a7c15u;
	int status = 0;

	memset(survey, 0, sizeof(*survey));
	random = random ? random : RANDOM_SEED;
	for (size_t i = 0; !status && i < run->traces + run->captures; i++) {
		struct view view = view_of(map, &run->subject[i], run);

		if (view.clock)
			status = look_at_clock(survey, &view, &random, error);
	}
	for (size_t i = 0; i < map->pairs; i++) {
		survey->before += map->pair[i].violations_before;
		survey->after += map->pair[i].violations_after;
		survey->rejected += map->pair[i].rejected;
	}
	return status;
}

static int by_size(const void *a, const void *b)
{
	double p = *(const double *)a, q = *(const double *)b;

	return (p > q) - (p < q);
}

double survey_median(double *values, const struct survey *survey)
{
	if (!survey->looks)
		return NAN;
	qsort(values, survey->looks, sizeof(*values), by_size);
	return values[survey->looks / 2];
}

double survey_worst(double *values, const struct survey *survey)
{
	if (!survey->looks)
		return NAN;
	qsort(values, survey->looks, sizeof(*values), by_size);
	return values[survey->looks - 1];
}

void survey_clear(struct survey *survey)
{
	free(survey->error_ns);
	free(survey->half_ns);
	memset(survey, 0, sizeof(*survey));
}
