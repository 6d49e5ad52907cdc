/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bounds/bounds.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/parallel.h"

static bool is_searched(const struct search *search, uint32_t clock)
{
	return search->is_reference[clock] || search->envelope[clock].cells;
}

double search_at(const struct search *search, uint32_t clock, nsec_t at, bool high)
{
	if (search->is_reference[clock])
		return 0;
	if (!search->envelope[clock].cells)
		return high ? INFINITY : -INFINITY;
	return envelope_at(&search->envelope[clock], at, high);
}

struct envelope_gap *search_gap(const struct search *search, uint32_t clock, nsec_t at)
{
	const struct envelope *envelope = &search->envelope[clock];

	for (size_t i = 0; i < envelope->gaps; i++)
		if (at > envelope->gap[i].from_ns && at < envelope->gap[i].to_ns)
			return &envelope->gap[i];
	return NULL;
}

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

static nsec_t travel_by(const struct clock *clock, const struct hull_point *times,
			const uint32_t ends[2])
{
	return nsec_sub(clock_correct(&clock[ends[1]], times->y),
			clock_correct(&clock[ends[0]], times->x));
}

/*
 * Messages that the fit itself breaks tell nothing for sure; of straight clocks those of
 * pairs that no line satisfies.
 */
static bool is_doubtful(const struct search *search, const struct pair *pair,
			const struct hull_point *at, const uint32_t end[2])
{
	if (search->is_straight[end[0]] || search->is_straight[end[1]])
		return pair->margin_ns < 0 || pair->too_fast;
	return travel_by(search->sync->fitted, at, end) < 0;
}

/* With the error e of each clock's line: line_b + e_b >= line_a + e_a. */
static int take(void *context, struct message *message)
{
	struct search *search = context;
	const struct pair *pair = &search->sync->pairs.pair[message->pair];
	const uint32_t end[2] = {message->forward ? pair->a : pair->b,
				 message->forward ? pair->b : pair->a};
	struct hull_point at = pair_point(message); /* sent, received */
	double travel;

	if (message->rejected || pair->contradictory ||
	    (!search->news[end[0]] && !search->news[end[1]]) ||
	    !is_searched(search, end[0]) || !is_searched(search, end[1]))
		return 0;
	if (!message->forward)
		at = (struct hull_point){at.y, at.x};
	if (is_doubtful(search, pair, &at, end) || search_gap(search, end[0], at.x) ||
	    search_gap(search, end[1], at.y))
		return 0;
	travel = (double)travel_by(search->base, &at, end);
	if (!search->is_reference[end[1]] && search->news[end[0]])
		envelope_take(&search->envelope[end[1]], at.y,
			      search_at(search, end[0], at.x, false) - travel, false);
	if (!search->is_reference[end[0]] && search->news[end[1]])
		envelope_take(&search->envelope[end[0]], at.x,
			      search_at(search, end[1], at.y, true) + travel, true);
	return 0;
}

/* Whether what is new in some clock could help one that is not a reference. */
static bool is_worth_a_round(const struct search *search)
{
	const struct sync *sync = search->sync;

	for (size_t i = 0; i < sync->pairs.count; i++) {
		uint32_t a = sync->pairs.pair[i].a, b = sync->pairs.pair[i].b;

		if (sync->pairs.pair[i].contradictory)
			continue;
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
	    search->envelope[clock].is_touched &&
	    (search->is_straight[clock] ? envelope_straighten
					: envelope_sweep)(&search->envelope[clock]);
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
	envelope_init(envelope, &search->base[index], rates, cells);
	for (size_t k = 0; k < sync->step.count; k++)
		if (sync->step.item[k].clock == index)
			envelope_add_gap(envelope, sync->step.item[k].from_ns,
					 sync->step.item[k].to_ns);
}

typedef void member_fn(struct search *search, uint32_t clock);

/* Each clock that gets bounds; those beyond the drift limit have none under it. */
static void each_member(struct search *search, member_fn *visit)
{
	const struct sync *sync = search->sync;

	for (size_t i = 0; i < sync->graph.islands; i++) {
		const struct island *island = &sync->graph.island[i];

		if (island->members < 2)
			continue;
		search->is_reference[island->reference] = true;
		for (size_t k = 1; k < island->members; k++)
			if (!sync->clock[island->member[k]].too_fast)
				visit(search, island->member[k]);
	}
}

/*
 * What the rate can be on average, and at no time less or more of a line: by the ends of
 * what lies between steps, which are no drift. About a step it can be anything.
 */
static struct rate_bound rate_of(const struct search *search, uint32_t clock)
{
	const struct envelope *envelope = &search->envelope[clock];
	const struct fit_clock *fit = &search->sync->clock[clock];
	double line = search->base[clock].segment->rate_ppb * 1e-9;
	double span = fmax(1, (double)(fit->own_end_ns - fit->own_begin_ns));
	double low = -ROUNDING_NS, high = ROUNDING_NS;
	nsec_t from = fit->own_begin_ns;

	for (size_t i = 0; i <= envelope->gaps && from < fit->own_end_ns; i++) {
		const struct envelope_gap *gap = &envelope->gap[i];
		bool is_last = i == envelope->gaps || gap->from_ns >= fit->own_end_ns;
		nsec_t to = is_last ? fit->own_end_ns : gap->from_ns;
		nsec_t next = is_last ? to : gap->to_ns;

		if (to > from) {
			low += search_at(search, clock, to, false) -
			       search_at(search, clock, from, true);
			high += search_at(search, clock, to, true) -
				search_at(search, clock, from, false);
			from = to;
		}
		if (next > from) {
			low -= envelope->rate[false] * (double)(next - from);
			high += envelope->rate[true] * (double)(next - from);
			from = next;
		}
	}
	return (struct rate_bound){true, line + fmax(low / span, -envelope->rate[false]),
				   line + fmin(high / span, envelope->rate[true])};
}

static void begin_with_limit(struct search *search, uint32_t clock)
{
	double limit = search->sync->options.drift_limit_ppm * 1e-6;

	prepare(search, clock, (double[2]){-limit, limit});
}

/* A rate differs from the mean one by so much at most, and keeps to the limit. */
static void begin_with_wander(struct search *search, uint32_t clock)
{
	const struct sync *sync = search->sync;
	double limit = sync->options.drift_limit_ppm * 1e-6;
	bool is_line = sync->options.bounds == BOUNDS_STRAIGHT;
	double wander = is_line ? 0 : sync->options.wander_ppm * 1e-6;
	struct rate_bound rate = rate_of(search, clock);

	if (!is_line || search->is_straight[clock])
		prepare(search, clock,
			(double[2]){fmax(rate.low - wander, -limit),
				    fmin(rate.high + wander, limit)});
	else if (search->envelope[clock].is_touched)
		begin_with_limit(search, clock);
}

/*
 * Clocks keep their rates where one line describes each of an island, and lines satisfy
 * all messages. Whether some island turned out to have none: it is to be begun anew.
 */
static bool find_straight(struct search *search, int pass)
{
	const struct sync *sync = search->sync;
	bool any = false;

	for (size_t i = 0; i < sync->graph.islands; i++) {
		const struct island *island = &sync->graph.island[i];
		bool is_straight = sync->options.bounds == BOUNDS_STRAIGHT;
		bool is_broken = false;

		for (size_t k = 1; k < island->members; k++) {
			uint32_t at = island->member[k];
			int pair = sync->graph.node[at].parent_pair;

			is_broken |= search->envelope[at].is_broken;
			is_straight &= (!pass || search->is_straight[at]) &&
				       !sync_is_piecewise(sync, at) &&
				       sync->pairs.pair[pair].margin_ns >= 0 &&
				       search->envelope[at].cells;
		}
		for (size_t k = 1; k < island->members; k++) {
			uint32_t at = island->member[k];

			search->is_straight[at] = is_straight && !is_broken;
			search->envelope[at].is_touched = is_broken;
			if (is_broken && sync->fitted[at].quality == CLOCK_ACCURATE)
				sync->fitted[at].quality = CLOCK_APPROXIMATE;
		}
		any |= is_broken;
	}
	return any;
}

/* Whether no chain of messages bounds a clock from one of the sides. */
static bool is_open(const struct envelope *envelope)
{
	bool open[2] = {true, true};

	for (size_t i = 0; i <= envelope->cells && (open[0] || open[1]); i++)
		for (int side = 0; side < 2; side++)
			open[side] &= isinf(envelope->most[side][i]) != 0;
	return open[0] || open[1];
}

static void finish(struct search *search, uint32_t clock)
{
	const struct graph *graph = &search->sync->graph;
	size_t members = graph->island[graph->node[clock].island].members;
	size_t spans = members > MANY ? STATED_OF_MANY : STATED;

	/* A curve wants more of them, as a bound holds for all the time to the next. */
	search_state(search, clock,
		     sync_is_piecewise(search->sync, clock) ? 2 * spans : spans);
	search->sync->rate[clock] = rate_of(search, clock);
	if (is_open(&search->envelope[clock]))
		search->sync->fitted[clock].quality = CLOCK_INCOMPLETE;
}

/*
 * The reference is what it is, at all times. One that is alone because its messages
 * contradict each other is nothing to the others, but for the axis itself.
 */
static void finish_reference(struct sync *sync, uint32_t index)
{
	struct clock *clock = &sync->fitted[index];
	nsec_t middle = clock->begin_ns + (clock->end_ns - clock->begin_ns) / 2;
	bool is_axis = index == sync->graph.island[0].reference;
	bool is_open = clock->quality == CLOCK_CONTRADICTORY && !is_axis;
	nsec_t low = is_open ? NSEC_MIN : 0, high = is_open ? NSEC_MAX : 0;

	clock->bounds = 3;
	clock->bound = mem_realloc(clock->bound, clock->bounds, sizeof(*clock->bound));
	clock->bound[0] = (struct clock_bound){clock->begin_ns, low, high};
	clock->bound[1] = (struct clock_bound){middle, low, high};
	clock->bound[2] = (struct clock_bound){clock->end_ns, low, high};
	sync->rate[index] = (struct rate_bound){.known = !is_open};
}

/* The mean rate of the fit, held to the limit, about the middle. */
static void make_base(const struct sync *sync, uint32_t index, struct clock *base)
{
	const struct clock *fitted = &sync->fitted[index];
	nsec_t middle = fitted->begin_ns + (fitted->end_ns - fitted->begin_ns) / 2;
	double limit = sync->options.drift_limit_ppm * 1e3;

	base->begin_ns = fitted->begin_ns;
	base->end_ns = fitted->end_ns;
	base->segment = mem_alloc(sizeof(*base->segment));
	base->segments = 1;
	*base->segment = (struct clock_segment){
	    .local_ns = middle,
	    .ref_ns = clock_correct(fitted, middle),
	    .rate_ppb = fmin(limit, fmax(-limit, 1e9 * clock_mean_rate(fitted))),
	};
}

static void search_init(struct search *search, struct sync *sync)
{
	search->sync = sync;
	search->envelope = mem_zalloc(sync->clocks * sizeof(*search->envelope));
	search->base = mem_zalloc(sync->clocks * sizeof(*search->base));
	search->is_reference = mem_zalloc(sync->clocks * sizeof(bool));
	search->is_straight = mem_zalloc(sync->clocks * sizeof(bool));
	search->news = mem_zalloc(sync->clocks * sizeof(bool));
	search->rounds = 0;
	for (uint32_t i = 0; i < sync->clocks; i++)
		make_base(sync, i, &search->base[i]);
}

static void search_clear(struct search *search)
{
	for (size_t i = 0; i < search->sync->clocks; i++) {
		envelope_clear(&search->envelope[i]);
		free(search->base[i].segment);
	}
	free(search->envelope);
	free(search->base);
	free(search->is_reference);
	free(search->is_straight);
	free(search->news);
}

int bounds_find(struct sync *sync, struct error *error)
{
	const int passes = sync->options.bounds != BOUNDS_LIMIT;
	struct search search;
	int status;

	search_init(&search, sync);
	each_member(&search, begin_with_limit);
	status = relax(&search, error);
	for (int pass = 0; !status && (find_straight(&search, pass) || pass < passes);
	     pass++) {
		each_member(&search, begin_with_wander);
		status = relax(&search, error);
	}
	if (!status && sync->step.count)
		status =
		    message_log_walk(&sync->log, false, search_open_gap, &search, error);
	if (!status)
		each_member(&search, finish);
	for (size_t i = 0; i < sync->graph.islands; i++)
		finish_reference(sync, sync->graph.island[i].reference);
	search_clear(&search);
	return status;
}
