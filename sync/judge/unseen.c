/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/judge/unseen.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/sort.h"

enum {
	SPELLS_MOST = 256, /* limit of a clock's spells */
	SPELLS_LEAST = 6,
	SPELL_MESSAGES = 4, /* in both directions */
};

/* Some consecutive messages of a clock. */
struct spell {
	double begin_ns; /* the time of the first one */
	double least[2]; /* least excess by direction, ns; INFINITY: no message */
};

static double spell_trip(const struct spell *spell)
{
	return spell->least[0] + spell->least[1];
}

static int compare_spells(const void *a, const void *b)
{
	double p = *(const double *)a, q = *(const double *)b;

	return COMPARE(p, q);
}

/*
 * Find the narrowest range of round trips that holds those of three quarters of the
 * spells. Load lengthens the others; one during which the clock was stepped has a shorter
 * one.
 */
static double common_trips(const struct spell *spell, size_t n, double *low)
{
	AUTOFREE double *trips = mem_alloc(n * sizeof(*trips));
	size_t most = n - n / 4;
	double range = INFINITY;

	for (size_t i = 0; i < n; i++)
		trips[i] = spell_trip(&spell[i]);
	SORT(trips, n, compare_spells);
	for (size_t i = 0; i + most <= n; i++)
		if (trips[i + most - 1] - trips[i] < range) {
			*low = trips[i];
			range = trips[i + most - 1] - trips[i];
		}
	return range;
}

/*
 * Ratio of both ranges that chance exceeds for less than one in a hundred clocks of `n`
 * spells, whether latencies are normally, evenly or exponentially distributed: fitted to
 * a simulation of these.
 */
#define UNLIKE(n) (3 + 500 / ((double)(n) * (double)(n)))

#define NOTICEABLE 0.1 /* share of the round trip; the bounds allow for less */

/*
 * Return true if a clock moved by more than the limit allows, in either direction,
 * between two spells with common round trips.
 */
static bool is_moved(const struct spell *spell, size_t n, double trip_ns, double limit)
{
	double low = 0, range = common_trips(spell, n, &low), most = 0;
	double least[2] = {INFINITY, INFINITY};

	for (size_t i = 0; i < n; i++) {
		if (spell_trip(&spell[i]) < low || spell_trip(&spell[i]) > low + range)
			continue;
		for (int side = 0; side < 2; side++) {
			double ahead =
			    (spell[i].least[side] - spell[i].least[!side]) / 2 -
			    limit * spell[i].begin_ns;

			least[side] = fmin(least[side], ahead);
			most = fmax(most, ahead - least[side]);
		}
	}
	return 2 * most > UNLIKE(n) * range && most > NOTICEABLE * (trip_ns + low);
}

/* Join spells by twos, and return their number. */
static size_t join_spells(struct spell *spell, size_t n)
{
	for (size_t i = 0; i < n / 2; i++)
		spell[i] = (struct spell){
		    spell[2 * i].begin_ns,
		    {fmin(spell[2 * i].least[0], spell[2 * i + 1].least[0]),
		     fmin(spell[2 * i].least[1], spell[2 * i + 1].least[1])}};
	return n / 2;
}

/* A message that a clock sent or received. */
struct stamped {
	nsec_t at;
	double excess; /* its latency over the least in its pair and direction */
	bool is_sent;
};

struct stamped_list {
	struct stamped *item;
	size_t count, capacity;
	double trip; /* least sum of the shortest latencies of a pair */
};

static int by_time(const void *a, const void *b)
{
	const struct stamped *p = a, *q = b;

	return COMPARE(p->at, q->at) ?:
	       COMPARE(p->is_sent, q->is_sent) ?:
	       COMPARE(p->excess, q->excess);
}

/* Sum up messages in spells of equal numbers; return how many have both directions. */
static size_t make_spells(const struct stamped_list *list, struct spell *spell)
{
	size_t spells = list->count / SPELL_MESSAGES, kept = 0;

	spells = spells > SPELLS_MOST ? SPELLS_MOST : spells;
	for (size_t k = 0; k < spells; k++) {
		size_t begin = list->count * k / spells;
		size_t end = list->count * (k + 1) / spells;
		struct spell *one = &spell[kept];

		*one = (struct spell){
		    (double)nsec_sub(list->item[begin].at, list->item[0].at),
		    {INFINITY, INFINITY}};
		for (size_t i = begin; i < end; i++) {
			const struct stamped *is = &list->item[i];

			one->least[is->is_sent] =
			    fmin(one->least[is->is_sent], is->excess);
		}
		kept += !isinf(spell_trip(one));
	}
	return kept;
}

/* Collect the quickest messages that a clock sent and received, in the order of time. */
static void collect_spells(const struct network *net, const struct latencies *latencies,
			   uint32_t clock, struct stamped_list *list)
{
	for (size_t i = 0; i < net->pairs.count; i++) {
		const struct pair *pair = &net->pairs.pair[i];
		const struct pair_latency *of = &latencies->pair[i];
		double least[2] = {(double)of->min_latency_ba_ns,
				   (double)of->min_latency_ab_ns};

		/* A daemon's estimate may move within its bound. */
		if ((pair->a != clock && pair->b != clock) || pair->contradictory ||
		    net->clocks.clock[pair->a].trace->is_utc ||
		    net->clocks.clock[pair->b].trace->is_utc ||
		    !pair->hulls.lower.count || !pair->hulls.upper.count)
			continue;
		list->trip = fmin(list->trip, least[0] + least[1]);
		for (int forward = 0; forward < 2; forward++) {
			const struct quick_list *from = &latencies->quick[i][forward];

			for (size_t k = 0; k < from->count; k++)
				*MEM_NEXT(list->item, list->count, list->capacity) =
				    (struct stamped){from->item[k].at,
						     from->item[k].latency_ns -
							 least[forward],
						     forward == (pair->a == clock)};
		}
	}
	sort_almost_sorted(list->item, list->count, sizeof(*list->item), by_time);
}

bool unseen_is_likely(const struct network *net, const struct latencies *latencies,
		      uint32_t clock)
{
	struct stamped_list list = {.trip = INFINITY};
	struct spell spell[SPELLS_MOST];
	bool is_likely = false;
	size_t n;

	collect_spells(net, latencies, clock, &list);
	n = make_spells(&list, spell);
	for (; n >= SPELLS_LEAST && !is_likely; n = join_spells(spell, n))
		is_likely = is_moved(spell, n, list.trip, net->limit);
	free(list.item);
	return is_likely;
}
