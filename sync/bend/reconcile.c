/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bend/bend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"

enum { ROUNDS_MOST = 2000 };

/* So long must a message take, for the rounding of what comes of it, which is less. */
#define LEAST_TRAVEL_NS 4.0
#define ROUNDING_NS     2.0
/* A bound that moves by less than this has not moved. */
#define STILL_NS        0.01

/*
 * A clock at the stamps of its messages: how far its true correction can be
 * above the line of its island's fit, and must be.
 */
struct breakpoints {
	nsec_t *at; /* ascending */
	double *high, *low;
	size_t count, capacity;
	double rise, fall; /* how fast it can grow and shrink, no unit */
	bool fixed;        /* high and low are one */
};

/* sent + travel >= received, of the two errors. */
struct message_link {
	uint32_t from, to; /* clocks */
	size_t sent, received;
	double travel_ns; /* by the lines */
};

struct reconciling {
	const struct sync *sync;
	const struct island *island;
	struct breakpoints *breakpoints; /* by clock */
	struct message_link *link;
	size_t links, link_room;
};

/* A message of a pair by its ends. */
struct ends {
	uint32_t from, to;
	nsec_t sent_ns, received_ns;
};

typedef void ends_fn(struct reconciling *reconciling, const struct ends *ends);

void bend_bounds_add(struct bend_bounds *bounds, struct corridor_bound bound)
{
	*MEM_NEXT(bounds->item, bounds->count, bounds->capacity) = bound;
}

bool bend_breaks(const struct clock *clock, const struct bend_bounds *bounds)
{
	for (size_t i = 0; i < bounds->count; i++) {
		const struct corridor_bound *bound = &bounds->item[i];
		nsec_t now = clock_correct(clock, bound->x);

		if (bound->above ? now > bound->y : now < bound->y)
			return true;
	}
	return false;
}

/* Every message between the island's clocks. */
static void each_message(struct reconciling *reconciling,
			 const struct pair_messages *messages, ends_fn *take)
{
	const struct island *island = reconciling->island;

	for (size_t k = 0; k < 2 * island->insides; k++) {
		uint32_t index = island->inside[k / 2];
		const struct pair *pair = &reconciling->sync->pairs.pair[index];
		bool forward = k % 2;
		const struct point_list *side = &messages[index].side[forward];

		for (size_t i = 0; i < side->count; i++) {
			struct hull_point p = side->point[i];
			struct ends ends = {pair->a, pair->b, p.x, p.y};

			if (!forward)
				ends = (struct ends){pair->b, pair->a, p.y, p.x};
			take(reconciling, &ends);
		}
	}
}

static void add_stamp(struct breakpoints *breakpoints, nsec_t at)
{
	*MEM_NEXT(breakpoints->at, breakpoints->count, breakpoints->capacity) = at;
}

static void add_stamps(struct reconciling *reconciling, const struct ends *ends)
{
	add_stamp(&reconciling->breakpoints[ends->from], ends->sent_ns);
	add_stamp(&reconciling->breakpoints[ends->to], ends->received_ns);
}

static int by_time(const void *a, const void *b)
{
	nsec_t p = *(const nsec_t *)a, q = *(const nsec_t *)b;

	return (p > q) - (p < q);
}

static void prepare(const struct reconciling *reconciling, uint32_t clock)
{
	const struct sync *sync = reconciling->sync;
	struct breakpoints *breakpoints = &reconciling->breakpoints[clock];
	bool is_reference = clock == reconciling->island->reference;
	double limit = sync->options.drift_limit_ppm * 1e-6;
	size_t kept = 0;

	if (breakpoints->count)
		qsort(breakpoints->at, breakpoints->count, sizeof(*breakpoints->at),
		      by_time);
	for (size_t i = 0; i < breakpoints->count; i++)
		if (!kept || breakpoints->at[i] != breakpoints->at[kept - 1])
			breakpoints->at[kept++] = breakpoints->at[i];
	breakpoints->count = kept;
	breakpoints->fixed = is_reference;
	breakpoints->rise = limit - sync->clock[clock].rate;
	breakpoints->fall = limit + sync->clock[clock].rate;
	breakpoints->high = mem_alloc((kept + 1) * sizeof(double));
	breakpoints->low = mem_alloc((kept + 1) * sizeof(double));
	for (size_t i = 0; i < kept; i++) {
		breakpoints->high[i] = is_reference ? 0 : INFINITY;
		breakpoints->low[i] = is_reference ? 0 : -INFINITY;
	}
}

/* By the line of the island's fit. */
static nsec_t straight(const struct sync *sync, uint32_t clock, nsec_t at)
{
	const struct fit_clock *fit = &sync->clock[clock];

	return fit->ref_ns + nsec_round(fit_correct(fit, at, fit->ref_ns));
}

static size_t breakpoint_at(const struct breakpoints *breakpoints, nsec_t at)
{
	const nsec_t *found =
	    bsearch(&at, breakpoints->at, breakpoints->count, sizeof(nsec_t), by_time);

	return (size_t)(found - breakpoints->at);
}

static void add_link(struct reconciling *reconciling, const struct ends *ends)
{
	const struct sync *sync = reconciling->sync;

	reconciling->link =
	    mem_grow(reconciling->link, reconciling->links, &reconciling->link_room,
		     sizeof(struct message_link));
	reconciling->link[reconciling->links++] = (struct message_link){
	    .from = ends->from,
	    .to = ends->to,
	    .sent = breakpoint_at(&reconciling->breakpoints[ends->from], ends->sent_ns),
	    .received =
		breakpoint_at(&reconciling->breakpoints[ends->to], ends->received_ns),
	    .travel_ns = (double)(straight(sync, ends->to, ends->received_ns) -
				  straight(sync, ends->from, ends->sent_ns)) -
			 LEAST_TRAVEL_NS,
	};
}

static bool lower(double *bound, double value)
{
	bool moves = value < *bound - STILL_NS;

	if (moves)
		*bound = value;
	return moves;
}

static bool raise(double *bound, double value)
{
	bool moves = value > *bound + STILL_NS;

	if (moves)
		*bound = value;
	return moves;
}

static bool hear_messages(const struct reconciling *reconciling)
{
	bool moves = false;

	for (size_t i = 0; i < reconciling->links; i++) {
		const struct message_link *link = &reconciling->link[i];
		struct breakpoints *from = &reconciling->breakpoints[link->from];
		struct breakpoints *to = &reconciling->breakpoints[link->to];

		if (!from->fixed)
			moves |= lower(&from->high[link->sent],
				       to->high[link->received] + link->travel_ns);
		if (!to->fixed)
			moves |= raise(&to->low[link->received],
				       from->low[link->sent] - link->travel_ns);
	}
	return moves;
}

/* Let each time bound the next ones. */
static bool sweep(struct breakpoints *breakpoints)
{
	double *high = breakpoints->high, *low = breakpoints->low;
	bool moves = false;

	for (size_t k = 0; k + 1 < breakpoints->count; k++) {
		double passed = (double)(breakpoints->at[k + 1] - breakpoints->at[k]);

		moves |= lower(&high[k + 1], high[k] + breakpoints->rise * passed);
		moves |= raise(&low[k + 1], low[k] - breakpoints->fall * passed);
	}
	for (size_t k = breakpoints->count; k-- > 1;) {
		double passed = (double)(breakpoints->at[k] - breakpoints->at[k - 1]);

		moves |= lower(&high[k - 1], high[k] + breakpoints->fall * passed);
		moves |= raise(&low[k - 1], low[k] - breakpoints->rise * passed);
	}
	return moves;
}

static bool is_possible(const struct breakpoints *breakpoints)
{
	for (size_t k = 0; k < breakpoints->count; k++)
		if (breakpoints->high[k] < breakpoints->low[k] - ROUNDING_NS)
			return false;
	return true;
}

static bool is_bounded(const struct breakpoints *breakpoints)
{
	for (size_t k = 0; k < breakpoints->count; k++)
		if (isinf(breakpoints->high[k]) || isinf(breakpoints->low[k]))
			return false;
	return breakpoints->count > 0;
}

/* The shortest ways; false where the messages contradict each other. */
static bool relax(const struct reconciling *reconciling)
{
	const struct island *island = reconciling->island;

	for (int round = 0; round < ROUNDS_MOST; round++) {
		bool moves = hear_messages(reconciling);

		for (size_t i = 1; i < island->members; i++) {
			struct breakpoints *breakpoints =
			    &reconciling->breakpoints[island->member[i]];

			if (breakpoints->fixed)
				continue;
			moves |= sweep(breakpoints);
			if (!is_possible(breakpoints))
				return false;
		}
		if (!moves)
			return true;
	}
	return false;
}

/* All of the island's are bounded from both sides, and can be at once. */
static bool is_solved(const struct reconciling *reconciling)
{
	const struct island *island = reconciling->island;

	if (!relax(reconciling))
		return false;
	for (size_t i = 1; i < island->members; i++)
		if (!is_bounded(&reconciling->breakpoints[island->member[i]]))
			return false;
	return true;
}

struct reconciling *reconciling_new(const struct sync *sync, const struct island *island,
				    const struct pair_messages *messages)
{
	struct reconciling *reconciling = mem_zalloc(sizeof(*reconciling));

	reconciling->sync = sync;
	reconciling->island = island;
	reconciling->breakpoints =
	    mem_zalloc(sync->clocks * sizeof(*reconciling->breakpoints));
	each_message(reconciling, messages, add_stamps);
	for (size_t i = 0; i < island->members; i++)
		prepare(reconciling, island->member[i]);
	each_message(reconciling, messages, add_link);
	if (is_solved(reconciling))
		return reconciling;
	reconciling_free(reconciling);
	return NULL;
}

/* Whether a bound is no tighter than what the one before or after it leaves. */
static bool follows(const struct breakpoints *breakpoints, size_t k, bool above)
{
	const double *bound = above ? breakpoints->high : breakpoints->low;
	double sign = above ? 1 : -1;
	double up = above ? breakpoints->rise : breakpoints->fall;
	double down = above ? breakpoints->fall : breakpoints->rise;

	if (k && sign * bound[k] >=
		     sign * bound[k - 1] - STILL_NS +
			 up * (double)(breakpoints->at[k] - breakpoints->at[k - 1]))
		return true;
	return k + 1 < breakpoints->count &&
	       sign * bound[k] >=
		   sign * bound[k + 1] - STILL_NS +
		       down * (double)(breakpoints->at[k + 1] - breakpoints->at[k]);
}

void reconciling_bounds(const struct reconciling *reconciling, uint32_t clock,
			struct bend_bounds *bounds)
{
	const struct breakpoints *breakpoints = &reconciling->breakpoints[clock];

	bounds->count = 0;
	for (size_t k = 0; k < breakpoints->count; k++) {
		nsec_t line = straight(reconciling->sync, clock, breakpoints->at[k]);

		for (int above = 0; above < 2; above++) {
			double error = above ? breakpoints->high[k] : breakpoints->low[k];

			if (!follows(breakpoints, k, above))
				bend_bounds_add(bounds, (struct corridor_bound){
							    .x = breakpoints->at[k],
							    .y = line + nsec_round(error),
							    .above = above,
							});
		}
	}
}

static size_t count_breakpoints(const struct reconciling *reconciling)
{
	const struct island *island = reconciling->island;
	size_t count = 0;

	for (size_t i = 1; i < island->members; i++)
		count += reconciling->breakpoints[island->member[i]].count;
	return count;
}

/* Remember what is known of all clocks, or go back to it. */
static void remember(const struct reconciling *reconciling, double *memory, bool back)
{
	const struct island *island = reconciling->island;

	for (size_t i = 1; i < island->members; i++) {
		const struct breakpoints *breakpoints =
		    &reconciling->breakpoints[island->member[i]];
		size_t size = breakpoints->count * sizeof(double);

		memcpy(back ? breakpoints->high : memory,
		       back ? memory : breakpoints->high, size);
		memory += breakpoints->count;
		memcpy(back ? breakpoints->low : memory, back ? memory : breakpoints->low,
		       size);
		memory += breakpoints->count;
	}
}

bool reconciling_follow(struct reconciling *reconciling, uint32_t clock,
			const struct clock *curve)
{
	AUTOFREE double *memory =
	    mem_alloc((2 * count_breakpoints(reconciling) + 1) * sizeof(double));
	struct breakpoints *breakpoints = &reconciling->breakpoints[clock];

	remember(reconciling, memory, false);
	for (size_t k = 0; k < breakpoints->count; k++)
		breakpoints->high[k] = breakpoints->low[k] =
		    (double)(clock_correct(curve, breakpoints->at[k]) -
			     straight(reconciling->sync, clock, breakpoints->at[k]));
	breakpoints->fixed = relax(reconciling);
	if (!breakpoints->fixed)
		remember(reconciling, memory, true);
	return breakpoints->fixed;
}

void reconciling_middle(const struct reconciling *reconciling, uint32_t clock,
			struct corridor_fit *found)
{
	const struct breakpoints *breakpoints = &reconciling->breakpoints[clock];
	double rate = reconciling->sync->clock[clock].rate;

	*found = (struct corridor_fit){0};
	found->segment = mem_alloc(breakpoints->count * sizeof(*found->segment));
	for (size_t k = 0; k < breakpoints->count; k++) {
		double error = (breakpoints->high[k] + breakpoints->low[k]) / 2, more = 0;

		if (k + 1 < breakpoints->count)
			more = ((breakpoints->high[k + 1] + breakpoints->low[k + 1]) / 2 -
				error) /
			       (double)(breakpoints->at[k + 1] - breakpoints->at[k]);
		found->segment[found->segments++] = (struct clock_segment){
		    .local_ns = breakpoints->at[k],
		    .ref_ns = straight(reconciling->sync, clock, breakpoints->at[k]) +
			      nsec_round(error),
		    .rate_ppb = (rate + more) * 1e9,
		};
	}
}

void reconciling_free(struct reconciling *reconciling)
{
	if (!reconciling)
		return;
	for (size_t i = 0; i < reconciling->island->members; i++) {
		struct breakpoints *breakpoints =
		    &reconciling->breakpoints[reconciling->island->member[i]];

		free(breakpoints->at);
		free(breakpoints->high);
		free(breakpoints->low);
	}
	free(reconciling->breakpoints);
	free(reconciling->link);
	free(reconciling);
}
