/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bounds/bounds.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "sync/bounds/envelope.h"

enum {
	STATED = 256, /* spans of a clock that get a bound each */
	STATED_OF_MANY = 64,
	MANY = 32,                  /* clocks of an island */
	CELLS_A_MESSAGE = 4,        /* of an envelope's grid */
	CELLS_LEAST = 1024,         /* of a clock */
	CELLS_MOST = 1 << 20,       /* of a clock */
	CELLS_TOGETHER = 1 << 22,   /* of all clocks: 64 MiB */
	ROUNDS_BEYOND_THE_TREE = 4, /* for ways that are not the tree's */
};

/* What the rounding of corrections and of what is printed can take from a bound. */
#define ROUNDING_NS 2.0

struct search {
	struct sync *sync;
	struct envelope *envelope; /* by clock; without cells: it has none */
	bool *is_reference;        /* by clock, of the islands that are searched */
	bool *news;                /* by clock: tighter since it was last heard */
	unsigned rounds;
};

static bool is_searched(const struct search *search, uint32_t clock)
{
	return search->is_reference[clock] || search->envelope[clock].cells;
}

static bool is_in_gap(const struct search *search, uint32_t clock, nsec_t at)
{
	const struct envelope *envelope = &search->envelope[clock];

	for (size_t i = 0; i < envelope->gaps; i++)
		if (at > envelope->gap[i].from_ns && at < envelope->gap[i].to_ns)
			return true;
	return false;
}

/*
 * With the error e of each corrected clock: fitted_b + e_b >= fitted_a + e_a.
 * Messages that the fit itself breaks tell nothing for sure.
 */
static int take(void *context, struct message *message)
{
	struct search *search = context;
	const struct sync *sync = search->sync;
	const struct pair *pair = &sync->pairs.pair[message->pair];
	uint32_t from = message->forward ? pair->a : pair->b;
	uint32_t to = message->forward ? pair->b : pair->a;
	struct hull_point point;
	nsec_t sent, received, travel;

	if (message->rejected || (!search->news[from] && !search->news[to]) ||
	    !is_searched(search, from) || !is_searched(search, to))
		return 0;
	point = pair_point(message);
	sent = message->forward ? point.x : point.y;
	received = message->forward ? point.y : point.x;
	travel = nsec_sub(clock_correct(&sync->fitted[to], received),
			  clock_correct(&sync->fitted[from], sent));
	if (travel < 0 || is_in_gap(search, from, sent) ||
	    is_in_gap(search, to, received))
		return 0;
	if (!search->is_reference[to] && search->news[from]) {
		double low = search->is_reference[from]
				 ? 0
				 : envelope_low(&search->envelope[from], sent);

		envelope_take_low(&search->envelope[to], received, low - (double)travel);
	}
	if (!search->is_reference[from] && search->news[to]) {
		double high = search->is_reference[to]
				  ? 0
				  : envelope_high(&search->envelope[to], received);

		envelope_take_high(&search->envelope[from], sent, high + (double)travel);
	}
	return 0;
}

/* Whether what is new in some clock could help one that is not a reference. */
static bool is_worth_a_round(const struct search *search)
{
	const struct sync *sync = search->sync;

	for (size_t i = 0; i < sync->pairs.count; i++) {
		uint32_t a = sync->pairs.pair[i].a, b = sync->pairs.pair[i].b;

		if ((search->news[a] && search->envelope[b].cells) ||
		    (search->news[b] && search->envelope[a].cells))
			return true;
	}
	return false;
}

static unsigned deepest(const struct sync *sync)
{
	unsigned *depth = mem_zalloc(sync->clocks * sizeof(*depth)), most = 0;

	for (size_t i = 0; i < sync->graph.islands; i++)
		for (size_t k = 1; k < sync->graph.island[i].members; k++) {
			uint32_t at = sync->graph.island[i].member[k];

			depth[at] = depth[sync->graph.node[at].parent] + 1;
			most = depth[at] > most ? depth[at] : most;
		}
	free(depth);
	return most;
}

static void sweep(void *context, size_t clock)
{
	struct search *search = context;

	search->news[clock] =
	    search->envelope[clock].cells && envelope_sweep(&search->envelope[clock]);
}

static int relax(struct search *search, struct error *error)
{
	struct sync *sync = search->sync;
	unsigned most = deepest(sync) + ROUNDS_BEYOND_THE_TREE;

	for (size_t i = 0; i < sync->clocks; i++)
		search->news[i] = search->is_reference[i];
	for (search->rounds = 0; search->rounds < most && is_worth_a_round(search);
	     search->rounds++) {
		if (message_log_walk(&sync->log, false, take, search, error))
			return -1;
		parallel_run(sync->options.threads, sync->clocks, sweep, search);
	}
	return 0;
}

static nsec_t high_of(double bound)
{
	return isinf(bound) ? NSEC_MAX : nsec_round(ceil(bound));
}

static nsec_t low_of(double bound)
{
	return isinf(bound) ? NSEC_MIN : nsec_round(floor(bound));
}

/* Extremes of the error, growing. */
struct extremes {
	double low, high;
};

static void include(struct extremes *extremes, double low, double high)
{
	extremes->low = fmin(extremes->low, low);
	extremes->high = fmax(extremes->high, high);
}

/*
 * Around a step a clock that was set back shows each time twice, and nobody
 * can tell which one is meant: it may go on as before, or be as it is after.
 * The fit is a line from one to the other time, or both are one.
 */
static void include_gap(const struct search *search, uint32_t clock,
			const struct envelope_gap *gap, nsec_t at,
			struct extremes *extremes)
{
	const struct envelope *envelope = &search->envelope[clock];
	const struct clock *fitted = &search->sync->fitted[clock];
	const nsec_t known[2] = {gap->from_ns, gap->to_ns};

	for (int i = 0; i < 2; i++) {
		double away = fabs((double)(at - known[i]));
		double moved = (double)(clock_correct(fitted, known[i]) -
					clock_correct(fitted, at) + (at - known[i]));
		double limit = search->sync->options.drift_limit_ppm * 1e-6 * away;

		include(extremes, envelope_low(envelope, known[i]) + moved - limit,
			envelope_high(envelope, known[i]) + moved + limit);
	}
}

static void include_span(const struct search *search, uint32_t clock, nsec_t from,
			 nsec_t to, struct extremes *extremes)
{
	const struct envelope *envelope = &search->envelope[clock];

	if (from <= to)
		include(extremes, envelope_lowest(envelope, from, to),
			envelope_highest(envelope, from, to));
}

/* The error over a span of time within which the fit is one line. */
static struct clock_bound bound_over(const struct search *search, uint32_t clock,
				     nsec_t from, nsec_t to)
{
	const struct envelope *envelope = &search->envelope[clock];
	struct extremes extremes = {INFINITY, -INFINITY};
	double slack = ROUNDING_NS + search->rounds;
	nsec_t at = from;

	for (size_t i = 0; i < envelope->gaps; i++) {
		const struct envelope_gap *gap = &envelope->gap[i];

		if (gap->from_ns > to || gap->to_ns < from)
			continue;
		include_span(search, clock, at, gap->from_ns, &extremes);
		include_gap(search, clock, gap, from > gap->from_ns ? from : gap->from_ns,
			    &extremes);
		include_gap(search, clock, gap,
			    to < gap->to_ns ? to - (to > from) : gap->to_ns, &extremes);
		at = gap->to_ns;
	}
	include_span(search, clock, at, to, &extremes);
	return (struct clock_bound){
	    .local_ns = from,
	    .low_ns = low_of(extremes.low - slack),
	    .high_ns = high_of(extremes.high + slack),
	};
}

static int by_time(const void *a, const void *b)
{
	const struct clock_bound *p = a, *q = b;

	return (p->local_ns > q->local_ns) - (p->local_ns < q->local_ns);
}

/* Evenly over the trace, and where a segment begins. Returns how many. */
static size_t choose_times(struct clock *clock, size_t spans)
{
	nsec_t span = clock->end_ns - clock->begin_ns;
	size_t count = 0, kept = 0;
	struct clock_bound *bound;

	bound = mem_realloc(clock->bound, spans + 1 + clock->segments, sizeof(*bound));
	clock->bound = bound;
	for (size_t i = 0; i < spans; i++)
		bound[count++].local_ns =
		    clock->begin_ns +
		    nsec_round((double)span * (double)i / (double)spans);
	bound[count++].local_ns = clock->end_ns;
	for (size_t i = 1; i < clock->segments; i++)
		if (clock->segment[i].local_ns > clock->begin_ns &&
		    clock->segment[i].local_ns < clock->end_ns)
			bound[count++].local_ns = clock->segment[i].local_ns;
	qsort(bound, count, sizeof(*bound), by_time);
	for (size_t i = 0; i < count; i++)
		if (!kept || bound[i].local_ns != bound[kept - 1].local_ns)
			bound[kept++] = bound[i];
	return kept;
}

/*
 * At each stated time the widest up to the stated times before and after, so
 * that what lies between two of them lies within both.
 */
static void state(const struct search *search, uint32_t index, size_t spans)
{
	struct clock *clock = &search->sync->fitted[index];
	struct clock_bound before, after;

	clock->bounds = choose_times(clock, spans);
	after = before = bound_over(search, index, clock->begin_ns, clock->begin_ns);
	for (size_t i = 0; i < clock->bounds; i++) {
		struct clock_bound *bound = &clock->bound[i];

		if (i + 1 < clock->bounds)
			after = bound_over(search, index, bound->local_ns,
					   clock->bound[i + 1].local_ns);
		bound->low_ns =
		    before.low_ns < after.low_ns ? before.low_ns : after.low_ns;
		bound->high_ns =
		    before.high_ns > after.high_ns ? before.high_ns : after.high_ns;
		before = after;
	}
}

/* What the mean rate of the true correction can be, by its ends. */
static void find_mean_rate(const struct search *search, uint32_t index, double rates[2])
{
	const struct clock *clock = &search->sync->fitted[index];
	const struct envelope *envelope = &search->envelope[index];
	nsec_t begin = clock->begin_ns, end = clock->end_ns;
	double span = fmax(1, (double)(end - begin));
	double fitted = (double)(clock_correct(clock, end) - clock_correct(clock, begin) -
				 (end - begin));

	rates[0] = (fitted + envelope_low(envelope, end) -
		    envelope_high(envelope, begin) - ROUNDING_NS) /
		   span;
	rates[1] = (fitted + envelope_high(envelope, end) -
		    envelope_low(envelope, begin) + ROUNDING_NS) /
		   span;
}

static size_t cells_each(const struct sync *sync)
{
	size_t cells = CELLS_TOGETHER / (sync->clocks + 1);

	return cells > CELLS_MOST ? CELLS_MOST : cells;
}

static void prepare(struct search *search, uint32_t index, const double rates[2])
{
	const struct sync *sync = search->sync;
	size_t most = cells_each(sync);
	struct envelope *envelope = &search->envelope[index];
	size_t cells = CELLS_LEAST;
	uint64_t messages = 0;

	for (size_t i = 0; i < sync->pairs.count; i++) {
		const struct pair *pair = &sync->pairs.pair[i];

		if (pair->a == index || pair->b == index)
			messages += pair->messages_ab + pair->messages_ba;
	}
	while (cells < CELLS_A_MESSAGE * messages && 2 * cells <= most)
		cells *= 2;
	envelope_clear(envelope);
	envelope_init(envelope, &sync->fitted[index], rates, cells);
	for (size_t k = 0; k < sync->steps; k++)
		if (sync->step[k].clock == index)
			envelope_add_gap(envelope, sync->step[k].from_ns,
					 sync->step[k].to_ns);
}

/* Whether an island has no region to take its bounds from. */
static bool is_wanted(const struct sync *sync, const struct island *island)
{
	if (sync->options.bounds != BOUNDS_STRAIGHT)
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

typedef void member_fn(struct search *search, uint32_t clock);

/* Each clock that gets bounds; those beyond the drift limit have none under it. */
static void each_member(struct search *search, member_fn *visit)
{
	const struct sync *sync = search->sync;

	for (size_t i = 0; i < sync->graph.islands; i++) {
		const struct island *island = &sync->graph.island[i];

		if (island->members < 2 || !is_wanted(sync, island))
			continue;
		search->is_reference[island->reference] = true;
		for (size_t k = 1; k < island->members; k++)
			if (!sync->clock[island->member[k]].too_fast)
				visit(search, island->member[k]);
	}
}

static void begin_with_limit(struct search *search, uint32_t clock)
{
	double limit = search->sync->options.drift_limit_ppm * 1e-6;

	prepare(search, clock, (double[2]){-limit, limit});
}

/* A rate differs from the mean one by so much at most, and keeps to the limit. */
static void begin_with_wander(struct search *search, uint32_t clock)
{
	double limit = search->sync->options.drift_limit_ppm * 1e-6;
	double wander = search->sync->options.wander_ppm * 1e-6, rates[2];

	find_mean_rate(search, clock, rates);
	rates[0] = fmax(rates[0] - wander, -limit);
	rates[1] = fmin(rates[1] + wander, limit);
	prepare(search, clock, rates);
}

static void finish(struct search *search, uint32_t clock)
{
	const struct graph *graph = &search->sync->graph;
	size_t members = graph->island[graph->node[clock].island].members;
	struct region *region = &search->sync->region[clock];
	double rates[2];

	state(search, clock, members > MANY ? STATED_OF_MANY : STATED);
	find_mean_rate(search, clock, rates);
	region->known = true;
	region->rate_low = rates[0];
	region->rate_high = rates[1];
}

/* The reference is what it is, at all times. */
static void finish_reference(struct sync *sync, uint32_t index)
{
	struct clock *clock = &sync->fitted[index];
	nsec_t middle = clock->begin_ns + (clock->end_ns - clock->begin_ns) / 2;

	clock->bounds = 3;
	clock->bound = mem_realloc(clock->bound, clock->bounds, sizeof(*clock->bound));
	clock->bound[0] = (struct clock_bound){clock->begin_ns, 0, 0};
	clock->bound[1] = (struct clock_bound){middle, 0, 0};
	clock->bound[2] = (struct clock_bound){clock->end_ns, 0, 0};
	sync->region[index] = (struct region){.known = true};
}

int bounds_find(struct sync *sync, struct error *error)
{
	struct search search = {.sync = sync};
	int status;

	search.envelope = mem_zalloc(sync->clocks * sizeof(*search.envelope));
	search.is_reference = mem_zalloc(sync->clocks * sizeof(bool));
	search.news = mem_zalloc(sync->clocks * sizeof(bool));
	each_member(&search, begin_with_limit);
	status = relax(&search, error);
	if (!status && sync->options.bounds == BOUNDS_WANDER) {
		each_member(&search, begin_with_wander);
		status = relax(&search, error);
	}
	if (!status)
		each_member(&search, finish);
	for (size_t i = 0; i < sync->graph.islands; i++)
		finish_reference(sync, sync->graph.island[i].reference);
	for (size_t i = 0; i < sync->clocks; i++)
		envelope_clear(&search.envelope[i]);
	free(search.envelope);
	free(search.is_reference);
	free(search.news);
	return status;
}
