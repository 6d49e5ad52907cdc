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
 * time is off by its own bound. Distances are in nanoseconds.
 */
struct envelope {
	uint32_t parent;
	double limit; /* how fast a bound opens, per nanosecond */
	double step;  /* between two times of the grid */
	double *high, *low;
	double *cut; /* by time of the grid: a step since the one before; NAN: none */
};

struct search {
	struct sync *sync;
	uint32_t *depth; /* by clock that is wanted: steps to the reference; else 0 */
	uint32_t at_depth, deepest;
	struct envelope *by_clock;
	int *child_of_pair; /* the clock whose tree pair it is, -1: none */
};

/* Let a message bound the two times of the grid that it stands between. */
static void spread(const struct envelope *envelope, double at, double value, bool above)
{
	double *bound = above ? envelope->high : envelope->low;
	double cell = fmin(GRID - 1, fmax(0, at / envelope->step));
	size_t left = (size_t)fmin(GRID - 2, floor(cell));
	double cut = envelope->cut[left + 1];

	for (size_t i = left; i <= left + 1; i++) {
		double away = envelope->limit * fabs(at - (double)i * envelope->step);

		/* A step stands between. */
		if (i == left ? at >= cut : at < cut)
			continue;
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
	struct hull_point point = pair_point(message);
	const struct clock *parent;
	const struct envelope *envelope;
	struct clock_bound other;
	bool child_is_b, received;
	nsec_t own, against;
	double distance;

	if (child < 0 || message->rejected || search->depth[child] != search->at_depth)
		return 0;
	envelope = &search->by_clock[child];
	parent = &sync->fitted[envelope->parent];
	child_is_b = pair->b == (uint32_t)child;
	received = message->forward == child_is_b;
	own = child_is_b ? point.y : point.x;
	against = child_is_b ? point.x : point.y;
	other = clock_bound_at(parent, against, envelope->limit * 1e9);
	/* A receive came later than its send: the child's time is at least that. */
	if (received ? other.low_ns == NSEC_MIN : other.high_ns == NSEC_MAX)
		return 0;
	distance = (double)(clock_correct(parent, against) -
			    clock_correct(&sync->fitted[child], own)) +
		   (double)(received ? other.low_ns : other.high_ns);
	spread(envelope, (double)(own - sync->clock[child].begin_ns), distance,
	       !received);
	return 0;
}

/* What bounds one time bounds its neighbours, opening with the limit. */
static void sweep(struct envelope *envelope)
{
	double away = envelope->limit * envelope->step;

	for (size_t i = 1; i < GRID; i++) {
		if (!isnan(envelope->cut[i]))
			continue;
		envelope->high[i] = fmin(envelope->high[i], envelope->high[i - 1] + away);
		envelope->low[i] = fmax(envelope->low[i], envelope->low[i - 1] - away);
	}
	for (size_t i = GRID - 1; i > 0; i--) {
		if (!isnan(envelope->cut[i]))
			continue;
		envelope->high[i - 1] =
		    fmin(envelope->high[i - 1], envelope->high[i] + away);
		envelope->low[i - 1] =
		    fmax(envelope->low[i - 1], envelope->low[i] - away);
	}
}

static nsec_t high_of(double bound)
{
	return isinf(bound) ? NSEC_MAX : nsec_round(ceil(bound));
}

static nsec_t low_of(double bound)
{
	return isinf(bound) ? NSEC_MIN : nsec_round(floor(bound));
}

/*
 * One stated bound: the widest of the grid up to the stated times before and
 * after, so that what lies between two stated times lies within one of them.
 */
static void state_one(const struct envelope *envelope, size_t at,
		      const struct clock *clock, struct clock_bound *bound)
{
	/* Half way between two times of the grid it may be wider than at both. */
	double slack = envelope->limit * envelope->step / 2 + 2;
	double high = -INFINITY, low = INFINITY;
	size_t first = at > FINE ? at - FINE : 0;

	for (size_t i = first; i <= at + FINE && i < GRID; i++) {
		high = fmax(high, fmax(envelope->high[i], envelope->low[i]));
		low = fmin(low, fmin(envelope->high[i], envelope->low[i]));
	}
	bound->local_ns = at == GRID - 1
			      ? clock->end_ns
			      : clock->begin_ns + nsec_round((double)at * envelope->step);
	bound->high_ns = high_of(high + slack);
	bound->low_ns = low_of(low - slack);
}

/* Around a step either side's clock may be the true one. */
static void widen_steps(const struct sync *sync, uint32_t index,
			struct envelope *envelope)
{
	nsec_t begin = sync->fitted[index].begin_ns;

	for (size_t k = 0; k < sync->steps; k++) {
		const struct sync_step *step = &sync->step[k];
		size_t from, to;

		if (step->clock != index)
			continue;
		from = (size_t)fmax(0, (double)(step->from_ns - begin) / envelope->step);
		to = (size_t)fmax(0, (double)(step->to_ns - begin) / envelope->step) + 1;
		for (size_t i = from; i <= to && i < GRID; i++) {
			double high = fmax(envelope->high[i], envelope->low[i]);
			double low = fmin(envelope->high[i], envelope->low[i]);

			envelope->high[i] = high + (double)step->size_ns;
			envelope->low[i] = low - (double)step->size_ns;
		}
	}
}

static void state(struct sync *sync, uint32_t index, struct envelope *envelope)
{
	struct clock *clock = &sync->fitted[index];

	sweep(envelope);
	widen_steps(sync, index, envelope);
	free(clock->bound);
	clock->bound = mem_realloc(NULL, STATED, sizeof(*clock->bound));
	clock->bounds = STATED;
	for (size_t i = 0; i < STATED; i++)
		state_one(envelope, i * FINE, clock, &clock->bound[i]);
}

/* The largest |rate| of a correction's segments, without unit. */
static double fastest(const struct clock *clock)
{
	double most = 0;

	for (size_t i = 0; i < clock->segments; i++)
		most = fmax(most, fabs(clock->segment[i].rate_ppb) * 1e-9);
	return most;
}

static void mark_steps(const struct sync *sync, uint32_t index, struct envelope *envelope)
{
	nsec_t begin = sync->fitted[index].begin_ns;

	for (size_t i = 0; i < GRID; i++)
		envelope->cut[i] = NAN;
	for (size_t k = 0; k < sync->steps; k++) {
		double at = (double)(sync->step[k].at_ns - begin);
		double cell = at / envelope->step;

		if (sync->step[k].clock == index && cell >= 0 && cell < GRID - 1)
			envelope->cut[(size_t)cell + 1] = at;
	}
}

static void prepare(struct search *search, uint32_t index, uint32_t depth)
{
	struct sync *sync = search->sync;
	struct envelope *envelope = &search->by_clock[index];
	const struct graph_node *node = &sync->graph.node[index];
	const struct fit_clock *clock = &sync->clock[index];

	envelope->parent = (uint32_t)node->parent;
	envelope->limit =
	    sync->options.drift_limit_ppm * 1e-6 + fastest(&sync->fitted[index]);
	envelope->step = fmax(1, (double)(clock->end_ns - clock->begin_ns) / (GRID - 1));
	envelope->high = mem_alloc(GRID * sizeof(double));
	envelope->low = mem_alloc(GRID * sizeof(double));
	envelope->cut = mem_alloc(GRID * sizeof(double));
	for (size_t i = 0; i < GRID; i++) {
		envelope->high[i] = INFINITY;
		envelope->low[i] = -INFINITY;
	}
	mark_steps(sync, index, envelope);
	search->child_of_pair[node->parent_pair] = (int)index;
	search->depth[index] = depth;
	if (depth > search->deepest)
		search->deepest = depth;
}

/*
 * Whether the region does not hold for an island: it knows lines only, and
 * where one clock bends, why should the others be straight?
 */
static bool needs_envelope(const struct sync *sync, const struct island *island)
{
	if (sync->options.limit_only)
		return true;
	for (size_t k = 1; k < island->members; k++) {
		uint32_t at = island->member[k];
		const struct pair *pair =
		    &sync->pairs.pair[sync->graph.node[at].parent_pair];

		if (!sync->clock[at].too_fast &&
		    (sync->bent[at] || !sync->region[at].known || pair->margin_ns < 0))
			return true;
	}
	return false;
}

/* Clocks beyond the drift limit have no bound under it, nor have their children. */
static void prepare_island(struct search *search, const struct island *island)
{
	const struct sync *sync = search->sync;
	uint32_t *depth = mem_zalloc(sync->clocks * sizeof(*depth));

	for (size_t k = 1; k < island->members; k++) {
		uint32_t at = island->member[k];

		depth[at] = depth[sync->graph.node[at].parent] + 1;
		if (!sync->clock[at].too_fast)
			prepare(search, at, depth[at]);
	}
	free(depth);
}

/* One depth after the other, as a clock's bound needs its parent's. */
static int state_depths(struct search *search, struct error *error)
{
	struct sync *sync = search->sync;

	for (uint32_t depth = 1; depth <= search->deepest; depth++) {
		search->at_depth = depth;
		if (message_log_walk(&sync->log, false, take, search, error))
			return -1;
		for (uint32_t i = 0; i < sync->clocks; i++)
			if (search->depth[i] == depth)
				state(sync, i, &search->by_clock[i]);
	}
	return 0;
}

int envelope_find(struct sync *sync, struct error *error)
{
	struct search search = {.sync = sync};
	int status;

	search.by_clock = mem_zalloc(sync->clocks * sizeof(*search.by_clock));
	search.depth = mem_zalloc(sync->clocks * sizeof(*search.depth));
	search.child_of_pair = mem_alloc((sync->pairs.count + 1) * sizeof(int));
	for (size_t i = 0; i < sync->pairs.count; i++)
		search.child_of_pair[i] = -1;
	for (size_t i = 0; i < sync->graph.islands; i++)
		if (needs_envelope(sync, &sync->graph.island[i]))
			prepare_island(&search, &sync->graph.island[i]);
	status = state_depths(&search, error);
	for (size_t i = 0; i < sync->clocks; i++) {
		free(search.by_clock[i].high);
		free(search.by_clock[i].low);
		free(search.by_clock[i].cut);
	}
	free(search.by_clock);
	free(search.depth);
	free(search.child_of_pair);
	return status;
}
