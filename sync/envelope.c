/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/envelope.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
	STATED = 257, /* times at which the bounds are stated */
	FINE = 32,    /* times of the grid from one stated time to the next */
	GRID = (STATED - 1) * FINE + 1, /* times at which they are computed */
};

/*
 * For one clock, by time: the most and the least that its corrected time can
 * be off, as bounded by the messages with its parent, whose own corrected
 * time is taken as true. Distances are in nanoseconds.
 */
struct envelope {
	uint32_t parent;
	uint32_t pair;
	bool wanted;
	double limit; /* how fast a bound opens, per nanosecond */
	double step;  /* between two times of the grid */
	double *high, *low;
};

struct search {
	struct sync *sync;
	struct envelope *by_clock;
	int *child_of_pair; /* the clock whose tree pair it is, -1: none */
};

/* Let a message bound the two times of the grid that it stands between. */
static void spread(const struct envelope *envelope, double at, double value, bool above)
{
	double *bound = above ? envelope->high : envelope->low;
	double cell = fmin(GRID - 1, fmax(0, at / envelope->step));
	size_t left = (size_t)fmin(GRID - 2, floor(cell));

	for (size_t i = left; i <= left + 1; i++) {
		double away = envelope->limit * fabs(at - (double)i * envelope->step);

		if (above)
			bound[i] = fmin(bound[i], value + away);
		else
			bound[i] = fmax(bound[i], value - away);
	}
}

static int take(void *context, struct message *message)
{
	struct search *search = context;
	int child = search->child_of_pair[message->pair];
	const struct sync *sync = search->sync;
	const struct pair *pair = &sync->pairs.pair[message->pair];
	const struct envelope *envelope;
	struct hull_point point = pair_point(message);
	bool child_is_b, received;
	nsec_t own, a, b;

	if (child < 0 || message->rejected)
		return 0;
	envelope = &search->by_clock[child];
	child_is_b = pair->b == (uint32_t)child;
	received = message->forward == child_is_b;
	a = clock_correct(&sync->fitted[pair->a], point.x);
	b = clock_correct(&sync->fitted[pair->b], point.y);
	own = child_is_b ? point.y : point.x;
	/* A receive came later than its send: the child's time is at least that. */
	spread(envelope, (double)(own - sync->clock[child].begin_ns),
	       child_is_b ? (double)(a - b) : (double)(b - a), !received);
	return 0;
}

/* What bounds one time bounds its neighbours, opening with the limit. */
static void sweep(struct envelope *envelope)
{
	double away = envelope->limit * envelope->step;

	for (size_t i = 1; i < GRID; i++) {
		envelope->high[i] = fmin(envelope->high[i], envelope->high[i - 1] + away);
		envelope->low[i] = fmax(envelope->low[i], envelope->low[i - 1] - away);
	}
	for (size_t i = GRID - 1; i > 0; i--) {
		envelope->high[i - 1] =
		    fmin(envelope->high[i - 1], envelope->high[i] + away);
		envelope->low[i - 1] =
		    fmax(envelope->low[i - 1], envelope->low[i] - away);
	}
}

static nsec_t high_sum(double own, nsec_t parents)
{
	if (isinf(own) || parents == NSEC_MAX)
		return NSEC_MAX;
	return nsec_add(nsec_round(ceil(own)), parents);
}

static nsec_t low_sum(double own, nsec_t parents)
{
	if (isinf(own) || parents == NSEC_MIN)
		return NSEC_MIN;
	return nsec_add(nsec_round(floor(own)), parents);
}

/* The widest bound of a clock around a reference time, up to `reach` away. */
static struct clock_bound widest(const struct clock *clock, nsec_t ref, double reach,
				 double limit_ppb)
{
	struct clock_bound most = {ref, 0, 0};

	for (int i = -4; i <= 4; i++) {
		nsec_t at = clock_invert(clock, ref + nsec_round(reach * i / 4));
		struct clock_bound here = clock_bound_at(clock, at, limit_ppb);

		most.low_ns = here.low_ns < most.low_ns ? here.low_ns : most.low_ns;
		most.high_ns = here.high_ns > most.high_ns ? here.high_ns : most.high_ns;
	}
	return most;
}

/*
 * One stated bound: the widest of the grid up to the stated times before and
 * after, so that what lies between two stated times lies within one of them.
 */
static void state_one(const struct sync *sync, const struct envelope *envelope, size_t at,
		      const struct clock *clock, struct clock_bound *bound)
{
	const struct clock *parent = &sync->fitted[envelope->parent];
	/* Half way between two times of the grid it may be wider than at both. */
	double slack = envelope->limit * envelope->step / 2 + 2;
	double high = -INFINITY, low = INFINITY;
	size_t first = at > FINE ? at - FINE : 0;
	struct clock_bound above;

	for (size_t i = first; i <= at + FINE && i < GRID; i++) {
		high = fmax(high, fmax(envelope->high[i], envelope->low[i]));
		low = fmin(low, fmin(envelope->high[i], envelope->low[i]));
	}
	bound->local_ns = at == GRID - 1
			      ? clock->end_ns
			      : clock->begin_ns + nsec_round((double)at * envelope->step);
	above = widest(parent, clock_correct(clock, bound->local_ns),
		       envelope->step * FINE, envelope->limit * 1e9);
	bound->high_ns = high_sum(high + slack, above.high_ns);
	bound->low_ns = low_sum(low - slack, above.low_ns);
}

static void state(struct sync *sync, uint32_t index, const struct envelope *envelope)
{
	struct clock *clock = &sync->fitted[index];

	free(clock->bound);
	clock->bound = mem_realloc(NULL, STATED, sizeof(*clock->bound));
	clock->bounds = STATED;
	for (size_t i = 0; i < STATED; i++)
		state_one(sync, envelope, i * FINE, clock, &clock->bound[i]);
}

/* The largest |rate| of a correction's segments, without unit. */
static double fastest(const struct clock *clock)
{
	double most = 0;

	for (size_t i = 0; i < clock->segments; i++)
		most = fmax(most, fabs(clock->segment[i].rate_ppb) * 1e-9);
	return most;
}

static void prepare(struct search *search, uint32_t index)
{
	struct sync *sync = search->sync;
	struct envelope *envelope = &search->by_clock[index];
	const struct graph_node *node = &sync->graph.node[index];
	const struct fit_clock *clock = &sync->clock[index];

	envelope->wanted = true;
	envelope->parent = (uint32_t)node->parent;
	envelope->pair = (uint32_t)node->parent_pair;
	envelope->limit =
	    sync->options.drift_limit_ppm * 1e-6 + fastest(&sync->fitted[index]);
	envelope->step = fmax(1, (double)(clock->end_ns - clock->begin_ns) / (GRID - 1));
	envelope->high = mem_alloc(GRID * sizeof(double));
	envelope->low = mem_alloc(GRID * sizeof(double));
	for (size_t i = 0; i < GRID; i++) {
		envelope->high[i] = INFINITY;
		envelope->low[i] = -INFINITY;
	}
	search->child_of_pair[envelope->pair] = (int)index;
}

/* In tree order, as a clock's bound needs its parent's. */
static void state_all(struct search *search)
{
	const struct graph *graph = &search->sync->graph;

	for (size_t i = 0; i < graph->islands; i++)
		for (size_t k = 1; k < graph->island[i].members; k++) {
			uint32_t index = graph->island[i].member[k];

			if (!search->by_clock[index].wanted)
				continue;
			sweep(&search->by_clock[index]);
			state(search->sync, index, &search->by_clock[index]);
		}
}

/* Whether the region, which knows lines only, does not hold for a clock. */
static bool needs_envelope(const struct sync *sync, uint32_t index)
{
	for (int at = (int)index; sync->graph.node[at].parent >= 0;
	     at = sync->graph.node[at].parent)
		if (sync->bent[at] || !sync->region[at].known ||
		    sync->pairs.pair[sync->graph.node[at].parent_pair].margin_ns < 0)
			return true;
	return false;
}

int envelope_find(struct sync *sync, struct error *error)
{
	struct search search = {.sync = sync};
	bool any = false;
	int status = 0;

	search.by_clock = mem_zalloc(sync->clocks * sizeof(*search.by_clock));
	search.child_of_pair = mem_alloc((sync->pairs.count + 1) * sizeof(int));
	for (size_t i = 0; i < sync->pairs.count; i++)
		search.child_of_pair[i] = -1;
	for (uint32_t i = 0; i < sync->clocks; i++)
		if (needs_envelope(sync, i)) {
			prepare(&search, i);
			any = true;
		}
	if (any)
		status = message_log_walk(&sync->log, false, take, &search, error);
	if (any && !status)
		state_all(&search);
	for (size_t i = 0; i < sync->clocks; i++) {
		free(search.by_clock[i].high);
		free(search.by_clock[i].low);
	}
	free(search.by_clock);
	free(search.child_of_pair);
	return status;
}
